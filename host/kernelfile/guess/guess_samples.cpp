// Samples: what small launches at several sizes touch.
#include <algorithm>
#include <numeric>

#include "core/text.hpp"
#include "kernelfile/expression.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {
namespace {

/// The sizes of the samples: as many samples as the axes need, small enough for a simulator, in whole groups.
std::vector<Extents> sample_sizes(const Samples& samples) {
    static const std::vector<Extents> multiples[] = {
        {{}},
        {{1}, {2}, {3}, {4}},
        {{1, 1}, {2, 2}, {1, 2}, {3, 1}, {2, 1}, {1, 3}},
        {{2, 2, 2}, {3, 3, 3}, {1, 2, 1}, {3, 1, 1}, {1, 1, 2}, {2, 1, 3}, {1, 3, 2}}};
    const auto& shape = samples.shape;
    const auto dimensions = shape.global.size();
    const std::int64_t least = samples.few_items ? 4 : dimensions == 1 ? 16 : dimensions == 2 ? 8 : 4;
    const auto unit = shape.local.empty() ? least : std::max<std::int64_t>(4, shape.group_multiple());
    std::vector<Extents> out;
    for (const auto& multiple : multiples[std::min<std::size_t>(shape.axes.size(), 3)]) {
        auto& sizes = out.emplace_back();
        for (std::size_t a = 0; a < shape.axes.size(); ++a) {
            const bool in_launch = std::ranges::any_of(
                shape.global, [&](const auto& size) { return size.find(shape.axes[a].name) != size.npos; });
            const auto own = samples.short_loops && !in_launch ? least / 2 : unit;
            sizes.push_back(own * (a < multiple.size() ? multiple[a] : 1));
        }
    }
    return out;
}

/// Launches the samples anew.
Samples sampled(const KernelFacts& facts, Samples out) {
    out.runs.clear();
    out.seen.assign(facts.parameters().size(), {});
    out.is_enough = false;
    const auto all = sample_sizes(out);
    for (const auto& sizes : all) {
        auto seen = facts.launch(small_launch(facts, out, sizes));
        if (!seen.trouble.empty()) {
            out.trouble = seen.trouble;
            return out;
        }
        if (seen.too_long) break;
        for (std::size_t i = 0; i < out.seen.size() && i < seen.arguments.size(); ++i) {
            const auto& now = seen.arguments[i];
            auto& sum = out.seen[i];
            sum.unit = sum.unit == 0 ? now.unit : now.unit == 0 ? sum.unit : std::min(sum.unit, now.unit);
            sum.add(now);
        }
        out.runs.push_back({sizes, std::move(seen)});
        // The next sample would take longer than all before it.
        constexpr std::uint64_t many = 200'000;
        if (out.runs.size() >= 3 && sizes.size() == 1 && out.runs.back().seen.instructions > many) break;
    }
    out.is_enough = out.runs.size() >= std::min<std::size_t>(3, all.size());
    return out;
}

/// If work-items at a border access memory before a buffer, does not launch them: 1 to 4 at each border. Returns
/// `whole` if that does not help.
Samples inside(const KernelFacts& facts, Samples whole) {
    const auto& shape = whole.shape;
    const bool may_shrink = shape.local.empty() && facts.said.global.empty() && !facts.said.offset;
    if (!whole.has_before() || !may_shrink) return whole;
    auto out = whole;
    for (out.shape.inset = 1; out.shape.inset <= 4; ++out.shape.inset) {
        for (std::size_t d = 0; d < shape.global.size(); ++d)
            out.shape.global[d] = shape.global[d] + "-" + std::to_string(2 * out.shape.inset);
        out = sampled(facts, std::move(out));
        if (out.is_enough && !out.has_before()) return out;
    }
    whole.trouble = out.trouble;
    return whole;
}

}  // namespace

std::int64_t LaunchShape::group_multiple() const {
    return std::accumulate(local.begin(), local.end(), std::int64_t{1}, [](auto a, auto b) { return std::lcm(a, b); });
}

std::string LaunchShape::all_items() const {
    return join(global, "*", [&](auto size) {
        if (size.starts_with("ceil(") && !local.empty()) {  // "ceil(n/256)*256" is n
            const auto inside = size.substr(5, size.rfind(")*") - 5);
            size = inside.substr(0, inside.rfind('/'));
        }
        return inset > 0 ? size.substr(0, size.rfind('-')) : size;
    });
}

std::int64_t LaunchShape::value_of(const std::string& text, const Extents& sizes) const {
    const auto lookup = [&](const std::string& name, const Place&) -> std::int64_t {
        const auto at = static_cast<std::size_t>(std::ranges::find(axes, name, &SizeAxis::name) - axes.begin());
        return at < axes.size() ? sizes[at] : 1;
    };
    try {
        return Expression::parse(text, {"", 0, 0}).evaluate(lookup);
    } catch (const std::exception&) {
        return 1;
    }
}

const Sample& Samples::telling() const {
    constexpr std::uint64_t many = 100'000;
    return runs.back().seen.instructions < many ? runs.back() : runs.front();
}

bool Samples::has_before() const { return std::ranges::any_of(seen, &TouchedBytes::before); }

Samples samples_of(const KernelFacts& facts, const LaunchShape& shape) {
    auto out = sampled(facts, {.shape = shape});
    static const Extents small[] = {{8}, {4, 4}, {2, 2, 2}};
    const bool is_guessed = facts.said.local.empty() && facts.said.signature.required_group[0] == 0;
    for (int step = 1; step <= 3 && !out.is_enough && out.trouble.empty(); ++step) {
        out.short_loops = true;  // with whole groups, loops as long as a group take too long
        out.patient = step == 2;
        out.few_items = step == 3;  // the work of a work-item may grow with their number
        if (out.few_items && !shape.local.empty() && is_guessed) out.shape.local = small[shape.global.size() - 1];
        out = sampled(facts, std::move(out));
    }
    return out.is_enough ? inside(facts, out) : out;
}

Samples counted_samples(const KernelFacts& facts, const Samples& with_zeros) {
    const auto untouched = [&](const Samples& samples) {
        std::size_t out = 0;
        for (std::size_t i = 0; i < samples.seen.size(); ++i)
            if (facts.parameters()[i].is_buffer() && !samples.seen[i].touched()) ++out;
        return out;
    };
    auto out = with_zeros;
    for (std::size_t i = 0; i < out.seen.size() && untouched(out) > 0; ++i) {
        const auto& p = facts.parameters()[i];
        const bool is_read = out.seen[i].read && !out.seen[i].written;
        if (!p.is_buffer() || !p.type.is_integer() || facts.said.is_given(p) || !is_read) continue;
        auto filled = out;
        filled.fill[p.name] = "iota";
        filled = sampled(facts, std::move(filled));
        out.trouble = filled.trouble;
        if (!filled.is_enough || untouched(filled) >= untouched(out)) continue;
        filled.counted.insert(p.name);
        out = std::move(filled);
    }
    for (std::size_t i = 0; i < out.seen.size(); ++i)
        if (out.seen[i].touched() && !with_zeros.seen[i].touched()) out.between.insert(facts.parameters()[i].name);
    return out;
}

}  // namespace cllab::kernelfile
