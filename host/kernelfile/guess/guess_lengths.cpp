// Lengths of buffers: expressions that fit what launches at a few small sizes touch.
#include <algorithm>
#include <functional>
#include <numeric>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "kernelfile/guess/fit.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {

using model::Parameter;

/// Bytes per element. If the type's size is unknown: 4 if the smallest access has 4 bytes, else 1.
std::int64_t KernelGuess::element_bytes(const Parameter& p) const {
    if (p.type.bytes > 0) return static_cast<std::int64_t>(p.type.bytes);
    const auto number = static_cast<std::size_t>(&p - parameters_.data());
    return number < seen_.size() && seen_[number].unit == 4 ? 4 : 1;
}

/// The sizes of the samples: as many samples as the axes need, small enough for a simulator, in whole groups.
std::vector<std::vector<std::int64_t>> KernelGuess::sample_sizes() const {
    static const std::vector<std::vector<std::int64_t>> shapes[] = {
        {{}},
        {{1}, {2}, {3}, {4}},
        {{1, 1}, {2, 2}, {1, 2}, {3, 1}, {2, 1}, {1, 3}},
        {{2, 2, 2}, {3, 3, 3}, {1, 2, 1}, {3, 1, 1}, {1, 1, 2}, {2, 1, 3}, {1, 3, 2}}};
    auto unit = few_items_ ? 4 : dims_ == 1 ? 16 : dims_ == 2 ? 8 : 4;
    const auto least = unit;
    if (!local_.empty()) unit = static_cast<int>(std::max<std::int64_t>(4, group_multiple()));
    const auto unit_of = [&](const std::string& axis) {
        const bool in_launch =
            std::ranges::any_of(global_, [&](const auto& g) { return g.find(axis) != std::string::npos; });
        return short_loops_ && !in_launch ? least / 2 : unit;
    };
    std::vector<std::vector<std::int64_t>> out;
    for (const auto& shape : shapes[std::min<std::size_t>(axes_.size(), 3)]) {
        auto& sizes = out.emplace_back();
        for (std::size_t a = 0; a < axes_.size(); ++a)
            sizes.push_back(unit_of(axes_[a].name) * (a < shape.size() ? shape[a] : 1));
    }
    return out;
}

/// Launches the samples. False if there are fewer than an expression needs.
bool KernelGuess::run_samples() {
    samples_.clear();
    seen_.assign(parameters_.size(), {});
    const auto all = sample_sizes();
    for (const auto& sizes : all) {
        for (std::size_t a = 0; a < axes_.size(); ++a) axes_[a].small = sizes[a];
        auto seen = launch_(small_launch());
        if (!seen.trouble.empty()) return trouble_ = seen.trouble, false;
        if (seen.too_long) break;
        for (std::size_t i = 0; i < parameters_.size() && i < seen.arguments.size(); ++i) {
            const auto& now = seen.arguments[i];
            auto& sum = seen_[i];
            sum.unit = sum.unit == 0 ? now.unit : now.unit == 0 ? sum.unit : std::min(sum.unit, now.unit);
            sum.add(now);
        }
        samples_.emplace_back(sizes, std::move(seen));
        // The next sample would take longer than all before it.
        constexpr std::uint64_t many = 200'000;
        if (samples_.size() >= 3 && axes_.size() == 1 && samples_.back().second.instructions > many) break;
    }
    return samples_.size() >= std::min<std::size_t>(3, all.size());
}

/// If work-items at a border access memory before a buffer, does not launch them: 1 to 4 at each border. False if that
/// does not help.
bool KernelGuess::step_inside() {
    const auto has_before = [&] { return std::ranges::any_of(seen_, [](const auto& t) { return t.before; }); };
    if (!has_before()) return true;
    if (!local_.empty() || !said_.global.empty() || said_.offset) return false;
    const auto whole = global_;
    for (inset_ = 1; inset_ <= 4; ++inset_) {
        for (std::size_t d = 0; d < global_.size(); ++d) global_[d] = whole[d] + "-" + std::to_string(2 * inset_);
        if (run_samples() && !has_before()) return true;
    }
    inset_ = 0;
    global_ = whole;
    run_samples();
    return false;
}

