// himeno: the benchmark's sweep from "everything moves every iteration" to the bandwidth of the memory. The first seven
// variants are the steps of a 2010 article on OpenACC's forerunner (Softek, PGI accelerator model) in their OpenCL form; the
// rest is what that compiler could not do.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "core/text.hpp"
#include "core/units.hpp"
#include "experiments/lib/himeno_problem.hpp"
#include "experiments/lib/native.hpp"
#include "experiments/lib/sizes.hpp"
#include "model/params.hpp"
#include "model/result.hpp"

namespace cllab::model {
namespace {

using namespace himeno;
using lib::divide_up, lib::round_up;

constexpr unsigned rehearsal = 3;           // iterations before the measured ones, as the benchmark prescribes
constexpr double pentium_iii_mflops = 82.84;  // the benchmark's unit of score: a Pentium III of 600 MHz

enum class Body { point, interleaved, local, march, rows };
enum class Transfers { none, every_iteration, around_loop, residual_only };

/// A variant as it will be launched, every "auto" resolved.
struct Plan {
    std::string size;
    Grid grid;
    Body body = Body::point;
    Transfers transfers = Transfers::none;
    bool copy = false;          // p = q by a kernel instead of a swap
    unsigned sweeps = 1;        // iterations of one operation
    std::size_t piece_bytes = 0;
    std::size_t row = 0;        // words from a row to the next
    Extent local;
    std::size_t planes = 1, lanes = 1;
    std::size_t start = 0;      // words in front of each array
    std::string order = "kji";  // which axis of the grid lies along x, y and z of the NDRange
    bool sections = false;      // coefficients without their boundary
    std::size_t first_k = 0;    // k of the first work-item of a row
    Extent global;
    std::size_t groups = 0, gosa_items = 1;
    double gosa_tolerance = 0;  // relative
    bool contract = false, prescribed = false;

    std::size_t field_bytes() const { return (start + grid.i * grid.j * row) * sizeof(float); }
};

std::string automatic_size(const Device& device) {
    if (device.implementation == Implementation::oclgrind) return "XXS";
    if (device.is_cpu()) return "S";
    // L is the smallest that no cache of today's GPUs holds: 1.9 GB, the host's copies beside it.
    return device.global_bytes >= (16ull << 30) ? "L" : device.global_bytes >= (2ull << 30) ? "M" : "S";
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* n) { return name == n; });
}

/// Work-group of a variant where the point does not say; x is along k.
Extent automatic_local(const std::string& variant, const Plan& plan, const Device& device) {
    if (plan.body == Body::rows) return Extent(1, 1, 1);
    const std::size_t most = std::max<std::size_t>(1, device.max_group);
    const std::size_t across = plan.grid.k / plan.lanes;
    if (is_one_of(variant, {"transfers", "region", "whole", "data", "resident"}))
        return most >= 256 ? Extent(16, 16, 1) : Extent(most, 1, 1);  // what a compiler takes for two loops of unknown length
    if (device.is_cpu()) return Extent(std::min({across, most, std::size_t{256}}), 1, 1);
    if (is_one_of(variant, {"schedule", "padded"})) return Extent(std::min({across, most, std::size_t{256}}), 1, 1);
    const std::size_t x = std::min({across, most, std::size_t{plan.lanes > 1 ? 32u : 64u}});
    return Extent(x, std::max<std::size_t>(1, std::min<std::size_t>(4, most / x)), 1);
}

std::size_t automatic_planes(const Plan& plan, const Device& device) {
    const std::size_t interior = plan.grid.i - 2;
    // On a CPU four items per core even out what the scheduler does. On a GPU the first two planes of a march are read a
    // second time, so longer is better as long as there are enough items to fill the device several times.
    if (plan.body == Body::rows) return divide_up(interior, std::size_t{4} * device.compute_units);
    const std::size_t columns = plan.grid.j * plan.grid.k / plan.lanes;
    const std::size_t wanted_items = std::size_t{device.compute_units} * 4096;
    return std::clamp<std::size_t>(columns * interior / wanted_items, std::min<std::size_t>(8, interior), interior);
}

