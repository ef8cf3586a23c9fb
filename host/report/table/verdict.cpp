#include "report/table/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/warning.hpp"
#include "report/records/points.hpp"
#include "report/table/layout.hpp"

namespace cllab::report {
namespace {

using model::Record;
using Cells = std::vector<const RankedCell*>;

std::string id(const RankedCell* cell) { return cell->record->id; }

/// The median with its interval, and what makes it doubtful.
std::string time_text(const Record& r) {
    using model::Warning;
    std::string doubts;
    for (const auto code : {Warning::below_floor, Warning::beyond_memory, Warning::few_cores})
        if (model::warns(r, code)) doubts += (doubts.empty() ? " (" : ", ") + std::string(code_of(code));
    const auto interval = spread_of(r);
    const std::string gap = interval.starts_with("n =") ? ", " : interval.empty() ? "" : " ";
    return format_seconds(r.time->median) + gap + interval + doubts + (doubts.empty() ? "" : ")");
}

std::string times_as_long(double ratio) { return format_significant(ratio, 3) + " times as long"; }

/// An amount that a record's kernel executes or uses. `of`: nullopt if the record does not have it.
struct Amount {
    const char* verb;
    std::string_view what;
    std::optional<double> (*of)(const Record&);
};

std::optional<double> declared(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

/// The block with most of the samples of a CPU's kernel; null where none has four of five.
const model::HotBlock* hot_block(const Record& r) {
    constexpr double most = 0.8;
    const auto* block = r.hot && r.hot->evidence == model::Hot::sampled ? r.hot->hottest() : nullptr;
    return block && block->share >= most ? block : nullptr;
}

/// Of the hot block, if no other one of its loop runs in each pass.
std::optional<double> instructions_per_stored_byte(const Record& r) {
    const auto* block = hot_block(r);
    // A store to local memory looks like any other.
    if (!block || r.code.local_bytes.value_or(0) > 0) return std::nullopt;
    const bool alone = std::ranges::all_of(r.hot->loops, [&](const model::HotLoop& loop) {
        return block->loops.empty() || loop.function != block->function || loop.header != block->loops.back() ||
               loop.instructions == block->instructions;
    });
    return alone ? block->per_stored_byte() : std::nullopt;
}

/// Whether the block that they are of stores in part, so that there are more for each byte of an output.
bool is_least(const Record& r) { return hot_block(r)->elements.contains(model::HotBlock::part_store); }

/// Of a loop or path, by its blocks: " in vectors of up to 256 bits with 8 gathers", " without vectors".
std::string form_of(const std::vector<const model::HotBlock*>& blocks) {
    unsigned widest = 0, scalar = 0;
    std::vector<std::string> with;
    for (const auto* block : blocks) {
        const auto bits = block->vector_bits();
        widest = std::max(widest, bits.value_or(0));
        scalar += bits == 0u;
    }
    for (const auto* name : {"gather", "scatter", "call"}) {
        unsigned n = 0;
        for (const auto* block : blocks) n += block->of_class(name);
        if (n > 0) with.push_back(fmt::format("{} {}{}", n, name, n > 1 ? "s" : ""));
    }
    if (widest == 0 && scalar < blocks.size()) return "";
    return (widest > 0 ? fmt::format(" in vectors of up to {} bits", widest) : " without vectors") +
           (with.empty() ? "" : " with " + join(with, " and "));
}

/// The hot blocks of a CPU's kernel that compute elements; all of them if those have few samples, as in a copy.
std::vector<const model::HotBlock*> computing_blocks(const Record& r) {
    constexpr double few = 0.2;
    std::vector<const model::HotBlock*> all, computing;
    double share = 0;
    if (r.hot && r.hot->evidence == model::Hot::sampled)
        for (const auto& block : r.hot->blocks) {
            all.push_back(&block);
            if (std::ranges::any_of(std::array{"float", "product", "division"},
                                    [&](auto* what) { return block.elements.contains(what); }))
                computing.push_back(&block), share += block.share;
        }
    return share < few ? all : computing;
}

/// form_of() the scalar ones of these blocks, or of the vector ones, whichever have at least 80 % of their samples.
/// Empty if neither have.
std::string form_of(const Record& r) {
    constexpr double most = 0.8;
    std::vector<const model::HotBlock*> scalar, vector;
    double sum = 0, scalar_share = 0, vector_share = 0;
    for (const auto* block : computing_blocks(r)) {
        sum += block->share;
        if (const auto bits = block->vector_bits()) {
            (*bits > 0 ? vector : scalar).push_back(block);
            (*bits > 0 ? vector_share : scalar_share) += block->share;
        }
    }
    return sum <= 0                     ? ""
           : scalar_share >= most * sum ? form_of(scalar)
           : vector_share >= most * sum ? form_of(vector)
                                        : "";
}

/// "a computes in vectors of up to 512 bits, b without vectors", or b with calls: where nothing is said of how many
/// instructions that are.
Difference form_difference(const Record& faster, const Record& slower) {
    const auto few = form_of(faster), many = form_of(slower);
    if (few.empty() || many.empty()) return {};
    const auto bits = [](const Record& r) {
        unsigned widest = 0;
        for (const auto* block : computing_blocks(r)) widest = std::max(widest, block->vector_bits().value_or(0));
        return widest;
    };
    const bool more = many.find(" with ") != many.npos && few.find(" with ") == few.npos;
    if (!more && bits(faster) < std::max(1u, 2 * bits(slower))) return {};
    return {faster.id + " computes" + few + ", " + slower.id + many, 1};
}

const Amount amounts[]{
    {"executes", "instructions", [](const Record& r) { return metric_value(r, "hot_code"); }},
    {"executes", "instructions per stored byte", instructions_per_stored_byte},
    {"moves", "B", [](const Record& r) { return r.work.assumed ? std::nullopt : declared(r.work.bytes); }},
    {"starts", "groups", [](const Record& r) { return declared(r.work.groups); }},
    {"passes", "barriers per work-item", [](const Record& r) { return std::optional(r.work.barriers); }},
    {"executes", "atomics", [](const Record& r) { return std::optional(r.work.atomics); }},
    {"has", "spills",
     [](const Record& r) { return r.code.spills ? std::optional(static_cast<double>(*r.code.spills)) : std::nullopt; }},
};

/// "instructions per pixel" for the unit "instr/pixel".
std::string unit_of(const Amount& amount, const Record& r) {
    const auto* metric = amount.what == "instructions" ? find_in(r.metrics, "hot_code") : nullptr;
    return concat(amount.what, metric ? " per " + metric->unit.substr(metric->unit.find('/') + 1) : "");
}

/// The pattern for all cells of the file or family, if the command line has it; otherwise empty.
std::string whole_of(const Record& r) {
    for (const auto& whole : {r.build.source, r.family, r.family + "_*"})
        if (std::ranges::count(r.argv, whole) > 0) return shell_word(whole);
    return "";
}

/// "; `cllab run a --vs b` decides". Empty if the cells are of one variant. `cells`: fastest first; `all`: the command
/// line selected no others.
std::string deciding_command(const Cells& cells, bool all, const model::PointValues& where) {
    const auto& a = *cells.front()->record;
    if (std::ranges::any_of(a.argv, [](const auto& word) { return word.starts_with("--vs") || word == "--watch"; }))
        return "; the verdict of `--vs` decides";
    std::vector<std::string> names;
    for (const auto* cell : cells) add_once(names, pattern_of(*cell->record));
    if (names.size() < 2) return "";
    const auto whole = all ? whole_of(a) : "";
    const auto sides =
        names.size() == 2 ? names[1] + " --vs " + names[0] : (whole.empty() ? join(names, " ") : whole) + " --vs best";
    const auto& rank = cells.front()->rank;
    const bool of_times = rank.per.empty() && (rank.compared || !rank.unlike);
    return "; " + command_text(a, "run " + sides, where) + (of_times ? " decides" : " compares their times");
}

/// The smallest share of its cores that one of the cells had.
double cores_of(const Cells& close) {
    return std::ranges::min(mapped(close, [](const auto* cell) { return model::cores_share(*cell->record); }));
}

/// Why the rows are not told apart.
std::string cause(const Cells& close) {
    const auto share = cores_of(close);
    double allowed = 0;
    for (const auto* cell : close) allowed = std::max(allowed, cell->rank.allowed);
    if (share < model::nearly_all_cores)
        return fmt::format(
            "other processes took {:.0f} % of the cores, which can change a ratio of times by a factor of {}",
            100 * (1 - share), format_significant(1 + allowed, 2));
    return fmt::format("samples overlap, or differ by no more than the {} % that buffer placement and drift can make",
                       format_significant(100 * allowed, 2));
}

/// Why variants that took turns are not ranked, if their buffers or results differ; else empty. `cells`: fastest first.
std::string unlike_work(Cells cells, const model::PointValues& where) {
    std::erase_if(cells, [](const auto* cell) { return !cell->rank.unlike; });
    if (cells.empty()) return "";
    if (std::ranges::any_of(cells, [](const auto* cell) { return !cell->record->problem.empty(); }))
        return "their results differ, as a line 'differ' allows" + deciding_command(cells, false, where);
    const auto bytes_of = [](const RankedCell* cell) { return cell->record->work.bytes; };
    const auto [few, many] = std::ranges::minmax(cells, {}, bytes_of);
    return fmt::format(
        "they may do unlike work: the buffers of {} have {}, those of {} {}; 'reference KERNEL' ranks kernels of one "
        "problem by time, 'work bytes=N' ranks others per byte{}",
        id(few), format_rate(bytes_of(few), "B"), id(many), format_rate(bytes_of(many), "B"),
        deciding_command(cells, false, where));
}

/// The sentence about variants of which none is ranked, or about the only variant.
std::vector<std::string> least_sentence(const Cells& timed, const model::PointValues& where) {
    if (timed.empty()) return {};
    const auto by_time = [](const RankedCell* cell) { return cell->record->time->median; };
    auto sorted = timed;
    std::ranges::stable_sort(sorted, {}, by_time);
    const auto& least = *sorted.front()->record;
    if (timed.size() > 1) {
        const auto few =
            std::ranges::any_of(timed, [](const auto* cell) { return !cell->record->time->has_interval(); });
        if (const auto why = unlike_work(sorted, where); !why.empty())
            return {fmt::format("None of {} variants is ranked, because {}.", timed.size(), why)};
        if (const auto unlike = model::text_of(least, model::Warning::unlike_sizes); !unlike.empty())
            return {fmt::format("None of {} variants is ranked, because their guessed sizes differ{}.", timed.size(),
                                unlike.substr(unlike.rfind(';')))};
        const auto command = deciding_command(sorted, false, where);
        return {fmt::format("None of {} {} is ranked, because {}; {} has the shortest time, {}{}.", timed.size(),
                            command.empty() ? "rows" : "variants",
                            few ? "there are fewer than six samples" : "they were timed in different runs", least.id,
                            time_text(least), command)};
    }
    const auto copy = metric_value(least, "of_copy");
    return {fmt::format("{} takes {}{}.", least.id, time_text(least),
                        copy ? ", at " + format_significant(*copy, 3) +
                                   " % of the bandwidth of a plain copy of as many bytes" +
                                   (*copy > 105 ? "; caches serve some of them, or most are reads" : "")
                             : "")};
}

/// The sentence about cells that took turns, fastest first.
std::string set_sentence(const Cells& ranked, const model::PointValues& where) {
    const auto* best = ranked.front();
    const auto per = best->rank.per.empty() ? "" : " per " + best->rank.per;
    const auto range = " (" + id(ranked.back()) + " takes " + times_as_long(ranked.back()->rank.ratio) + per + ")";
    if (best->rank.fastest) {
        const auto differs = difference(*best->record, *ranked[1]->record);
        return id(best) + " is fastest" + (per.empty() ? ": " + time_text(*best->record) : per) + "; next is " +
               id(ranked[1]) + ", " + times_as_long(ranked[1]->rank.ratio) + per + (ranked.size() > 2 ? range : "") +
               (differs.text.empty() ? "" : "; " + differs.text) + ".";
    }
    auto close = ranked;
    std::erase_if(close, [](const RankedCell* cell) { return !cell->rank.indistinct; });
    return "No variant is clearly the fastest" + per + ": " + join(close, ", ", id) +
           (cores_of(close) < model::nearly_all_cores ? " are not told apart" : " are too close to call") +
           ", the best takes " + time_text(*best->record) + (close.size() < ranked.size() ? range : "") + "; " +
           cause(close) + deciding_command(close, close.size() == ranked.size(), where) + ".";
}

/// The axes on which rows differ. Call it once per table, which may have a million rows.
std::vector<std::string> axes_apart(const Comparison& c) {
    auto out = c.axes;
    std::erase_if(out, [&](const auto& axis) {
        return std::ranges::all_of(c.rows, [&](const auto* row) {
            return value_at(row->point, axis) == value_at(c.rows.front()->point, axis);
        });
    });
    return out;
}

/// The record's values of these axes.
model::PointValues where_of(const std::vector<std::string>& axes, const Record& r) {
    return mapped(axes, [&](const auto& axis) { return std::pair(axis, std::string(value_at(r.point, axis))); });
}

std::string where_text(const model::PointValues& where) {
    return point_text(where, [](const auto&, const auto& value) { return !value.empty(); });
}

/// The values of each axis in a set of cells.
std::map<std::string, std::set<std::string>> values_of(const Cells& cells) {
    std::map<std::string, std::set<std::string>> out;
    for (const auto* cell : cells)
        for (const auto& [axis, value] : cell->record->point)
            if (!value.empty()) out[axis].insert(value);
    return out;
}

/// By axis and value, the number of sets that have it; by axis and "", the number of sets that have the axis.
std::map<std::string, std::map<std::string, std::size_t>> uses_of(const std::map<std::size_t, Cells>& sets) {
    std::map<std::string, std::map<std::string, std::size_t>> out;
    for (const auto& [number, cells] : sets)
        for (const auto& [axis, values] : values_of(cells)) {
            ++out[axis][""];
            for (const auto& value : values) ++out[axis][value];
        }
    return out;
}

/// The values of axes that tell a set from another one of its group: "items=2".
model::PointValues place_of_set(const Cells& set,
                                const std::map<std::string, std::map<std::string, std::size_t>>& uses) {
    model::PointValues out;
    for (const auto& [axis, own] : values_of(set))
        if (own.size() == 1 && uses.at(axis).at(*own.begin()) < uses.at(axis).at(""))
            out.emplace_back(axis, *own.begin());
    return out;
}

/// For tables with one row per point. The least and the longest time of each variant over the axis with the most
/// values; the other axes keep their values.
std::vector<std::string> range_sentences(const Comparison& c) {
    constexpr std::size_t most = 4;
    const auto axes = axes_apart(c);
    std::map<std::string, std::set<std::string>> values;
    for (const auto* r : c.rows)
        for (const auto& [axis, value] : where_of(axes, *r)) values[axis].insert(value);
    if (values.empty()) return {};
    const std::string swept =
        std::ranges::max_element(values, {}, [](const auto& axis) { return axis.second.size(); })->first;
    auto timed = c.rows;
    std::erase_if(timed, [](const auto* r) { return !r->time; });
    const auto name_of = [&](const auto* r) {
        auto others = where_of(axes, *r);
        std::erase_if(others, [&](const auto& one) { return one.first == swept; });
        return cell_title(r->id, others);
    };
    std::vector<std::string> out;
    for (const auto& own : grouped(timed, name_of)) {
        if (own.size() < 2 || out.size() == most) continue;
        const auto [least, longest] = std::ranges::minmax(own, {}, [](const auto* r) { return r->time->median; });
        const auto at = [&](const auto* r) {
            return time_text(*r) + " at " + where_text(model::PointValues{{swept, value_at(r->point, swept)}});
        };
        out.push_back(fmt::format("{} takes {} and {}.", name_of(own.front()), at(least), at(longest)));
    }
    return out;
}

/// For many points: how often each variant is the fastest.
std::string counts_sentence(const std::vector<std::vector<RankedCell>>& points) {
    std::map<std::string, std::size_t> wins;
    std::size_t none = points.size();
    for (const auto& cells : points)
        for (const auto& cell : cells)
            if (cell.rank.fastest) ++wins[cell.record->id], --none;
    auto sorted = mapped(wins, [](const auto& win) { return std::pair(win.second, win.first); });
    std::ranges::sort(sorted, std::greater());
    const auto words = first_few(sorted, 4, [&](const auto& w) { return fmt::format("{} at {}", w.second, w.first); });
    const auto all = std::to_string(points.size()) + " points";
    if (sorted.empty()) return "No variant is clearly the fastest at any of " + all + ".";
    return "Fastest of " + all + ": " + words + (none ? fmt::format("; at {} none is clearly", none) : "") + ".";
}

}  // namespace

std::string spread_of(const Record& r) {
    if (!r.time) return "";
    if (!r.time->has_interval()) return "n = " + std::to_string(r.time->n);
    const auto interval = format_interval(r.time->median, r.time->low, r.time->high);
    return interval.empty() ? "" : interval + " %";
}

Difference difference(const Record& faster, const Record& slower) {
    constexpr double least = 1.1;
    const double as_long = faster.time && slower.time ? slower.time->median / faster.time->median : HUGE_VAL;
    const bool same_bytes =
        slower.work.bytes > 0 && std::abs(slower.work.bytes - faster.work.bytes) < 0.01 * slower.work.bytes;
    const Amount* largest = nullptr;
    Difference out;
    // The first in the list that explains half of the ratio, else the largest.
    const auto explains_half = [&] { return std::isfinite(as_long) && out.ratio * out.ratio >= as_long; };
    for (const auto& amount : amounts) {
        if (explains_half()) break;
        const auto few = amount.of(faster), many = amount.of(slower);
        if (!few || !many || *many < least * *few || *many <= 0 || unit_of(amount, faster) != unit_of(amount, slower) ||
            (amount.of == instructions_per_stored_byte && (!same_bytes || is_least(faster))))
            continue;
        // More than the times differ by explains no more.
        const double ratio = std::min(*few > 0 ? *many / *few : HUGE_VAL, std::max(as_long, least));
        if (ratio > out.ratio) out.ratio = ratio, largest = &amount;
    }
    const bool of_code = largest && largest->what.starts_with("instructions");
    const auto form = form_of(faster), other_form = form_of(slower);
    if (!largest || largest->what == "groups")
        if (auto by_form = form_difference(faster, slower); !by_form.text.empty()) return by_form;
    if (!largest) return {};
    const auto value = [&](const Record& r) {
        const double amount = *largest->of(r);
        if (largest->what == "B") return format_rate(amount, "B");
        return amount == std::round(amount) ? format_exact(amount) : format_significant(amount, 3);
    };
    const bool forms = of_code && !form.empty() && !other_form.empty(),
               least_known = largest->of == instructions_per_stored_byte && is_least(slower);
    out.text = fmt::format("{} {} {}{}{}, {} {}{}{}", faster.id, largest->verb, value(faster),
                           largest->what == "B" ? "" : " " + unit_of(*largest, faster), forms ? form : "", slower.id,
                           least_known ? "at least " : "", value(slower), forms ? other_form : "");
    return out;
}

std::string hot_code_text(const Record& r) {
    const bool sampled = r.hot && r.hot->evidence == model::Hot::sampled && 2 * r.hot->in_kernel >= r.hot->samples;
    const auto regions = sampled ? model::hot_regions(*r.hot) : std::vector<model::HotRegion>();
    if (regions.empty()) return "";
    const auto& hottest = regions.front();
    const auto& function = hottest.blocks.front()->function;
    const auto form = form_of(hottest.blocks);
    unsigned branches = 0;
    for (const auto* block : hottest.blocks) branches += block->of_class("branch");
    auto out = fmt::format("{}{}: {}{}", place(hottest),
                           function.find(r.variant) == function.npos ? " in function " + function : "",
                           counted(hottest.instructions, "instruction"), form);
    if (hottest.is_loop() && branches > 1) out += fmt::format("; {} branches", branches);
    // By the family's own unit, as in the difference to another kernel.
    if (const auto each = metric_value(r, "hot_code"), of_byte = instructions_per_stored_byte(r);
        each && !unit_of(amounts[0], r).ends_with(" B"))
        out += "; " + format_significant(*each, 3) + " " + unit_of(amounts[0], r);
    else if (of_byte)
        out += std::string(is_least(r) ? "; at least " : "; ") + format_significant(*of_byte, 3) +
               " instructions per stored byte";
    if (hottest.share < 0.8 && form.starts_with(" without") && form_of(r).starts_with(" without"))
        out += "; four of five samples are in code without vectors";
    return out;
}

std::vector<std::string> ranking_sentences(const Cells& timed, const model::PointValues& where, bool says_where) {
    std::map<std::size_t, Cells> sets;
    for (const auto* cell : timed)
        if (cell->rank.compared) sets[cell->rank.set].push_back(cell);
    const auto at = [&](const model::PointValues& more) {
        auto place = says_where ? where : model::PointValues();
        place.insert(place.end(), more.begin(), more.end());
        const auto words = where_text(place);
        return words.empty() ? "" : "At " + words + ": ";
    };
    if (sets.empty()) return mapped(least_sentence(timed, where), [&](const auto& words) { return at({}) + words; });
    const auto uses = uses_of(sets);
    std::vector<std::string> out;
    for (auto& [set, ranked] : sets) {
        std::ranges::stable_sort(ranked, {}, [](const RankedCell* cell) { return cell->rank.ratio; });
        const auto& first = *ranked.front()->record;
        const auto same = first.problem.empty() ? format_rate(first.work.bytes, "B") + " of buffers"
                                                : "the results of " + first.problem;
        out.push_back(at(place_of_set(ranked, uses)) +
                      (ranked.front()->rank.unlike ? "Kernels with " + same + ": " : "") + set_sentence(ranked, where));
    }
    const auto apart = std::ranges::count_if(timed, [](const RankedCell* cell) { return !cell->rank.compared; });
    if (apart == 0) return out;
    const auto* least =
        *std::ranges::min_element(timed, {}, [](const RankedCell* cell) { return cell->record->time->median; });
    const auto shorter = ", of which " + id(least) + " has the shortest time, " + time_text(*least->record);
    const bool unlike =
        std::ranges::any_of(timed, [](const auto* cell) { return !cell->rank.compared && cell->rank.unlike; });
    out.back() += fmt::format(" {} of {} {} not ranked{}{}.", apart, timed.size(), apart == 1 ? "is" : "are",
                              least->rank.compared ? "" : shorter, unlike ? "; their buffers or results differ" : "");
    return out;
}

std::vector<std::string> table_sentences(const Comparison& c) {
    constexpr std::size_t few = 3;
    std::vector<std::vector<RankedCell>> points;
    for (std::size_t i = 0; i < c.rows.size(); ++i) {
        if (i == 0 || c.group[i] != c.group[i - 1]) points.emplace_back();
        if (c.rows[i]->time) points.back().push_back({c.rows[i], c.ranks[i]});
    }
    std::erase_if(points, [](const auto& cells) { return cells.size() < 2; });
    if (points.empty()) return range_sentences(c);
    const auto axes = axes_apart(c);
    std::vector<std::string> out;
    if (points.size() > few) {  // one undecided point follows
        out.push_back(counts_sentence(points));
        std::erase_if(points, [](const auto& cells) {
            return std::ranges::any_of(cells, [](const auto& cell) { return cell.rank.fastest; });
        });
        points.erase(points.begin(), points.end() - std::min<std::ptrdiff_t>(1, std::ssize(points)));
    }
    for (const auto& cells : points) {
        Cells timed;
        for (const auto& cell : cells) timed.push_back(&cell);
        std::ranges::move(ranking_sentences(timed, where_of(axes, *cells.front().record), true),
                          std::back_inserter(out));
    }
    return out;
}

}  // namespace cllab::report