/// Finds integer buffers that hold the starts of ranges. If all are zero, the ranges are empty and other buffers stay
/// untouched.
void KernelGuess::fill_by_counting() {
    const auto untouched = [&] {
        return std::ranges::count_if(seen_, [&](const auto& t) {
            return !t.touched() && parameters_[static_cast<std::size_t>(&t - seen_.data())].is_buffer();
        });
    };
    auto least = untouched();
    const auto with_zeros = seen_;
    for (std::size_t i = 0; i < parameters_.size() && least > 0; ++i) {
        const auto& p = parameters_[i];
        if (!p.is_buffer() || !p.type.is_integer() || is_given(p) || !seen_[i].read || seen_[i].written) continue;
        auto kept = std::pair(samples_, seen_);
        fill_[p.name] = "iota";
        if (run_samples() && untouched() < least) {
            least = untouched();
            counted_.insert(p.name);
            open_.insert(p.name);  // no real data has rows of one element each
        } else {
            fill_.erase(p.name);
            std::tie(samples_, seen_) = std::move(kept);
        }
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        if (seen_[i].touched() && !with_zeros[i].touched()) between_.insert(parameters_[i].name);
}

/// If one argument holds the starts of rows, the last start is the length of the arrays that the rows are of. They were
/// seen with rows of one element each, so their length was the number of rows; it becomes four times as many.
void KernelGuess::set_rows() {
    const auto length = counted_.size() == 1 ? lengths_[*counted_.begin()] : "";
    if (!length.ends_with("+1") || length.find('+') + 2 != length.size()) return;
    rows_ = length.substr(0, length.size() - 2);
    for (const auto& name : between_)
        if (lengths_[name] == rows_) lengths_[name] = "4*" + rows_;
}

/// Suggested data for an argument that cannot be guessed; empty: none is known.
std::string KernelGuess::advice_for(const Parameter& p) const {
    if (p.kind == Parameter::Kind::value) return text_of(p);
    const auto known = lengths_.find(p.name);
    if (known == lengths_.end() || by_text_) return {};
    const auto& length = known->second;
    if (counted_.count(p.name)) return rows_.empty() ? "rand:" + length + ":0:1" : "offsets:" + length + ":4*" + rows_;
    if (appended_.count(p.name)) return typed_data(p, "zero", length) + "\nrelation any order of " + p.name;
    const bool chooses = p.type.is_integer() && p.type.lane_bytes > 1 && p.type.lanes == 1;
    return p.is_const && chooses ? "perm:" + length : typed_data(p, p.is_const ? "rand" : "zero", length);
}

/// The product of the launch's sizes.
std::string KernelGuess::all_items() const {
    std::vector<std::string> factors;
    for (auto size : global_) {
        // "ceil(n/256)*256" is n for data.
        if (size.starts_with("ceil(") && !local_.empty()) {
            const auto inside = size.substr(5, size.rfind(")*") - 5);
            size = inside.substr(0, inside.rfind('/'));
        }
        if (inset_ > 0) size = size.substr(0, size.rfind('-'));
        factors.push_back(size);
    }
    return join(factors, "*");
}

std::vector<std::string> KernelGuess::axis_names() const { return mapped(axes_, &SizeAxis::name); }

/// The least common multiple of the group's sizes.
std::int64_t KernelGuess::group_multiple() const {
    return std::accumulate(local_.begin(), local_.end(), std::int64_t{1},
                           [](auto a, auto b) { return std::lcm(a, b); });
}

/// Leaves a scalar of unknown meaning open if a larger value makes the kernel do more. It is a loop count, and 1 is not
/// a realistic one.
void KernelGuess::ask_for_counts() {
    const auto& [sizes, usual] = telling_sample();
    for (std::size_t a = 0; a < axes_.size(); ++a) axes_[a].small = sizes[a];
    for (auto& scalar : scalars_) {
        const bool is_one = scalar.value == "1" && scalar.is_open() && !scalar.type.is_floating() && !scalar.is_part();
        if (!is_one) continue;
        scalar.value = "5";
        const auto seen = launch_(small_launch());
        scalar.value = "1";
        if (!seen.trouble.empty()) continue;
        if (seen.too_long || 2 * seen.instructions > 3 * usual.instructions) open_.insert(scalar.of->name);
    }
}

std::int64_t KernelGuess::group_items() const {
    return std::accumulate(local_.begin(), local_.end(), std::int64_t{1}, std::multiplies<>());
}

/// The scalar argument that is a number of bins: more than half of them are `elements`. nullopt if there is none.
std::optional<std::string> KernelGuess::bins_of(std::int64_t elements) const {
    constexpr std::int64_t few = 8;
    for (const auto& scalar : scalars_)
        if (const auto bins = parse_integer(scalar.value).value_or(0);
            bins >= few && elements <= bins && 2 * elements > bins && !scalar.is_part())
            return scalar.word;
    return std::nullopt;
}

std::optional<std::string> KernelGuess::length_of(std::size_t argument) const {
    const auto bytes = element_bytes(parameters_[argument]);
    std::vector<LengthSample> samples;
    for (const auto& [sizes, seen] : samples_)
        samples.push_back({sizes, (seen.arguments[argument].last + bytes - 1) / bytes});
    const auto names = axis_names();
    if (auto fitted = fitted_length(names, samples)) return fitted;
    const auto most = std::ranges::max(samples, {}, &LengthSample::length).length;
    if (const auto bins = bins_of(most)) return bins;
    // The length depends on data. One element per work-item is enough, unless more were seen.
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (samples[i].length > value_in(samples_[i], all_items())) return std::nullopt;
    return all_items();
}

/// The value of an expression at the sizes of the sample.
std::int64_t KernelGuess::value_in(const Sample& sample, const std::string& text) const {
    const auto lookup = [&](const std::string& name, const Place&) -> std::int64_t {
        const auto at = static_cast<std::size_t>(std::ranges::find(axes_, name, &SizeAxis::name) - axes_.begin());
        return at < axes_.size() ? sample.first[at] : 1;
    };
    return Expression::parse(text, {"", 0, 0}).evaluate(lookup);
}

std::string KernelGuess::local_length_of(std::size_t argument) const {
    const auto bytes = element_bytes(parameters_[argument]);
    std::vector<LengthSample> samples;
    for (const auto& [sizes, seen] : samples_)
        for (const auto& one : seen.local)
            if (one.argument == static_cast<int>(argument)) samples.push_back({sizes, (one.last + bytes - 1) / bytes});
    const auto length = fitted_length(axis_names(), samples);
    return length && *length != "0" ? *length : std::to_string(group_items());
}

void KernelGuess::fit_lengths() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const auto& p = parameters_[i];
        if (p.kind == Parameter::Kind::local) lengths_[p.name] = local_length_of(i);
        if (p.kind == Parameter::Kind::image) {
            lengths_[p.name] = pixels_of(i, 0);
            for (unsigned d = 1; d < p.dims; ++d) lengths_[p.name] += "," + pixels_of(i, d);
        }
        if (!p.is_buffer()) continue;
        if (!seen_[i].touched())
            lengths_[p.name] = all_items();
        else if (const auto length = length_of(i))
            lengths_[p.name] = *length;
        else
            open_.insert(p.name);
    }
}

