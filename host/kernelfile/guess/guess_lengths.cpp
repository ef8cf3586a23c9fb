// Lengths of buffers, local pointers and images: expressions of the axes that fit what the samples touch.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/bound.hpp"
#include "kernelfile/guess/fit.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {

using model::Parameter;

std::int64_t element_bytes(const KernelFacts& facts, const Samples& samples, std::size_t argument) {
    const auto& type = facts.parameters()[argument].type;
    if (type.bytes > 0) return static_cast<std::int64_t>(type.bytes);
    return argument < samples.seen.size() && samples.seen[argument].unit == 4 ? 4 : 1;
}

std::optional<std::string> bins_of(const LaunchShape& shape, std::int64_t elements) {
    constexpr std::int64_t few = 8;
    for (const auto& scalar : shape.scalars)
        if (const auto bins = parse_integer(scalar.value).value_or(0);
            bins >= few && elements <= bins && 2 * elements > bins && !scalar.is_part())
            return scalar.word;
    return std::nullopt;
}

namespace {

std::string group_items(const LaunchShape& shape) {
    return std::to_string(
        std::accumulate(shape.local.begin(), shape.local.end(), std::int64_t{1}, std::multiplies<>()));
}

std::vector<std::string> axis_names(const LaunchShape& shape) { return mapped(shape.axes, &SizeAxis::name); }

std::optional<std::string> length_of(const KernelFacts& facts, const Samples& samples, std::size_t argument) {
    const auto& shape = samples.shape;
    const auto bytes = element_bytes(facts, samples, argument);
    const auto lengths = mapped(samples.runs, [&](const Sample& run) {
        return LengthSample{run.sizes, (run.seen.arguments[argument].last + bytes - 1) / bytes};
    });
    if (auto fitted = fitted_length(axis_names(shape), lengths)) return fitted;
    if (const auto bins = bins_of(shape, std::ranges::max(lengths, {}, &LengthSample::length).length)) return bins;
    // The length depends on data. One element per work-item is enough, unless more were seen.
    const auto items = shape.all_items();
    const auto has_item = [&](const auto& sample) { return sample.length <= shape.value_of(items, sample.sizes); };
    return std::ranges::all_of(lengths, has_item) ? std::optional(items) : std::nullopt;
}

std::string local_length_of(const KernelFacts& facts, const Samples& samples, std::size_t argument) {
    const auto bytes = element_bytes(facts, samples, argument);
    std::vector<LengthSample> lengths;
    for (const auto& run : samples.runs)
        for (const auto& one : run.seen.local)
            if (one.argument == static_cast<int>(argument))
                lengths.push_back({run.sizes, (one.last + bytes - 1) / bytes});
    const auto length = fitted_length(axis_names(samples.shape), lengths);
    return length && *length != "0" ? *length : group_items(samples.shape);
}

/// The launch's size in that dimension. A small size if the launch has fewer dimensions than the image.
std::string usual_pixels(const LaunchShape& shape, const Parameter& p, unsigned dimension) {
    if (p.dims > shape.global.size()) return p.dims == 3 ? "16" : "64";
    return shape.global[dimension];
}

std::string pixels_of(const KernelFacts& facts, const Samples& samples, std::size_t argument, unsigned dimension) {
    constexpr std::int64_t border = 4;  // pixels outside of an image, which a sampler provides
    const auto usual = usual_pixels(samples.shape, facts.parameters()[argument], dimension);
    const auto lengths = mapped(samples.runs, [&](const Sample& run) {
        return LengthSample{run.sizes, run.seen.arguments[argument].pixels[dimension]};
    });
    const bool is_usual = std::ranges::all_of(lengths, [&](const auto& sample) {
        return std::abs(sample.length - samples.shape.value_of(usual, sample.sizes)) <= border;
    });
    const auto fitted = is_usual ? std::nullopt : fitted_length(axis_names(samples.shape), lengths);
    return fitted && *fitted != "0" ? *fitted : usual;
}

/// The format to write before the size, if it is not the usual one of the text; else empty.
std::string channel_of(const KernelFacts& facts, const Samples& samples, std::size_t argument) {
    std::string seen;
    for (const auto* arguments : {&samples.seen, &facts.first.arguments})
        if (seen.empty() && argument < arguments->size()) seen = (*arguments)[argument].channel;
    if (seen.empty()) return {};
    const auto format = seen == "ui"  ? model::rgba8_unsigned
                        : seen == "i" ? model::rgba32_integer
                                      : model::PixelFormat{};
    return format == usual_format(facts.text.text()) ? "" : format.name() + ":";
}

/// If one argument holds the starts of rows, the last start is the length of the arrays that the rows are of. The
/// samples had rows of one element each, so that length was the number of rows; it becomes four times as many.
void set_rows(const Samples& samples, Lengths& lengths) {
    const auto length = samples.counted.size() == 1 ? lengths.of[*samples.counted.begin()] : "";
    if (!length.ends_with("+1") || length.find('+') + 2 != length.size()) return;
    lengths.rows = length.substr(0, length.size() - 2);
    for (const auto& name : samples.between)
        if (lengths.of[name] == lengths.rows) lengths.of[name] = "4*" + lengths.rows;
}

/// The values of buffer `index` select elements of buffer `into`.
struct Choice {
    std::size_t index = 0, into = 0;
    std::int64_t stride_bytes = 0;
    bool is_start = false;  ///< an index is the start of a range, so elements after it are touched too
    std::string digit{};    ///< the divisor, if the index is a digit of the value; else empty
    unsigned shift = 0;     ///< of the digit
};

/// The ends of the last accesses of all arguments if all elements of an index buffer have one value, by value.
using Ends = std::map<std::int64_t, std::vector<std::int64_t>>;

Ends ends_by_value(const KernelFacts& facts, Samples trial, std::size_t index, const Extents& sizes,
                   const Texts& lengths) {
    const auto& p = facts.parameters()[index];
    const auto bits = std::min<std::size_t>(32, 8 * p.type.lane_bytes);
    const bool is_signed = p.type.kind == model::ElementType::Kind::signed_integer;
    const auto largest = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    Ends out;
    // The differences of their quotients by any usual divisor have no common factor.
    for (const std::int64_t value : {0l, 100l, 3000l, largest, 1l, 45l, 20000l, 32766l, 0x12345678l, 0x3adf68b1l}) {
        if (value > largest) continue;
        trial.fill[p.name] = "const:" + std::to_string(value);
        const auto seen = facts.launch(small_launch(facts, trial, sizes, lengths));
        if (seen.trouble.empty()) out[value] = mapped(seen.arguments, &TouchedBytes::last);
        const auto is_first = [&](const auto& one) { return one.second == out.begin()->second; };
        if (value == largest && std::ranges::all_of(out, is_first)) break;  // no index
    }
    return out;
}

/// An expression of the axes that gives what `of` says of the ends at each size.
std::optional<std::string> fitted_to_ends(const KernelFacts& facts, const Samples& samples, const Texts& lengths,
                                          std::size_t index, const std::function<std::int64_t(const Ends&)>& of) {
    return fitted_length(
        axis_names(samples.shape), mapped(samples.runs, [&](const Sample& run) {
            return LengthSample{run.sizes, of(ends_by_value(facts, samples, index, run.sizes, lengths))};
        }));
}

/// The divisor of the digit that selects elements of buffer `choice.into`, if any. Sets the stride and the shift.
std::optional<std::int64_t> divisor_of(const Ends& ends, Choice& choice) {
    const auto further = [&](const auto& one) {
        return std::pair(one.first, one.second.at(choice.into) - ends.begin()->second.at(choice.into));
    };
    auto selected = mapped(ends, further);
    choice.stride_bytes = 0;
    for (const auto& [value, bytes] : selected) choice.stride_bytes = std::gcd(choice.stride_bytes, bytes);
    if (choice.stride_bytes == 0) return std::nullopt;
    for (auto& [value, bytes] : selected) bytes /= choice.stride_bytes;
    const auto digit = fitted_digit(selected);
    choice.shift = digit ? digit->shift : 0;
    return digit ? std::optional(digit->divisor) : std::nullopt;
}

/// The choice by a digit, if it is one. `ends`: in the telling sample.
std::optional<Choice> chosen_by_digit(const KernelFacts& facts, const Samples& samples, const Texts& lengths,
                                      const Ends& ends, Choice out) {
    if (!divisor_of(ends, out)) return std::nullopt;
    auto at_size = out;
    const auto divisor = [&](const Ends& at) { return divisor_of(at, at_size).value_or(0); };
    out.digit = fitted_to_ends(facts, samples, lengths, out.index, divisor).value_or("0");  // may be the launch's size
    if (const auto bins = bins_of(samples.shape, parse_integer(out.digit).value_or(0))) out.digit = *bins;
    return out.digit == "0" ? std::nullopt : std::optional(out);
}

/// The elements that any value of the index reaches, if these are few: the kernel limits the index, as by a hash or a
/// clamp.
std::optional<std::string> limited_length(const KernelFacts& facts, const Samples& samples, const Texts& lengths,
                                          const Choice& choice) {
    constexpr std::int64_t most = 1 << 16;
    const auto bytes = element_bytes(facts, samples, choice.into);
    const auto length = fitted_to_ends(facts, samples, lengths, choice.index, [&](const Ends& ends) {
        std::int64_t last = 0;
        for (const auto& [value, at] : ends) last = std::max(last, at.at(choice.into));
        return last > most * bytes ? 0 : (last + bytes - 1) / bytes;
    });
    const auto bins = length ? parse_integer(*length) : std::nullopt;
    if (!bins) return length;
    // A few values of a hash do not reach the last of its bins.
    return *bins == 0 ? std::nullopt : std::optional(std::to_string(std::bit_ceil(static_cast<std::uint64_t>(*bins))));
}

/// Bounds the indices, and sets the length of the buffer that they select from.
void bound_index(const KernelFacts& facts, const Samples& samples, const Choice& choice, Lengths& lengths) {
    const auto &p = facts.parameters()[choice.index], &other = facts.parameters()[choice.into];
    const auto& seen = samples.seen[choice.into];
    const auto bytes = element_bytes(facts, samples, choice.into);
    std::string stride;
    if (const auto elements = (choice.stride_bytes + bytes - 1) / bytes; elements > 1) {
        stride = std::to_string(elements);
        for (std::size_t a = 0; a < samples.shape.axes.size(); ++a)
            if (samples.telling().sizes[a] == elements) stride = samples.shape.axes[a].name;
    }
    constexpr std::int64_t few = 256;  // values of a byte: the bins of most histograms
    const bool counts = seen.atomic && stride.empty();
    const bool is_in_row = !lengths.rows.empty() && lengths.of[p.name] == "4*" + lengths.rows;
    const auto range = !choice.digit.empty()              ? choice.digit
                       : p.type.lane_bytes == 1 || counts ? std::to_string(few)
                       : is_in_row                        ? lengths.rows
                                                          : lengths.of[p.name];
    auto& length = lengths.of[other.name];
    const auto behind = choice.is_start ? "+" + length : "";
    const auto factor = range.find('+') == std::string::npos ? range : "(" + range + ")";
    length = (stride.empty() ? range : stride + "*" + factor) + behind;
    lengths.open.erase(other.name);
    // If two work-items write one element, their order decides the result. The user must choose the indices.
    if (seen.written && !seen.atomic)
        lengths.open.insert(p.name);
    else if (p.type.lane_bytes > 1)
        lengths.limits[p.name] =
            ":0:" + range + (choice.shift ? "*" + std::to_string(std::int64_t{1} << choice.shift) : "") + "-1";
}

}  // namespace

