#include "kernelfile/guess/guess.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {

using model::ElementType;
using model::Parameter;

KernelGuess::KernelGuess(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch)
    : said_(said), text_(text), launch_(launch), parameters_(said.signature.parameters), by_text_(!launch) {
    for (const auto& [name, value] : said.axes) axes_.push_back({name, name, false, value});
}

bool KernelGuess::is_buffer(const Parameter& p) {
    return p.kind == Parameter::Kind::global || p.kind == Parameter::Kind::constant;
}

bool KernelGuess::is_integer(const Parameter& p) {
    return p.type.kind == ElementType::Kind::signed_integer || p.type.kind == ElementType::Kind::unsigned_integer;
}

GuessedKernel KernelGuess::made() {
    list_scalars();
    if (!by_text_ && !look()) by_text_ = true;
    set_dimensions();
    set_local();
    if (!by_text_) find_bounds();
    set_sizes();
    if (!by_text_ && !measure_lengths()) by_text_ = true;
    if (by_text_) set_lengths_by_text();
    choose_sizes();
    return result();
}

/// What stands for the argument now.
std::string KernelGuess::text_of(const Parameter& p) const {
    std::vector<std::string> parts;
    bool is_struct = false;
    for (const auto& scalar : scalars_) {
        if (scalar.of != &p) continue;
        is_struct = p.type.kind == ElementType::Kind::opaque;
        parts.push_back(is_struct ? scalar.type.name + ":" + scalar.value : scalar.value);
    }
    return is_struct ? "{" + join(parts, ", ") + "}" : join(parts, ",");
}

SmallLaunch KernelGuess::small_launch() const {
    SmallLaunch out;
    constexpr std::int64_t bytes = 256 << 10;  // of each buffer: more than any small launch touches
    std::size_t number = 0;
    for (const auto& p : parameters_) {
        ++number;
        if (const auto text = text_of(p); !text.empty()) {
            out.arguments[p.name] = text;
        } else if (is_given(p)) {
            out.arguments[p.name] = said_.given.at(p.name).text;
        } else if (is_buffer(p)) {
            const auto kind = fill_.count(p.name) ? fill_.at(p.name) : is_integer(p) ? "zero" : "rand";
            out.arguments[p.name] = typed_data(p, kind, std::to_string(bytes / element_bytes(p)));
        } else if (p.kind == Parameter::Kind::local) {
            // Each has a size of its own, by which the simulator's plugin tells them apart.
            const auto room = (16 << 10) + 64 * static_cast<std::int64_t>(number);
            out.arguments[p.name] = "local:" + std::to_string(room / element_bytes(p));
        }
    }
    out.global = join(global_, ",");
    out.local = join(local_, ",", [](auto size) { return std::to_string(size); });
    if (inset_ > 0) out.offset = join(global_, ",", [&](const auto&) { return std::to_string(inset_); });
    for (const auto& axis : axes_) out.axes.emplace_back(axis.name, axis.small);
    return out;
}

/// With what stands for axes that nobody is told of.
std::string KernelGuess::shown(const std::string& text) const {
    return replace_names(text, [&](const auto& name) {
        const auto axis = std::ranges::find(axes_, name, &SizeAxis::name);
        return axis == axes_.end() ? name : axis->shown;
    });
}

/// As large as the launch; where that has fewer dimensions, small.
std::string KernelGuess::image_size(const Parameter& p) const {
    if (p.dims > global_.size()) return p.dims == 3 ? "16,16,16" : "64,64";
    return join(std::vector(global_.begin(), global_.begin() + static_cast<std::ptrdiff_t>(p.dims)), ",");
}

GuessedKernel KernelGuess::result() const {
    GuessedKernel out;
    std::vector<std::string> sizes;
    for (const auto& axis : axes_)
        if (axis.is_new) out.axes.emplace_back(axis.name, axis.value);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const auto& p = parameters_[i];
        if (is_given(p)) continue;
        std::string text = open_.count(p.name) ? "" : text_of(p);
        if (is_buffer(p) && !open_.count(p.name)) text = data_of(i);
        if (p.kind == Parameter::Kind::local && lengths_.count(p.name)) text = "local:" + lengths_.at(p.name).text;
        if (p.kind == Parameter::Kind::image) text = (p.writes ? "out:" : "rand:") + image_size(p);
        if (!text.empty())
            out.arguments.emplace_back(p.name, shown(text));
        else if (p.kind != Parameter::Kind::sampler && p.kind != Parameter::Kind::refused)
            out.open.push_back(p.name);
    }
    if (said_.global.empty()) out.global = shown(join(global_, ","));
    if (!local_is_given_) out.local = join(local_, ",", [](auto size) { return std::to_string(size); });
    if (inset_ > 0) out.offset = join(global_, ",", [&](const auto&) { return std::to_string(inset_); });
    const auto& why = trouble_.empty() ? first_.trouble : trouble_;
    out.how = "by the text, " + (!launch_ ? "without Oclgrind"
                                          : "as Oclgrind does not run it" + (why.empty() ? "" : ": " + one_line(why)));
    if (by_text_ || samples_.empty()) return out;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        std::vector<std::string> values;
        for (const auto& [at, seen] : samples_)
            if (const auto value = std::to_string(at[a]); std::ranges::find(values, value) == values.end())
                values.push_back(value);
        sizes.push_back(axes_[a].shown + "=" + join(values, ", "));
    }
    out.how = "by Oclgrind" + (sizes.empty() ? "" : " at " + join(sizes, " "));
    return out;
}

GuessedKernel guess_kernel(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch) {
    return KernelGuess(said, text, launch).made();
}

}  // namespace cllab::kernelfile