/// The values of buffer `index` select elements of buffer `into`: bounds the values, and sets the length of `into`.
void KernelGuess::bound_index(std::size_t index, std::size_t into, std::int64_t stride_bytes, bool is_start) {
    const auto &p = parameters_[index], &other = parameters_[into];
    const auto bytes = element_bytes(other);
    std::string stride;
    if (const auto elements = (stride_bytes + bytes - 1) / bytes; elements > 1) {
        stride = std::to_string(elements);
        for (const auto& axis : axes_)
            if (axis.small == elements) stride = axis.name;
    }
    constexpr std::int64_t few = 256;  // values of a byte: the bins of most histograms
    const bool counts = seen_[into].atomic && stride.empty();
    const auto range = p.type.lane_bytes == 1 || counts                    ? std::to_string(few)
                       : !rows_.empty() && lengths_[p.name] == "4*" + rows_ ? rows_
                                                                            : lengths_[p.name];
    auto& length = lengths_[other.name];
    const auto behind = is_start ? "+" + length : "";
    const auto factor = range.find('+') == std::string::npos ? range : "(" + range + ")";
    length = (stride.empty() ? range : stride + "*" + factor) + behind;
    open_.erase(other.name);
    // If two work-items write one element, their order decides the result. The user must choose the indices.
    if (seen_[into].written && !seen_[into].atomic)
        open_.insert(p.name);
    else if (p.type.lane_bytes > 1)
        bounds_of_data_[p.name] = ":0:" + range + "-1";
}

