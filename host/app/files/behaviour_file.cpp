#include "app/files/behaviour_file.hpp"

#include "app/files/profile_file.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "inspect/tools/dump.hpp"
#include "json/read.hpp"
#include "run/executor.hpp"

namespace cllab::app {
namespace {

std::filesystem::path root_of(const std::filesystem::path& dumps) { return dumps.empty() ? profiles_folder() : dumps; }

/// The number of an answer; 0 where there is none that was decided.
double measured(const Answers& known, const std::string& name) {
    const auto found = known.find(name);
    const bool is_sure = found != known.end() && found->second.status == behaviour::Answer::Status::answered;
    return is_sure && !found->second.measured.empty() ? found->second.measured[0] : 0;
}

}  // namespace

nlohmann::ordered_json identity_of(const model::Device& device) {
    return {{"name", device.name},
            {"platform", device.platform},
            {"identity", device.identity},
            {"driver", device.driver},
            {"device_version", device.device_version}};
}

Answers known_answers(const std::filesystem::path& dumps, const model::Device& device) {
    const auto path = inspect::device_folder(root_of(dumps), device, run::this_host().name) / "behaviour.json";
    std::error_code unknown;
    if (std::filesystem::exists(path, unknown)) try {
            const auto kept = parse_json<nlohmann::ordered_json>(profile_text(path));
            if (kept.at("device") == identity_of(device)) return nlohmann::json(kept.at("answers")).get<Answers>();
        } catch (const std::exception& e) {
            say("'" + path.string() + "' is not what `cllab behaviour` writes: " + e.what() + "; it is ignored");
        }
    return {};
}

void keep_answers(const std::filesystem::path& dumps, const model::Device& device, Answers answers) {
    answers.merge(known_answers(dumps, device));
    const nlohmann::ordered_json kept{{"device", identity_of(device)}, {"answers", nlohmann::json(answers)}};
    const auto folder = inspect::claim_device_folder(root_of(dumps), device, run::this_host().name);
    write_profile(folder / "behaviour.json", json_text(kept, 2) + "\n");
}

std::set<std::string> idle_options(const Answers& known, const std::string& options) {
    std::set<std::string> out;
    for (const auto& [name, answer] : known) {
        const auto option = join(split(name.substr(name.find('-') + 1), ';'), " ");
        if (name.starts_with("compile.option.-") && answer.text.starts_with("same") &&
            (" " + options + " ").find(" -" + option + " ") != std::string::npos)
            out.insert("-" + option + " changes nothing on this device: `cllab behaviour` found the " + answer.text +
                       " with it");
    }
    return out;
}

std::string cost_of_small_groups(const Answers& known) {
    const auto found = measured(known, "launch.prime");
    return found < 1.1 ? ""
                       : "; on this device 1,000,003 items, a prime, take " + format_significant(found, 3) +
                             " times as long as 1,000,192 (`cllab behaviour`)";
}

std::string cost_of_constants(const Answers& known) {
    const auto alike = measured(known, "memory.constant.uniform"), own = measured(known, "memory.constant.divergent");
    return alike <= 0 || own <= 0
               ? ""
               : "On this device a table through a __constant pointer takes " + format_significant(alike, 3) +
                     " times as long as through __global const where all work-items read one place, and " +
                     format_significant(own, 3) + " times where each reads its own (`cllab behaviour`).";
}

std::string errors_of_functions(const Answers& here, const Answers& there, const std::set<std::string>& names) {
    std::string out;
    for (const auto& name : names) {
        const auto one = measured(here, "ulp.plain." + name), other = measured(there, "ulp.plain." + name);
        if (one > 0 && other > 0)
            out += "; the error of " + name + "() is up to " + format_significant(one, 3) + " ulp on the first and " +
                   format_significant(other, 3) + " ulp on the second (`cllab behaviour`), so its results may differ";
    }
    return out;
}

}  // namespace cllab::app
