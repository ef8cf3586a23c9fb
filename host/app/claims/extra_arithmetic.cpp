#include "app/claims/extra_arithmetic.hpp"

namespace cllab::app {

constexpr unsigned chains = 4;  // of which each multiply-add waits for the one before

std::string arithmetic_parameters() { return "__global float* cllab_sink, float cllab_factor, float cllab_never"; }

std::string arithmetic_statements(unsigned operations) {
    // All stay positive, and the store would need a negative sum. A number of 64 bits would take vectors of twice the
    // width to become a float.
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

std::optional<ChangedCell> with_arithmetic(const model::Cell& cell, const model::Setup& setup,
                                           const run::Settings& settings, const model::Device& device,
                                           unsigned operations) {
    if (setup.slope) return std::nullopt;
    const std::size_t bytes = sizeof(float) * setup.global.size[0];
    return with_changed_text(
        cell, setup, settings, device, arithmetic_parameters(), arithmetic_statements(operations),
        [bytes, operations](model::Setup& out) {
            out.args.push_back(model::Scratch{"cllab_sink", bytes});
            out.args.push_back(model::value("cllab_factor", 0.75f));
            out.args.push_back(model::value("cllab_never", -1.0f));
            // That they stand in the machine code is looked at, and the cell collapsed where they do not.
            out.declared.push_back({model::Declared::What::multiply_add, static_cast<double>(operations), 32});
        });
}

}  // namespace cllab::app