/// Fills one integer buffer after the other with a large number. If another buffer is then touched further on, the
/// integers are its indices.
void KernelGuess::find_indices() {
    if (samples_.empty()) return;
    constexpr std::int64_t large = 3000, large_byte = 100;
    std::vector<std::size_t> integers;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        if (parameters_[i].is_buffer() && parameters_[i].type.is_integer() && !is_given(parameters_[i]) &&
            seen_[i].read)
            integers.push_back(i);
    if (integers.size() > 6) integers.resize(6);
    const auto& [sizes, usual] = telling_sample();
    for (std::size_t a = 0; a < axes_.size(); ++a) axes_[a].small = sizes[a];
    for (const auto index : integers) {
        const auto& p = parameters_[index];
        const auto value = p.type.lane_bytes == 1 ? large_byte : large;
        const auto before = fill_.count(p.name) ? std::optional(fill_[p.name]) : std::nullopt;
        fill_[p.name] = "const:" + std::to_string(value);
        const auto seen = launch_(small_launch());
        if (before)
            fill_[p.name] = *before;
        else
            fill_.erase(p.name);
        if (!seen.trouble.empty()) continue;
        for (std::size_t i = 0; i < parameters_.size() && i < seen.arguments.size(); ++i) {
            if (i == index || !parameters_[i].is_buffer() || is_given(parameters_[i])) continue;
            const auto further = seen.arguments[i].last - usual.arguments[i].last;
            if (further < value / 2) continue;
            const auto stride = (further + value / 2) / value;
            // The index moves all accesses to several elements: it is the start of a range.
            const bool is_start = further == stride * value && usual.arguments[i].last > stride;
            // The launch changes the index, so each launch goes further.
            if (seen_[index].written)
                appended_.insert(parameters_[i].name), open_.insert(parameters_[i].name);
            else
                bound_index(index, i, stride, is_start);
        }
    }
}

/// The last sample, unless it takes long; else the first. In a small sample, a loop may not run.
const KernelGuess::Sample& KernelGuess::telling_sample() const {
    constexpr std::uint64_t many = 100'000;
    return samples_.back().second.instructions < many ? samples_.back() : samples_.front();
}

/// Launches samples with few work-items, as the work of each may grow with their number. Makes a guessed group smaller,
/// too.
bool KernelGuess::run_samples_of_few_items() {
    static const std::vector<std::int64_t> small[] = {{8}, {4, 4}, {2, 2, 2}};
    if (!trouble_.empty()) return false;
    few_items_ = true, patient_ = false;
    if (!local_.empty() && !local_is_given_ && said_.signature.required_group[0] == 0) local_ = small[dims_ - 1];
    return run_samples();
}

bool KernelGuess::run_samples_patiently() {
    patient_ = trouble_.empty();
    return patient_ && run_samples();
}

bool KernelGuess::measure_lengths() {
    if (!run_samples()) {
        if (!trouble_.empty()) return false;
        short_loops_ = true;  // with whole groups, loops as long as a group take too long
        if (!run_samples() && !run_samples_patiently() && !run_samples_of_few_items()) return false;
    }
    const bool inside = step_inside();
    if (samples_.empty()) return false;
    fill_by_counting();
    fit_lengths();
    if (!inside)
        for (std::size_t i = 0; i < parameters_.size(); ++i)
            if (seen_[i].before) open_.insert(parameters_[i].name);
    set_rows();
    find_indices();
    ask_for_counts();
    // If launches take long, there is time for few. The text may then tell about the open arguments.
    return check() && !(patient_ && !open_.empty());
}

/// Without a simulator, each buffer has one element per work-item.
void KernelGuess::set_lengths_by_text() {
    samples_.clear();
    seen_.assign(parameters_.size(), {});
    open_.clear();
    bounds_of_data_.clear();
    for (const auto& scalar : scalars_)
        if (scalar.name.meaning == ScalarName::Meaning::unknown && scalar.is_open() && scalar.type.is_integer() &&
            !scalar.is_part())
            open_.insert(scalar.of->name);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const auto& p = parameters_[i];
        if (p.kind == Parameter::Kind::local) lengths_[p.name] = std::to_string(group_items());
        if (!p.is_buffer()) continue;
        lengths_[p.name] = all_items();
        const auto use = text_.use(said_.signature.name, p.name);
        seen_[i].read = use.read, seen_[i].written = use.written && !p.is_const, seen_[i].atomic = use.atomic;
        seen_[i].read_first = use.read && use.written;
        // Integers may be indices into other buffers, which the text alone does not tell. Those of a byte do not reach
        // far.
        const bool may_choose =
            p.type.is_integer() && p.type.lane_bytes > 1 && use.read && !use.written && !is_given(p);
        if (p.type.bytes == 0 || may_choose) open_.insert(p.name);
    }
}

}  // namespace cllab::kernelfile
