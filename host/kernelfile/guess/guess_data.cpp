// Data, from what a kernel does with each argument, and the size to time.
#include <algorithm>
#include <cmath>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {

using model::Parameter;

std::string typed_data(const KernelFacts& facts, const Samples& samples, std::size_t argument, const std::string& kind,
                       const std::string& length, const std::string& limits) {
    const auto& p = facts.parameters()[argument];
    if (p.type.bytes == 0) {
        const bool words = element_bytes(facts, samples, argument) == 4;
        return kind + (words ? ":float:" : ":uchar:") + length + (words ? "" : limits);
    }
    if (!p.type.is_opaque() || kind == "out") return kind + ":" + length + limits;
    // A struct gets random data only if all of its fields are floats.
    const bool floats = !p.type.members.empty() &&
                        std::ranges::all_of(p.type.members, [](const auto& m) { return m.type.is_floating(); });
    return (floats && kind.starts_with("rand") ? "rand:" : "zero:") + length;
}

namespace {

/// Of a buffer; empty if it has no length.
std::string data_of(const KernelFacts& facts, const Measured& measured, std::size_t argument) {
    const auto& [samples, lengths] = measured;
    const auto& p = facts.parameters()[argument];
    const auto length = lengths.of.find(p.name);
    if (length == lengths.of.end()) return {};
    const auto& seen = samples.seen[argument];
    const auto limits = lengths.limits.find(p.name);
    const auto data = [&](const char* kind, const std::string& within = {}) {
        return typed_data(facts, measured.samples, argument, kind, length->second, within);
    };
    if (p.is_const || (seen.read && !seen.written) || (seen.read_first && !seen.atomic))
        return data("rand", limits == lengths.limits.end() ? "" : limits->second);
    const bool whole = std::ranges::all_of(samples.runs, [&](const Sample& run) {
        const auto& one = run.seen.arguments[argument];
        return one.written && one.written_bytes == one.last;
    });
    if (seen.written && whole && !seen.read_first && (!measured.by_text() || !seen.read)) return data("out");
    // Flags and indices are often 0 or 1. Data of 99 shows where they are written.
    const bool is_any = !measured.by_text() && seen.written && !seen.read && !seen.atomic && p.type.is_integer();
    return data(is_any ? "const:99" : "zero");
}

constexpr std::int64_t widest_image = 4096;  // every device supports it
constexpr std::int64_t least_size = 64;      // of a guessed axis

/// Rounded down to whole groups, at least one.
std::int64_t in_groups(const LaunchShape& shape, std::int64_t size) {
    return std::max(size - size % shape.group_multiple(), shape.group_multiple());
}

Extents sizes_at(const LaunchShape& shape, std::int64_t size) {
    return mapped(shape.axes, [&](const auto& axis) { return axis.is_new ? size : axis.value; });
}

double items_at(const LaunchShape& shape, std::int64_t size) {
    double out = 1;
    for (const auto& one : shape.global) out *= static_cast<double>(shape.value_of(one, sizes_at(shape, size)));
    return out;
}

std::size_t count_new(const LaunchShape& shape) {
    return static_cast<std::size_t>(std::ranges::count(shape.axes, true, &SizeAxis::is_new));
}

/// How the instructions of a launch grow with its size.
struct Growth {
    double power = 1, of_items = 1;       ///< the instructions and the work-items grow with these powers of the size
    double per_launch = 0, per_item = 0;  ///< instructions at the size `small`
    double per_step = 0;                  ///< instructions per iteration, if each work-item loops over the size
    std::int64_t small = 1;