std::size_t automatic_lanes(const Device& device) {
    // Oclgrind 21.10 crashes on a shuffle of vectors while it looks for uninitialised values.
    if (device.implementation == Implementation::oclgrind) return 1;
    return device.is_cpu() ? 8 : 4;
}

void choose_layout(Plan& plan, const Request& request, Params& params) {
    const auto& variant = request.variant.name;
    if (variant == "wide") plan.lanes = params.count("lanes", automatic_lanes(request.device));
    if (is_one_of(variant, {"local", "registers", "wide"})) {
        plan.planes = std::min(params.count("planes", automatic_planes(plan, request.device)), plan.grid.i - 2);
        params.record("planes", plan.planes);
    }
    if (variant == "schedule") {
        // The article's grid of 16x126 groups: 16 along i, a row in each.
        plan.planes = std::min(params.count("planes", divide_up(plan.grid.i - 2, std::size_t{16})), plan.grid.i - 2);
        params.record("planes", plan.planes);
    }
    if (variant == "swap") {
        plan.start = params.count("start");
        plan.order = params.text("order");
    }
    plan.sections = variant == "region";
    // The static C version has one more word per row than the problem, which is in no section; step 7 of the article rounds
    // that up to 32 words.
    plan.row = plan.grid.k + params.count("pad", !plan.copy || plan.sections ? 0 : variant == "padded" ? 32 : 1);
    if (plan.row % plan.lanes != 0)
        throw Unsupported("a row of " + std::to_string(plan.row) + " words (axis 'pad') does not hold whole vectors of " +
                          std::to_string(plan.lanes));
}

void choose_groups(Plan& plan, const Request& request, Params& params) {
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    plan.local = params.shape("local", automatic_local(variant, plan, device));
    plan.local.dims = 3;
    params.record("local", plan.local.text());
    lib::require_group(device, plan.local.count());  // every kernel states its group (reqd_work_group_size)
    if (plan.body == Body::rows && plan.local.count() != 1)
        throw Unsupported("axis 'local' is " + plan.local.text() + "; himeno_wide has one work-item per group on a CPU");
    const auto& l = plan.local.size;
    const std::size_t i = plan.grid.i - 2, j = plan.grid.j - 2, k = plan.grid.k / plan.lanes - (plan.first_k ? 2 : 0);
    if (plan.body == Body::local) {
        plan.planes = round_up(plan.planes, l[2]);  // a group makes whole tiles
        params.record("planes", plan.planes);
        const std::size_t tile = (l[0] + 2) * (l[1] + 2) * (l[2] == 1 ? 4 : l[2] + 2) * sizeof(float) + plan.local.count() * sizeof(float);
        if (tile > device.local_bytes && device.local_bytes > 0)
            throw Unsupported("a tile for local size " + plan.local.text() + " takes " + std::to_string(tile) + " bytes; the device has " +
                              std::to_string(device.local_bytes) + " bytes of local memory");
    }
    if (plan.body == Body::rows) {
        plan.global = Extent(divide_up(i, plan.planes), 1, 1);
    } else {
        const std::size_t groups_of_planes = divide_up(i, plan.planes);
        plan.global = Extent(1, 1, 1);
        for (unsigned d = 0; d < 3; ++d) {
            const char axis = plan.order[d];
            plan.global.size[d] = axis == 'k' ? round_up(k, l[d]) : axis == 'j' ? round_up(j, l[d]) : plan.body == Body::local ? groups_of_planes * l[d] : round_up(groups_of_planes, l[d]);
        }
    }
    plan.groups = plan.global.count() / plan.local.count();
    plan.gosa_items = std::min<std::size_t>(device.is_cpu() ? 64 : 1024, device.max_group);

    // Every term of gosa is positive, so each of the additions on the longest path costs at most half a unit: 2^-24.
    const auto levels = [](std::size_t n) {
        double out = 0;
        for (; n > 1; n = (n + 1) / 2) ++out;
        return out;
    };
    double additions = 2 + levels(plan.local.count());
    additions += plan.body == Body::rows ? static_cast<double>(plan.grid.k) / static_cast<double>(plan.lanes) : static_cast<double>(plan.planes);
    additions += levels(plan.lanes);
    if (!device.fp64) {
        additions += static_cast<double>(divide_up(plan.groups, plan.gosa_items)) + levels(plan.gosa_items);
        if (plan.body == Body::rows) additions += static_cast<double>(plan.planes * plan.grid.j);
    }
    plan.gosa_tolerance = plan.contract ? 2e-3 : additions * 0x1p-24;
}

