// Images: as large as the launch, unless small launches touch other pixels, and of the channels that they are read by.

#include "core/text.hpp"
#include "kernelfile/bound.hpp"
#include "kernelfile/guess/fit.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {

using model::Parameter;

/// As the launch; small where that has fewer dimensions.
std::string KernelGuess::usual_pixels(const Parameter& p, unsigned dimension) const {
    if (p.dims > global_.size()) return p.dims == 3 ? "16" : "64";
    return global_[dimension];
}

std::string KernelGuess::pixels_of(std::size_t argument, unsigned dimension) const {
    constexpr std::int64_t border = 4;  // beside an image, where a sampler gives the pixels
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

/// What stands before the size for a format that is not the usual one of the text.
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
