// What limits the time of a record, by the bounds that its device's profile and its counts give.
#include <algorithm>
#include <ostream>

#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"
#include "report/table/explanation.hpp"

namespace cllab::report::html {
namespace {

using model::Limit;

/// The colour of a limiter, by its name in a word or two.
const char* colour_of(const std::string& brief) {
    const auto begins = [&](std::initializer_list<const char*> words) {
        return std::ranges::any_of(words, [&](const char* word) { return brief.starts_with(word); });
    };
    if (begins({"memory", "L1", "L2", "L3", "L4"})) return "t-memory";
    if (begins({"launch", "groups"})) return "t-launch";
    if (begins({"local", "barriers", "atomics"})) return "t-shared";
    return brief.ends_with(" latency") ? "t-memory" : "t-compute";
}

}  // namespace

std::optional<Tag> limit_of(const Context& c, std::size_t cell) {
    const auto& r = c.records()[cell];
    const auto found = c.page.explanations.find(cell);
    if (!r.time) return std::nullopt;
    if (found == c.page.explanations.end()) {
        if (r.limit.empty()) return std::nullopt;
        return r.limit == "-" ? Tag{"t-none", "not explained", ""} : Tag{colour_of(r.limit), r.limit, ""};
    }
    const auto& e = found->second;
    const auto sentence = limit_sentence(e, *r.time);
    const double part = explained(e, *r.time);
    switch (e.limit) {
        case Limit::named: {
            const auto& brief = e.bounds.front().brief;
            const auto* then = e.follower();
            return Tag{colour_of(brief), brief + (then ? "+" + then->brief : "") + " " + whole_percent(part), sentence};
        }
        case Limit::close:
            return Tag{"t-none", "not told apart", sentence};
        case Limit::impossible:
            return Tag{"t-wrong", "impossible", sentence};
        case Limit::unsteady:
            return Tag{"t-none", "unsteady", sentence};
        case Limit::unexplained:
            break;
    }
    return Tag{"t-none", "not explained" + (e.bounds.empty() ? "" : " " + whole_percent(1 - part)), sentence};
}

std::string limit_tag(const Context& c, std::size_t cell) {
    const auto tag = limit_of(c, cell);
    if (!tag) return "";
    return fmt::format(R"(<span class="tag {}"{}>{}</span>)", tag->style,
                       tag->title.empty() ? "" : " title=\"" + text(tag->title) + "\"", text(tag->words));
}

void write_bounds(std::ostream& out, const Context& c, std::size_t cell) {
    const auto found = c.page.explanations.find(cell);
    const auto& r = c.records()[cell];
    if (found == c.page.explanations.end() || !r.time) return;
    const auto& e = found->second;
    out << fmt::format("<h5>what limits it</h5>\n<p>{}</p>\n<table class=\"bounds\"><tbody>\n",
                       text(limit_sentence(e, *r.time)));
    for (const auto& b : e.bounds) {
        const double part = b.seconds / r.time->median;
        out << "<tr>" << number_cell(whole_percent(part));
        out << fmt::format(
            R"(<td class="share"><svg width="100%" height="12"><rect class="{}" height="12" width="{}"/></svg></td>)",
            colour_of(b.brief), percent(std::clamp(part, 0.0, 1.0)));
        out << fmt::format("<td>{}, {} <small>{}</small></td></tr>\n", text(b.name), format_seconds(b.seconds),
                           text(b.how));
    }
    out << "</tbody></table>\n";
    for (const auto& why : e.contradictions) out << fmt::format("<p class=\"bad\">{}</p>\n", text(why));
    if (!e.advice.empty()) out << fmt::format("<p>What helps: {}</p>\n", text(e.advice));
    if (!e.unbounded.empty())
        out << fmt::format("<details><summary>{} without a bound</summary><ul>{}</ul></details>\n", e.unbounded.size(),
                           join(e.unbounded, "", [](const auto& u) {
                               return fmt::format("<li>{}: {}</li>", text(u.first), text(u.second));
                           }));
}

}  // namespace cllab::report::html
