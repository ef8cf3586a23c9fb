// The order of a guess's steps, the dimensions and the work-group, and the block of all guesses.
#include "kernelfile/guess/guess.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include "core/kernel_text.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {
namespace {

std::string renamed(const std::string& text, const std::string& from, const std::string& to) {
    return replace_names(text, [&](const auto& name) { return name == from ? to : name; });
}

std::string lines_of(const GuessedKernel& kernel) {
    std::string out;
    for (const auto& [name, text] : kernel.arguments) out += "arg " + name + " = " + text + "\n";
    if (!kernel.global.empty()) out += "global " + kernel.global + "\n";
    if (!kernel.local.empty()) out += "local " + kernel.local + "\n";
    if (!kernel.offset.empty()) out += "offset " + kernel.offset + "\n";
    return out;
}

}  // namespace

using Meaning = ScalarName::Meaning;
using model::Parameter;

KernelGuess::KernelGuess(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch)
    : said_(said), text_(text), launch_(launch), parameters_(said.signature.parameters), by_text_(!launch) {
    for (const auto& [name, value] : said.axes) axes_.push_back({name, name, false, value});
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

/// The current value of an argument that is passed by value, as text.
std::string KernelGuess::text_of(const Parameter& p) const {
    std::vector<std::string> parts;
    bool is_struct = false;
    for (const auto& scalar : scalars_) {
        if (scalar.of != &p) continue;
        is_struct = p.type.is_opaque();
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
        } else if (p.is_buffer()) {
            const auto kind = fill_.count(p.name) ? fill_.at(p.name) : p.type.is_integer() ? "zero" : "rand";
            out.arguments[p.name] = typed_data(p, kind, std::to_string(bytes / element_bytes(p)));
        } else if (p.kind == Parameter::Kind::local) {
            // Each has a different size, by which the simulator's plugin identifies it.
            const auto room = (16 << 10) + 64 * static_cast<std::int64_t>(number);
            out.arguments[p.name] = "local:" + std::to_string(room / element_bytes(p));
        } else if (p.kind == Parameter::Kind::image) {
            out.arguments[p.name] = image_text(p);
        }
    }
    out.global = join(global_, ",");
    out.local = join(local_, ",", [](auto size) { return std::to_string(size); });
    if (inset_ > 0) out.offset = join(global_, ",", [&](const auto&) { return std::to_string(inset_); });
    for (const auto& axis : axes_) out.axes.emplace_back(axis.name, axis.small);
    out.may_be_long = patient_;
    return out;
}

/// The text with each axis replaced by its text in the result.
std::string KernelGuess::shown(const std::string& text) const {
    return replace_names(text, [&](const auto& name) {
        const auto axis = std::ranges::find(axes_, name, &SizeAxis::name);
        return axis == axes_.end() ? name : axis->shown;
    });
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
        if (p.is_buffer() && !open_.count(p.name)) text = data_of(i);
        if (p.kind == Parameter::Kind::local && lengths_.count(p.name)) text = "local:" + lengths_.at(p.name);
        if (p.kind == Parameter::Kind::image) text = image_text(p);
        // A buffer that no sample touched may be written with other data: a counter, for example.
        const bool written = i < seen_.size() && (seen_[i].written || !seen_[i].touched()) && p.is_written();
        if (p.is_buffer() && written && !text.starts_with("out:")) out.written.push_back(p.name);
        if (!text.empty())
            out.arguments.emplace_back(p.name, shown(text));
        else if (p.kind != Parameter::Kind::sampler && p.kind != Parameter::Kind::refused)
            out.open.push_back(p.name), out.advised[p.name] = shown(advice_for(p));
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

/// Launches one group: one work-item, or as many as the kernel requires. False if the launch fails.
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
    // A program without text does not show which dimensions it uses. Assume one work-item per pixel of its images.
    if (by_text_ && first_.calls.empty())
        for (const auto& p : parameters_)
            if (p.kind == Parameter::Kind::image && p.dims > 0) bits |= 1u << (p.dims - 1);
    const auto& promised = said_.signature.required_group;
    for (unsigned d = 1; d < 3; ++d)
        if (bits >> d & 1 || promised[d] > 1) dims_ = d + 1;
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

/// Launches one group of that size.
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

/// Chooses the work-group that the kernel's own local arrays are made for. The group overruns none of them and reads
/// nothing before it is written. Of such groups, the one that uses most of the arrays is best.
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
        if (8 * found.bytes >= 7 * found.room) break;  // the rest is padding
    }
    local_ = best;
}

GuessedKernel guess_kernel(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch) {
    if (text.is_empty(said.signature.name)) return {.is_empty = true};
    return KernelGuess(said, text, launch).made();
}

std::string block_of(GuessedKernels& kernels, bool alone, std::map<std::string, std::int64_t>& axes) {
    std::string declared, lines;
    std::set<std::string> here;  // a block is complete even if another file declares the same axes
    for (auto& [name, kernel] : kernels) {
        for (auto& [axis, value] : kernel.axes) {
            const auto known = axes.find(axis);
            if (known != axes.end() && known->second != value) {
                const auto own = axis + "_" + name;
                for (auto& [argument, text] : kernel.arguments) text = renamed(text, axis, own);
                for (auto& [argument, text] : kernel.advised) text = renamed(text, axis, own);
                kernel.global = renamed(kernel.global, axis, own);
                axis = own;
            }
            axes.emplace(axis, value);
            if (here.insert(axis).second) declared += "axis " + axis + " = " + format_integer(value) + "\n";
        }
        lines += (alone ? "" : "kernel " + name + "\n") + lines_of(kernel);
    }
    return declared + lines;
}

