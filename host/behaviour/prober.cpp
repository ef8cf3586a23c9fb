#include "behaviour/rows.hpp"
#include "core/embedded.hpp"
#include "core/grouped.hpp"
#include "core/units.hpp"
#include "device/quirks.hpp"
#include "experiments/lib/math_functions.hpp"
#include "inspect/tools/dump.hpp"
#include "run/measure.hpp"

namespace cllab::behaviour {
namespace {

/// The sizes of sizes.txt for this kind of device: two CPU cores copy them in 10 ms; on a GPU no cache holds them.
Sizes sizes_for(const model::Device& device) {
    const auto all = text_entries(embedded("behaviour/sizes.txt"));
    const std::string kind = device.is_gpu() ? "gpu" : model::name(device.implementation);
    auto entry = std::ranges::find(all, kind, &TextEntry::name);
    if (entry == all.end()) entry = all.begin();
    Sizes out{{"max_group", device.max_group_promised}, {"local_bytes", device.local_bytes}};
    for (const auto& [name, value] : entry->fields) out[name] = parse_integer(value).value();
    return out;
}

const run::MeasureRules rules{.sampling_seconds = 0.3, .first_check = 10, .last_check = 80};
constexpr double least_sample = 3e-3, longest_launch = 0.5;  ///< in seconds; a ratio takes at least 30 launches

/// A launch with its kernel and memory. The kernel object does not keep the memory alive.
struct Ready {
    Launch launch;
    device::Built built;
    cl::Kernel kernel{};
    cl::Memory out{}, in{};
    std::vector<cl::CommandQueue> queues{};

    const std::string& set(const std::string& what) const { return launch.settings.at(what); }
    void enqueue(const cl::CommandQueue& queue, cl::Event* event = nullptr) const {
        queue.enqueueNDRangeKernel(kernel, cl::NullRange, device::nd_range(launch.global),
                                   device::nd_range(launch.local), nullptr, event);
    }
};

class Prober {
public:
    explicit Prober(device::Session& session) : session_(session), sizes_(sizes_for(session.facts())) {}

    Answer ask(const Question& question) {
        static const std::map<std::string, Answer (Prober::*)()> kinds{
            {"value", &Prober::value}, {"ulp", &Prober::ulp},       {"code", &Prober::code},
            {"build", &Prober::build}, {"binary", &Prober::binary}, {"time", &Prober::timed},
            {"rate", &Prober::timed},  {"enqueue", &Prober::timed}, {"ratio", &Prober::timed}};
        question_ = question;
        Answer out;
        std::string claimed;
        try {
            claimed = claim();
            require_needs();
            launches_ = mapped(split(question.field(question.kind), '|'),
                               [&](const auto& text) { return launch_of(text, sizes_); });
            out = (this->*kinds.at(question.kind))();
        } catch (const Unsupported& e) {
            out = {Answer::Status::untried, concat("not tried: ", e.what())};
        } catch (const cl::Error& e) {
            out.text = e.err() == CL_BUILD_PROGRAM_FAILURE ? "does not build" : device::error_name(e.err());
        }
        out.claim = claimed;
        out.so = consequence(question, out);
        return out;
    }

private:
    bool has(const std::string& word) const {
        const auto& device = session_.facts();
        if (word.starts_with("quirk:")) return device::has_quirk(device, word.substr(6));
        return device.has(word) || word == model::name(device.implementation);
    }

    /// Throws Unsupported for the first word of the line `needs` that the device lacks. "a|b": either one; "!a": not a.
    void require_needs() const {
        const bool is_timed = !std::ranges::count(std::array{"value", "ulp", "code", "binary"}, question_.kind);
        if (is_timed && has("oclgrind")) throw Unsupported("a simulator measures no times");
        for (const auto& word : split(question_.field("needs"), ' ')) {
            if (word.starts_with("!") && has(word.substr(1))) throw Unsupported("excluded on " + word.substr(1));
            if (!word.empty() && !word.starts_with("!") &&
                std::ranges::none_of(split(word, '|'), [&](const auto& one) { return has(one); }))
                throw Unsupported(word.starts_with("quirk:") ? "beyond the device's limits" : "needs " + word);
        }
    }

