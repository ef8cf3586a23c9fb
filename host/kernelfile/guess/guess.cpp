// The order of a guess's steps, its first steps and its result, the block of all guesses, and the facts of a text.
#include "kernelfile/guess/guess.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include "core/grouped.hpp"
#include "core/kernel_text.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {
namespace {

using NamedSize = std::pair<std::string, std::int64_t>;
using Meaning = ScalarName::Meaning;
using model::Parameter;

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

unsigned dimensions_of(const KernelFacts& facts) {
    const auto& said = facts.said;
    if (!said.local.empty()) return static_cast<unsigned>(said.local.size());
    if (!said.global.empty()) return static_cast<unsigned>(said.global.size());
    const auto& calls = facts.first.calls;
    unsigned bits = 1;
    for (const char* name : {"get_global_id", "get_local_id", "get_group_id"})
        if (const auto found = calls.find(name); found != calls.end()) bits |= found->second;
    // A program without text does not show which dimensions it uses. Assume one work-item per pixel of its images.
    if (facts.by_text && calls.empty())
        for (const auto& p : facts.parameters())
            if (p.kind == Parameter::Kind::image && p.dims > 0) bits |= 1u << (p.dims - 1);
    unsigned out = 1;
    for (unsigned d = 1; d < 3; ++d)
        if (bits >> d & 1 || said.signature.required_group[d] > 1) out = d + 1;
    return out;
}

struct SeenGroup {
    bool runs = false, overruns = false;
    std::int64_t bytes = 0, room = 0;  ///< of local memory: touched, total
};

/// Launches one group of that size.
SeenGroup try_group(const KernelFacts& facts, const Arguments& arguments, const Extents& group) {
    const auto sizes = mapped(group, [](auto size) { return std::to_string(size); });
    Samples trial{.shape = {arguments, group, sizes}};
    for (auto& scalar : trial.shape.scalars) {
        const auto d = static_cast<std::size_t>(std::max(0, scalar.name.dimension));
        const bool grows = scalar.is_size() || scalar.name.meaning == Meaning::stride;
        if (grows) scalar.value = sizes[std::min(d, sizes.size() - 1)];
        if (scalar.name.meaning == Meaning::group) scalar.value = sizes[0];
    }
    const auto seen = facts.launch(small_launch(facts, trial, Extents(arguments.axes.size(), group[0])));
    SeenGroup out{seen.trouble.empty() && !seen.too_long};
    for (const auto& variable : seen.local) {
        if (variable.argument >= 0) continue;
        out.overruns = out.overruns || variable.last > variable.size || variable.before;
        out.runs = out.runs && !out.overruns && !variable.read_first;
        out.bytes += variable.bytes;
        out.room += variable.size;
    }
    return out;
}

/// The work-group that the kernel's own local arrays are made for. The group overruns none of them and reads nothing
/// before it is written. Of such groups, the one that uses most of the arrays is best.
Group fitting_group(const KernelFacts& facts, const Arguments& arguments, const Group& usual) {
    static const std::vector<Extents> candidates[] = {
        {{256}, {128}, {64}, {32}, {16}, {512}, {1024}},
        {{16, 16}, {8, 8}, {32, 8}, {32, 32}, {32, 16}, {64, 4}, {16, 8}, {4, 4}, {16, 4}},
        {{8, 8, 4}, {4, 4, 4}, {8, 8, 8}, {16, 4, 4}, {2, 2, 2}}};
    Group best = usual;
    std::vector<Extents> too_large;
    std::int64_t most = -1;
    for (const auto& group : candidates[facts.dimensions - 1]) {
        const bool is_larger = std::ranges::any_of(
            too_large, [&](const auto& other) { return std::ranges::equal(other, group, std::less_equal<>{}); });
        if (is_larger) continue;
        const auto found = try_group(facts, arguments, group);
        best.axis_size = group[0];
        if (found.overruns) too_large.push_back(group);
        if (!found.runs || found.bytes <= most) continue;
        most = found.bytes;
        best.size = group;
        if (8 * found.bytes >= 7 * found.room) break;  // the rest is padding
    }
    return best;
}

std::string how_measured(const KernelFacts& facts, const Samples& samples) {
    const auto& why = samples.trouble.empty() ? facts.first.trouble : samples.trouble;
    if (!facts.launch) return "by the text, without Oclgrind";
    if (samples.runs.empty())
        return "by the text, as Oclgrind does not run it" + (why.empty() ? "" : ": " + one_line(why));
    std::vector<std::string> sizes;
    for (std::size_t a = 0; a < samples.shape.axes.size(); ++a) {
        std::vector<std::string> values;
        for (const auto& run : samples.runs) add_once(values, std::to_string(run.sizes[a]));
        sizes.push_back(samples.shape.axes[a].shown + "=" + join(values, ", "));
    }
    return "by Oclgrind" + (sizes.empty() ? "" : " at " + join(sizes, " "));
}

/// How the kernel leaves a buffer without a length, as a sentence; empty if it was not seen.
std::string outside(const KernelFacts& facts, const Measured& measured, std::size_t argument) {
    const auto& p = facts.parameters()[argument];
    const auto& samples = measured.samples;
    if (!p.is_buffer() || samples.runs.empty()) return {};
    if (samples.seen[argument].before) return "the kernel accesses memory before the start of " + p.name;
    if (measured.lengths.of.contains(p.name)) return {};
    const auto& [sizes, seen] = samples.telling();
    std::vector<std::string> at;
    for (std::size_t a = 0; a < sizes.size(); ++a)
        at.push_back(samples.shape.axes[a].shown + "=" + std::to_string(sizes[a]));
    const auto last = (seen.arguments[argument].last - 1) / element_bytes(facts, samples, argument);
    if (last < 1) return {};  // any kernel accesses the first element
    return concat("the kernel accesses ", p.name, "[", last, "]", at.empty() ? "" : " at " + join(at, " "));
}

GuessedKernel result(const KernelFacts& facts, const Measured& measured, std::int64_t size) {
    GuessedKernel out;
    const auto& shape = measured.samples.shape;
    const auto shown = [&](const std::string& text) {
        return replace_names(text, [&](const auto& name) {
            const auto axis = std::ranges::find(shape.axes, name, &SizeAxis::name);
            return axis == shape.axes.end() ? name : axis->shown;
        });
    };
    for (const auto& axis : shape.axes)
        if (axis.is_new) out.axes.emplace_back(axis.name, size);
    out.sizes = sizes_up_to(facts, measured, size);
    for (std::size_t i = 0; i < facts.parameters().size(); ++i) {
        const auto& p = facts.parameters()[i];
        if (facts.said.is_given(p)) continue;
        const auto text = argument_text(facts, measured, i);
        // A buffer that no sample touched may be written with other data: a counter, for example.
        const auto& seen = measured.samples.seen[i];
        if (p.is_buffer() && p.is_written() && (seen.written || !seen.touched()) && !text.starts_with("out:"))
            out.written.push_back(p.name);
        if (!text.empty())
            out.arguments.emplace_back(p.name, shown(text));
        else if (p.kind != Parameter::Kind::sampler && p.kind != Parameter::Kind::refused)
            out.open.push_back(p.name), out.advised[p.name] = shown(advice_for(facts, measured, i));
        if (const auto why = text.empty() ? outside(facts, measured, i) : ""; !why.empty()) out.outside.push_back(why);
    }
    if (facts.said.global.empty()) out.global = shown(join(shape.global, ","));
    if (facts.said.local.empty()) out.local = shape.local_text();
    out.offset = shape.offset_text();
    out.how = how_measured(facts, measured.samples);
    return out;
}

/// Whether two kernels with one kind of size get the same arrays. Their inputs must have the same contents.
bool take_same_data(const GuessedKernel& one, const GuessedKernel& other) {
    const auto data = [&](const GuessedKernel& kernel) {
        Texts out;
        for (const auto& [name, text] : kernel.arguments) {
            if (text.find(':') == text.npos) continue;
            const bool is_single = one.axes.size() == 1 && kernel.axes.size() == 1;
            const auto shown = is_single ? renamed(text, kernel.axes.front().first, one.axes.front().first) : text;
            out.emplace(name, text.starts_with("rand") ? shown : "");
        }
        return out;
    };
    return one.open.empty() && other.open.empty() && !one.axes.empty() && one.axes.size() == other.axes.size() &&
           data(one) == data(other);
}

/// The largest size that each kernel may have, or the sizes with the most bytes that all may have. Kernels that have
/// none keep their sizes.
void share_size(const std::vector<GuessedKernel*>& kernels) {
    const auto& first = *kernels.front();
    const auto names = [](const GuessedKernel& kernel) { return mapped(kernel.axes, &NamedSize::first); };
    const bool one_name = std::ranges::all_of(kernels, [&](const auto* k) { return names(*k) == names(first); });
    const auto sizes = first.sizes;
    for (const auto& [size, bytes] : sizes) {
        const auto fits = [&, size = size, bytes = bytes](const auto& s) {
            return one_name ? s.first == size : s.second == bytes;
        };
        if (!std::ranges::all_of(kernels, [&](const auto* k) { return std::ranges::any_of(k->sizes, fits); })) continue;
        for (auto* kernel : kernels)
            for (auto& axis : kernel->axes) axis.second = std::ranges::find_if(kernel->sizes, fits)->first;
        return;
    }
}

/// The text of an argument in a small launch; empty if it has none.
std::string launch_text(const KernelFacts& facts, const Samples& samples, const Texts& lengths, std::size_t i) {
    constexpr std::int64_t bytes = 256 << 10;  // per buffer: more than a small launch touches
    const auto& p = facts.parameters()[i];
    const auto elements = [&](std::int64_t room) { return std::to_string(room / element_bytes(facts, samples, i)); };
    if (const auto text = scalar_text(samples.shape.scalars, p); !text.empty()) return text;
    if (facts.said.is_given(p)) return facts.said.given.at(p.name).text;
    if (p.kind == Parameter::Kind::image) return image_text(facts, samples, lengths, i);
    // Each has a different size, by which the simulator's plugin identifies it.
    if (p.kind == Parameter::Kind::local)
        return "local:" + elements((16 << 10) + 64 * static_cast<std::int64_t>(i + 1));
    if (!p.is_buffer()) return {};
    const auto fill = samples.fill.find(p.name);
    const auto kind = fill != samples.fill.end() ? fill->second : p.type.is_integer() ? "zero" : "rand";
    return typed_data(facts, samples, i, kind, elements(bytes));
}

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

KernelFacts facts_of(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch,
                     const Arguments& arguments) {
    KernelFacts out{said, text, launch};
    const auto& required = said.signature.required_group;
    Samples one{.shape = {arguments, {}, {"1", "1", "1"}}};
    for (unsigned d = 0; d < 3 && required[0] > 0; ++d) {
        one.shape.local.push_back(static_cast<std::int64_t>(required[d]));
        one.shape.global[d] = std::to_string(required[d]);
    }
    if (launch) out.first = launch(small_launch(out, one, Extents(arguments.axes.size(), 1)));
    out.by_text = !launch || !out.first.trouble.empty();
    if (out.by_text) out.first.calls = text.calls(said.signature.name);
    out.dimensions = dimensions_of(out);
    return out;
}

bool KernelFacts::calls_any(std::initializer_list<const char*> functions) const {
    return std::ranges::any_of(functions, [&](const char* name) { return first.calls.count(name) > 0; });
}

Group group_of(const KernelFacts& facts, const Arguments& arguments) {
    const auto& said = facts.said;
    const auto& required = said.signature.required_group;
    if (!said.local.empty())
        return {mapped(said.local, [](const auto& text) { return parse_integer(text).value_or(16); })};
    if (required[0] > 0) return {{required.begin(), required.begin() + facts.dimensions}};
    const auto is_local = [](const auto& p) { return p.kind == Parameter::Kind::local; };
    if (std::ranges::none_of(facts.parameters(), is_local) && facts.first.local.empty() &&
        !facts.calls_any({"get_local_id", "get_group_id", "get_local_size", "get_num_groups", "get_local_linear_id",
                          "barrier", "work_group_barrier"}))
        return {};
    static const Extents usual[] = {{256}, {16, 16}, {8, 8, 4}};
    Group out{usual[facts.dimensions - 1]};
    if (!facts.by_text && !facts.first.local.empty()) out = fitting_group(facts, arguments, out);
    for (unsigned d = 0; d < facts.dimensions && d < said.global.size(); ++d)
        if (const auto all = parse_integer(said.global[d]))
            while (*all % out.size[d] != 0) out.size[d] /= 2;
    return out;
}

std::string scalar_text(const std::vector<Scalar>& scalars, const Parameter& p) {
    std::vector<std::string> parts;
    for (const auto& scalar : scalars)
        if (scalar.of == &p) parts.push_back((p.type.is_opaque() ? scalar.type.name + ":" : "") + scalar.value);
    return p.type.is_opaque() && !parts.empty() ? "{" + join(parts, ", ") + "}" : join(parts, ",");
}

SmallLaunch small_launch(const KernelFacts& facts, const Samples& samples, const Extents& sizes, const Texts& lengths) {
    const auto& shape = samples.shape;
    SmallLaunch out{{}, join(shape.global, ","), shape.local_text(), shape.offset_text(), {}, samples.patient};
    for (std::size_t i = 0; i < facts.parameters().size(); ++i)
        if (const auto text = launch_text(facts, samples, lengths, i); !text.empty())
            out.arguments[facts.parameters()[i].name] = text;
    for (std::size_t a = 0; a < shape.axes.size(); ++a) out.axes.emplace_back(shape.axes[a].name, sizes[a]);
    return out;
}

std::string LaunchShape::local_text() const {
    return join(local, ",", [](auto size) { return std::to_string(size); });
}

std::string LaunchShape::offset_text() const {
    return inset == 0 ? "" : join(global, ",", [&](const auto&) { return std::to_string(inset); });
}

GuessedKernel guess_kernel(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch) {
    if (text.is_empty(said.signature.name)) return {.is_empty = true};
    const auto arguments = named_arguments(said);
    const auto facts = facts_of(said, text, launch, arguments);
    const auto group = group_of(facts, arguments);
    const auto bounds = bounds_of(facts, arguments, group);
    const auto shape = shape_of(facts, arguments, group, bounds);
    const auto found = measure(facts, shape);
    return result(facts, found, timed_size(facts, found));
}

void share_sizes(std::vector<GuessedKernel>& kernels, const std::set<std::string>& set) {
    // Kernels that process the same data get the same: "rand:n:0:64-1" of one kernel is also data for "rand:n".
    for (const auto& limited : kernels)
        for (auto& kernel : kernels)
            for (auto& [name, text] : kernel.arguments)
                if (const auto* other = find_in(limited.arguments, name); other && other->starts_with(text + ":"))
                    text = *other;
    std::map<std::string, std::int64_t> of_set;  // --axis gives it another value, but one for all
    for (auto& kernel : kernels)
        for (auto& [axis, value] : kernel.axes)
            if (set.contains(axis)) value = of_set.emplace(axis, value).first->second;
    std::vector<bool> is_done(kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        std::vector<GuessedKernel*> alike;
        for (auto j = i; j < kernels.size(); ++j)
            if (!is_done[j] && take_same_data(kernels[i], kernels[j])) alike.push_back(&kernels[j]), is_done[j] = true;
        if (alike.size() > 1) share_size(alike);
    }
}

std::vector<std::size_t> equal_problems(const std::vector<GuessedKernel>& kernels, const std::set<std::string>& set) {
    // By kernel: its axes, and the bytes at their size.
    auto problems = mapped(kernels, [&](const GuessedKernel& kernel) {
        std::map<std::string, std::int64_t> axes(kernel.axes.begin(), kernel.axes.end());
        std::erase_if(axes, [&](const auto& axis) { return set.contains(axis.first); });
        std::int64_t bytes = -1;
        for (const auto& size : kernel.sizes)
            if (!axes.empty() && size.first == axes.begin()->second) bytes = size.second;
        return std::pair(axes, bytes);
    });
    return mapped(problems, [&](const auto& own) {
        const auto first = std::ranges::find_if(problems, [&](const auto& other) {
            const auto has = [&](const auto& axis) { return other.first.contains(axis.first); };
            return own.first.empty() || own.first == other.first ||
                   (own.second > 0 && own.second == other.second && std::ranges::none_of(own.first, has));
        });
        return static_cast<std::size_t>(first - problems.begin());
    });
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
        const bool atomic = std::regex_search(before, in_atomic);
        const bool assigned = indexed && next.starts_with("=") && !next.starts_with("==");
        const bool updated = indexed && (next.starts_with("++") || next.starts_with("--") ||
                                         (next.size() > 1 && next.find('=') == 1 &&
                                          std::string_view("+-*/|&^%").find(next[0]) != std::string_view::npos));
        const bool stored = !atomic && (assigned || std::regex_search(before, in_store));
        const bool loaded = !atomic && !stored && !updated && (indexed || std::regex_search(before, in_load));
        out.atomic |= atomic;
        out.read |= !stored;
        out.written |= !loaded;  // another use of the pointer may read and write
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
