#include "app/choose/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "app/files/image_file.hpp"
#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "device/driver_settings.hpp"
#include "explain/limiter.hpp"
#include "kernelfile/description.hpp"
#include "model/params.hpp"
#include "model/plan.hpp"
#include "model/registry.hpp"
#include "run/cache_state.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {

std::optional<model::Tolerance> tolerance_of(const CellOptions& invocation) {
    kernelfile::Description said;
    for (const auto& [option, value] : invocation.statements)
        if (option == "tolerance") kernelfile::parse_option(option, value, said);
    return said.tolerance;
}

/// The run as records describe it: the id, which child processes share, the label, and the drivers' caches.
static model::RunInfo run_info(const std::string& label) {
    static const std::string id = [] {
        std::random_device random;
        return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
    }();
    model::RunInfo out;
    out.id = id;
    out.label = label;
    // tune and --watch make several requests per run. Cells of different requests took no turns, so they need different
    // numbers of comparisons.
    constexpr std::uint64_t apart = 1'000'000'000;
    static std::uint64_t asked = 0;
    out.order.comparison = apart * asked++;
    out.driver_caches = device::driver_settings();
    return out;
}

run::Settings settings_of(const CellOptions& invocation) {
    run::Settings out;
    out.seed = invocation.seed;
    out.build_options = invocation.build_options;
    out.tolerance = tolerance_of(invocation);
    out.cl_dir = invocation.cl_dir;
    out.builds_ahead = out.cl_dir.empty();
    out.argv = invocation.argv;
    out.run = run_info(invocation.label);
    out.judge = explain::beyond_peak;
    out.name_limit = explain::limit_in_a_word;
    out.tool_seconds = std::min(out.tool_seconds, invocation.timeout_seconds / 2);
    return out;
}

/// Throws Error(usage) if --output names something that is not a picture.
static void require_pictures(const std::string& id, const model::Setup& setup,
                             const std::map<std::string, std::string>& asked) {
    const auto known = mapped(setup.pictures, [](const auto& one) { return one.first; });
    for (const auto& [name, path] : asked)
        if (!setup.pictures.count(name))
            throw Error(Blame::usage, "'", id, "' has no buffer '", name, "' that --output can write as an image",
                        known.empty() ? "" : "; possible buffers: " + join(known, ", "));
}

void check_points(const run::RunRequest& request, const model::Device& device) {
    const auto& settings = request.settings;
    std::set<std::string> families;
    for (const auto& cell : request.comparisons | std::views::join)
        if (families.insert(cell.experiment->family).second)
            run::kernel_source(*cell.experiment, *cell.variant, settings.cl_dir);
    for (const auto& cell : request.comparisons | std::views::join) {
        const model::Request asked{*cell.variant, cell.point, device, settings.seed, settings.files};
        try {
            if (settings.pictures.empty())
                model::resolve(*cell.experiment, asked);
            else
                require_pictures(cell.id, model::set_up(*cell.experiment, asked), settings.pictures);
        } catch (const Unsupported&) {
            // A limit of this device; the cell's record says so.
        }
    }
}

std::vector<std::string> native_families() {
    std::vector<std::string> out;
    for (const auto& e : model::registry())
        if (!e.native.empty()) out.push_back(e.family);
    return out;
}