void check_room(const Plan& plan, const Device& device) {
    const std::size_t largest = plan.field_bytes() * (plan.body == Body::interleaved ? 4 : 1);
    lib::require_room(device, plan.body == Body::interleaved ? "a" : "p", largest);
    if (device.global_bytes > 0 && 14 * plan.field_bytes() > device.global_bytes)
        throw Unsupported("size " + plan.size + " needs " + format_bytes(14 * plan.field_bytes()) + "; the device has " +
                          format_bytes(device.global_bytes));
}

Plan himeno_plan(const Request& request, Params& params) {
    const auto& variant = request.variant.name;
    Plan plan;
    plan.size = params.text("size", automatic_size(request.device));
    plan.grid = grid_of(plan.size);
    plan.prescribed = params.text("data") == "prescribed";
    plan.contract = params.text("contract") == "on";
    plan.copy = is_one_of(variant, {"transfers", "region", "whole", "data", "resident", "schedule", "padded"});
    plan.first_k = plan.copy ? 1 : 0;
    if (variant == "transfers") plan.transfers = Transfers::every_iteration;
    if (variant == "data") plan.transfers = Transfers::residual_only;
    if (is_one_of(variant, {"region", "whole"})) {
        plan.transfers = Transfers::around_loop;
        plan.sweeps = static_cast<unsigned>(params.count("sweeps"));
    }
    if (variant == "interleaved") plan.body = Body::interleaved;
    if (variant == "local") plan.body = Body::local;
    if (variant == "registers") plan.body = Body::march;
    if (variant == "wide") plan.body = request.device.is_cpu() ? Body::rows : Body::march;
    choose_layout(plan, request, params);
    choose_groups(plan, request, params);
    check_room(plan, request.device);
    if (variant == "region") plan.piece_bytes = (plan.grid.j - 2) * (plan.grid.k - 2) * sizeof(float);
    return plan;
}

std::vector<std::string> add_arguments(Setup& out, const Plan& plan, const Problem& problem) {
    std::vector<std::string> coefficients;
    std::map<SharedBytes, SharedBytes> laid_out;  // equal arrays share one buffer here too
    const auto lay_out = [&](const SharedBytes& field) {
        auto& to = laid_out[field];
        if (!to) to = padded(field, plan.grid, plan.row, plan.start);
        return to;
    };
    const auto coefficient = [&](Array array) {
        const auto& field = problem.coefficient(array);
        if (!plan.sections) return lay_out(field);
        auto& to = laid_out[field];
        if (!to) to = section(field, plan.grid);
        return to;
    };
    const auto input = [&](const std::string& name, SharedBytes data) {
        out.args.push_back(Input{name, std::move(data)});
        coefficients.push_back(name);
    };
    const auto p = lay_out(problem.initial_p());
    const auto row_bytes = plan.row * sizeof(float);
    out.args.push_back(InOut{"p", p, row_bytes});
    // A swap needs the boundary in both; the copy needs nothing there, so a poisoned q shows a kernel that reads it.
    if (plan.copy)
        out.args.push_back(Scratch{"q", plan.field_bytes(), row_bytes});
    else
        out.args.push_back(InOut{"q", p, row_bytes});
    if (plan.body == Body::interleaved) {
        input("a", interleaved(std::vector{coefficient(a0), coefficient(a1), coefficient(a2), coefficient(a3)}));
        input("b", interleaved(std::vector{coefficient(b0), coefficient(b1), coefficient(b2)}));
        input("c", interleaved(std::vector{coefficient(c0), coefficient(c1), coefficient(c2)}));
        input("bnd", coefficient(bnd));
        input("wrk1", coefficient(wrk1));
    } else {
        for (int n = 0; n < arrays; ++n) input(array_names[n], coefficient(static_cast<Array>(n)));
    }
    out.args.push_back(Scratch{"partial", plan.groups * sizeof(float)});
    out.args.push_back(value("count", static_cast<std::int32_t>(plan.groups)));
    out.args.push_back(Output{"gosa", sizeof(float)});
    return coefficients;
}

