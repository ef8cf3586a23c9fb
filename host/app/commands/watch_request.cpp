#include "app/choose/request.hpp"
#include "app/commands/watch.hpp"
#include "app/files/profile_file.hpp"

namespace cllab::app {

run::RunRequest watched_request(const Choice& choice, const RunOptions& invocation,
                                const std::map<std::string, std::shared_ptr<const model::StoredBuild>>& before) {
    auto request = request_of(choice, invocation);
    if (before.empty()) return request;
    std::vector<model::Group> out;
    for (const auto& group : request.comparisons) {
        for (const auto& cell : group) {
            out.push_back({cell});
            const auto known = before.find(Watched::key_of(cell));
            if (known == before.end()) continue;
            auto earlier = cell;
            earlier.id += "_before";
            earlier.stored = known->second;
            out.back().push_back(std::move(earlier));
        }
    }
    request.comparisons = std::move(out);
    return request;
}

Message recipe_of(const RunOptions& invocation, const Watched& watched) {
    auto before = Message::object();
    for (const auto& [cell, stored] : watched.before)
        before[cell] = {{"text", stored->text}, {"options", stored->options}};
    return {{"patterns", invocation.patterns},
            {"versus", invocation.versus},
            {"sampling_seconds", invocation.sampling_seconds},
            {"files", nlohmann::json(watched.files)},
            {"found", nlohmann::json(watched.found)},
            {"before", before}};
}

run::RunRequest request_of_recipe(const Message& recipe, RunOptions watching, const model::Device& device) {
    watching.patterns = recipe.at("patterns").get<std::vector<std::string>>();
    watching.versus = recipe.at("versus").get<std::string>();
    watching.sampling_seconds = recipe.at("sampling_seconds").get<double>();
    const nlohmann::json said = recipe.at("found");
    const auto found = said.get<std::vector<model::Introspection>>();
    const Choice choice(watching, nlohmann::json(recipe.at("files")).get<Snapshots>(),
                        [&](const std::vector<AskedBuild>&) { return found; });
    std::map<std::string, std::shared_ptr<const model::StoredBuild>> before;
    for (const auto& [cell, stored] : recipe.at("before").items())
        before[cell] = std::make_shared<const model::StoredBuild>(
            model::StoredBuild{stored.at("text").get<std::string>(), stored.at("options").get<std::string>()});
    auto request = watched_request(choice, watching, before);
    if (request.settings.measure) request.settings.limits = read_profiles(watching.dumps, {device});
    return request;
}

}  // namespace cllab::app