std::string image_text(const KernelFacts& facts, const Samples& samples, const Texts& lengths, std::size_t argument) {
    const auto& p = facts.parameters()[argument];
    std::string pixels;
    if (const auto known = lengths.find(p.name); known != lengths.end())
        pixels = known->second;
    else
        for (unsigned d = 0; d < p.dims; ++d) pixels += (d > 0 ? "," : "") + usual_pixels(samples.shape, p, d);
    return (p.writes && !p.reads_too ? "out:" : "rand:") + channel_of(facts, samples, argument) + pixels;
}

Lengths fitted_lengths(const KernelFacts& facts, const Samples& samples, bool inside) {
    Lengths out{.open = samples.counted};  // no real data has rows of one element each
    for (std::size_t i = 0; i < facts.parameters().size(); ++i) {
        const auto& p = facts.parameters()[i];
        if (p.kind == Parameter::Kind::local) out.of[p.name] = local_length_of(facts, samples, i);
        for (unsigned d = 0; p.kind == Parameter::Kind::image && d < std::max(1u, p.dims); ++d)
            out.of[p.name] += (d > 0 ? "," : "") + pixels_of(facts, samples, i, d);
        const auto length = !p.is_buffer()              ? std::nullopt
                            : samples.seen[i].touched() ? length_of(facts, samples, i)
                                                        : samples.shape.all_items();
        if (length) out.of[p.name] = *length;
        if ((p.is_buffer() && !length) || (!inside && samples.seen[i].before)) out.open.insert(p.name);
    }
    set_rows(samples, out);
    return out;
}

