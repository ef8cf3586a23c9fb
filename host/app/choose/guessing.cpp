#include "app/choose/guessing.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/files/image_file.hpp"
#include "app/processes/child_runner.hpp"
#include "app/processes/simulation.hpp"
#include "app/processes/worker.hpp"
#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/units.hpp"
#include "device/platforms.hpp"
#include "device/program.hpp"
#include "device/quirks.hpp"
#include "inspect/tools/tool.hpp"
#include "json/read.hpp"
#include "kernelfile/bound.hpp"
#include "kernelfile/piece.hpp"
#include "run/cell/operation.hpp"

namespace cllab::kernelfile {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GuessedKernel, axes, sizes, arguments, global, local, offset, how, open, outside,
                                   advised, written, is_empty)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(TouchedBytes, size, last, unit, bytes, written_bytes, read, written,
                                                atomic, read_first, before, channel, pixels, argument)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SeenLaunch, too_long, overruns, instructions, items, calls, arguments,
                                                local)
}  // namespace cllab::kernelfile

namespace cllab::app {
namespace {

/// For a child process that guesses: compilers would also print their build log to stderr.
void drop_stderr() {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0) return;
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

using kernelfile::Description;
using kernelfile::GuessedKernel;
using kernelfile::SaidOfKernel;
using kernelfile::SeenLaunch;
using kernelfile::SmallLaunch;
using kernelfile::Stated;

/// The guess as a block would describe it. Arguments from the user stay unchanged.
Description described(const SaidOfKernel& said, const SmallLaunch& small) {
    Description out;
    for (const auto& [name, text] : small.arguments) {
        const auto given = said.given.find(name);
        if (given != said.given.end() && given->second.text == text)
            out.all.arguments.emplace(name, given->second);
        else
            out.all.arguments.emplace(name, kernelfile::parse_argument(kernelfile::Piece{text, {"a guess", 0, 0}}));
    }
    out.all.arguments.insert(said.given.begin(), said.given.end());  // also arrays of which only parts are arguments
    const kernelfile::Place nowhere{"a guess", 0, 0};
    const auto set = [&](auto& to, const std::string& text) {
        if (!text.empty()) to.emplace(nowhere, kernelfile::parse_list(text, nowhere));
    };
    set(out.all.global, small.global);
    set(out.all.local, small.local);
    set(out.all.offset, small.offset);
    return out;
}

/// Small launches in Oclgrind. Its plugin reports which bytes they touch. For a child process.
class SmallLauncher {
public:
    /// Writes files into the folder. Throws Error(environment) if Oclgrind or its plugin is missing.
    explicit SmallLauncher(const std::filesystem::path& folder) : file_(folder / "touched") {
        use_oclgrind(find_oclgrind("a guess"), {{"OCLGRIND_MAX_ERRORS", "1"},
                                                {"OCLGRIND_LOG", folder / "log"},
                                                {"OCLGRIND_LOCAL_MEM_SIZE", "4194304"},  // the final size is unknown
                                                {"CLLAB_TOUCHED_FILE", file_}});
        session_ = &open_oclgrind(devices_);
    }
    /// Selects the text for launches. Builds each text only once.
    void build(const AskedBuild& asked) {
        text_ = asked.text;
        const auto options = options_on(session_->facts(), asked);
        auto [at, is_new] = built_.try_emplace(options + "\n" + text_);
        if (is_new && !program_of_text(text_)) at->second = device::build(*session_, text_, options);
        now_ = &at->second;
    }
    /// `where`: the file's name for messages. Failures go to the result's `trouble`.
    SeenLaunch launch(const std::string& where, const SaidOfKernel& said, const SmallLaunch& small) {
        SeenLaunch out;
        std::error_code ignored;
        std::filesystem::remove(file_, ignored);
        setenv("CLLAB_TOUCHED_INSTRUCTIONS", small.may_be_long ? "4000000" : "600000", 1);
        try {
            if (!now_->ok) return SeenLaunch{.trouble = "the simulator does not build it"};
            launch_once(where, said, small);
        } catch (const std::exception& e) {
            out.trouble = e.what();
        }
        const auto json = nlohmann::json::parse(cllab::read_file(file_).value_or(""), nullptr, false);
        if (json.is_object()) {
            out = json.get<SeenLaunch>();
            if (!out.too_long && out.instructions == 0) out.trouble = "nothing ran";
        } else if (out.trouble.empty()) {
            out.trouble = "the simulator ran nothing";
        }
        return out;
    }

private:
    void launch_once(const std::string& where, const SaidOfKernel& said, const SmallLaunch& small) {
        model::Point point;
        for (const auto& [name, value] : small.axes) point.set(name, std::to_string(value));
        std::vector<std::string> notes;
        const kernelfile::Bound bound(
            where, described(said, small), said.signature, {}, kernelfile::usual_format(text_),
            [](const std::string& path) { return load_grey(path); }, kernelfile::Wants::launch, notes);
        constexpr std::uint64_t seed = 1;
        const auto setup = bound.setup(point, session_->facts(), seed);
        run::Operation operation(*session_, *now_, setup, said.signature.name);
        operation.load(setup, seed);
        operation.enqueue();
        session_->wait();
    }

