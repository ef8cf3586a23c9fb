// --reference-command: writes inputs as .npy files to a new folder, runs the user's command, and reads its results from
// .npy files there.
#include "app/running/cross_check.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <ranges>

#include "app/choose/request.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/streams.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "inspect/tools/tool.hpp"
#include "model/params.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using kernelfile::Answer;
using kernelfile::ArgumentArray;

/// The beginning of messages about the command.
const std::string whose = "the reference command";

/// The last line that is not empty.
std::string last_line(const std::string& text) {
    std::string out;
    for (const auto& line : split(text, '\n'))
        if (const auto said = trim(line); !said.empty()) out = said;
    return printable(excerpt(out));
}

std::string failure(const inspect::ToolResult& ran, double seconds) {
    const auto said = last_line(ran.err);
    const auto because = said.empty() ? std::string() : ": " + said;
    if (ran.timed_out) return " did not end within " + format_exact(seconds) + " s (--timeout)";
    if (ran.endless) return " printed more than 64 MiB, and was ended";
    if (ran.status < 0) return " could not be started" + because;
    if (ran.status > 128) return " was ended by signal " + std::to_string(ran.status - 128) + because;
    return ran.status == 0 ? "" : " exited with status " + std::to_string(ran.status) + because;
}

Answer answer_of(const std::string& command, double seconds, const std::vector<ArgumentArray>& arguments) {
    const inspect::TempFolder folder;
    const auto file_of = [&](const ArgumentArray& a) { return folder.path() / (a.name + ".npy"); };
    const auto an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const auto& a : arguments) {
        if (!a.data) continue;
        std::ofstream out(file_of(a), std::ios::binary);
        out << kernelfile::npy_header(a);
        out.write(reinterpret_cast<const char*>(a.data->data()), static_cast<std::streamsize>(a.data->size()));
        out.close();
        if (!out) throw Error(Blame::environment, "file '" + file_of(a).string() + "' cannot be written");
        // An old time stamp shows whether the command writes the file again.
        if (a.comes_out) fs::last_write_time(file_of(a), an_hour_ago - std::chrono::hours(1));
    }
    setenv("CLLAB_REFERENCE_DIR", folder.path().c_str(), 1);
    const auto ran = inspect::run_tool("/bin/sh", {"-c", command, "sh", folder.path().string()},
                                       std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3)));
    unsetenv("CLLAB_REFERENCE_DIR");
    if (interrupted()) throw run::Interrupted{};
    if (const auto why = failure(ran, seconds); !why.empty()) return {{}, whose + why};
    const auto said = last_line(ran.err);
    Answer out;
    for (const auto& a : arguments | std::views::filter(&ArgumentArray::comes_out)) try {
            std::error_code failed;
            const bool is_new = fs::last_write_time(file_of(a), failed) > an_hour_ago;
            if (failed || !is_new)
                return {{},
                        whose + (failed ? " left no '" : " did not write '") + a.name +
                            ".npy' in $CLLAB_REFERENCE_DIR" + (said.empty() ? "" : "; it says: " + said)};
            out.contents.emplace(a.name, kernelfile::read_result(file_of(a), a, whose));
        } catch (const Error& e) {
            return {{}, e.what()};
        }
    return out;
}

}  // namespace

void ask_reference_command(const CellOptions& options, const Choice& choice, const std::vector<model::Group>& cells,
                           const model::Device& device, bool twice) {
    if (options.reference_command.empty()) return;
    for (const auto& cell : cells | std::views::join) try {
            auto& known = choice.answers(*cell.variant).by_command;
            std::string first;
            for (const unsigned verification : {0u, 1u}) {
                if (verification == 1 && !twice) break;
                const auto asked = choice.arguments_of(
                    {*cell.variant, cell.point, device, options.seed + verification, model::no_files, verification});
                const auto key = kernelfile::key_of(asked.arguments);
                if (!known.contains(key)) {
                    auto answer = answer_of(options.reference_command, options.timeout_seconds, asked.arguments);
                    if (verification == 1 && asked.random_inputs && answer.contents == known.at(first).contents)
                        answer.remark = "; the command left the same for two random inputs";
                    known.emplace(key, std::move(answer));
                }
                first = key;
            }
        } catch (const Unsupported&) {  // the cell's record says so
        }
}

}  // namespace cllab::app
