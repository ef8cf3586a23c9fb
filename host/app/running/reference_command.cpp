// --reference-command: inputs as .npy files in a fresh folder, a command of the user's, and its results as .npy files.
#include <cstdlib>
#include <filesystem>
#include <ranges>

#include "app/processes/runner.hpp"
#include "app/running/opinions.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/proof/opinions.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using kernelfile::Answer;
using kernelfile::ArgumentArray;

/// What a sentence about the command begins with.
constexpr const char* whose = "the reference command";

/// The last line that says something.
std::string last_line(const std::string& text) {
    std::string out;
    for (const auto& line : split(text, '\n'))
        if (const auto said = trim(line); !said.empty()) out = said;
    return printable(excerpt(out));
}

std::string failure(const inspect::ToolResult& ran, double seconds) {
    const auto said = last_line(ran.err);
    const auto because = said.empty() ? std::string() : ": " + said;
    if (ran.timed_out) return "did not end within " + format_exact(seconds) + " s (--timeout)";
    if (ran.endless) return "printed more than 64 MiB, and was ended";
    if (ran.status < 0) return "could not be started" + because;
    if (ran.status > 128) return "was ended by signal " + std::to_string(ran.status - 128) + because;
    return ran.status == 0 ? "" : "exited with status " + std::to_string(ran.status) + because;
}

class ReferenceCommand {
public:
    explicit ReferenceCommand(const std::vector<ArgumentArray>& arguments) : arguments_(arguments) {
        for (const auto& a : arguments) {
            if (!a.data) continue;
            cllab::write_file(file_of(a), kernelfile::npy_of(a, *a.data));
            // What the command does not write again is not its result.
            if (a.comes_out) fs::last_write_time(file_of(a), long_ago_);
        }
    }

    Answer answer(const std::string& command, double seconds) const {
        setenv("CLLAB_REFERENCE_DIR", folder_.path().c_str(), 1);
        const std::chrono::milliseconds limit(static_cast<std::int64_t>(seconds * 1e3));
        const auto ran = inspect::run_tool("/bin/sh", {"-c", command, "sh", folder_.path().string()}, limit);
        unsetenv("CLLAB_REFERENCE_DIR");
        if (interrupted()) throw run::Interrupted{};
        Answer out;
        if (const auto why = failure(ran, seconds); !why.empty()) {
            out.trouble = whose + (" " + why);
            return out;
        }
        try {
            for (const auto& a : arguments_)
                if (a.comes_out) out.contents.emplace(a.name, result(a, last_line(ran.err)));
        } catch (const Error& e) {
            out.trouble = e.what();
        }
        return out;
    }

private:
    fs::path file_of(const ArgumentArray& a) const { return folder_.path() / (a.name + ".npy"); }

    model::Bytes result(const ArgumentArray& a, const std::string& said) const {
        std::error_code failed;
        const auto written = fs::last_write_time(file_of(a), failed);
        if (failed || (written > long_ago_ - a_moment && written < long_ago_ + a_moment))
            throw Error(Blame::result, std::string(whose) + (failed ? " left no '" : " did not write '") + a.name +
                                           ".npy' in $CLLAB_REFERENCE_DIR" +
                                           (said.empty() ? "" : "; it says: " + said));
        return kernelfile::read_result(file_of(a), a, whose);
    }

    static constexpr std::chrono::seconds a_moment{2};  // of file systems that keep no fractions
    const fs::file_time_type long_ago_ = fs::file_time_type::clock::now() - std::chrono::hours(24 * 365);
    const std::vector<ArgumentArray>& arguments_;
    inspect::TempFolder folder_;
};

/// Of one cell, for the inputs of both verifications.
void ask(const CellOptions& options, const Choice& choice, const model::Cell& cell, const model::Device& device,
         unsigned verifications) {
    const kernelfile::Opinions opinions(options.opinions);
    std::optional<Answer> first;
    for (unsigned i = 0; i < verifications; ++i) {
        const auto known =
            choice.arguments_of({*cell.variant, cell.point, device, options.seed + i, model::no_files, i});
        const auto key = kernelfile::key_of(known.arguments);
        auto answer = opinions.answer(key);
        if (!answer) {
            answer = ReferenceCommand(known.arguments).answer(options.reference_command, options.timeout_seconds);
            if (first && known.random_inputs && answer->contents == first->contents)
                answer->remark = "; the command left the same for two random inputs";
            opinions.keep(key, *answer);
        }
        first = std::move(answer);
    }
}

}  // namespace

void ask_reference_command(const CellOptions& options, const Choice& choice, const std::vector<model::Group>& cells,
                           const model::Device& device, bool twice) {
    if (options.reference_command.empty()) return;
    for (const auto& cell : cells | std::views::join) try {
            ask(options, choice, cell, device, twice ? 2 : 1);
        } catch (const Unsupported&) {  // the cell says so in its record
        }
}

}  // namespace cllab::app