    std::filesystem::path file_;
    LocalDevices devices_;
    device::Session* session_ = nullptr;
    std::map<std::string, device::Built> built_;
    const device::Built* now_ = nullptr;
    std::string text_;
};

/// The input for guesses.
struct Task {
    kernelfile::KernelFiles& files;
    const std::vector<AskedBuild>& builds;
    const std::vector<Stated>& kernels;

    kernelfile::TextFacts text_of(const Stated& one) const {
        return kernelfile::TextFacts(files.builds()[one.build].text->text);
    }
    const std::string& path_of(const Stated& one) const { return files.files()[files.builds()[one.build].file].path; }
};

/// For a child process.
void guess_here(const Task& task, const HandOver& hand_over) {
    constexpr double most_seconds = 5;  // CPU time per kernel; most take 0.1 s
    drop_stderr();
    const inspect::TempFolder folder;
    SmallLauncher simulator(folder.path());
    for (const auto& kernel : task.kernels) {
        const auto start = std::clock();
        simulator.build(task.builds[kernel.build]);
        const kernelfile::TryLaunch launch = [&](const SmallLaunch& small) {
            if (static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC > most_seconds)
                return SeenLaunch{.trouble = "the time for guesses is over"};
            return simulator.launch(task.path_of(kernel), kernel.said, small);
        };
        hand_over(json_text(nlohmann::json(guess_kernel(kernel.said, task.text_of(kernel), launch))));
    }
}

/// Guesses in a child process; empty if the simulator is missing or fails. `why` gets the reason.
std::vector<GuessedKernel> guess_in_child(const Task& task, std::string& why) {
    // The simulator limits an endless kernel by instructions. Under load, a few seconds of CPU time may take much
    // longer.
    constexpr double patience = 60;
    std::vector<GuessedKernel> out;
    try {
        const auto lines = in_child([&](const HandOver& hand_over) { guess_here(task, hand_over); },
                                    "while cllab guessed missing lines of a kernel file", patience, patience);
        for (const auto& line : lines) out.push_back(nlohmann::json::parse(line).get<GuessedKernel>());
    } catch (const run::Interrupted&) {
        throw;
    } catch (const std::exception& e) {
        out.clear();  // the caller then guesses from the text alone
        why = e.what();
    }
    return out;
}

std::vector<GuessedKernel> guesses(const Task& task) {
    std::string why;
    auto out = guess_in_child(task, why);
    if (out.size() == task.kernels.size()) return out;
    out.clear();
    for (const auto& kernel : task.kernels) {
        const std::vector alone{kernel};
        const auto one = task.kernels.size() > 1 ? guess_in_child({task.files, task.builds, alone}, why)
                                                 : std::vector<GuessedKernel>{};
        if (one.size() == 1) {
            out.push_back(one.front());
            continue;
        }
        out.push_back(guess_kernel(kernel.said, task.text_of(kernel), {}));
        out.back().how += ": " + one_line(why);
    }
    return out;
}

/// The message that asks for missing lines, with suggestions that fit the guessed ones.
std::string question(const std::string& path, const std::string& kernel, const GuessedKernel& guess) {
    std::vector<std::string> lines;
    for (const auto& [name, text] : guess.advised)
        for (const auto& line : split("arg " + name + " = " + text, '\n'))
            if (!text.empty()) lines.push_back("'" + line + "'");
    const bool is_written = std::ranges::count(guess.written, guess.open.front()) > 0;
    return "kernel '" + kernel + "' of '" + path + "': " + join(guess.open, ", ") + " cannot be guessed" +
           (guess.outside.empty() ? "" : ", because " + join(guess.outside, ", ")) + "; add lines such as " +
           (lines.empty()
                ? "'arg " + guess.open.front() + (is_written ? " = zero" : " = rand") + ":1024' (`cllab help data`)"
                : join(lines, ", ")) +
           " to the guessed block";
}

/// All stated or guessed facts about a kernel: "arg x" and "rand:n", "axis n" and "1024".
struct StatedOrGuessed {
    const Stated& stated;
    std::map<std::string, std::string> lines{};

