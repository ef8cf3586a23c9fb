#include "app/extra_arithmetic.hpp"

#include "app/kernel_text.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {

constexpr unsigned chains = 4;  // of which each multiply-add waits for the one before

std::string arithmetic_parameters() { return "__global float* cllab_sink, float cllab_factor, float cllab_never"; }

std::string arithmetic_statements(unsigned operations) {
    // All stay positive, and the store would need a negative sum. A number of 64 bits would take vectors of twice the width to become a float.
    std::string out = " float cllab_0 = (float)((int)get_global_id(0) & 0xffff) * cllab_factor";
    for (unsigned chain = 1; chain < chains; ++chain)
        out += ", cllab_" + std::to_string(chain) + " = cllab_0 + " + std::to_string(chain) + ".0f";
    out += ";";
    for (unsigned i = 0; i < operations; ++i) {
        const auto name = "cllab_" + std::to_string(i % chains);
        out += " " + name + " = fma(" + name + ", cllab_factor, 0.5f);";
    }
    return out + " if (cllab_0 + cllab_1 + cllab_2 + cllab_3 == cllab_never) cllab_sink[get_global_id(0)] = cllab_0;";
}

std::optional<ExtraArithmetic> with_arithmetic(const model::Cell& cell, const model::Setup& setup, const run::Settings& settings,
                                               const model::Device& device, unsigned operations) {
    if (!setup.steps.empty() || setup.slope) return std::nullopt;
    const auto built = run::build_text(cell, setup, device, settings.cl_dir, settings.build_options);
    if (built.options.find("-x cuda") != std::string::npos) return std::nullopt;
    const auto entry = cell.experiment->entry(*cell.variant);
    const auto text = with_parameters(built.text, {entry, "KERNEL"}, arithmetic_parameters(), arithmetic_statements(operations));
    if (!text) return std::nullopt;
    const auto changed = std::make_shared<model::Experiment>(*cell.experiment);
    const std::size_t bytes = sizeof(float) * setup.global.size[0];
    changed->setup = [base = cell.experiment->setup, bytes, operations](const model::Request& request, model::Params& params) {
        auto out = base(request, params);
        out.args.push_back(model::Scratch{"cllab_sink", bytes});
        out.args.push_back(model::value("cllab_factor", 0.75f));
        out.args.push_back(model::value("cllab_never", -1.0f));
        // That they stand in the machine code is looked at, and the cell collapsed where they do not.
        out.declared.push_back({model::Declared::What::multiply_add, static_cast<double>(operations), 32});
        return out;
    };
    ExtraArithmetic out{changed, cell};
    out.cell.experiment = changed.get();
    out.cell.options.clear();  // they are among those that are stored
    out.cell.stored = std::make_shared<const model::StoredBuild>(model::StoredBuild{*text, built.options});
    return out;
}

}  // namespace cllab::app
