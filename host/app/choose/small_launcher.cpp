#include "app/choose/small_launcher.hpp"

#include <nlohmann/json.hpp>

#include "app/files/image_file.hpp"
#include "app/processes/worker.hpp"
#include "count/oclgrind.hpp"
#include "device/driver_settings.hpp"
#include "device/quirks.hpp"
#include "inspect/tools/tool.hpp"
#include "kernelfile/bound.hpp"
#include "kernelfile/piece.hpp"
#include "run/cell/operation.hpp"

namespace cllab::kernelfile {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(TouchedBytes, size, last, unit, bytes, written_bytes, read, written,
                                                atomic, read_first, before, argument)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SeenLaunch, too_long, overruns, instructions, items, calls, arguments,
                                                local)
}  // namespace cllab::kernelfile

namespace cllab::app {
namespace {

using namespace kernelfile;

/// As if a block had said so; what the user gave is taken as it was.
Description described(const SaidOfKernel& said, const SmallLaunch& small) {
    Description out;
    for (const auto& [name, text] : small.arguments) {
        const auto given = said.given.find(name);
        if (given != said.given.end() && given->second.text == text)
            out.all.arguments.emplace(name, given->second);
        else
            out.all.arguments.emplace(name, parse_argument(Piece{text, {"a guess", 0, 0}}));
    }
    const Place nowhere{"a guess", 0, 0};
    const auto set = [&](auto& to, const std::string& text) {
        if (!text.empty()) to.emplace(nowhere, parse_list(text, nowhere));
    };
    set(out.all.global, small.global);
    set(out.all.local, small.local);
    set(out.all.offset, small.offset);
    return out;
}

}  // namespace

SmallLauncher::SmallLauncher(const std::filesystem::path& folder) : file_(folder / "touched") {
    const auto library = count::oclgrind_library("a guess");
    device::use_only_drivers({{"oclgrind.icd", library}}, {{"OCLGRIND_PLUGINS", count::count_plugin(this_program())},
                                                           {"OCLGRIND_MAX_ERRORS", "1"},
                                                           {"OCLGRIND_LOG", folder / "log"},
                                                           {"OCLGRIND_LOCAL_MEM_SIZE", "4194304"},
                                                           {"OCLGRIND_CONSTANT_MEM_SIZE", "67108864"},
                                                           {"CLLAB_TOUCHED_FILE", file_},
                                                           {"CLLAB_TOUCHED_INSTRUCTIONS", "600000"}});
    session_ = &devices_.open(devices_.devices({"oclgrind"}, nullptr).front().selector);
    session_->set_guards(false);
}

void SmallLauncher::build(const AskedBuild& asked) {
    text_ = asked.text;
    auto options = asked.options;
    if (asked.includes_lab)
        for (const auto& define : device::device_defines(session_->facts())) options += " -D" + define;
    auto [at, is_new] = built_.try_emplace(options + "\n" + text_);
    if (is_new) at->second = device::build(*session_, text_, options);
    now_ = &at->second;
}

void SmallLauncher::launch_once(const std::string& where, const SaidOfKernel& said, const SmallLaunch& small) {
    model::Point point;
    for (const auto& [name, value] : small.axes) point.set(name, std::to_string(value));
    std::vector<std::string> notes;
    const Bound bound(
        where, described(said, small), said.signature, {}, usual_format(text_),
        [](const std::string& path) { return load_grey(path); }, Wants::launch, notes);
    constexpr std::uint64_t seed = 1;
    const auto setup = bound.setup(point, bound.shape(point, session_->facts()), seed);
    run::Operation operation(*session_, *now_, setup, said.signature.name);
    operation.load(setup, seed);
    operation.enqueue();
    session_->wait();
}

SeenLaunch SmallLauncher::launch(const std::string& where, const SaidOfKernel& said, const SmallLaunch& small) {
    SeenLaunch out;
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
    try {
        if (!now_->ok) return SeenLaunch{.trouble = "the simulator does not build the text"};
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

}  // namespace cllab::app