    StatedOrGuessed(const Stated& of, const GuessedKernel* guess) : stated(of) {
        for (const auto& [name, spec] : stated.said.given) lines.emplace("arg " + name, spec.text);
        for (const auto& [name, value] : stated.said.axes) lines.emplace("axis " + name, std::to_string(value));
        if (!guess) return;
        for (const auto& [name, text] : guess->arguments) lines.emplace("arg " + name, text);
        for (const auto& [name, value] : guess->axes) lines.emplace("axis " + name, std::to_string(value));
    }
};

std::string axes_text(const GuessedKernel& kernel) {
    return join(kernel.axes, " ", [](const auto& axis) { return axis.first + "=" + format_integer(axis.second); });
}

/// Kernels that --vs compares must process the same data.
void require_alike(const StatedOrGuessed& one, const StatedOrGuessed& other) {
    if (one.stated.is_enough && other.stated.is_enough) return;  // the user stated both completely
    for (const auto& [name, text] : one.lines)
        if (const auto same = other.lines.find(name); same != other.lines.end() && same->second != text)
            throw Error(Blame::usage, "--vs compares kernels on the same data, but the guesses for '",
                        one.stated.said.signature.name, "' and '", other.stated.said.signature.name, "' differ: '",
                        name, " = ", text, "' and '", name, " = ", same->second,
                        "'; add the right line to the kernel file's block (--print-block prints the guessed blocks)");
}

/// For a file whose kernels got problems of different sizes: says so for each. `names`: the axes' names in the block.
void tell_apart(const std::vector<GuessedKernel>& kernels, const std::set<std::string>& set,
                const kernelfile::GuessedKernels& named, GuessedBlock& out) {
    const auto first = kernelfile::equal_problems(kernels, set);
    if (std::set(first.begin(), first.end()).size() < 2) return;
    std::map<std::string, std::int64_t> least;
    for (const auto& kernel : kernels)
        for (const auto& [axis, value] : kernel.axes)
            if (auto& size = least.try_emplace(axis, value).first->second; value < size) size = value;
    std::string given;
    for (const auto& [axis, value] : least)
        if (!set.contains(axis)) given += " --axis " + axis + "=" + format_integer(value);
    for (std::size_t i = 0; i < kernels.size(); ++i)
        out.unlike[named[i].first] =
            concat("the guessed sizes differ between the kernels (here ", axes_text(named[first[i]].second),
                   "), so only rows of one size are ranked;", given, " sets one size for all");
}

/// The guessed block of one file. `axes`: those of earlier files; adds those of this file.
GuessedBlock block_of_file(kernelfile::KernelFiles& files, std::size_t file, const std::vector<Stated>& kernels,
                           const std::vector<GuessedKernel>& found, const std::set<std::string>& set,
                           std::map<std::string, std::int64_t>& axes) {
    const auto& path = files.files()[file].path;
    std::vector<GuessedKernel> own;
    std::vector<std::string> sizes;
    GuessedBlock out{path};
    kernelfile::GuessedKernels guesses;
    bool alone = true;
    std::vector<std::string> how;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const auto& build = files.builds()[kernels[i].build];
        if (build.file != file) continue;
        const auto& signature = kernels[i].said.signature;
        if (found[i].is_empty) {
            out.open.emplace_back(signature.name,
                                  "kernel '" + signature.name + "' of '" + path + "' has an empty body");
            continue;
        }
        guesses.emplace_back(signature.name, found[i]);
        own.push_back(found[i]);
        out.kernels.insert(signature.name);
        alone = alone && build.found.kernels.size() == 1;
        add_once(how, found[i].how);
    }
    out.text = block_of(guesses, alone, axes);
    tell_apart(own, set, guesses, out);
    for (const auto& [kernel, guess] : guesses) add_once(sizes, axes_text(guess));
    std::erase(sizes, "");
    out.sizes = join(sizes, ", ");
    for (const auto& [kernel, guess] : guesses)
        if (!guess.open.empty()) out.open.emplace_back(kernel, question(path, kernel, guess));
    out.how = join(how, "; ");
    return out;
}

}  // namespace

