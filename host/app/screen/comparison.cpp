#include "app/screen/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/screen/streams.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::app {
namespace {

std::string row(const std::string& name, const std::string& left, const std::string& right, std::size_t width) {
    return fmt::format("{:<22}  {:<{}}  {}\n", printable(name), printable(left), width, printable(right));
}

std::string number(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : "-"; }

std::string count_rows(const inspect::Counts& left, const inspect::Counts& right, const inspect::InstructionSet& isa,
                       std::size_t width) {
    std::string out = row("instructions", std::to_string(left.instructions), std::to_string(right.instructions), width);
    for (const auto& mark : isa.marks)
        if (mark.always || left.mark(mark.key) + right.mark(mark.key) > 0)
            out += row(mark.label, std::to_string(left.mark(mark.key)), std::to_string(right.mark(mark.key)), width);
    for (const auto member : {&inspect::Counts::classes, &inspect::Counts::memory}) {
        auto names = left.*member;
        names.insert((right.*member).begin(), (right.*member).end());
        for (const auto& [name, ignored] : names) {
            const auto count = [&](const inspect::Counts& c) {
                const auto found = (c.*member).find(name);
                return found == (c.*member).end() ? std::string("-") : std::to_string(found->second);
            };
            out += row(name, count(left), count(right), width);
        }
    }
    return out;
}

/// `text` in `width` columns; a '+' stands for what is cut. 0: whole.
std::string cut(const std::string& text, std::size_t width) {
    const auto shown = printable(text);
    return width > 0 && shown.size() > width ? shown.substr(0, width - 1) + "+" : shown;
}

std::string diff_text(const CodePart& left, const CodePart& right, std::size_t left_width, std::size_t right_width,
                      bool colour) {
    const auto lines = inspect::align(left.body, right.body);
    if (std::ranges::all_of(lines, [](const auto& line) { return line.mark == ' '; }))
        return "The same instructions on both sides.\n";
    static constexpr Entry<char, const char*> colours[] = {{'<', "\033[31m"}, {'>', "\033[32m"}, {'~', "\033[33m"}};
    std::string out;
    for (const auto& line : lines) {
        const std::string paint = colour ? value_of(colours, line.mark, "") : "";
        out += fmt::format("{}{} {:<{}}  {}{}\n", paint, line.mark, cut(line.left, left_width), left_width,
                           cut(line.right, right_width), paint.empty() ? "" : "\033[0m");
    }
    return out;
}

}  // namespace

CodePart shown_part(const inspect::FunctionStats& stats) {
    if (stats.shown < 0) return {inspect::shown_place(stats), stats.total, stats.code.instructions};
    const auto& loop = stats.loops[static_cast<std::size_t>(stats.shown)];
    CodePart part{inspect::shown_place(stats), loop.own, {}};
    for (const auto i : loop.body) part.body.push_back(stats.code.instructions[i]);
    return part;
}

CodePart hot_part(HotBody body) {
    return {model::place(body.region), std::move(body.counts), std::move(body.instructions)};
}

std::string comparison_text(const CellCode& left, const CellCode& right, bool colour, unsigned columns) {
    const std::size_t width = std::max<std::size_t>(44, left.id.size());
    std::string out = "On " + printable(left.where) + "\n\n" + row("", left.id, right.id, width);
    const auto add = [&](const char* name, std::optional<std::int64_t> model::CodeInfo::*what) {
        if (left.info.*what || right.info.*what)
            out += row(name, number(left.info.*what), number(right.info.*what), width);
    };
    add("registers", &model::CodeInfo::registers);
    add("spills", &model::CodeInfo::spills);
    add("private bytes", &model::CodeInfo::private_bytes);
    add("local bytes", &model::CodeInfo::local_bytes);
    add("code bytes", &model::CodeInfo::code_bytes);
    out += row("loops", std::to_string(left.counts.loops.size()), std::to_string(right.counts.loops.size()), width);
    if (left.counts.isa != right.counts.isa || left.counts.code.instructions.empty() ||
        right.counts.code.instructions.empty())
        return out + "\nThe instructions cannot be compared: one side has no counted disassembly.\n";
    auto left_hot = hot_bodies(left), right_hot = hot_bodies(right);
    // Samples cut the part of a loop that ran most; of equal code they would cut two where there is one.
    const bool same = !left.info.fingerprint.empty() && left.info.fingerprint == right.info.fingerprint;
    if (same) (left_hot.empty() ? left_hot : right_hot) = left_hot.empty() ? right_hot : left_hot;
    const bool hot = !left_hot.empty() && !right_hot.empty();
    const CodePart ours = hot ? hot_part(std::move(left_hot.front())) : shown_part(left.counts);
    const CodePart theirs = hot ? hot_part(std::move(right_hot.front())) : shown_part(right.counts);
    out += "\n" + row(hot ? "hot" : "one iteration of", ours.place, theirs.place, width);
    out += count_rows(ours.counts, theirs.counts, *left.counts.isa, width);
    out += "\n" + wrapped_to_page(left.counts.isa->rule) + "\n\n";
    // Beside the two sides: the mark and three blanks.
    const std::size_t half = columns > 0 ? (columns - 4) / 2 : 0;
    return out + diff_text(ours, theirs, half > 0 ? half : width, half, colour) + "\n";
}

}  // namespace cllab::app
