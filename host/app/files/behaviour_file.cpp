#include "app/files/behaviour_file.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "app/files/profile_file.hpp"
#include "app/screen/streams.hpp"
#include "core/units.hpp"
#include "run/executor.hpp"

namespace cllab::app {

nlohmann::ordered_json identity_of(const model::Device& device) {
    return {{"name", device.name},
            {"platform", device.platform},
            {"identity", device.identity},
            {"driver", device.driver},
            {"device_version", device.device_version}};
}

Answers known_answers(const std::filesystem::path& dumps, const model::Device& device) {
    const auto root = dumps.empty() ? profiles_folder() : dumps;
    const auto path = inspect::device_folder(root, device, run::this_host().name) / "behaviour.json";
    std::error_code unknown;
    if (std::filesystem::exists(path, unknown)) try {
            const auto document = parse_json<nlohmann::ordered_json>(profile_text(path));
            if (document.at("device") == identity_of(device))
                return nlohmann::json(document.at("answers")).get<Answers>();
        } catch (const std::exception& e) {
            say("'" + path.string() + "' is not what `cllab behaviour` writes: " + e.what() + "; it is ignored");
        }
    return {};
}

void keep_answers(const std::filesystem::path& dumps, const model::Device& device, Answers answers) {
    answers.merge(known_answers(dumps, device));
    const nlohmann::ordered_json document{{"device", identity_of(device)}, {"answers", nlohmann::json(answers)}};
    const auto root = dumps.empty() ? profiles_folder() : dumps;
    const auto folder = inspect::claim_device_folder(root, device, run::this_host().name);
    write_profile(folder / "behaviour.json", json_text(document, 2) + "\n");
}

std::string note_of(const Answers& known, const std::string& name) {
    const auto all = behaviour::questions({});
    const auto question = std::ranges::find(all, name, &behaviour::Question::name);
    const auto answer = known.find(name);
    if (question == all.end() || answer == known.end()) return {};
    const auto& [status, text, measured, claim, so] = answer->second;
    const auto figure = measured.empty() ? text : format_significant(measured[0], 3);
    return fmt::format(fmt::runtime(consequence(*question, answer->second, "note")), figure);
}

std::string cost_of_constants(const Answers& known) {
    return trim(note_of(known, "memory.constant.uniform") + " " + note_of(known, "memory.constant.divergent"));
}

std::size_t largest_group(const Answers& known) {
    const auto beyond = known.find("launch.group_beyond");
    return beyond == known.end() ? 0 : std::strtoul(beyond->second.text.c_str(), nullptr, 10);  // "1024 run"
}

}  // namespace cllab::app