std::string GuessedBlock::path() const { return std::filesystem::path(file).replace_extension(".cllab").string(); }

std::vector<GuessedBlock> guess_what_lacks(kernelfile::KernelFiles& files, const std::vector<AskedBuild>& builds,
                                           const std::vector<kernelfile::KernelPattern>& wanted, bool compared) {
    const auto all = files.stated(wanted);
    std::vector<Stated> kernels;
    std::ranges::copy_if(all, std::back_inserter(kernels), [](const auto& one) { return !one.is_enough; });
    if (kernels.empty()) return {};
    auto found = guesses({files, builds, kernels});
    const auto set = files.set_axes();
    kernelfile::share_sizes(found, set);
    if (compared) {
        std::vector<StatedOrGuessed> known;
        for (std::size_t next = 0; const auto& one : all) {
            known.emplace_back(one, one.is_enough ? nullptr : &found[next++]);
            require_alike(known.front(), known.back());
        }
    }
    std::vector<GuessedBlock> out;
    std::map<std::string, std::int64_t> axes;
    for (std::size_t f = 0; f < files.files().size(); ++f) {
        auto block = block_of_file(files, f, kernels, found, set, axes);
        if (block.kernels.empty() && block.open.empty()) continue;
        kernelfile::Description more;
        kernelfile::parse_statements(block.text, block.file + " (guessed)", 1, more);
        for (std::size_t i = 0; i < kernels.size(); ++i)
            for (const auto& name : found[i].written)
                if (files.builds()[kernels[i].build].file == f)
                    more.kernels[kernels[i].said.signature.name].second.expected.emplace(
                        name, std::pair(kernelfile::Place{block.file + " (guessed)", 1, 1}, kernelfile::may_leave));
        files.describe(f, more);
        out.push_back(std::move(block));
    }
    return out;
}

std::string options_on(const model::Device& device, const AskedBuild& build) {
    auto out = build.options;
    if (build.includes_lab)
        for (const auto& define : device::device_defines(device)) out += " -D" + define;
    return out;
}

std::vector<model::Introspection> introspect(device::Session& session, const std::vector<AskedBuild>& builds) {
    return mapped(builds, [&](const auto& build) {
        return device::introspect(session, build.text, options_on(session.facts(), build));
    });
}

std::vector<model::Introspection> ask_in_child(const CellOptions& invocation, const std::vector<AskedBuild>& builds) {
    // --timeout is meant for endless kernels. On a busy machine it may be too short for a driver to start and compile.
    const double patience = std::max(invocation.timeout_seconds, 60.0);
    auto lines = in_child(
        [&](const HandOver& hand_over) {
            drop_stderr();
            std::vector<std::string> listed;
            const auto selected =
                hand_over_devices(invocation.devices, [&](const auto& line) { listed.push_back(line); })
                    .front()
                    .selector;
            auto devices = device::discover();
            std::stable_partition(devices.begin(), devices.end(),
                                  [&](const auto& d) { return d.facts.selector == selected; });
            std::vector<model::Introspection> found;
            for (const auto& one : devices) {
                device::Session session(one);
                found = introspect(session, builds);
                if (std::ranges::all_of(found, [](const auto& f) { return f.trouble.empty(); })) break;
            }
            for (const auto& one : found) hand_over(json_text(nlohmann::json(one)));
            for (const auto& line : listed) hand_over(line);
        },
        "while cllab built the kernel file to find its arguments", patience, patience);
    std::vector<model::Introspection> out;
    for (std::size_t i = 0; i < builds.size(); ++i)
        out.push_back(nlohmann::json::parse(lines.at(i)).get<model::Introspection>());
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(builds.size()));
    keep_devices(invocation.devices, std::move(lines));
    return out;
}

}  // namespace cllab::app
