#include "app/running/watched.hpp"

#include <algorithm>
#include <ranges>

#include "app/choose/request.hpp"
#include "app/files/profile_file.hpp"

namespace cllab::app {
namespace {

/// Processes for one save: one asks for the arguments, one runs both versions, one rehearses, the others are
/// arrangements.
constexpr std::size_t warm_processes = 12;

/// The request of the invocation, with the version before beside each cell that has one in `before`.
run::RunRequest watched_request(const Choice& choice, const RunOptions& invocation,
                                const std::map<std::string, std::shared_ptr<const model::StoredBuild>>& before) {
    auto request = request_of(choice, invocation);
    if (before.empty()) return request;
    std::vector<model::Group> out;
    for (const auto& cell : request.comparisons | std::views::join) {
        out.push_back({cell});
        const auto known = before.find(Watched::key_of(cell));
        if (known == before.end()) continue;
        auto earlier = cell;
        earlier.id += "_before";
        earlier.stored = known->second;
        out.back().push_back(std::move(earlier));
    }
    request.comparisons = std::move(out);
    return request;
}

/// What it takes to make the request of one save again where the watching invocation is known.
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

/// For whoever waits for the answer: the table first, no times where the code is the same, one more build in
/// comparisons, and none for a version that has been replaced.
class WatchListener : public RunListener {
public:
    explicit WatchListener(Watched& watched) : watched_(watched) {}
    void devices(const std::vector<model::Device>& devices) override {
        if (watched_.files.empty() && devices.size() != 1)
            throw Error(Blame::usage, "--watch with --cl-dir needs one device; ", devices.size(), " are selected");
    }
    void done(const model::Cell& cell, std::size_t index, const model::Record& record) override {
        if (index == 0 && record.status == model::Status::ok) watched_.right[Watched::key_of(cell)] = record.build;
    }
    bool wants_page_first() const override { return true; }
    /// The times of equal code differ by the machine's doing.
    std::optional<model::Comparison> known_of(const Pair& pair) const override {
        if (!compare::same_code(pair.left, pair.right)) return std::nullopt;
        model::Comparison out;
        out.left = pair.left.id;
        out.right = pair.right.id;
        out.judgement.verdict = model::Verdict::same_code;
        return out;
    }
    void begins_to_compare() override { watched_.pool.build_everywhere(); }
    void compared(const model::Comparison&) override {
        if (watched_.superseded && watched_.superseded()) throw ComparisonEnded{"saved again"};
    }
    model::Control control() const override { return model::Control::right; }

private:
    Watched& watched_;
};

RunPlan watched_plan(const RunOptions& invocation, const Watched& watched) {
    RunPlan out(invocation, watched.files, watched.ask);
    out.request = watched_request(out.choice, invocation, watched.before);
    out.paired = !invocation.versus.empty() || !watched.before.empty();
    return out;
}

}  // namespace

RunOptions single_run(RunOptions invocation) {
    invocation.watch = false;
    invocation.no_yardstick = true;
    return invocation;
}

RunOptions quick(RunOptions invocation) {
    invocation.append = true;
    invocation.comparison_seconds = invocation.comparison_seconds < 10 ? invocation.comparison_seconds : 0.7;
    invocation.sampling_seconds = std::min(invocation.sampling_seconds, 0.1);
    return invocation;
}

WarmPool warm_pool_for(const RunOptions& invocation) {
    run_info(invocation.label);  // the run has one name in all of them
    return WarmPool(invocation.timeout_seconds, warm_processes,
                    [invocation](const Message& recipe, const model::Device& device) {
                        return request_of_recipe(recipe, invocation, device);
                    });
}

Message rehearsal_of(const Choice& choice, const RunOptions& invocation, const Watched& watched) {
    auto request = watched_request(choice, invocation, watched.before);
    std::erase_if(request.comparisons, [](const auto& group) { return group.size() < 2; });
    for (auto& group : request.comparisons) group = {group.back(), control_of(group.back())};
    request.settings.measure = false;
    request.settings.hot_seconds = 0;
    request.settings.dumps.reset();
    return {{"recipe", recipe_of(invocation, watched)}, {"difference", difference(request)}};
}

int run_watched(const RunOptions& one, Watched& watched, Runner& runner) {
    auto plan = watched_plan(one, watched);
    watched.pool.recipe(recipe_of(one, watched));
    WatchListener listener(watched);
    return carry_out(std::move(plan), runner, listener);
}

}  // namespace cllab::app
