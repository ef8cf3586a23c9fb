// Dimensions and work-group: by the functions that the kernel asks, and by its local memory.
#include <algorithm>

#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {

using Meaning = ScalarName::Meaning;
using model::Parameter;

/// One group of one item, or of as many as the kernel promises.
bool KernelGuess::look() {
    const auto& promised = said_.signature.required_group;
    global_ = {"1", "1", "1"};
    local_.clear();
    if (promised[0] > 0)
        for (unsigned d = 0; d < 3; ++d) {
            local_.push_back(static_cast<std::int64_t>(promised[d]));
            global_[d] = std::to_string(promised[d]);
        }
    first_ = launch_(small_launch());
    return first_.trouble.empty();
}

bool KernelGuess::asks(std::initializer_list<const char*> functions) const {
    return std::ranges::any_of(functions, [&](const char* name) { return first_.calls.count(name) > 0; });
}

void KernelGuess::set_dimensions() {
    if (by_text_) first_.calls = text_.calls(said_.signature.name);
    unsigned bits = 1;
    for (const char* name : {"get_global_id", "get_local_id", "get_group_id"})
        if (const auto found = first_.calls.find(name); found != first_.calls.end()) bits |= found->second;
    const auto& promised = said_.signature.required_group;
    for (unsigned d = 1; d < 3; ++d)
        if (bits >> d & 1 || promised[d] > 1) dims_ = d + 1;
    for (const auto& p : parameters_)
        if (p.kind == Parameter::Kind::image && bits == 1) dims_ = std::max(dims_, 1u);
    if (!said_.global.empty()) dims_ = static_cast<unsigned>(said_.global.size());
    if (!said_.local.empty()) dims_ = static_cast<unsigned>(said_.local.size());
}

void KernelGuess::set_local() {
    local_.clear();
    local_is_given_ = !said_.local.empty();
    for (const auto& text : said_.local) local_.push_back(parse_integer(text).value_or(16));
    const auto& promised = said_.signature.required_group;
    if (local_is_given_) return;
    if (promised[0] > 0) {
        local_.assign(promised.begin(), promised.begin() + dims_);
        return;
    }
    const bool has_local =
        std::ranges::any_of(parameters_, [](const auto& p) { return p.kind == Parameter::Kind::local; });
    if (!has_local && first_.local.empty() &&
        !asks({"get_local_id", "get_group_id", "get_local_size", "get_num_groups", "get_local_linear_id", "barrier",
               "work_group_barrier"}))
        return;
    static const std::vector<std::int64_t> usual[] = {{256}, {16, 16}, {8, 8, 4}};
    local_ = usual[dims_ - 1];
    if (!by_text_ && !first_.local.empty()) choose_group();
    for (unsigned d = 0; d < dims_ && d < said_.global.size(); ++d)
        if (const auto all = parse_integer(said_.global[d]))
            while (*all % local_[d] != 0) local_[d] /= 2;
}

/// One group.
KernelGuess::GroupSeen KernelGuess::try_group(const std::vector<std::int64_t>& group) {
    local_ = group;
    global_.clear();
    for (const auto size : group) global_.push_back(std::to_string(size));
    const auto kept = scalars_;
    for (auto& scalar : scalars_) {
        const auto d = static_cast<std::size_t>(std::max(0, scalar.name.dimension));
        if (scalar.is_size() || scalar.name.meaning == Meaning::stride)
            scalar.value = global_[std::min(d, dims_ - 1ul)];
        if (scalar.name.meaning == Meaning::group) scalar.value = std::to_string(group[0]);
    }
    for (auto& axis : axes_) axis.small = group[0];
    const auto seen = launch_(small_launch());
    scalars_ = kept;
    GroupSeen out{seen.trouble.empty() && !seen.too_long};
    for (const auto& variable : seen.local) {
        if (variable.argument >= 0) continue;
        out.overruns = out.overruns || variable.last > variable.size || variable.before;
        out.runs = out.runs && !out.overruns && !variable.read_first;
        out.bytes += variable.bytes;
        out.room += variable.size;
    }
    return out;
}

/// The work-group that the kernel's own local arrays are made for: none of it is overrun or read before it is written,
/// and as much as can be is used.
void KernelGuess::choose_group() {
    static const std::vector<std::vector<std::int64_t>> candidates[] = {
        {{256}, {128}, {64}, {32}, {16}, {512}, {1024}},
        {{16, 16}, {8, 8}, {32, 8}, {32, 32}, {32, 16}, {64, 4}, {16, 8}, {4, 4}, {16, 4}},
        {{8, 8, 4}, {4, 4, 4}, {8, 8, 8}, {16, 4, 4}, {2, 2, 2}}};
    std::vector<std::int64_t> best = local_;
    std::vector<std::vector<std::int64_t>> too_large;
    std::int64_t most = -1;
    for (const auto& group : candidates[dims_ - 1]) {
        const bool is_larger = std::ranges::any_of(
            too_large, [&](const auto& other) { return std::ranges::equal(other, group, std::less_equal<>{}); });
        if (is_larger) continue;
        const auto found = try_group(group);
        if (found.overruns) too_large.push_back(group);
        if (!found.runs || found.bytes <= most) continue;
        most = found.bytes;
        best = group;
        if (8 * found.bytes >= 7 * found.room) break;  // what is left is padding
    }
    local_ = best;
}

}  // namespace cllab::kernelfile
