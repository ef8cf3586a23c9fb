#include "behaviour/prober.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <set>

#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "core/stats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/quirks.hpp"
#include "inspect/tools/dump.hpp"
#include "run/measure.hpp"

namespace cllab::behaviour {
namespace {

using model::Implementation;
using Status = Answer::Status;

/// What the kernels work on: much more than caches hold where the device is fast, as much as two cores copy in 10 ms,
/// or what a simulator does at once.
Sizes sizes_for(const model::Device& device) {
    const auto by = [&](std::uint64_t gpu, std::uint64_t cpu, std::uint64_t simulated) {
        return device.implementation == Implementation::oclgrind ? simulated : device.is_gpu() ? gpu : cpu;
    };
    return {{"items", by(64 << 20, 8 << 20, 4096)},  {"small", by(4 << 20, 64 << 10, 512)},
            {"side", by(8192, 512, 16)},             {"long", by(500'000, 2'000'000, 100)},
            {"max_group", device.max_group_promised}, {"local_bytes", device.local_bytes}};
}

run::MeasureRules rules() {
    run::MeasureRules out;
    out.sample_least_seconds = 1e-3;
    out.sample_most_seconds = 30e-3;
    out.sampling_seconds = 0.25;
    out.first_check = 10;
    out.last_check = 40;
    return out;
}

cl::NDRange range_of(const model::Extent& extent) {
    const auto& size = extent.size;
    return extent.dims == 0   ? cl::NullRange
           : extent.dims == 1 ? cl::NDRange(size[0])
                              : cl::NDRange(size[0], size[1]);
}

}  // namespace

/// A launch with its kernel and arguments.
struct Prober::Ready {
    cl::Kernel kernel;
    Launch launch;
    std::vector<cl::CommandQueue*> queues;
    cl::Buffer out;
    cl::Memory in;  ///< no kernel keeps what it is given
};

Prober::Prober(device::Session& session)
    : session_(session),
      sizes_(sizes_for(session.facts())),
      salt_(static_cast<std::uint64_t>(Clock::now().time_since_epoch().count())) {}

Answer Prober::ask(const Question& row) {
    Answer out;
    try {
        if (const auto needs = lacking(row.needs); !needs.empty()) {
            out = {Status::untried, "not tried: " + needs};
        } else {
            out.claim = claim(row);
            answer(row, out);
        }
    } catch (const cl::Error& e) {
        out.text = device::error_name(e.err());
        if (row.kind != "value") out.status = Status::failed;
    } catch (const Unsupported& e) {
        out.text = e.what();
        if (row.kind != "value" && row.kind != "code") out.status = Status::failed;
    } catch (const Error& e) {
        if (e.blame() == Blame::usage) throw;
        out.status = Status::failed;
        out.text = e.what();
    }
    return out;
}

/// Of the words of a line `needs` the first that the device does not have; "a|b" is one of both.
std::string Prober::lacking(const std::string& needs) const {
    const auto& device = session_.facts();
    const auto has = [&](const std::string& word) {
        if (word.starts_with("quirk:")) {
            const auto names = split(word.substr(6), '|');
            return std::ranges::any_of(names, [&](const auto& one) { return device::has_quirk(device, one); });
        }
        if (word == "images") return device.images;
        if (word == "fp64") return device.fp64;
        if (word == "out_of_order")
            return (session_.device().getInfo<CL_DEVICE_QUEUE_PROPERTIES>() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
        return device.has(word) || word == model::name(device.implementation);
    };
    for (const auto& word : split(needs, ' ')) {
        if (word.starts_with("!") && has(word.substr(1))) return "not on " + word.substr(1);
        if (!word.empty() && !word.starts_with("!") && !has(word))
            return word.starts_with("quirk:") ? "beyond what the device allows" : "needs " + word;
    }
    return {};
}

std::string Prober::claim(const Question& row) {
    static const std::set<std::string> asked{"device", "kernel", "flag", "extension", "spec"};
    return asked.contains(row.claim.substr(0, row.claim.find(' '))) ? queried(row, row.claim) : row.claim;
}

/// "device 0x1004 bytes", "kernel 0x11B0 NAME", "flag 0x102A BIT", "extension NAME", "spec FUNCTION".
std::string Prober::queried(const Question& row, const std::string& what) {
    const auto words = split(what, ' ');
    if (words[0] == "extension") return session_.facts().has(words[1]) ? "listed" : "not listed";
    if (words[0] == "spec") return std::string("at most ") + function_named(words[1]).limit;
    const auto query = static_cast<cl_uint>(std::stoul(words[1], nullptr, 16));
    std::size_t value = 0;  // queries give 4 or 8 bytes
    const auto device = session_.device()();
    const auto code =
        words[0] == "kernel"
            ? clGetKernelWorkGroupInfo(ready(row, launch_of(words[2], sizes_)).kernel(), device, query, sizeof value,
                                       &value, nullptr)
            : clGetDeviceInfo(device, query, sizeof value, &value, nullptr);
    if (code != CL_SUCCESS) return device::error_name(code);
    if (words[0] == "flag") return value >> std::stoul(words[2]) & 1 ? "yes" : "no";
    return words.back() == "bytes" ? format_bytes(value) : std::to_string(value);
}

void Prober::answer(const Question& row, Answer& out) {
    const auto claimed = out.claim;
    std::vector<Launch> launches;
    if (row.kind != "query")
        for (const auto& text : split(row.launches, '|')) launches.push_back(launch_of(text, sizes_));
    static const std::set<std::string> times{"ratio", "time", "rate", "enqueue", "build"};
    if (times.contains(row.kind) && session_.facts().implementation == Implementation::oclgrind) {
        out = {Status::untried, "not tried: a simulation has no times"};
    } else if (row.kind == "value") {
        out = value(row, launches);
    } else if (row.kind == "query") {
        out.text = queried(row, row.launches);
    } else if (row.kind == "ulp") {
        out = ulp(row, launches[0]);
    } else if (row.kind == "code") {
        const auto one = code(row, launches[0]), other = code(row, launches[1]);
        out.text = one.empty() || other.empty() ? "the code cannot be read" : one == other ? "same" : "other";
        if (one.empty() || other.empty()) out.status = Status::untried;
    } else if (row.kind == "build") {
        out = build(row, launches[0]);
    } else if (row.kind == "binary") {
        out = binary(row, launches[0]);
    } else if (row.kind == "enqueue") {
        out = enqueued(row, launches[0]);
    } else {
        auto first = ready(row, launches[0]);
        if (row.kind == "ratio") {
            auto second = ready(row, launches[1]);
            const bool by_host = first.launch.queue != "profiling";
            out = timed("", 1, sample(first, by_host), sample(second, by_host));
        } else {
            const bool rate = row.kind == "rate";
            out = timed(rate ? "op/s" : "s", rate ? static_cast<double>(launches[0].global.count()) : 0,
                        sample(first, false));
        }
    }
    out.claim = claimed;
}

const device::Built& Prober::built(const Question& row, const std::string& options, const std::string& salt) {
    const auto key = row.file() + "\n" + options + "\n" + salt;
    const auto found = built_.find(key);
    if (found != built_.end()) return found->second;
    const auto text = salt + std::string(embedded(row.file() + ".cl"));
    return built_.emplace(key, device::build(session_, text, options)).first->second;
}

Prober::Ready Prober::ready(const Question& row, const Launch& launch) {
    const auto& program = built(row, launch.options);
    if (!program.ok)
        throw Unsupported(program.code == CL_BUILD_PROGRAM_FAILURE ? "does not build" : device::error_name(program.code));
    Ready out{cl::Kernel(program.program, device::kernel_name(session_, program, launch.kernel).c_str()), launch, {}, {}, {}};
    const auto arguments = out.kernel.getInfo<CL_KERNEL_NUM_ARGS>();
    out.out = buffer(launch.output.empty() ? "out" : launch.output);
    out.kernel.setArg(0, out.out);
    if (arguments > 1) out.in = launch.input == "image" ? cl::Memory(image()) : buffer(launch.input);
    if (arguments > 1) out.kernel.setArg(1, out.in);
    if (arguments > 2) out.kernel.setArg(2, cl_uint{1});
    if (arguments > 3) out.kernel.setArg(3, std::array<cl_uint, 240>{});
    for (unsigned i = 0; i < (launch.queue == "two" || launch.queue == "unordered" ? 2U : 1U); ++i)
        out.queues.push_back(&queue(launch.queue, launch.queue == "two" ? i : 0));
    return out;
}

/// What a kernel reads or writes, made once, but for "fresh". "LOW:HIGH": as many floats, evenly spaced, as errors are
/// looked for in.
cl::Buffer Prober::buffer(const std::string& kind) {
    const auto bytes = sizes_.at("items") * 4;
    const auto flags = CL_MEM_READ_WRITE | (kind == "host" ? CL_MEM_ALLOC_HOST_PTR : 0U);
    if (kind == "fresh") return {session_.context(), flags, bytes};
    const auto found = buffers_.find(kind);
    if (found != buffers_.end()) return found->second;
    auto& out = buffers_[kind] = cl::Buffer(session_.context(), flags, bytes);
    std::vector<float> data(bytes / 4);
    const auto colon = kind.find(':');
    if (colon != std::string::npos) {
        const float low = std::stof(kind), high = std::stof(kind.substr(colon + 1));
        for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = low + (high - low) * static_cast<float>(mix64(i) >> 40) * 0x1p-24F;
    } else if (kind != "zeros") {
        for (std::size_t i = 0; i < data.size(); ++i) data[i] = 0.5F + static_cast<float>(mix64(i) >> 40) * 0x1p-24F;
    }
    session_.put(out, std::as_bytes(std::span(data)));
    return out;
}

cl::Image2D Prober::image() {
    const auto side = sizes_.at("side");
    std::vector<float> data(side * side, 0.5F);
    return {session_.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, cl::ImageFormat(CL_R, CL_FLOAT), side, side, 0,
            data.data()};
}

cl::CommandQueue& Prober::queue(const std::string& kind, unsigned number) {
    const auto key = concat(kind, number);
    const auto found = queues_.find(key);
    if (found != queues_.end()) return found->second;
    const cl_command_queue_properties properties = kind == "profiling"   ? CL_QUEUE_PROFILING_ENABLE
                                                   : kind == "unordered" ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
                                                                         : 0;
    return queues_[key] = cl::CommandQueue(session_.context(), session_.device(), properties);
}

void Prober::enqueue(Ready& ready, cl::CommandQueue& queue, cl::Event* event) const {
    queue.enqueueNDRangeKernel(ready.kernel, cl::NullRange, range_of(ready.launch.global), range_of(ready.launch.local),
                               nullptr, event);
}

/// Seconds of a launch in a row of so many: by the events at its ends, or until the host has waited for it.
double Prober::once(Ready& ready, unsigned launches, bool by_host) {
    by_host = by_host || !session_.timer().trusted;
    if (ready.launch.output == "fresh") ready.kernel.setArg(0, ready.out = buffer("fresh"));
    cl::Event first, last;
    const auto start = Clock::now();
    for (unsigned i = 0; i < launches; ++i)
        for (auto* queue : ready.queues)
            enqueue(ready, *queue, by_host ? nullptr : i == 0 ? &first : i + 1 == launches ? &last : nullptr);
    for (auto* queue : ready.queues) queue->flush();
    for (auto* queue : ready.queues) queue->finish();
    if (by_host) return seconds_since(start) / launches;
    std::vector<device::Stamps> stamps{device::stamps_of(first)};
    if (launches > 1) stamps.push_back(device::stamps_of(last));
    return device::row_seconds(stamps, true) / launches;
}

/// After two launches that are not looked at. As many in a row as a time needs; one where each has a buffer of its own,
/// or several queues.
Prober::Sample Prober::sample(Ready& ready, bool by_host) {
    once(ready, 1, by_host);
    const auto seconds = once(ready, 1, by_host);
    const auto& timer = session_.timer();
    const bool alone = ready.launch.output == "fresh" || seconds > 1e-3;
    const unsigned row = alone ? 1
                               : run::operations_per_sample(std::max(seconds, 1e-9), 1e-9 * static_cast<double>(timer.step_ns),
                                                            timer.empty_seconds, timer.event_seconds, rules());
    once(ready, row, by_host);
    return [this, &ready, row, by_host] { return once(ready, row, by_host); };
}

/// In turns with `over`, either first; else alone. `scale` over the time where it is not zero.
Answer Prober::timed(const std::string& unit, double scale, const Sample& of, const Sample& over) {
    run::StopRule stop(rules());
    std::vector<double> samples;
    const auto start = Clock::now();
    do {
        const double first = of();
        if (!over) {
            samples.push_back(scale != 0 ? scale / first : first);
            continue;
        }
        const double between = over() * over();
        samples.push_back(std::sqrt(first * of() / between));
    } while (!stop.enough(samples, seconds_since(start)));
    const auto s = summarise(samples);
    return measured(unit, s.median, s.low, s.high);
}

Answer Prober::value(const Question& row, const std::vector<Launch>& launches) {
    std::vector<cl_uint> words;
    for (const auto& launch : launches) {
        auto kernel = ready(row, launch);
        auto& queue = *kernel.queues[0];
        words.assign(64, 0);
        queue.enqueueWriteBuffer(kernel.out, CL_TRUE, 0, 4 * words.size(), words.data());
        enqueue(kernel, queue);
        queue.enqueueReadBuffer(kernel.out, CL_TRUE, 0, 4 * words.size(), words.data());
    }
    return {Status::answered, said(row.say, words)};
}

/// What the host spends on calls that do not wait.
Answer Prober::enqueued(const Question& row, const Launch& launch) {
    auto kernel = ready(row, launch);
    auto& queue = *kernel.queues[0];
    const bool events = launch.queue == "profiling";
    constexpr unsigned calls = 100;
    return timed("s", 0, [&] {
        std::vector<cl::Event> kept(calls);
        const auto start = Clock::now();
        for (auto& event : kept) enqueue(kernel, queue, events ? &event : nullptr);
        const double seconds = seconds_since(start) / calls;
        queue.finish();
        return seconds;
    });
}

Answer Prober::ulp(const Question& row, Launch launch) {
    const auto& function = function_named(launch.kernel);
    launch.options += (launch.options.empty() ? "-DF=" : " -DF=") + launch.kernel;
    launch.options += function.binary ? " -DBINARY" : " -DUNARY";
    launch.kernel = function.binary ? "binary" : "unary";
    launch.input = concat(format_exact(function.low), ":", format_exact(function.high));
    const auto count = std::min<std::size_t>(sizes_.at("items"), 65536);
    launch.global = count;
    auto kernel = ready(row, launch);
    auto& queue = *kernel.queues[0];
    enqueue(kernel, queue);
    std::vector<float> arguments(count), results(count);
    queue.enqueueReadBuffer(buffer(launch.input), CL_TRUE, 0, 4 * count, arguments.data());
    queue.enqueueReadBuffer(kernel.out, CL_TRUE, 0, 4 * count, results.data());
    const double worst = largest_ulp(function, arguments, results);
    if (std::isinf(worst)) return {Status::answered, "a NaN or an infinity"};
    return {Status::answered, format_significant(worst, 3), worst};
}

/// What identifies the machine code of a launch that has run; empty where it cannot be read.
std::string Prober::code(const Question& row, const Launch& launch) {
    auto kernel = ready(row, launch);
    enqueue(kernel, *kernel.queues[0]);
    kernel.queues[0]->finish();
    const auto& program = built(row, launch.options);
    const auto bytes = device::program_binary(program);
    const auto analysis =
        inspect::read_code({{}, launch.kernel, "", launch.options, program.log, bytes, session_.facts(), {launch.local, launch.global}});
    return analysis.info.fingerprint;
}

/// The build of a text that was never built, or of the same once more with a change over the first.
Answer Prober::build(const Question& row, const Launch& launch) {
    std::vector<double> samples;
    for (int i = 0; i < 6; ++i) {
        const auto salt = concat("#define SALT ", ++salt_, "\n");
        const auto seconds = [&](const std::string& text, const std::string& options) {
            const auto done = device::build(session_, text + std::string(embedded(row.file() + ".cl")), options);
            if (!done.ok) throw cl::Error(done.code);
            return done.seconds;
        };
        const double cold = seconds(salt, "");
        samples.push_back(launch.change == "cold"      ? cold
                          : launch.change == "comment" ? seconds(salt + "// other\n", "") / cold
                          : launch.change == "define"  ? seconds(salt, "-DOTHER") / cold
                                                       : seconds(salt, "") / cold);
    }
    const auto s = summarise(samples);
    return measured(launch.change == "cold" ? "s" : "", s.median, s.low, s.high);
}

Answer Prober::binary(const Question& row, const Launch& launch) {
    const auto salt = concat("#define SALT ", ++salt_, "\n");
    const auto before = device::program_binary(built(row, "", salt));
    if (launch.change == "kind") return {Status::answered, inspect::describe(inspect::recognise(before))};
    auto after = before;
    if (launch.change == "launch") {
        cl::Kernel kernel(built(row, "", salt).program, launch.kernel.c_str());
        kernel.setArg(0, buffer("out"));
        kernel.setArg(1, buffer(launch.input));
        session_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, range_of(launch.global), range_of(launch.local));
        session_.queue().finish();
        after = device::program_binary(built(row, "", salt));
    } else {
        after = device::program_binary(device::build(session_, salt + std::string(embedded(row.file() + ".cl")), ""));
    }
    if (before == after) return {Status::answered, "same " + format_bytes(before.size())};
    return {Status::answered, format_bytes(before.size()) + ", then " + format_bytes(after.size())};
}

}  // namespace cllab::behaviour
