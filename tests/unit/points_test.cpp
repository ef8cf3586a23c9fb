// Points mean what they say, in every family and variant and for several kinds of devices: the point of a record, given
// back by --axis, makes the same cell; a variant has the axes that it reads; a device's limits are never the user's
// mistake.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "unit/cells.hpp"

BOOST_AUTO_TEST_SUITE(points)

using namespace cllab;
using namespace cllab::model;

namespace {

Device device_of(DeviceType type, Implementation implementation, unsigned units, std::size_t group,
                 std::size_t promised) {
    Device d;
    d.name = std::string(name(implementation)) + " " + name(type);
    d.type = type;
    d.implementation = implementation;
    d.compute_units = units;
    d.max_group = group;
    d.max_group_promised = promised;
    d.max_items = {promised, promised, 64};
    d.preferred_multiple = type == DeviceType::gpu ? 32 : 8;
    d.local_bytes = 48 << 10;
    d.local_is_dedicated = type == DeviceType::gpu;
    d.last_level_bytes = 256 << 10;
    d.global_bytes = 4ull << 30;
    d.max_alloc_bytes = 1ull << 30;
    d.images = d.fp64 = d.fp16 = true;
    d.image2d_max_width = d.image2d_max_height = 16384;
    d.extensions = {"cl_khr_subgroups"};
    d.device_version = "OpenCL 3.0";
    return d;
}

const std::vector<Device>& devices() {
    static const std::vector<Device> all{
        device_of(DeviceType::cpu, Implementation::pocl, 3, 4096, 4096),
        device_of(DeviceType::gpu, Implementation::nvidia, 7, 256, 1024),
        device_of(DeviceType::gpu, Implementation::amd, 64, 256, 1024),
        device_of(DeviceType::accelerator, Implementation::oclgrind, 1, 1024, 1024),
    };
    return all;
}

/// Everything that makes a cell what it is, as text.
std::string text_of(const Setup& s) {
    std::ostringstream out;
    const auto extents = [&](const Extent& global, const Extent& local) {
        out << global.text() << " by " << local.text() << "; ";
    };
    extents(s.global, s.local);
    out << join(s.defines, " ") << "; ";
    for (const auto& argument : s.args) {
        std::visit([&](const auto& a) { out << a.name; }, argument);
        if (const auto* input = std::get_if<Input>(&argument)) out << "<" << input->data.size();
        if (const auto* inout = std::get_if<InOut>(&argument)) out << "=" << inout->data.size();
        if (const auto* output = std::get_if<Output>(&argument)) out << ">" << output->size_bytes;
        if (const auto* scratch = std::get_if<Scratch>(&argument)) out << "~" << scratch->size_bytes;
        if (const auto* local = std::get_if<Local>(&argument)) out << "^" << local->size_bytes;
        if (const auto* image = std::get_if<Image>(&argument)) out << ":" << image->width << "x" << image->height;
        if (const auto* scalar = std::get_if<Value>(&argument))
            for (const auto byte : scalar->data) out << " " << std::to_integer<int>(byte);
        out << ", ";
    }
    for (const auto& step : s.steps) {
        if (const auto* launch = std::get_if<Launch>(&step)) {
            out << launch->entry << " " << launch->queue << " ";
            extents(launch->global, launch->local);
        } else {
            out << step.index() << "; ";
        }
    }
    out << s.work.bytes << " " << s.work.flops << " " << s.work.steps << "; " << static_cast<int>(s.transfer)
        << s.blocking;
    if (s.slope) out << "; " << s.slope->low << " " << s.slope->high << " " << s.slope->steps_per_trip;
    return out.str();
}

std::string text_of(const Point& point) {
    std::vector<std::string> parts;
    for (const auto& [axis, value] : point.values()) parts.push_back(axis + "=" + value);
    return join(parts, " ");
}

/// As --axis would give it back.
Settings settings_of(const Point& point) { return point.values(); }

/// A small legal value of an axis, but no tiny one; of a buffer's size one that any element divides.
std::string small_value(const Axis& axis) {
    if (axis.kind == Axis::Kind::choice) return axis.choices.front();
    for (auto value =
             static_cast<std::int64_t>(std::clamp(axis.name == "size" ? 16384.0 : 24.0, axis.least, axis.most));
         ; --value) {
        try {
            return expand_axis(axis, std::to_string(value)).front();
        } catch (const Error&) {
        }
    }
}

/// What the sizes of a family become where it would choose them: everything that "auto" may be and `tune` does not try.
/// They would otherwise fill a device, and its host's memory with data.
Settings small_sizes(const Experiment& experiment, const Variant& variant) {
    Settings out;
    for (const auto& axis : axes_of(experiment, variant))
        if (axis.may_be_auto && axis.values.back() == "auto" && axis.tune.empty() && axis.kind != Axis::Kind::real)
            out.emplace_back(axis.name, small_value(axis));
    return out;
}

struct Case {
    const Experiment& experiment;
    const Variant& variant;
    const Device& device;
    std::string id() const { return experiment.id(variant); }
    Request request(const Point& point) const {
        static const std::map<std::string, Loaded> no_files;
        return {variant, point, device, 7, no_files};
    }
    Point one_point(const Settings& settings) const { return test::first_cell(id(), settings).point; }
};

template <typename Visit>
void every_case(Visit visit) {
    for (const auto& experiment : registry())
        for (const auto& variant : experiment.variants)
            for (const auto& device : devices()) BOOST_TEST_CONTEXT(experiment.id(variant) << " on " << device.name) {
                    visit(Case{experiment, variant, device});
                }
}

/// The resolved point, or nothing where the device cannot do it.
std::optional<Point> resolved(const Case& c, const Point& point) {
    try {
        return resolve(c.experiment, c.request(point));
    } catch (const Unsupported&) {
        return std::nullopt;
    }
}

std::string refusal(const std::vector<std::string>& patterns, const Settings& settings) {
    try {
        make_plan(select(registry(), patterns), settings);
    } catch (const Error& e) {
        BOOST_TEST((e.blame() == Blame::usage));
        return e.what();
    }
    return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(resolved_point_resolves_to_itself_without_auto) {
    every_case([](const Case& c) {
        // Every tuned value too: tune names its winner by them.
        auto axes = axes_of(c.experiment, c.variant);
        for (auto& axis : axes)
            if (!axis.tune.empty()) axis.values = expand_axis(axis, join(axis.tune, ","));
        std::vector<Point> points;
        for (const auto& cell : make_plan(select(registry(), {c.id()}), {})) points.push_back(cell.front().point);
        const Point first = points.front();
        for (const auto& axis : axes) {
            for (const auto& value : axis.values) {
                points.push_back(first);
                points.back().set(axis.name, value);
            }
        }
        for (const auto& point : points) {
            const auto once = resolved(c, point);
            if (!once) continue;
            const auto again = resolved(c, c.one_point(settings_of(*once)));
            BOOST_REQUIRE_MESSAGE(again, text_of(point) + " becomes " + text_of(*once) + ", which is unsupported");
            BOOST_TEST(text_of(*again) == text_of(*once));
            for (const auto& axis : axes)
                BOOST_TEST((axis.kind == Axis::Kind::shape || once->text(axis.name) != "auto"),
                           axis.name << " stays auto");
        }
    });
}

BOOST_AUTO_TEST_CASE(point_of_a_record_makes_the_same_cell) {
    std::size_t cells = 0;
    every_case([&](const Case& c) {
        const auto sizes = small_sizes(c.experiment, c.variant);
        std::vector<Point> points{c.one_point(sizes)};
        for (const auto& axis : axes_of(c.experiment, c.variant)) {
            for (const auto& value :
                 expand_axis(axis, join(axis.tune.empty() ? std::vector{axis.values.front()} : axis.tune, ","))) {
                if (value == "auto" && axis.tune.empty()) continue;
                auto settings = sizes;
                std::erase_if(settings, [&](const auto& s) { return s.first == axis.name; });
                settings.emplace_back(axis.name, value);
                points.push_back(c.one_point(settings));
            }
        }
        for (const auto& point : points) {
            Setup first;
            try {
                first = set_up(c.experiment, c.request(point));
            } catch (const Unsupported&) {
                continue;
            }
            ++cells;
            const auto given_back = c.one_point(settings_of(first.point));
            const auto second = set_up(c.experiment, c.request(given_back));
            BOOST_TEST(text_of(second) == text_of(first), text_of(point) << " became " << text_of(first.point));
            BOOST_TEST(text_of(second.point) == text_of(first.point));
            BOOST_TEST(text_of(resolved(c, point).value_or(Point{})) == text_of(first.point),
                       "resolve and set_up differ at " << text_of(point));
        }
    });
    BOOST_TEST(cells > 500u);
}

BOOST_AUTO_TEST_CASE(minimal_device_is_unsupported_and_never_a_usage_error) {
    for (const auto& device : devices()) {
        auto poor = device;
        poor.max_group = poor.max_group_promised = 1;
        poor.max_items = {1, 1, 1};
        poor.max_alloc_bytes = 1 << 10;
        poor.global_bytes = 4 << 10;
        poor.local_bytes = 0;
        poor.images = poor.fp64 = poor.fp16 = false;
        for (const auto& experiment : registry())
            for (const auto& variant : experiment.variants)
                BOOST_TEST_CONTEXT(experiment.id(variant) << " on a poor " << device.name) {
                    const Case c{experiment, variant, poor};
                    for (const auto& group : make_plan(select(registry(), {c.id()}), {})) {
                        try {
                            resolve(experiment, c.request(group.front().point));
                        } catch (const Unsupported& e) {
                            BOOST_TEST(std::string(e.what()) != "");
                        }  // an Error fails the test
                    }
                }
    }
}

BOOST_AUTO_TEST_CASE(variants_of_an_axis_belong_to_its_family) {
    for (const auto& experiment : registry())
        for (const auto& axis : experiment.axes)
            for (const auto& variant : axis.only)
                BOOST_TEST(std::any_of(experiment.variants.begin(), experiment.variants.end(),
                                       [&](const auto& v) { return v.name == variant; }),
                           experiment.family << " " << axis.name << " " << variant);
}

BOOST_AUTO_TEST_CASE(auto_follows_the_axis_it_names) {
    const auto matrix = [](const Settings& settings) {
        const auto cell = test::first_cell("gemm_naive", settings);
        const Case c{*cell.experiment, *cell.variant, devices().front()};
        return text_of(resolve(c.experiment, c.request(cell.point)));
    };
    BOOST_TEST(matrix({{"m", "96"}}) == "m=96 n=96 k=96 pad=0");
    BOOST_TEST(matrix({{"m", "96"}, {"k", "8"}}) == "m=96 n=96 k=8 pad=0");
    BOOST_TEST(matrix({}) == "m=512 n=512 k=512 pad=0");
}

BOOST_AUTO_TEST_CASE(work_groups_per_unit_are_recorded_as_requested) {
    const auto cell = test::first_cell("reduce_wide", {{"size", "1Mi"}, {"groups", "8"}});
    const Case c{*cell.experiment, *cell.variant, devices().front()};
    BOOST_TEST(set_up(c.experiment, c.request(cell.point)).point.text("groups") == "8");
}

BOOST_AUTO_TEST_CASE(automatic_shape_is_recorded_in_any_dimensions) {
    for (const auto& [shape, recorded] :
         {std::pair(Extent(), "auto"), std::pair(Extent(64), "64"), std::pair(Extent(16, 4), "16x4")}) {
        Point point;
        point.set("local", "auto");
        Params params(point);
        params.shape("local", shape);
        BOOST_TEST(params.resolved().text("local") == recorded);
    }
}

BOOST_AUTO_TEST_CASE(option_none_adds_nothing_and_others_follow_the_variant) {
    const auto defines = [](const std::string& options) {
        return test::set_up_cell("muladd_mad", {{"options", options}}, devices().front()).defines;
    };
    const auto none = defines("none"), some = defines("-cl-mad-enable");
    BOOST_TEST(std::count(none.begin(), none.end(), "none") == 0);
    BOOST_TEST_REQUIRE(some.size() == none.size() + 1);
    BOOST_TEST(some.back() == "-cl-mad-enable");
}

BOOST_AUTO_TEST_CASE(values_that_a_cpu_ignores_are_refused) {
    const auto cell = test::first_cell("saxpy_w128", {{"size", "1Ki"}, {"per_item", "4"}});
    const Case c{*cell.experiment, *cell.variant, devices().front()};
    BOOST_CHECK_EXCEPTION(set_up(c.experiment, c.request(cell.point)), Unsupported, [](const Unsupported& e) {
        return std::string(e.what()) ==
               "axis 'per_item' is 4; a CPU's work-items take one access after the other, so only 1 is possible";
    });
    // The work-group is the user's to choose there as well.
    const auto wide = test::first_cell("saxpy_w128", {{"size", "64Ki"}, {"local", "64"}});
    BOOST_TEST(set_up(c.experiment, c.request(wide.point)).local.count() == 64u);
}

BOOST_AUTO_TEST_CASE(group_may_exceed_the_default_limit_if_the_kernel_requires_it) {
    for (const char* id : {"himeno_schedule", "himeno_wide", "saxpy_w128", "reduce_onepass", "pad_flat"}) {
        const auto cell = test::first_cell(id, {{"local", "512"}});
        const Case c{*cell.experiment, *cell.variant, devices()[2]};
        BOOST_TEST(resolved(c, cell.point).has_value(), id);
    }
}

BOOST_AUTO_TEST_CASE(axis_missing_from_all_selected_variants_is_refused) {
    BOOST_TEST(refusal({"pitch_loop"}, {{"local", "64"}}) ==
               "'pitch_loop' has no axis 'local'; its axes are width, height, left, top, right, bottom, pitch, items, "
               "layout, element, weights, transfers");
    BOOST_TEST(refusal({"himeno_swap", "himeno_local"}, {{"lanes", "4"}}) ==
               "none of the selected variants has an axis 'lanes'; did you mean planes?");
    BOOST_TEST(refusal({"pitch_loop", "pitch_float"}, {{"local", "64"}}) == "");
    BOOST_TEST(refusal({"latency"}, {{"line", "4096"}}) == "");
}

BOOST_AUTO_TEST_CASE(variant_runs_once_if_only_foreign_axes_vary) {
    std::string plan;
    for (const auto& group : make_plan(select(registry(), {"pad"}), {{"k", "1,4"}})) {
        for (const auto& cell : group)
            plan += cell.variant->name + (cell.label.empty() ? " " : "(" + cell.label + ") ");
        plan += "| ";
    }
    BOOST_TEST(plan == "runtime(k=1) constant(k=1) flat wide | runtime(k=4) constant(k=4) | ");
}

BOOST_AUTO_TEST_SUITE_END()
