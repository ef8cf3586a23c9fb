// Data, from what a kernel does with each buffer, and the sizes to time.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "kernelfile/bound.hpp"
#include "kernelfile/guess/fit.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {

using model::Parameter;

/// The value of a buffer. Names an element type if the size of the kernel's type is unknown.
std::string KernelGuess::typed_data(const Parameter& p, const std::string& kind, const std::string& length,
                                    const std::string& bounds) const {
    if (p.type.bytes == 0) {
        const bool words = element_bytes(p) == 4;
        return kind + (words ? ":float:" : ":uchar:") + length + (words ? "" : bounds);
    }
    if (!p.type.is_opaque() || kind == "out") return kind + ":" + length + bounds;
    // A struct gets random data only if all of its fields are floats.
    const bool floats = !p.type.members.empty() &&
                        std::ranges::all_of(p.type.members, [](const auto& m) { return m.type.is_floating(); });
    return (floats && kind.starts_with("rand") ? "rand:" : "zero:") + length;
}

std::string KernelGuess::data_of(std::size_t argument) const {
    const auto& p = parameters_[argument];
    if (!lengths_.count(p.name)) return {};
    const auto& length = lengths_.at(p.name);
    const auto& seen = seen_[argument];
    const auto bounds = bounds_of_data_.count(p.name) ? bounds_of_data_.at(p.name) : std::string();
    if (p.is_const || (seen.read && !seen.written)) return typed_data(p, "rand", length, bounds);
    if (seen.read_first && !seen.atomic) return typed_data(p, "rand", length, bounds);
    const bool whole = by_text_ ? seen.written && !seen.read : std::ranges::all_of(samples_, [&](const auto& sample) {
        const auto& one = sample.second.arguments[argument];
        return one.written && one.written_bytes == one.last;
    });
    if (seen.written && whole && !seen.read_first) return typed_data(p, "out", length);
    // Flags and indices are often 0 or 1. Data of 99 shows where they are written.
    const bool is_any = !by_text_ && seen.written && !seen.read && !seen.atomic && p.type.is_integer();
    return typed_data(p, is_any ? "const:99" : "zero", length);
}

/// Runs the guessed and suggested data at a small size. An argument that is accessed outside its buffer is left open.
bool KernelGuess::check() {
    if (samples_.empty()) return false;
    const auto& sizes = telling_sample().first;
    for (std::size_t a = 0; a < axes_.size(); ++a) axes_[a].small = sizes[a];
    auto small = small_launch();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const auto& p = parameters_[i];
        if (!p.is_buffer() || is_given(p)) continue;
        auto text = open_.count(p.name) ? split(advice_for(p), '\n').front() : data_of(i);
        if (text.empty()) continue;
        if (text.starts_with("out:")) text.replace(0, 3, "zero");
        small.arguments[p.name] = text;
    }
    const auto seen = launch_(small);
    if (!seen.trouble.empty() || seen.too_long) return seen.too_long && !patient_;
    for (std::size_t i = 0; i < parameters_.size() && i < seen.arguments.size(); ++i) {
        const auto& p = parameters_[i];
        const auto& one = seen.arguments[i];
        if (!p.is_buffer() || is_given(p)) continue;
        const bool outside = one.last > one.size || one.before;
        if (const auto bins = outside ? bins_of(one.last / element_bytes(p)) : std::nullopt)
            lengths_[p.name] = *bins;
        else if (outside)
            open_.insert(p.name), lengths_.erase(p.name);
        // With data, a kernel takes branches that it does not take with zeros.
        seen_[i].add(one);
    }
    return true;
}

std::int64_t KernelGuess::value_at(const std::string& text, std::int64_t size_of_new) const {
    const auto lookup = [&](const std::string& name, const Place&) -> std::int64_t {
        for (const auto& axis : axes_)
            if (axis.name == name) return axis.is_new ? size_of_new : axis.value;
        return 1;
    };
    try {
        return Expression::parse(text, {"", 0, 0}).evaluate(lookup);
    } catch (const std::exception&) {
        return 1;
    }
}

double KernelGuess::items_at(std::int64_t size) const {
    double out = 1;
    for (const auto& one : global_) out *= static_cast<double>(value_at(one, size));
    return out;
}

/// The bytes of all buffers at that size.
double KernelGuess::bytes_at(std::int64_t size) const {
    double out = 0;
    for (const auto& p : parameters_)
        if (p.is_buffer() && lengths_.count(p.name))
            out += static_cast<double>(value_at(lengths_.at(p.name), size)) * static_cast<double>(element_bytes(p));
    return out;
}

bool KernelGuess::has_wider_image(std::int64_t size, std::int64_t widest) const {
    return std::ranges::any_of(parameters_, [&](const auto& p) {
        const bool is_known = p.kind == Parameter::Kind::image && lengths_.count(p.name);
        return is_known && std::ranges::any_of(split(lengths_.at(p.name), ','),
                                               [&](const auto& pixels) { return value_at(pixels, size) > widest; });
    });
}

/// A problem of this size touches more of a buffer than the user's line for it provides.
bool KernelGuess::outgrows_given(std::int64_t size) const {
    for (std::size_t i = 0; !samples_.empty() && i < parameters_.size(); ++i) {
        const auto& p = parameters_[i];
        if (!p.is_buffer() || !is_given(p) || !lengths_.count(p.name) || !seen_[i].touched()) continue;
        const auto given = samples_.front().second.arguments[i].size;
        if (value_at(lengths_.at(p.name), size) * element_bytes(p) > given) return true;
    }
    return false;
}