void add_steps(Setup& out, const Plan& plan, const std::vector<std::string>& coefficients) {
    std::vector<std::string> sweep_args{"p", "q"};
    sweep_args.insert(sweep_args.end(), coefficients.begin(), coefficients.end());
    sweep_args.push_back("partial");
    const bool all_up = plan.transfers == Transfers::every_iteration || plan.transfers == Transfers::around_loop;
    if (all_up) {
        out.steps.push_back(Upload{"p", plan.piece_bytes});
        for (const auto& name : coefficients) out.steps.push_back(Upload{name, plan.piece_bytes});
    }
    for (unsigned n = 0; n < plan.sweeps; ++n) {
        out.steps.push_back(Launch{{}, plan.global, plan.local, sweep_args, {}, "sweep"});
        out.steps.push_back(Launch{"himeno_gosa", Extent(plan.gosa_items), Extent(plan.gosa_items), {"partial", "count", "gosa"}, {}, "residual"});
        if (plan.copy)
            out.steps.push_back(Launch{"himeno_copy", plan.global, plan.local, {"p", "q"}, {}, "copy"});
        else
            out.steps.push_back(Swap{"p", "q"});
    }
    if (all_up) out.steps.push_back(Download{"p"});
    if (plan.transfers != Transfers::none) out.steps.push_back(Download{"gosa"});
}

void add_defines(Setup& out, const Plan& plan) {
    const auto define = [&](const char* name, std::size_t number) { out.defines.push_back(name + ("=" + std::to_string(number))); };
    define("GRID_I", plan.grid.i);
    define("GRID_J", plan.grid.j);
    define("GRID_K", plan.grid.k);
    define("ROW", plan.row);
    define("LX", plan.local.size[0]);
    define("LY", plan.local.size[1]);
    define("LZ", plan.local.size[2]);
    define("LANES", plan.lanes);
    define("PLANES", plan.planes);
    define("START", plan.start);
    for (const auto& [name, axis] : {std::pair{"K_ID", 'k'}, {"J_ID", 'j'}, {"I_ID", 'i'}}) define(name, plan.order.find(axis));
    define("GOSA_ITEMS", plan.gosa_items);
    define("HIMENO_CONTRACT", plan.contract);
}

Check make_check(const Plan& plan, std::shared_ptr<const Problem> problem) {
    return [plan, problem](const Buffers& buffers) -> std::optional<std::string> {
        const auto iterations = static_cast<unsigned>(buffers.operations) * plan.sweeps;
        const auto expected = problem->after(iterations);
        // fma saves one rounding of about 2^-24 of s0 in each of ten places; the iteration is a contraction.
        const double tolerance = plan.contract ? 1e-6 * iterations : 0;
        if (auto wrong = compare_field(buffers.as<float>("p"), *expected, plan.grid, plan.row, tolerance, buffers.errors, plan.start)) return wrong;
        return compare_gosa(buffers.as<float>("gosa")[0], expected->gosa, plan.gosa_tolerance, buffers.errors);
    };
}

Setup setup(const Request& request, Params& params) {
    const auto plan = himeno_plan(request, params);
    const bool prescribed = plan.prescribed && request.verification > 0;
    const auto initial = problem(plan.grid, prescribed ? Data::prescribed : Data::random, request.seed);

    Setup out;
    const auto coefficients = add_arguments(out, plan, *initial);
    add_steps(out, plan, coefficients);
    add_defines(out, plan);
    out.global = plan.global;
    out.local = plan.local;
    out.verify_operations = plan.sweeps > 1 ? 1 : rehearsal;
    out.work.flops = flops(plan.grid) * plan.sweeps;
    out.work.bytes = traffic(plan.grid) * plan.sweeps;
    out.work.steps = plan.sweeps;
    out.accumulates = true;
    out.check = make_check(plan, initial);
    if (prescribed) {
        out.observe = [sweeps = plan.sweeps](const Buffers& buffers, std::uint64_t operations) {
            return std::vector<std::pair<std::string, double>>{
                {"gosa", buffers.as<float>("gosa")[0]}, {"iterations", static_cast<double>(operations) * sweeps}};
        };
    }
    return out;
}