    /// The claim for "device 0x1004 bytes", "kernel 0x11B0 NAME", "flag 0x102A BIT", "extension NAME" or "spec". Other
    /// text stays unchanged.
    std::string claim() {
        const auto text = question_.field("claim");
        const auto words = split(text, ' ');
        if (words[0] == "extension") return has(words[1]) ? "listed" : "not listed";
        if (words[0] == "spec") return "at most " + format_exact(function().ulp_float);
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
    /// The same text, changed so that no cache has it.
    std::string anew() const { return concat("#define SALT ", Clock::now().time_since_epoch().count(), "\n", text()); }

    device::Built built(const std::string& text, const std::string& options) {
        const auto sizes = concat(" -DTRIPS=", sizes_.at("trips"), " -DLOCAL_BYTES=", sizes_.at("local_bytes"));
        auto out = device::build(session_, text, options + sizes);
        if (!out.ok) throw cl::Error(out.code);
        return out;
    }

    /// Makes the launch's kernel from its program, or from `own` if that is built.
    Ready ready(const Launch& launch, const device::Built& own = {}) {
        const auto& options = launch.settings.at("options");
        auto& known = programs_[question_.file() + options];
        if (!own.ok && !known.ok) known = built(text(), options);
        Ready out{launch, own.ok ? own : known};
        out.kernel = {out.built.program, device::kernel_name(session_, out.built, launch.kernel).c_str()};
        const auto arguments = out.kernel.getInfo<CL_KERNEL_NUM_ARGS>();
        out.out = memory(out.set("output"));
        out.kernel.setArg(0, out.out);
        if (arguments > 1) out.kernel.setArg(1, out.in = memory(out.set("input")));
        if (arguments > 2) out.kernel.setArg(2, cl_uint{1});
        if (arguments > 3) out.kernel.setArg(3, std::array<cl_uint, 240>{});
        out.queues = queues(out.set("queue"));
        return out;
    }

    /// One or two queues of this kind. They are kept, because a new queue may create a new context on the device.
    const std::vector<cl::CommandQueue>& queues(const std::string& kind) {
        auto& out = queues_[kind];
        if (!out.empty()) return out;
        const cl_command_queue_properties how = kind == "profiling"   ? CL_QUEUE_PROFILING_ENABLE
                                                : kind == "unordered" ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
                                                                      : 0;
        out.emplace_back(session_.context(), session_.device(), how);
        if (kind == "two") out.emplace_back(session_.context(), session_.device());
        if (kind == "unordered") out.push_back(out[0]);
        return out;
    }

    /// The buffer or image of this kind, with floats from 0.5 to 1.5. Made once, except "fresh".
    cl::Memory memory(const std::string& kind) {
        auto& out = memory_[kind];
        if (out()) return out;
        const auto items = sizes_.at("items"), side = sizes_.at("side");
        const auto flags = CL_MEM_READ_WRITE | (kind == "host" ? CL_MEM_ALLOC_HOST_PTR : 0U);
        if (kind == "fresh") return cl::Buffer(session_.context(), flags, 4 * items);
        std::vector<float> data(items);
        for (std::size_t i = 0; i < data.size() && kind != "zeros"; ++i)
            data[i] = 0.5F + static_cast<float>(mix64(i) >> 40) * 0x1p-24F;
        if (kind == "image")
            return out = cl::Image2D(session_.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                     cl::ImageFormat(CL_R, CL_FLOAT), side, side, 0, data.data());
        const cl::Buffer buffer(session_.context(), flags, 4 * items);
        session_.put(buffer, std::as_bytes(std::span(data)));
        session_.wait();
        return out = buffer;
    }

    /// Seconds per launch for `launches` launches, until the host has waited for them. For `enqueue`, until the last
    /// call returns. A queue with profiling gives each launch an event.
    double once(Ready& of, unsigned launches = 1) {
        if (of.set("output") == "fresh") of.kernel.setArg(0, of.out = memory("fresh"));
        std::vector<cl::Event> events(of.set("queue") == "profiling" ? launches : 0);
        const auto start = Clock::now();
        for (unsigned i = 0; i < launches; ++i)
            for (auto& queue : of.queues) of.enqueue(queue, events.empty() ? nullptr : &events[i]);
        const double enqueued = seconds_since(start);
        // clFinish submits the work of a single queue. After clFlush, Mesa 22.3's rusticl would not wait for that work.
        for (const auto& queue : of.queues)
            if (of.queues.size() > 1) queue.flush();
        for (const auto& queue : of.queues) queue.finish();
        return (question_.kind == "enqueue" ? enqueued : seconds_since(start)) / launches;
    }

    /// Warms up, then returns a function that samples seconds per launch. It times one launch if each needs a new
    /// buffer, else a sequence of some milliseconds. Throws Unsupported if a launch takes too long.
    std::function<double()> sample(const Launch& launch) {
        const auto of = std::make_shared<Ready>(ready(launch));
        once(*of);
        const double seconds = once(*of);
        if (seconds > longest_launch)
            throw Unsupported("one launch takes ", format_seconds(seconds), "; the limit is ",
                              format_seconds(longest_launch));
        const double row = of->set("output") == "fresh" ? 1 : std::clamp(least_sample / seconds, 1.0, 1e4);
        return [this, of, row] { return once(*of, static_cast<unsigned>(row)); };
    }

    static Answer measure(const std::string& unit, const std::function<double()>& sample) {
        return measured(unit, run::sampled(rules, sample));
    }

    /// Seconds per launch, work-items per second, or the ratio of the times of two launches in the order A B B A.
    Answer timed() {
        const auto of = mapped(launches_, [&](const Launch& launch) { return sample(launch); });
        const auto items = static_cast<double>(launches_[0].global.count());
        if (question_.kind == "rate") return measure("op/s", [&] { return items / of[0](); });
        if (question_.kind != "ratio") return measure("s", of[0]);
        return measure("", [&] {
            const double first = of[0](), second = of[1]() * of[1]();
            return std::sqrt(first * of[0]() / second);
        });
    }

    /// The first `number` words that the launch leaves in a zeroed buffer. With two queues the second one writes the
    /// zeros, 64 times, and the first word is the sum over the 64 launches. Queue "flushed": the first word says
    /// whether clFinish waited for the launch after clFlush.
    std::vector<cl_uint> words_of(const Launch& launch, std::size_t number) {
        const auto of = ready(launch);
        const cl::Buffer out(of.out(), true);
        const auto &one = of.queues.front(), &other = of.queues.back();
        std::vector<cl_uint> words;
        cl_uint sum = 0;
        for (std::size_t i = 0; i < (of.queues.size() > 1 ? 64 : 1); ++i) {
            words.assign(number, 0);
            other.enqueueWriteBuffer(out, CL_TRUE, 0, 4 * number, words.data());
            cl::Event done;
            of.enqueue(one, &done);
            if (of.set("queue") == "flushed") one.flush();
            one.finish();
            const bool waited = done.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() == CL_COMPLETE;
            done.wait();
            other.enqueueReadBuffer(out, CL_TRUE, 0, 4 * number, words.data());
            if (of.set("queue") == "flushed") words[0] = waited;
            sum += words[0];
        }
        words[0] = sum;
        return words;
    }

    Answer value() {
        const auto words = mapped(launches_, [&](const Launch& launch) { return words_of(launch, 60); });
        return {Answer::Status::answered, said(question_, words.back())};
    }

    /// The row's function: the last word of its name, without "native_" or "half_".
    const model::math::Function& function() const {
        return *model::math::find(question_.name.substr(question_.name.find_last_of("._") + 1));
    }

    /// The kernel's output has the results, then the arguments.
    Answer ulp() {
        const auto few = static_cast<std::size_t>(sizes_.at("few"));
        const auto words = words_of(launches_[0], 2 * few);
        const auto value = [&](std::size_t i) { return std::bit_cast<float>(words[i]); };
        double worst = 0;
        for (std::size_t i = 0; i < few; ++i)
            worst = std::max(worst, model::math::error_ulp(value(i), function().reference(value(few + i))));
        if (std::isinf(worst)) return {Answer::Status::answered, "a NaN or an infinity"};
        return {Answer::Status::answered, format_significant(worst, 3), {worst}};
    }

    /// A hash of the code that a launch runs; empty if the code is unreadable.
    std::string code_of(const Launch& launch) {
        auto of = ready(launch);
        once(of);  // CPU drivers compile at the first launch
        const auto bytes = device::program_binary(of.built);
        inspect::DumpRequest request{{},    launch.kernel,   "", launch.settings.at("options"), of.built.log,
                                     bytes, session_.facts()};
        request.launch = {launch.local, launch.global};
        // NVIDIA's program binary is PTX, the input of its assembler. Its text is compared; nothing is disassembled.
        if (has("nvidia")) request.tool_budget = {};
        return inspect::read_code(request).info.fingerprint;
    }

    Answer code() {
        const auto first = code_of(launches_[0]), second = code_of(launches_[1]);
        if (first.empty() || second.empty()) throw Unsupported("the compiled code cannot be read");
        return {Answer::Status::answered, concat(first == second ? "same " : "other ", has("nvidia") ? "PTX" : "code")};
    }

    /// Build time of a new text, or the ratio of a second build to it. The second one has the same text, perhaps with a
    /// comment or options.
    Answer build() {
        const auto& [kernel, change, global, local, settings] = launches_[0];
        return measure(change == "cold" ? "s" : "", [&] {
            const auto cold = anew();
            const double seconds = built(cold, "").seconds;
            if (change == "cold") return seconds;
            return built(cold + (change == "comment" ? "// other" : ""), settings.at("options")).seconds / seconds;
        });
    }

    /// The kind of the program binary, or whether a launch or a second build changes it.
    Answer binary() {
        const auto& launch = launches_[0];
        const auto source = anew();
        auto of = ready(launch, built(source, ""));
        const auto before = device::program_binary(of.built);
        if (launch.change == "kind") return {Answer::Status::answered, inspect::describe(inspect::recognise(before))};
        once(of);
        const auto after = device::program_binary(launch.change == "launch" ? of.built : built(source, ""));
        return {Answer::Status::answered,
                before == after ? "same" : format_bytes(before.size()) + ", then " + format_bytes(after.size())};
    }

    device::Session& session_;
    Sizes sizes_;
    Question question_;  ///< the current question
    std::vector<Launch> launches_;
    std::map<std::string, device::Built> programs_;  ///< by file and options
    std::map<std::string, cl::Memory> memory_;       ///< by kind
    std::map<std::string, std::vector<cl::CommandQueue>> queues_;
};

}  // namespace

std::function<Answer(const Question&)> answers_of(device::Session& session) {
    return [prober = std::make_shared<Prober>(session)](const Question& question) { return prober->ask(question); };
}

}  // namespace cllab::behaviour
