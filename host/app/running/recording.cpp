#include "app/running/recording.hpp"

#include <algorithm>

#include "core/hash.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "kernelfile/data/data.hpp"
#include "run/launch_once.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

/// Of one cell and seed.
fs::path folder_of(const fs::path& root, const model::Variant& variant, const model::Point& point, std::uint64_t seed) {
    return root / sha256_hex(variant.name + "\n" + point_text(point) + "\n" + std::to_string(seed));
}

/// What the first operation on the data leaves; a later one may go on from there.
void keep(const fs::path& folder, const model::Buffers& left) {
    if (left.operations != 1 || fs::exists(folder)) return;
    fs::create_directories(folder);
    for (const auto& [name, bytes] : left.data) cllab::write_file(folder / name, bytes);
}

}  // namespace

std::string point_text(const model::Point& point) {
    std::vector<std::string> out;
    for (const auto& [axis, value] : point.values())
        if (!value.empty()) out.push_back(axis + "=" + value);
    return join(out, " ");
}

model::Cell Recording::cell(const model::Cell& cell, std::uint64_t seed) {
    const auto [made, is_new] = made_.try_emplace({cell.experiment, seed}, *cell.experiment);
    if (is_new)
        made->second.setup = [setup = cell.experiment->setup, seed, root = folder_, own = own_](
                                 const model::Request& asked, model::Params& params) {
            auto request = asked;
            request.seed = seed;
            auto out = setup(request, params);
            std::vector<std::string> unsaid;
            run::choose_groups(out, unsaid);
            if (own == OwnCheck::left_out) {
                out.reference.reset();
                out.errors.reset();
                out.proof = {};
                out.know_code = {};
            }
            out.check = [folder = folder_of(root, request.variant, request.point, seed), own,
                         check = out.check](const model::Buffers& left) {
                keep(folder, left);
                return own == OwnCheck::asked ? check(left) : std::nullopt;
            };
            return out;
        };
    auto out = cell;
    out.experiment = &made->second;
    return out;
}

model::Bytes Recording::result(const model::Cell& cell, std::uint64_t seed, const std::string& name) const {
    const auto text =
        cllab::read_file(folder_of(folder_, *cell.variant, cell.point, seed) / name).value_or(std::string());
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

std::optional<std::string> difference(const kernelfile::CellArguments& known, const model::Cell& cell,
                                      std::uint64_t seed, const Recording& here, const Recording& elsewhere,
                                      const std::string& there) {
    // OpenCL lets a device be off by 1.5 ulp where it reads a normalised texel as a float: two are 3 apart at most.
    constexpr double apart = 3 * 0x1p-23;
    auto floats = known.tolerance;
    if (known.reads_normalised)
        floats.absolute = std::max(floats.absolute, apart), floats.relative = std::max(floats.relative, apart);
    model::Errors errors(known.tolerance), float_errors(floats);
    std::map<std::string, model::ElementType> types;
    std::map<std::string, model::Bytes, std::less<>> found, other;
    for (const auto& a : known.arguments) {
        if (!a.comes_out) continue;
        types.emplace(a.name, a.element);
        found.emplace(a.name, here.result(cell, seed, a.name));
        other.emplace(a.name, elsewhere.result(cell, seed, a.name));
    }
    put_in_order(known.any_order, types, "", found);
    put_in_order(known.any_order, types, "", other);
    for (const auto& a : known.arguments) {
        if (!a.comes_out) continue;
        if (auto wrong = kernelfile::difference(a.name, found.at(a.name), other.at(a.name), a.element,
                                                a.element.is_floating() ? float_errors : errors, there, true))
            return wrong;
    }
    return std::nullopt;
}

}  // namespace cllab::app