    bool has_loop() const { return power > of_items + 0.7; }
    double instructions_at(std::int64_t size) const {
        const double scaled = per_launch * std::pow(static_cast<double>(size) / static_cast<double>(small), power);
        const double looped = std::pow(size, of_items) * (per_item + per_step * static_cast<double>(size - small));
        return std::max(scaled, looped);
    }
};

Growth growth_of(const Samples& samples) {
    const auto& shape = samples.shape;
    Growth out;
    if (samples.runs.size() < 2 || shape.axes.empty()) return out;
    // With one axis, use the two largest samples: a loop may not run in the smaller ones.
    const auto last = shape.axes.size() == 1 ? samples.runs.size() - 1 : 1;
    const auto &a = samples.runs[last - 1], &b = samples.runs[last];
    out.small = b.sizes.front();
    out.per_launch = static_cast<double>(b.seen.instructions);
    const auto ratio = static_cast<double>(b.sizes.front()) / static_cast<double>(a.sizes.front());
    const auto before = static_cast<double>(std::max<std::uint64_t>(1, a.seen.instructions));
    out.power = std::log(out.per_launch / before) / std::log(ratio);
    out.of_items = std::max(std::log(items_at(shape, 2048) / items_at(shape, 1024)) / std::log(2.0),
                            static_cast<double>(count_new(shape)));
    // In small launches, most instructions of a work-item are outside of a loop over the size. They hide its growth.
    const auto per_item = [&](const Sample& run) {
        return static_cast<double>(run.seen.instructions) / std::pow(run.sizes.front(), out.of_items);
    };
    out.per_item = per_item(b);
    // A search grows less. With several axes, samples are so small that skipped borders look like a loop.
    if (shape.axes.size() == 1 && out.power > out.of_items + 0.3)
        out.per_step = (out.per_item - per_item(a)) / static_cast<double>(out.small - a.sizes.front());
    return out;
}

/// Whether the user's text gives data that grows with the problem.
bool grows(const LaunchShape& shape, const std::string& text) {
    const auto names = names_in(text);
    return std::ranges::any_of(shape.axes, [&](const auto& axis) { return axis.is_new && names.contains(axis.name); });
}

/// Of a buffer in a problem of that size.
double bytes_of(const KernelFacts& facts, const Measured& measured, std::size_t argument, std::int64_t size) {
    const auto& shape = measured.samples.shape;
    const auto length = measured.lengths.of.find(facts.parameters()[argument].name);
    if (length == measured.lengths.of.end() || !facts.parameters()[argument].is_buffer()) return 0;
    return static_cast<double>(shape.value_of(length->second, sizes_at(shape, size))) *
           static_cast<double>(element_bytes(facts, measured.samples, argument));
}

/// Whether a problem of that size fits memory, the widest image, and the data that the user gives.
bool has_room(const KernelFacts& facts, const Measured& measured, std::int64_t size) {
    constexpr double most_bytes = 512 << 20;
    const auto& [samples, lengths] = measured;
    const auto sizes = sizes_at(samples.shape, size);
    double total = 0;
    for (std::size_t i = 0; i < facts.parameters().size(); ++i) {
        const auto& p = facts.parameters()[i];
        const auto length = lengths.of.find(p.name);
        if (length == lengths.of.end()) continue;
        if (p.kind == Parameter::Kind::image)
            for (const auto& pixels : split(length->second, ','))
                if (samples.shape.value_of(pixels, sizes) > widest_image) return false;
        if (!p.is_buffer()) continue;
        const auto bytes = bytes_of(facts, measured, i, size);
        const bool is_limited = facts.said.is_given(p) && !grows(samples.shape, facts.said.given.at(p.name).text) &&
                                !measured.by_text() && samples.seen[i].touched();
        if (is_limited && bytes > static_cast<double>(samples.runs.front().seen.arguments[i].size)) return false;
        total += bytes;
    }
    return total <= most_bytes;
}

/// Whether one group of a problem of that size accesses memory outside of the kernel's own arrays.
bool overruns_at(const KernelFacts& facts, const Measured& measured, std::int64_t size) {
    if (measured.by_text() || !facts.text.has_array(facts.said.signature.name)) return false;
    const auto& shape = measured.samples.shape;
    auto one = small_launch(facts, measured.samples, sizes_at(shape, size), measured.lengths.of);
    one.offset.clear();
    one.global = shape.local.empty() ? join(shape.global, ",", [](const auto&) { return "1"; }) : one.local;
    return facts.launch(one).overruns;
}

}  // namespace

std::string argument_text(const KernelFacts& facts, const Measured& measured, std::size_t argument) {
    const auto& p = facts.parameters()[argument];
    const auto& lengths = measured.lengths.of;
    if (p.kind == Parameter::Kind::image) return image_text(facts, measured.samples, lengths, argument);
    if (p.kind == Parameter::Kind::local && lengths.count(p.name)) return "local:" + lengths.at(p.name);
    if (measured.lengths.open.count(p.name)) return {};
    return p.is_buffer() ? data_of(facts, measured, argument) : scalar_text(measured.samples.shape.scalars, p);
}