namespace {

/// Groups of cells for --vs with the axes of other_point(). The last cell of a group has them; the others do not.
std::vector<model::Group> beside_other_point(const std::vector<model::Selected>& selected,
                                             const MeasureOptions& invocation, double& left_out) {
    auto axes = invocation.axes;
    const auto options = model::build_options_axis().name;
    const auto is_options = [&](const auto& axis) { return axis.first == options; };
    const auto other = other_point(invocation.versus);
    if (std::ranges::any_of(other, is_options) && std::ranges::none_of(axes, is_options))
        axes.emplace_back(options, "");
    std::vector<model::Group> out;
    for (const auto& cell : model::make_plan(selected, axes, invocation.points, &left_out) | std::views::join)
        for (auto& right : other_cells(cell, invocation.versus)) {
            if (right.point == cell.point) continue;
            const auto group = std::ranges::find(out, right.point, [](const auto& g) { return g.back().point; });
            if (group == out.end())
                out.push_back({cell, std::move(right)});
            else
                group->insert(group->end() - 1, cell);
        }
    if (out.empty())
        throw Error(Blame::usage, "--vs ", invocation.versus, " is the only point of '", selected.front().id,
                    "'; --axis gives it another one to compare with");
    return out;
}

/// Groups of cells for --vs with variants. A group has the selected variants at one point. The cells of a group take
/// turns and are then compared.
std::vector<model::Group> beside_each_other(const std::vector<model::Selected>& selected,
                                            const MeasureOptions& invocation, double& left_out) {
    std::vector<std::vector<model::Cell>> sides(selected.size());
    const auto side_of = [&](const model::Cell& cell) {
        return static_cast<std::size_t>(std::ranges::find(selected, cell.id, &model::Selected::id) - selected.begin());
    };
    // Plans all families together, so that an axis needs to exist in only one of them.
    for (auto& group : model::make_plan(selected, invocation.axes, invocation.points, &left_out))
        for (auto& cell : group) sides[side_of(cell)].push_back(std::move(cell));
    std::vector<model::Group> out(sides.back().size());
    for (std::size_t v = 0; v < sides.size(); ++v) {
        if (sides[v].size() != out.size())
            throw Error(Blame::usage, "--vs needs equal numbers of points; '", selected[v].id, "' has ",
                        sides[v].size(), " and '", selected.back().id, "' has ", out.size(), "; set both with --axis");
        for (std::size_t i = 0; i < out.size(); ++i) out[i].push_back(std::move(sides[v][i]));
    }
    return out;
}

/// The selected variants. With --vs PATTERN, the variant to compare with is the last one.
std::vector<model::Selected> select_for(const Choice& choice, const CellOptions& invocation) {
    auto selected = choice.selected();
    if (invocation.versus.empty()) return selected;
    const auto number = std::to_string(selected.size());
    if (!other_point(invocation.versus).empty()) {
        if (selected.size() == 1) return selected;
        throw Error(Blame::usage, "--vs ", invocation.versus,
                    " compares one variant with itself, but PATTERN matches ", number, " variants");
    }
    if (names_best(invocation.versus)) {
        if (selected.size() > 1) return selected;
        throw Error(Blame::usage, "--vs best compares two or more variants, but PATTERN matches only '",
                    selected.front().id, "'");
    }
    const auto other = choice.select({invocation.versus});
    const bool same = selected.front().id == other.front().id;
    if (other.size() != 1 || same)
        throw Error(Blame::usage,
                    "--vs must match exactly one variant, and PATTERN at least one other; PATTERN matches ",
                    selected.size() == 1 ? cllab::quoted(selected.front().id) : number + " variants", ", --vs matches ",
                    other.size() == 1 ? cllab::quoted(other.front().id) : std::to_string(other.size()) + " variants");
    selected.push_back(other.front());
    return selected;
}

/// --native: adds the native loops of each family after its kernels.
void add_native(std::vector<model::Selected>& selected) {
    for (const auto& kernels : grouped(selected, [](const auto& s) { return s.experiment; })) {
        const auto* family = kernels.front().experiment;
        if (family->native.empty())
            throw Error(Blame::usage, "'", family->family,
                        "' has no native loop (--native); families with one: ", join(native_families(), ", "));
        for (const auto& loop : family->native) selected.push_back({family, &loop, family->id(loop)});
    }
}

}  // namespace

run::RunRequest request_of(const Choice& choice, const MeasureOptions& invocation) {
    run::RunRequest out;
    out.owner = choice.owner();
    auto selected = select_for(choice, invocation);
    if (invocation.native) add_native(selected);
    out.comparisons = invocation.versus.empty()
                          ? model::make_plan(selected, invocation.axes, invocation.points, &out.left_out)
                      : other_point(invocation.versus).empty() ? beside_each_other(selected, invocation, out.left_out)
                                                               : beside_other_point(selected, invocation, out.left_out);
    auto& settings = out.settings = settings_of(invocation);
    settings.measure = !invocation.verify_only;
    settings.sampling_seconds = invocation.sampling_seconds;
    settings.steps = invocation.steps;
    settings.energy = invocation.energy;
    settings.count_above = invocation.count_above;
    settings.cache = run::cache_from(invocation.cache);
    if (settings.measure && !invocation.no_yardstick)
        out.yardstick = model::make_plan(model::select(model::registry(), {"bandwidth_copy"}), {}).front().front();
    if (!invocation.no_dumps) settings.dumps = invocation.dumps.empty() ? "dumps" : invocation.dumps;
    if (settings.measure) settings.hot_seconds = invocation.hot_seconds.value_or(settings.dumps ? 0.05 : 0);
    for (const auto& [name, path] : invocation.inputs) {
        std::vector<std::string> known;
        for (const auto& s : selected)
            for (const auto& input : s.experiment->file_inputs) add_once(known, input);
        if (std::ranges::find(known, name) == known.end())
            throw Error(Blame::usage, "none of the selected families takes an input file '", name, "'",
                        known.empty() ? "" : "; possible inputs: " + join(known, ", "));
        settings.files[name] = load_grey(path);
    }
    for (const auto& [name, path] : invocation.outputs) {
        if (out.cells() != 1)
            throw Error(Blame::usage, "--output needs one cell (one variant at one point), found ", out.cells());
        require_savable(path);
        settings.pictures[name] = path;
    }
    return out;
}

}  // namespace cllab::app