Lengths indexed_lengths(const KernelFacts& facts, const Samples& samples, const Lengths& fitted) {
    constexpr std::int64_t large = 3000, large_byte = 100;
    auto out = fitted;
    const auto& [sizes, usual] = samples.telling();
    int left = 6;
    for (std::size_t index = 0; index < facts.parameters().size() && left > 0; ++index) {
        const auto& integers = facts.parameters()[index];
        const bool is_read = integers.is_buffer() && integers.type.is_integer() && samples.seen[index].read;
        if (!is_read || facts.said.is_given(integers)) continue;
        --left;
        const auto value = integers.type.lane_bytes == 1 ? large_byte : large;
        const auto ends = ends_by_value(facts, samples, index, sizes, out.of);
        if (!ends.contains(value)) continue;
        for (std::size_t i = 0; i < ends.at(value).size(); ++i) {
            const auto& p = facts.parameters()[i];
            const auto further = ends.at(value)[i] - usual.arguments[i].last;
            // The values select elements of their own buffer, as in a chain of pointers: only a user can choose them.
            if (i == index && further > value) out.open.insert(p.name);
            if (i == index || !p.is_buffer() || facts.said.is_given(p)) continue;
            const auto stride = (further + value / 2) / value;
            auto choice = chosen_by_digit(facts, samples, out.of, ends, {index, i});
            // The index moves all accesses to several elements: it is the start of a range.
            if (!choice && stride >= element_bytes(facts, samples, i))
                choice = {index, i, stride, further == stride * value && usual.arguments[i].last > stride};
            if (!choice && !samples.seen[index].written && further != 0)
                if (const auto limited = limited_length(facts, samples, out.of, {index, i}))
                    choice = {index, i, 0, false, *limited};
            // If the launch changes the index, each launch goes further.
            if (choice && samples.seen[index].written)
                out.appended.insert(p.name), out.open.insert(p.name);
            else if (choice)
                bound_index(facts, samples, *choice, out);
        }
    }
    return out;
}

