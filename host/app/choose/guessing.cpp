#include "app/choose/guessing.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/choose/watched_launch.hpp"
#include "app/files/image_file.hpp"
#include "app/processes/local_devices.hpp"
#include "app/processes/worker.hpp"
#include "core/error.hpp"
#include "count/oclgrind.hpp"
#include "inspect/tools/tool.hpp"
#include "kernelfile/guess/block.hpp"

namespace cllab::kernelfile {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GuessedKernel, axes, arguments, global, local, offset, how, open)
}  // namespace cllab::kernelfile

namespace cllab::app {
namespace {

using kernelfile::GuessedKernel;
using kernelfile::Lacking;

/// What there is to guess from.
struct Task {
    kernelfile::KernelFiles& files;
    const std::vector<AskedBuild>& builds;
    const std::vector<Lacking>& kernels;

    kernelfile::TextFacts text_of(const Lacking& one) const {
        return kernelfile::TextFacts(files.builds()[one.build].text->text);
    }
    const std::string& path_of(const Lacking& one) const { return files.files()[files.builds()[one.build].file].path; }
};

/// In a child process.
void guess_here(const Task& task, const HandOver& hand_over) {
    constexpr double most_seconds = 3;  // of the processor
    drop_stderr();
    const inspect::TempFolder folder;
    WatchingSimulator simulator(folder.path());
    for (const auto& kernel : task.kernels) {
        simulator.build(task.builds[kernel.build]);
        const kernelfile::TryLaunch launch = [&](const kernelfile::Trial& trial) {
            if (static_cast<double>(std::clock()) / CLOCKS_PER_SEC > most_seconds)
                return kernelfile::Watched{.trouble = "the time for guesses is over"};
            return simulator.launch(task.path_of(kernel), kernel.said, trial);
        };
        hand_over(nlohmann::json(guess_kernel(kernel.said, task.text_of(kernel), launch))
                      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
}

/// In a child process; nothing where the simulator is not installed, or fails.
std::vector<GuessedKernel> guess_in_child(const Task& task) {
    constexpr double patience = 20;
    std::vector<GuessedKernel> out;
    try {
        const auto lines = in_child([&](const HandOver& hand_over) { guess_here(task, hand_over); },
                                    "while cllab guessed what a kernel file leaves out", patience, patience);
        for (const auto& line : lines) out.push_back(nlohmann::json::parse(line).get<GuessedKernel>());
    } catch (const run::Interrupted&) {
        throw;
    } catch (const std::exception&) {
        out.clear();  // the text is left to guess from
    }
    return out;
}

std::vector<GuessedKernel> guesses(const Task& task) {
    auto out = guess_in_child(task);
    if (out.size() == task.kernels.size()) return out;
    out.clear();
    for (const auto& kernel : task.kernels) {
        const std::vector alone{kernel};
        const auto one =
            task.kernels.size() > 1 ? guess_in_child({task.files, task.builds, alone}) : std::vector<GuessedKernel>{};
        out.push_back(one.size() == 1 ? one.front() : guess_kernel(kernel.said, task.text_of(kernel), {}));
    }
    return out;
}

/// What is asked for, with what might be written.
std::string question(const std::string& path, const model::KernelSignature& signature, const GuessedKernel& guess) {
    using Kind = model::Parameter::Kind;
    std::vector<std::string> examples;
    for (const auto& p : signature.parameters) {
        if (std::ranges::find(guess.open, p.name) == guess.open.end()) continue;
        const auto axis = guess.axes.empty() ? std::string("1024") : guess.axes.front().first;
        const std::string type = p.type.bytes == 0 ? "float:" : "";
        examples.push_back("'arg " + p.name + " = " +
                           (p.kind == Kind::value ? "{int:1, float:0.5}" : "rand:" + type + "4*" + axis) + "'");
    }
    return "what kernel '" + signature.name + "' of '" + path + "' needs for " + join(guess.open, ", ") +
           " cannot be guessed; add lines such as " + join(examples, ", ") + " to the guessed ones above";
}

std::optional<std::string> value_in(const GuessedKernel& guess, const std::string& argument) {
    for (const auto& [name, text] : guess.arguments)
        if (name == argument) return text;
    return std::nullopt;
}

/// Kernels that are compared must work on the same: other data or another size is another question.
void require_alike(const std::vector<Lacking>& kernels, const std::vector<GuessedKernel>& found) {
    const auto refuse = [&](std::size_t other, const std::string& what) {
        throw Error(Blame::usage, "--vs compares kernels on the same data, and what is guessed for '" +
                                      kernels[0].said.signature.name + "' and '" + kernels[other].said.signature.name +
                                      "' differs: " + what + "; say it in a block: --print-block prints the guesses");
    };
    for (std::size_t i = 1; i < found.size(); ++i) {
        for (const auto& [name, text] : found[0].arguments)
            if (const auto other = value_in(found[i], name); other && *other != text)
                refuse(i, "arg " + name + " = " + text + " against " + *other);
        for (const auto& [axis, value] : found[0].axes)
            for (const auto& [name, other] : found[i].axes)
                if (name == axis && other != value)
                    refuse(i, "axis " + axis + " = " + std::to_string(value) + " against " + std::to_string(other));
    }
}

}  // namespace

std::string GuessedBlock::path() const { return std::filesystem::path(file).replace_extension(".cllab").string(); }

std::vector<GuessedBlock> guess_what_lacks(kernelfile::KernelFiles& files, const std::vector<AskedBuild>& builds,
                                           const std::vector<kernelfile::Wanted>& wanted, bool compared) {
    const auto kernels = files.lacking(wanted);
    if (kernels.empty()) return {};
    const auto found = guesses({files, builds, kernels});
    if (compared) require_alike(kernels, found);
    std::vector<GuessedBlock> out;
    std::map<std::string, std::int64_t> axes;
    for (std::size_t f = 0; f < files.files().size(); ++f) {
        kernelfile::GuessedKernels of_file;
        bool alone = true;
        std::vector<std::string> how;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            const auto& build = files.builds()[kernels[i].build];
            if (build.file != f) continue;
            of_file.emplace_back(kernels[i].said.signature.name, found[i]);
            alone = alone && build.found.kernels.size() == 1;
            if (std::ranges::find(how, found[i].how) == how.end()) how.push_back(found[i].how);
        }
        if (of_file.empty()) continue;
        const auto& path = files.files()[f].path;
        GuessedBlock block{path, block_of(of_file, alone, axes), join(how, "; "), {}};
        for (std::size_t i = 0; i < kernels.size(); ++i)
            if (files.builds()[kernels[i].build].file == f && !found[i].open.empty())
                block.open.emplace_back(kernels[i].said.signature.name,
                                        question(path, kernels[i].said.signature, found[i]));
        kernelfile::Description more;
        kernelfile::parse_statements(block.text, path + " (guessed)", 1, more);
        files.describe(f, more);
        out.push_back(std::move(block));
    }
    return out;
}

}  // namespace cllab::app
