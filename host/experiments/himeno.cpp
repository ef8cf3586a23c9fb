// himeno: the benchmark's sweep, from "everything moves every iteration" to the bandwidth of the memory. The first
// seven variants are the steps of a 2010 article on OpenACC's forerunner (Softek, PGI accelerator model) in OpenCL. The
// other variants do what that compiler could not.
#include "experiments/lib/himeno.hpp"

#include <cstdio>

#include "core/table.hpp"
#include "experiments/lib/family.hpp"
#include "model/result.hpp"

namespace cllab::model::himeno_family {

using namespace himeno;
using namespace lib;

constexpr unsigned rehearsal = 3;             // iterations before the measured ones, as the benchmark prescribes
constexpr double pentium_iii_mflops = 82.84;  // the benchmark's unit of score: a Pentium III of 600 MHz

std::vector<std::string> add_arguments(Setup& out, const Plan& plan, const Problem& problem) {
    std::vector<std::string> coefficients;
    std::map<SharedBytes, SharedBytes> laid_out;  // equal arrays share a buffer here, too
    const auto apart = [&](const SharedBytes& field) { return rows_apart(field, plan.grid.k, plan.row, plan.start); };
    const auto coefficient = [&](Array array) {
        const auto& field = problem.coefficient(array);
        auto& to = laid_out[field];
        if (!to) to = plan.sections ? section(field, plan.grid) : apart(field);
        return to;
    };
    const auto input = [&](const std::string& name, SharedBytes data) {
        out.args.push_back(Input{name, std::move(data)});
        coefficients.push_back(name);
    };
    const auto p = apart(problem.initial_p());
    const auto row_bytes = plan.row * sizeof(float);
    out.args.push_back(InOut{"p", p, row_bytes});
    // A swap needs the boundary in both buffers. The copy needs nothing in q, so poison there reveals a kernel that
    // reads it.
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
    out.args.push_back(value<std::int32_t>("count", plan.groups));
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
        const Extent gosa(plan.gosa_items);
        out.steps.push_back(launch("sweep", "", plan.global, plan.local, sweep_args));
        out.steps.push_back(launch("residual", "himeno_gosa", gosa, gosa, {"partial", "count", "gosa"}));
        const auto copy = launch("copy", "himeno_copy", plan.global, plan.local, {"p", "q"});
        out.steps.push_back(plan.copy ? Step(copy) : Swap{"p", "q"});
    }
    if (all_up) out.steps.push_back(Download{"p"});
    if (plan.transfers != Transfers::none) out.steps.push_back(Download{"gosa"});
}

void add_defines(Setup& out, const Plan& plan) {
    const auto& [x, y, z] = plan.local.size;
    out.defines = defines({{"GRID_I", plan.grid.i},
                           {"GRID_J", plan.grid.j},
                           {"GRID_K", plan.grid.k},
                           {"ROW", plan.row},
                           {"LX", x},
                           {"LY", y},
                           {"LZ", z},
                           {"LANES", plan.lanes},
                           {"PLANES", plan.planes},
                           {"START", plan.start},
                           {"K_ID", plan.order.find('k')},
                           {"J_ID", plan.order.find('j')},
                           {"I_ID", plan.order.find('i')},
                           {"GOSA_ITEMS", plan.gosa_items},
                           {"DOUBLE", plan.has_double},
                           {"HIMENO_CONTRACT", plan.contract}});
}

Check make_check(const Plan& plan, std::shared_ptr<const Problem> problem) {
    return [plan, problem](const Buffers& buffers) -> std::optional<std::string> {
        const auto iterations = static_cast<unsigned>(buffers.operations) * plan.sweeps;
        const auto expected = problem->after(iterations);
        // In each of ten places, fma saves one rounding of about 2^-24 of s0. The iteration is a contraction.
        const double tolerance = plan.contract ? 1e-6 * iterations : 0;
        if (auto wrong = compare_field(buffers.as<float>("p"), *expected, plan.grid, plan.row, tolerance,
                                       buffers.errors, plan.start))
            return wrong;
        return compare_gosa(buffers.as<float>("gosa")[0], expected->gosa, plan.gosa_tolerance, buffers.errors);
    };
}

Setup setup(const Request& request, const Plan& plan) {
    const bool prescribed = plan.prescribed && request.verification > 0;
    const auto data = prescribed ? Data::prescribed : Data::random;
    const auto key = std::tuple(plan.grid.i, plan.grid.j, plan.grid.k, data, prescribed ? 0 : request.seed);
    const auto initial = cached(request, "himeno", key, [&] { return Problem(plan.grid, data, request.seed); });

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

const MetricValue* metric(const Record& record, const char* name) { return find_in(record.metrics, name); }

std::string size_of(const Record& record) {
    const auto* size = find_in(record.point, "size");
    return size ? *size : "";
}

/// The benchmark's own output for one record.
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
                  metric(record, "iterations")->value, flops(grid) / rate, record.time->n,
                  metric(record, "gosa")->value, rate / 1e6, metric(record, "score")->value);
    return text;
}

/// The benchmark's output for the fastest record of each device and size.
std::string summary(const std::vector<const Record*>& records) {
    std::vector<const Record*> best;
    for (const auto* record : records) {
        // gosa of random data cannot be compared with anything.
        if (!metric(*record, "gosa") || !metric(*record, "iterations") || !metric(*record, "flops") ||
            !metric(*record, "score"))
            continue;
        const auto same = std::ranges::find_if(best, [&](const Record* other) {
            return device_key(*other) == device_key(*record) && size_of(*other) == size_of(*record);
        });
        if (same == best.end())
            best.push_back(record);
        else if (metric(*record, "flops")->value > metric(**same, "flops")->value)
            *same = record;
    }
    return join(best, "\n", [](const auto* record) { return block(*record); });
}

Experiment describe() {
    auto out = family<Plan>("himeno", plan_of, setup, {.metrics = {{"score", "", Better::higher, score}}});
    out.axes.front().choices = mapped(sizes, [](const auto& one) { return std::string(one.first); });
    out.summary = summary;
    return out;
}

}  // namespace cllab::model::himeno_family