namespace {

std::size_t skip_space(std::string_view text, std::size_t at) {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
    return at;
}

/// Finds names and the text after them: NAME(…) { BODY } outside of any bracket, and #define NAME BODY.
void find_bodies(const std::string& text, std::map<std::string, std::string>& out) {
    std::string name;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '#') {
            auto end = text.find('\n', at);
            while (end != std::string::npos && end > 0 && text[end - 1] == '\\') end = text.find('\n', end + 1);
            end = std::min(end, text.size());
            static const std::regex define(R"(#\s*define\s+(\w+)([\s\S]*))");
            std::smatch found;
            const auto line = text.substr(at, end - at);
            if (std::regex_match(line, found, define)) out[found[1]] += std::string(found[2]) + "\n";
            at = end;
        } else if (in_name(c)) {
            auto end = at;
            while (end < text.size() && in_name(text[end])) ++end;
            name = text.substr(at, end - at);
            at = end;
        } else if (c == '(') {
            const auto of = name;
            at = skip_space(text, behind_bracket(text, at, '(', ')'));
            if (at < text.size() && text[at] == '{') {
                const auto end = behind_bracket(text, at, '{', '}');
                out[of] += text.substr(at, end - at);
                at = end;
            }
        } else {
            at = c == '{' ? behind_bracket(text, at, '{', '}') : at + 1;
        }
    }
}

}  // namespace

TextFacts::TextFacts(std::string_view text) : text_(without_comments(text)) {
    find_bodies(text_, bodies_);
    for (const auto& kernel : kernels_in(text_))  // attributes may be between the name and the body
        bodies_[kernel.name] = text_.substr(kernel.body, kernel.end - kernel.body);
}

std::map<std::string, unsigned> TextFacts::calls(const std::string& kernel) const {
    static const std::regex call(R"(\b(get_\w+|barrier|work_group_barrier)\s*\(\s*(\d?))");
    std::map<std::string, unsigned> out;
    std::set<std::string> known{kernel};
    std::vector<std::string> open{kernel};
    while (!open.empty()) {
        const auto found = bodies_.find(open.back());
        open.pop_back();
        if (found == bodies_.end()) continue;
        const auto& body = found->second;
        for (std::sregex_iterator at(body.begin(), body.end(), call), end; at != end; ++at)
            out[(*at)[1]] |= 1u << ((*at)[2].length() > 0 ? std::min(3, (*at)[2].str()[0] - '0') : 0);
        for (const auto& word : names_in(body))
            if (bodies_.count(word) && known.insert(word).second) open.push_back(word);
    }
    return out;
}

TextFacts::Use TextFacts::use(const std::string& kernel, const std::string& argument) const {
    Use out;
    const auto found = bodies_.find(kernel);
    if (found == bodies_.end()) return {true, true, false};
    const auto& body = found->second;
    for (auto at = body.find(argument); at != std::string::npos; at = body.find(argument, at + 1)) {
        const auto end = at + argument.size();
        if ((at > 0 && in_name(body[at - 1])) || (end < body.size() && in_name(body[end]))) continue;
        const auto before = body.substr(at < 40 ? 0 : at - 40, std::min<std::size_t>(at, 40));
        auto behind = skip_space(body, end);
        const bool indexed = behind < body.size() && body[behind] == '[';
        if (indexed) behind = skip_space(body, behind_bracket(body, behind, '[', ']'));
        while (behind < body.size() && (body[behind] == '.' || in_name(body[behind]))) ++behind;
        const auto next = body.substr(skip_space(body, behind), 3);
        static const std::regex in_atomic(R"(atom\w*\s*\(\s*&?\s*\(?[^;]*$)"), in_store(R"(vstore\w*\s*\([^;]*$)"),
            in_load(R"(vload\w*\s*\([^;]*$)");
        if (std::regex_search(before, in_atomic)) {
            out.read = out.written = out.atomic = true;
        } else if (std::regex_search(before, in_store)) {
            out.written = true;
        } else if (indexed && next.starts_with("=") && !next.starts_with("==")) {
            out.written = true;
        } else if (indexed && (next.starts_with("++") || next.starts_with("--") ||
                               (next.size() > 1 && next.find('=') == 1 &&
                                std::string_view("+-*/|&^%").find(next[0]) != std::string_view::npos))) {
            out.read = out.written = true;
        } else if (indexed || std::regex_search(before, in_load)) {
            out.read = true;
        } else {
            out.read = out.written = true;  // another use of the pointer
        }
    }
    return out;
}

bool TextFacts::is_empty(const std::string& kernel) const {
    const auto found = bodies_.find(kernel);
    return found != bodies_.end() && skip_space(found->second, 1) + 1 == found->second.size();
}

bool TextFacts::has_array(const std::string& kernel) const {
    static const std::regex array(R"(\b(?:u?(?:char|short|int|long)|unsigned|half|float|double)\d*\s+\w+\s*\[)");
    const auto found = bodies_.find(kernel);
    return found != bodies_.end() && std::regex_search(found->second, array);
}

}  // namespace cllab::kernelfile