double score(const Setup& setup, double seconds) { return setup.work.flops / seconds / 1e6 / pentium_iii_mflops; }

const MetricValue* metric(const Record& record, const std::string& name) {
    for (const auto& [known, value] : record.metrics) {
        if (known == name) return &value;
    }
    return nullptr;
}

std::string size_of(const Record& record) {
    for (const auto& [axis, value] : record.point) {
        if (axis == "size") return value;
    }
    return {};
}

/// The benchmark's own lines for one record.
std::string block(const Record& record) {
    const auto grid = grid_of(size_of(record));
    const double rate = metric(record, "flops")->value;
    char text[1024];
    std::snprintf(text, sizeof text,
                  "%s on '%s'\n"
                  " mimax = %zu mjmax = %zu mkmax = %zu (size %s)\n"
                  " Loop executed for %.0f times, rehearsal and warm-up included; %.3e s each, median of %u samples\n"
                  " Gosa : %.6e\n"
                  " MFLOPS measured : %.3f\n"
                  " Score based on Pentium III 600MHz : %.3f\n",
                  record.id.c_str(), record.device.name.c_str(), grid.i, grid.j, grid.k, size_of(record).c_str(),
                  metric(record, "iterations")->value, flops(grid) / rate, record.time->n, metric(record, "gosa")->value, rate / 1e6,
                  metric(record, "score")->value);
    return text;
}

/// What the benchmark prints, for the fastest record of each device and size.
std::string summary(const std::vector<const Record*>& records) {
    std::vector<const Record*> best;
    for (const auto* record : records) {
        // Random data has no gosa that anyone could compare.
        if (!metric(*record, "gosa") || !metric(*record, "iterations") || !metric(*record, "flops") || !metric(*record, "score")) continue;
        const auto same = std::find_if(best.begin(), best.end(), [&](const Record* other) {
            return device_key(*other) == device_key(*record) && size_of(*other) == size_of(*record);
        });
        if (same == best.end())
            best.push_back(record);
        else if (metric(*record, "flops")->value > metric(**same, "flops")->value)
            *same = record;
    }
    std::string out;
    for (const auto* record : best) out += (out.empty() ? "" : "\n") + block(*record);
    return out;
}

Axis make_axis(std::string name, std::string unit, std::string meaning, Axis::Kind kind, std::string initial) {
    Axis axis;
    axis.name = std::move(name);
    axis.unit = std::move(unit);
    axis.meaning = std::move(meaning);
    axis.kind = kind;
    axis.values = {std::move(initial)};
    axis.may_be_auto = axis.values.front() == "auto";
    return axis;
}