std::set<std::string> loop_counts(const KernelFacts& facts, const Samples& samples, const Lengths& lengths) {
    std::set<std::string> out;
    const auto& usual = samples.telling();
    for (std::size_t i = 0; i < samples.shape.scalars.size(); ++i) {
        const auto& scalar = samples.shape.scalars[i];
        if (scalar.value != "1" || !scalar.is_open() || scalar.type.is_floating() || scalar.is_part()) continue;
        auto trial = samples;
        trial.shape.scalars[i].value = "5";
        const auto seen = facts.launch(small_launch(facts, trial, usual.sizes, lengths.of));
        const bool does_more = seen.too_long || 2 * seen.instructions > 3 * usual.seen.instructions;
        if (seen.trouble.empty() && does_more) out.insert(scalar.of->name);
    }
    return out;
}

Measured measure(const KernelFacts& facts, const LaunchShape& shape) {
    if (facts.by_text) return measure_by_text(facts, {{.shape = shape}});
    const auto with_zeros = samples_of(facts, shape);
    if (!with_zeros.is_enough) return measure_by_text(facts, {with_zeros});
    const auto samples = counted_samples(facts, with_zeros);
    auto lengths = indexed_lengths(facts, samples, fitted_lengths(facts, samples, !with_zeros.has_before()));
    lengths.open.merge(loop_counts(facts, samples, lengths));
    const Measured before{samples, std::move(lengths)};
    const auto after = checked(facts, before);
    // If launches take long, there is time for few. The text may then tell about the open arguments.
    const bool is_done = after && (!samples.patient || after->lengths.open.empty());
    return is_done ? *after : measure_by_text(facts, after.value_or(before));
}

Measured measure_by_text(const KernelFacts& facts, const Measured& failed) {
    const auto& shape = failed.samples.shape;
    Measured out{{.shape = shape, .trouble = failed.samples.trouble}, {.of = failed.lengths.of}};
    out.samples.seen.assign(facts.parameters().size(), {});
    for (const auto& scalar : shape.scalars)
        if (scalar.name.meaning == ScalarName::Meaning::unknown && scalar.is_open() && scalar.type.is_integer() &&
            !scalar.is_part())
            out.lengths.open.insert(scalar.of->name);
    for (std::size_t i = 0; i < facts.parameters().size(); ++i) {
        const auto& p = facts.parameters()[i];
        if (p.kind == Parameter::Kind::local) out.lengths.of[p.name] = group_items(shape);
        if (!p.is_buffer()) continue;
        out.lengths.of[p.name] = shape.all_items();
        const auto use = facts.text.use(facts.said.signature.name, p.name);
        auto& seen = out.samples.seen[i];
        seen.read = use.read, seen.written = use.written && !p.is_const, seen.atomic = use.atomic;
        seen.read_first = use.read && use.written;
        // Integers may be indices into other buffers, which the text alone does not tell. Those of a byte reach little.
        const bool may_choose =
            p.type.is_integer() && p.type.lane_bytes > 1 && use.read && !use.written && !facts.said.is_given(p);
        if (p.type.bytes == 0 || may_choose) out.lengths.open.insert(p.name);
    }
    return out;
}

}  // namespace cllab::kernelfile