/// Whether one group of a problem of that size accesses memory outside of the kernel's own arrays.
bool KernelGuess::overruns_at(std::int64_t size) {
    if (by_text_ || samples_.empty() || !text_.has_array(said_.signature.name)) return false;
    for (auto& axis : axes_) axis.small = axis.is_new ? size : axis.value;
    auto one = small_launch();
    one.offset.clear();
    one.global = local_.empty() ? join(std::vector<std::string>(dims_, "1"), ",") : one.local;
    return launch_(one).overruns;
}

/// Chooses sizes that are worth timing and take a fraction of a second on two cores.
void KernelGuess::choose_sizes() {
    constexpr double most_bytes = 512 << 20, most_instructions = 3e9;
    constexpr std::int64_t usual[] = {1 << 20, 1 << 10, 128}, with_loops[] = {1 << 12, 512, 64};
    constexpr std::int64_t least = 64;
    const auto new_axes = std::ranges::count(axes_, true, &SizeAxis::is_new);
    const auto dimensions =
        std::clamp<std::size_t>(std::max<std::size_t>(dims_, static_cast<std::size_t>(new_axes)), 1, 3);
    auto size = usual[dimensions - 1];
    constexpr std::int64_t widest_image = 4096;  // every device supports it
    if (std::ranges::any_of(parameters_, [](const auto& p) { return p.kind == Parameter::Kind::image; }))
        size = std::min(size, widest_image);
    double power = dims_, of_items = dims_, per_launch = 0, per_item = 0, per_step = 0;
    std::int64_t small = 1;
    if (samples_.size() >= 2 && !axes_.empty()) {
        // With one axis, use the two largest samples: a loop may not run in the smaller ones.
        const auto last = axes_.size() == 1 ? samples_.size() - 1 : 1;
        const auto &a = samples_[last - 1], &b = samples_[last];
        small = b.first.front();
        per_launch = static_cast<double>(b.second.instructions);
        const auto ratio = static_cast<double>(b.first.front()) / static_cast<double>(a.first.front());
        power = std::log(per_launch / static_cast<double>(std::max<std::uint64_t>(1, a.second.instructions))) /
                std::log(ratio);
        of_items = std::max(std::log(items_at(2048) / items_at(1024)) / std::log(2.0), static_cast<double>(new_axes));
        if (power > of_items + 0.7) size = with_loops[dimensions - 1];
        // In small launches, most instructions of a work-item are outside of a loop over the size. They hide the loop's
        // growth.
        const auto of_item = [&](const Sample& s) {
            return static_cast<double>(s.second.instructions) / std::pow(s.first.front(), of_items);
        };
        per_item = of_item(b);
        // A search grows less. With several axes, samples are so small that skipped borders look like a loop.
        if (axes_.size() == 1 && power > of_items + 0.3)
            per_step = (per_item - of_item(a)) / static_cast<double>(small - a.first.front());
    }
    const auto too_much = [&] {
        const double scaled = per_launch * std::pow(static_cast<double>(size) / static_cast<double>(small), power);
        const double looped = std::pow(size, of_items) * (per_item + per_step * static_cast<double>(size - small));
        return bytes_at(size) > most_bytes || std::max(scaled, looped) > most_instructions || items_at(size) > 1 << 26;
    };
    while (size > least &&
           (too_much() || has_wider_image(size, widest_image) || outgrows_given(size) || overruns_at(size)))
        size /= 2;
    size = std::max(size - size % group_multiple(), group_multiple());
    for (auto& axis : axes_)
        if (axis.is_new) axis.value = size;
}

// Images are as large as the launch, unless small launches touch other pixels. Their format fits the functions that
// access them.
/// The launch's size in that dimension. A small size if the launch has fewer dimensions than the image.
std::string KernelGuess::usual_pixels(const Parameter& p, unsigned dimension) const {
    if (p.dims > global_.size()) return p.dims == 3 ? "16" : "64";
    return global_[dimension];
}

std::string KernelGuess::pixels_of(std::size_t argument, unsigned dimension) const {
    constexpr std::int64_t border = 4;  // pixels outside of an image, which a sampler provides
    const auto usual = usual_pixels(parameters_[argument], dimension);
    std::vector<LengthSample> lengths;
    bool is_usual = true;
    for (const auto& sample : samples_) {
        lengths.push_back({sample.first, sample.second.arguments[argument].pixels[dimension]});
        is_usual = is_usual && std::abs(lengths.back().length - value_in(sample, usual)) <= border;
    }
    const auto fitted = is_usual ? std::nullopt : fitted_length(axis_names(), lengths);
    return fitted && *fitted != "0" ? *fitted : usual;
}

/// The format to write before the size, if it is not the usual one of the text; else empty.
std::string KernelGuess::channel_of(const Parameter& p) const {
    const auto number = static_cast<std::size_t>(&p - parameters_.data());
    std::string seen;
    for (const auto* arguments : {&seen_, &first_.arguments})
        if (seen.empty() && number < arguments->size()) seen = (*arguments)[number].channel;
    if (seen.empty()) return {};
    const auto format = seen == "ui"  ? model::rgba8_unsigned
                        : seen == "i" ? model::rgba32_integer
                                      : model::PixelFormat{};
    return format == usual_format(text_.text()) ? "" : format.name() + ":";
}

std::string KernelGuess::image_text(const Parameter& p) const {
    std::string pixels;
    if (const auto known = lengths_.find(p.name); known != lengths_.end())
        pixels = known->second;
    else
        for (unsigned d = 0; d < p.dims; ++d) pixels += (d > 0 ? "," : "") + usual_pixels(p, d);
    return (p.writes && !p.reads_too ? "out:" : "rand:") + channel_of(p) + pixels;
}

}  // namespace cllab::kernelfile