std::vector<Axis> make_axes() {
    auto size = make_axis("size", "", "grid, boundary included; auto is S on a CPU, and L on a GPU that has room for it", Axis::Kind::choice, "auto");
    for (const auto& [name, grid] : sizes) size.choices.emplace_back(name);
    auto data = make_axis("data", "", "what is timed: the benchmark's constant coefficients, or random ones, which the first verification always uses",
                          Axis::Kind::choice, "prescribed");
    data.choices = {"prescribed", "random"};
    auto contract = make_axis("contract", "", "whether the compiler may fuse multiply and add; the result is then compared within a tolerance",
                              Axis::Kind::choice, "off");
    contract.choices = {"off", "on"};
    auto sweeps = make_axis("sweeps", "", "iterations between the transfers", Axis::Kind::integer, "10");
    sweeps.least = 1;
    sweeps.most = 1000;
    sweeps.only = {"region", "whole"};
    auto local = make_axis("local", "work-item", "work-group: work-items along x, y and z, which are k, j and i where no order says otherwise; auto is chosen by the variant", Axis::Kind::shape, "auto");
    local.tune = {"auto", "32x1", "32x2", "32x4", "32x8", "64x1", "64x2", "64x4", "64x8", "128x1", "128x2", "128x4", "256x1", "256x2", "512x1", "1024x1", "16x4x4", "32x2x2"};
    auto pad = make_axis("pad", "word", "words added to each row; auto is 32 for padded, 1 for the steps before it, as in the static C version, else 0",
                         Axis::Kind::integer, "auto");
    pad.most = 1024;
    pad.tune = {"auto", "0", "8", "16", "32", "64"};
    auto planes = make_axis("planes", "", "planes that a work-item or a tile passes through; auto fills the device several times, for schedule it is a 16th of the grid", Axis::Kind::integer, "auto");
    planes.least = 1;
    planes.most = 512;
    planes.tune = {"auto", "1", "4", "8", "16", "32", "64", "128", "254"};
    planes.only = {"schedule", "local", "registers", "wide"};
    auto lanes = make_axis("lanes", "", "points of a row that a work-item computes at once; auto is 4, on a CPU 8, on a simulator 1", Axis::Kind::choice, "auto");
    lanes.choices = {"1", "2", "4", "8"};
    lanes.tune = {"auto", "1", "2", "4", "8"};
    lanes.only = {"wide"};
    auto start = make_axis("start", "word", "words in front of each array: its rows then begin at no alignment", Axis::Kind::integer, "0");
    start.most = 1024;
    start.tune = {"0"};  // with or without it the variant is compared with the others
    start.only = {"swap"};
    auto order = make_axis("order", "", "the loops: which of i, j and k lies along x, y and z of the NDRange; rows of memory run along k", Axis::Kind::choice, "kji");
    order.choices = {"kji", "kij", "jki", "jik", "ikj", "ijk"};
    order.tune = {"kji", "kij", "jki", "jik", "ikj", "ijk"};
    order.only = {"swap"};
    return {size, data, contract, sweeps, local, pad, start, order, planes, lanes};
}

}  // namespace

Experiment describe_himeno() {
    Experiment out;
    out.family = "himeno";
    out.question = "How close does a 19-point Jacobi sweep come to the bandwidth of memory, and what does each step towards it gain?";
    out.axes = make_axes();
    out.variants = {
        {"transfers", "Step 1 of the article: in each iteration every array goes to the device and p comes back."},
        {"region", "Step 2: transfers only around a loop of iterations, plane by plane, into arrays of the shape of the sections that a compiler moves."},
        {"whole", "Step 3: the same with one transfer per array."},
        {"data", "Step 4: the arrays stay on the device; the residual comes back in each iteration."},
        {"resident", "Step 5: nothing comes back inside the loop."},
        {"schedule", "Step 6: work-groups are rows of up to 256 points instead of tiles of 16x16, 16 of them along i; `cllab tune` varies them."},
        {"padded", "Step 7: rows begin at multiples of 32 words."},
        {"swap", "No copy kernel: old and new p change places; both have the boundary."},
        {"interleaved", "swap with the coefficients interleaved as in the first C version: a[point][4], b[point][3], c[point][3]."},
        {"local", "2.5-D blocking: a tile in local memory moves along i; local=16x4x4 makes it 18x6x6 points, 256 makes it 258x3x3."},
        {"registers", "2.5-D blocking in registers: each work-item keeps five values of each plane as it moves along i."},
        {"wide", "registers on vectors of `lanes` points; on a CPU each work-item takes whole rows of its planes."},
    };
    out.native = native::loops("swap", "The loops of the original with two fields that change places", [](const HostMemory& m, const Point& point, unsigned threads) {
        const auto grid = grid_of(point.text("size"));
        std::array<const float*, arrays> coefficients{};
        for (std::size_t n = 0; n < arrays; ++n) coefficients[n] = m.as<float>(array_names[n]).data();
        const auto row = grid.k + static_cast<std::size_t>(point.integer("pad"));
        m.as<float>("gosa").front() = static_cast<float>(native::himeno(coefficients, m.as<float>("p").data(), m.as<float>("q").data(), {grid.i, grid.j, grid.k, row}, threads));
    });
    out.setup = setup;
    out.resolve = [](const Request& request, Params& params) { himeno_plan(request, params); };
    out.metrics = {{"score", "", Better::higher, score}};
    out.summary = summary;
    return out;
}

}  // namespace cllab::model
