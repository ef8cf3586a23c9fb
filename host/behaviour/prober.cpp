#include "behaviour/prober.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/grouped.hpp"
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

/// Array sizes: far beyond the caches on a GPU, what two cores copy in 10 ms on a CPU, and a few thousand elements in a
/// simulator.
Sizes sizes_for(const model::Device& device) {
    const auto by = [&](std::uint64_t gpu, std::uint64_t cpu, std::uint64_t simulated) {
        return device.implementation == Implementation::oclgrind ? simulated : device.is_gpu() ? gpu : cpu;
    };
    return {{"items", by(64 << 20, 8 << 20, 4096)},
            {"small", by(4 << 20, 64 << 10, 512)},
            {"side", by(8192, 512, 16)},
            {"long", by(500'000, 2'000'000, 100)},
            {"max_group", device.max_group_promised},
            {"local_bytes", device.local_bytes}};
}

const run::MeasureRules rules{.sample_least_seconds = 1e-3,
                              .sample_most_seconds = 30e-3,
                              .sampling_seconds = 0.25,
                              .first_check = 10,
                              .last_check = 40};

cl::NDRange range_of(const model::Extent& extent) {
    const auto& size = extent.size;
    if (extent.dims == 0) return cl::NullRange;
    return extent.dims == 1 ? cl::NDRange(size[0]) : cl::NDRange(size[0], size[1]);
}

/// A launch with its kernel and what that works on, which no kernel keeps by itself.
struct Ready {
    Launch launch;
    cl::Kernel kernel{};
    cl::Memory out{}, in{};
    std::vector<cl::CommandQueue> queues{};

    void enqueue(unsigned queue = 0, cl::Event* event = nullptr) const {
        queues[queue].enqueueNDRangeKernel(kernel, cl::NullRange, range_of(launch.global), range_of(launch.local),
                                           nullptr, event);
    }
};

class Prober {
public:
    explicit Prober(device::Session& session) : session_(session), sizes_(sizes_for(session.facts())) {}

    Answer ask(const Question& question) {
        static const std::map<std::string, Answer (Prober::*)()> kinds{
            {"value", &Prober::value}, {"ratio", &Prober::ratio}, {"time", &Prober::time},
            {"rate", &Prober::rate},   {"ulp", &Prober::ulp},     {"enqueue", &Prober::enqueue},
            {"code", &Prober::code},   {"build", &Prober::build}, {"binary", &Prober::binary}};
        question_ = question;
        Answer out;
        std::string claimed;
        try {
            claimed = claim();
            launches_.clear();
            for (const auto& text : split(question.field(question.kind), '|'))
                launches_.push_back(launch_of(text, sizes_));
            const auto missing = lacking();
            out = missing.empty() ? (this->*kinds.at(question.kind))()
                                  : Answer{Answer::Status::untried, "not tried: " + missing};
        } catch (const cl::Error& e) {
            out.text = device::error_name(e.err());
        } catch (const std::runtime_error& e) {
            out.text = e.what();
        }
        out.claim = claimed;
        out.so = consequence(question, out);
        return out;
    }

private:
    bool has(const std::string& word) const {
        const auto& device = session_.facts();
        const auto queues = session_.device().getInfo<CL_DEVICE_QUEUE_PROPERTIES>();
        const std::map<std::string, bool> known{
            {"images", device.images}, {"fp64", device.fp64}, {"out_of_order", (queues & 1) != 0}};
        if (word.starts_with("quirk:")) return device::has_quirk(device, word.substr(6));
        return known.contains(word) ? known.at(word) : device.has(word) || word == model::name(device.implementation);
    }

    /// The first word of a line `needs` that the device lacks; "a|b" needs one of the two.
    std::string lacking() const {
        static const std::set<std::string> times{"ratio", "time", "rate", "enqueue", "build"};
        if (times.contains(question_.kind) && has("oclgrind")) return "a simulation has no times";
        for (const auto& word : split(question_.field("needs"), ' ')) {
            if (word.starts_with("!") && has(word.substr(1))) return "not on " + word.substr(1);
            if (!word.empty() && !word.starts_with("!") &&
                std::ranges::none_of(split(word, '|'), [&](const auto& one) { return has(one); }))
                return word.starts_with("quirk:") ? "beyond what the device allows" : "needs " + word;
        }
        return {};
    }

    /// "device 0x1004 bytes", "kernel 0x11B0 NAME", "flag 0x102A BIT", "extension NAME", "spec FUNCTION"; anything else
    /// as it is.
    std::string claim() {
        const auto text = question_.field("claim");
        const auto words = split(text, ' ');
        if (words[0] == "extension") return has(words[1]) ? "listed" : "not listed";
        if (words[0] == "spec") return std::string("at most ") + function_named(words[1]).limit;
        if (words.size() < 2 || !words[1].starts_with("0x")) return text;
        const auto query = static_cast<cl_uint>(std::stoul(words[1], nullptr, 16));
        std::size_t value = 0;  // queries give 4 or 8 bytes
        const auto device = session_.device()();
        const auto code = words[0] == "kernel" ? clGetKernelWorkGroupInfo(ready(launch_of(words[2], sizes_)).kernel(),
                                                                          device, query, sizeof value, &value, nullptr)
                                               : clGetDeviceInfo(device, query, sizeof value, &value, nullptr);
        if (code != CL_SUCCESS) return device::error_name(code);
        if (words[0] == "flag") return value >> std::stoul(words[2]) & 1 ? "yes" : "no";
        return words.back() == "bytes" ? format_bytes(value) : std::to_string(value);
    }

    std::string text() const { return std::string(embedded(question_.file() + ".cl")); }
    /// A comment that makes the text new to every cache.
    std::string salt() { return concat("#define SALT ", Clock::now().time_since_epoch().count(), "\n"); }

    device::Built built(const std::string& text, const std::string& options) {
        auto out = device::build(session_, text, options);
        if (!out.ok && out.code == CL_BUILD_PROGRAM_FAILURE) throw Unsupported("does not build");
        if (!out.ok) throw cl::Error(out.code);
        return out;
    }
    const device::Built& program(const Launch& launch) {
        const auto key = question_.file() + "\n" + launch.options;
        const auto found = programs_.find(key);
        return found != programs_.end() ? found->second
                                        : programs_.emplace(key, built(text(), launch.options)).first->second;
    }

    Ready ready(const Launch& launch) { return ready(launch, program(launch)); }
    Ready ready(const Launch& launch, const device::Built& program) {
        Ready out{launch};
        out.kernel = {program.program, device::kernel_name(session_, program, launch.kernel).c_str()};
        const auto arguments = out.kernel.getInfo<CL_KERNEL_NUM_ARGS>();
        out.out = memory(launch.output);
        out.kernel.setArg(0, out.out);
        if (arguments > 1) out.in = memory(launch.input);
        if (arguments > 1) out.kernel.setArg(1, out.in);
        if (arguments > 2) out.kernel.setArg(2, cl_uint{1});
        if (arguments > 3) out.kernel.setArg(3, std::array<cl_uint, 240>{});
        const bool twice = launch.queue == "two" || launch.queue == "unordered";
        for (int i = 0; i < (twice ? 2 : 1); ++i) out.queues.push_back(queue(launch.queue, i));
        return out;
    }

    /// The buffer or image of this kind. Made once, except "fresh". "LOW:HIGH": random floats in this range.
    cl::Memory memory(const std::string& kind) {
        const auto bytes = 4 * sizes_.at("items"), side = sizes_.at("side");
        const auto found = memory_.find(kind);
        if (found != memory_.end()) return found->second;
        const auto colon = kind.find(':');
        const float low = colon == std::string::npos ? 0.5F : std::stof(kind),
                    high = colon == std::string::npos ? 1.5F : std::stof(kind.substr(colon + 1));
        std::vector<float> data(kind == "fresh" ? 0 : bytes / 4);
        for (std::size_t i = 0; i < data.size() && kind != "zeros"; ++i)
            data[i] = low + (high - low) * static_cast<float>(mix64(i) >> 40) * 0x1p-24F;
        if (kind == "image")
            return memory_[kind] = cl::Image2D(session_.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                               cl::ImageFormat(CL_R, CL_FLOAT), side, side, 0, data.data());
        cl::Buffer out(session_.context(), CL_MEM_READ_WRITE | (kind == "host" ? CL_MEM_ALLOC_HOST_PTR : 0U), bytes);
        if (kind == "fresh") return out;
        session_.put(out, std::as_bytes(std::span(data)));
        session_.wait();
        return memory_[kind] = out;
    }

    cl::CommandQueue queue(const std::string& kind, int number) {
        const auto found = queues_.find(concat(kind, number));
        if (found != queues_.end()) return found->second;
        if (kind == "unordered" && number == 1) return queue(kind, 0);
        const cl_command_queue_properties how = kind == "profiling"   ? CL_QUEUE_PROFILING_ENABLE
                                                : kind == "unordered" ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
                                                                      : 0;
        return queues_[concat(kind, number)] = cl::CommandQueue(session_.context(), session_.device(), how);
    }

    /// Seconds per launch in a row of so many: by the events at its ends, or until the host has waited for it.
    double once(Ready& of, unsigned launches) {
        const bool by_host = of.launch.queue != "profiling" || !session_.timer().trusted;
        if (of.launch.output == "fresh") of.kernel.setArg(0, of.out = memory("fresh"));
        cl::Event first, last;
        const auto start = Clock::now();
        for (unsigned i = 0; i < launches; ++i)
            for (unsigned q = 0; q < of.queues.size(); ++q)
                of.enqueue(q, by_host ? nullptr : i == 0 ? &first : i + 1 == launches ? &last : nullptr);
        for (auto& queue : of.queues) queue.flush();
        for (auto& queue : of.queues) queue.finish();
        if (by_host) return seconds_since(start) / launches;
        std::vector<device::Stamps> stamps{device::stamps_of(first)};
        if (launches > 1) stamps.push_back(device::stamps_of(last));
        return device::row_seconds(stamps, true) / launches;
    }

    /// Warms up, then returns a function that samples seconds per launch. A sample has as many launches as the timer's
    /// step needs, and one where each launch has a new buffer.
    std::function<double()> sample(const Launch& launch) {
        const auto of = std::make_shared<Ready>(ready(launch));
        once(*of, 1);
        const auto& timer = session_.timer();
        const double step = 1e-9 * static_cast<double>(timer.step_ns), seconds = std::max(once(*of, 1), 1e-9);
        const auto row = launch.output == "fresh" ? 1
                                                  : run::operations_per_sample(seconds, step, timer.empty_seconds,
                                                                               timer.event_seconds, rules);
        once(*of, row);
        return [this, of, row] { return once(*of, row); };
    }

    static Answer measure(const std::string& unit, const std::function<double()>& sample) {
        run::StopRule stop(rules);
        std::vector<double> samples;
        const auto start = Clock::now();
        do samples.push_back(sample());
        while (!stop.enough(samples, seconds_since(start)));
        const auto s = summarise(samples);
        return measured(unit, s.median, s.low, s.high);
    }

    Answer time() { return measure("s", sample(launches_[0])); }

    Answer rate() {
        const auto items = static_cast<double>(launches_[0].global.count());
        return measure("op/s", [items, of = sample(launches_[0])] { return items / of(); });
    }

    /// In turns, either first.
    Answer ratio() {
        const auto above = sample(launches_[0]), below = sample(launches_[1]);
        return measure("", [&] {
            const double first = above(), second = below() * below();
            return std::sqrt(first * above() / second);
        });
    }

    /// Host time per enqueue call.
    Answer enqueue() {
        auto of = ready(launches_[0]);
        constexpr unsigned calls = 100;
        return measure("s", [&] {
            std::vector<cl::Event> events(calls);
            const auto start = Clock::now();
            for (auto& event : events) of.enqueue(0, of.launch.queue == "profiling" ? &event : nullptr);
            const double seconds = seconds_since(start) / calls;
            of.queues[0].finish();
            return seconds;
        });
    }

    /// Launches on a zeroed buffer and returns its first words. With two queues, the second one writes the zeros, 64
    /// times, and the first word is the sum over the 64 launches.
    Answer value() {
        std::vector<cl_uint> words;
        for (const auto& launch : launches_) {
            auto of = ready(launch);
            const cl::Buffer out(of.out(), true);
            cl_uint sum = 0;
            for (int i = 0; i < (launch.queue == "two" ? 64 : 1); ++i) {
                words.assign(60, 0);
                of.queues.back().enqueueWriteBuffer(out, CL_TRUE, 0, 4 * words.size(), words.data());
                of.enqueue();
                of.queues[0].finish();
                of.queues.back().enqueueReadBuffer(out, CL_TRUE, 0, 4 * words.size(), words.data());
                words[0] = sum += words[0];
            }
        }
        return {Answer::Status::answered, said(question_.field("say"), words)};
    }

    Answer ulp() {
        auto launch = launches_[0];
        const auto& function = function_named(launch.kernel);
        const auto count = std::min<std::size_t>(sizes_.at("items"), 65536);
        launch.options += " -DF=" + launch.kernel + (function.binary ? " -DBINARY" : " -DUNARY");
        launch.kernel = function.binary ? "binary" : "unary";
        launch.input = concat(format_exact(function.low), ":", format_exact(function.high));
        launch.global = count;
        auto of = ready(launch);
        of.enqueue();
        std::vector<float> arguments(count), results(count);
        of.queues[0].enqueueReadBuffer(cl::Buffer(of.in(), true), CL_TRUE, 0, 4 * count, arguments.data());
        of.queues[0].enqueueReadBuffer(cl::Buffer(of.out(), true), CL_TRUE, 0, 4 * count, results.data());
        const double worst = largest_ulp(function, arguments, results);
        if (std::isinf(worst)) return {Answer::Status::answered, "a NaN or an infinity"};
        return {Answer::Status::answered, format_significant(worst, 3), {worst}};
    }

    /// Whether the code of two launches in the program's binary is the same, once both have run.
    Answer code() {
        std::set<std::string> prints;
        for (const auto& launch : launches_) {
            auto of = ready(launch);
            of.enqueue();
            of.queues[0].finish();
            const auto bytes = device::program_binary(program(launch));
            prints.insert(inspect::read_code({{},
                                              launch.kernel,
                                              "",
                                              launch.options,
                                              program(launch).log,
                                              bytes,
                                              session_.facts(),
                                              {launch.local, launch.global}})
                              .info.fingerprint);
        }
        if (prints.contains("")) return {Answer::Status::untried, "the code cannot be read"};
        // NVIDIA's program binary is PTX, the input of its assembler.
        const auto* kind = session_.facts().implementation == Implementation::nvidia ? " PTX" : "";
        return {Answer::Status::answered, concat(prints.size() == 1 ? "same" : "other", kind)};
    }

    /// Build time of a new text, or the time of a second build with a change, as a ratio to the first.
    Answer build() {
        const auto& change = launches_[0].change;
        return measure(change == "cold" ? "s" : "", [&] {
            const auto cold = salt() + text();
            const double seconds = built(cold, "").seconds;
            if (change == "cold") return seconds;
            return built(cold + (change == "comment" ? "// other" : ""), change == "define" ? "-DOTHER" : "").seconds /
                   seconds;
        });
    }

    /// The kind of the program binary, or whether a launch or a second build changes it.
    Answer binary() {
        const auto& launch = launches_[0];
        const auto source = salt() + text();
        const auto first = built(source, "");
        const auto before = device::program_binary(first);
        if (launch.change == "kind") return {Answer::Status::answered, inspect::describe(inspect::recognise(before))};
        auto of = ready(launch, first);
        of.enqueue();
        of.queues[0].finish();
        const auto after = device::program_binary(launch.change == "launch" ? first : built(source, ""));
        return {Answer::Status::answered,
                before == after ? "same" : format_bytes(before.size()) + ", then " + format_bytes(after.size())};
    }

    device::Session& session_;
    Sizes sizes_;
    Question question_;  ///< the one that is asked, and
    std::vector<Launch> launches_;
    std::map<std::string, device::Built> programs_;  ///< by file and options
    std::map<std::string, cl::Memory> memory_;       ///< by kind, as
    std::map<std::string, cl::CommandQueue> queues_;
};

}  // namespace

std::function<Answer(const Question&)> answers_of(device::Session& session) {
    return [prober = std::make_shared<Prober>(session)](const Question& question) { return prober->ask(question); };
}

}  // namespace cllab::behaviour