std::string advice_for(const KernelFacts& facts, const Measured& measured, std::size_t argument) {
    const auto& [samples, lengths] = measured;
    const auto& p = facts.parameters()[argument];
    if (p.kind == Parameter::Kind::value) return scalar_text(samples.shape.scalars, p);
    const auto known = lengths.of.find(p.name);
    if (known == lengths.of.end() || measured.by_text()) return {};
    const auto& length = known->second;
    if (samples.counted.count(p.name))
        return lengths.rows.empty() ? "rand:" + length + ":0:1" : "offsets:" + length + ":4*" + lengths.rows;
    if (lengths.appended.count(p.name))
        return typed_data(facts, samples, argument, "zero", length) + "\nrelation any order of " + p.name;
    const bool is_index = p.type.is_integer() && p.type.lane_bytes > 1 && p.type.lanes == 1;
    if (is_index && samples.seen[argument].read && !samples.seen[argument].written) return "perm:" + length;
    return typed_data(facts, samples, argument, p.is_const ? "rand" : "zero", length);
}

std::optional<Measured> checked(const KernelFacts& facts, const Measured& before) {
    auto small = small_launch(facts, before.samples, before.samples.telling().sizes, before.lengths.of);
    for (std::size_t i = 0; i < facts.parameters().size(); ++i) {
        const auto& p = facts.parameters()[i];
        if (!p.is_buffer() || facts.said.is_given(p)) continue;
        auto text = argument_text(facts, before, i);
        if (text.empty()) text = split(advice_for(facts, before, i), '\n').front();
        if (text.empty()) continue;
        if (text.starts_with("out:")) text.replace(0, 3, "zero");
        small.arguments[p.name] = text;
    }
    const auto seen = facts.launch(small);
    if (seen.too_long && !before.samples.patient) return before;
    if (!seen.trouble.empty() || seen.too_long) return std::nullopt;
    auto out = before;
    for (std::size_t i = 0; i < facts.parameters().size() && i < seen.arguments.size(); ++i) {
        const auto& p = facts.parameters()[i];
        const auto& one = seen.arguments[i];
        if (!p.is_buffer() || facts.said.is_given(p)) continue;
        const bool outside = one.last > one.size || one.before;
        const auto elements = one.last / element_bytes(facts, out.samples, i);
        if (const auto bins = outside ? bins_of(out.samples.shape, elements) : std::nullopt)
            out.lengths.of[p.name] = *bins;
        else if (outside)
            out.lengths.open.insert(p.name), out.lengths.of.erase(p.name);
        // With data, a kernel takes branches that it does not take with zeros.
        out.samples.seen[i].add(one);
    }
    return out;
}

std::int64_t timed_size(const KernelFacts& facts, const Measured& measured) {
    constexpr double most_items = 1 << 26;
    constexpr std::int64_t usual[] = {1 << 20, 1 << 10, 128}, with_loops[] = {1 << 12, 512, 64};
    constexpr std::int64_t of_one_item = 1 << 16;  // a GPU takes milliseconds, a CPU a hundred microseconds
    const auto& shape = measured.samples.shape;
    const auto growth = growth_of(measured.samples);
    const auto dimensions = std::min<std::size_t>(3, std::max(count_new(shape), shape.global.size()));
    const auto is_image = [](const auto& p) { return p.kind == Parameter::Kind::image; };
    const bool is_serial = items_at(shape, of_one_item) == 1;
    const double most_instructions = is_serial ? 1e7 : 3e9;
    auto size = is_serial ? of_one_item : growth.has_loop() ? with_loops[dimensions - 1] : usual[dimensions - 1];
    if (std::ranges::any_of(facts.parameters(), is_image)) size = std::min(size, widest_image);
    const auto is_too_much = [&] {
        return growth.instructions_at(size) > most_instructions || items_at(shape, size) > most_items ||
               !has_room(facts, measured, size) || overruns_at(facts, measured, size);
    };
    while (size > least_size && is_too_much()) size /= 2;
    return in_groups(shape, size);
}

std::vector<std::pair<std::int64_t, std::int64_t>> sizes_up_to(const KernelFacts& facts, const Measured& measured,
                                                               std::int64_t timed) {
    const auto& shape = measured.samples.shape;
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    for (auto size = timed; size >= least_size && count_new(shape) > 0; size /= 2) {
        double bytes = 0;
        for (std::size_t i = 0; i < facts.parameters().size(); ++i)
            bytes += bytes_of(facts, measured, i, in_groups(shape, size));
        out.emplace_back(in_groups(shape, size), static_cast<std::int64_t>(bytes));
    }
    return out;
}

}  // namespace cllab::kernelfile
