#include "explain/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/limiter.hpp"
#include "model/warning.hpp"
#include "model/work.hpp"

namespace cllab::explain {
namespace {

/// Up to three significant digits, without trailing zeros.
std::string number(double x) { return format_exact(parse_real(format_significant(x, 3)).value_or(x)); }

std::string times(double ratio) { return number(ratio) + " times"; }

/// ", mostly in line 12" if one source line has more than half of the total of `cost`.
std::string where(const Counts& counts, double CountedLine::*cost) {
    double all = 0;
    const CountedLine* most = nullptr;
    for (const auto& line : counts.lines) {
        all += line.*cost;
        if (!most || line.*cost > most->*cost) most = &line;
    }
    return most && most->*cost > all / 2 ? concat(", mostly in line ", most->line) : "";
}

/// Distinct touched sectors per counted work-item.
double sectors_of_item(const Counts& counts, double Footprint::*sectors) {
    return counts.footprint.empty() || counts.counted_items <= 0
               ? 0
               : counts.footprint.back().*sectors / counts.counted_items;
}

/// CPU: says how few bytes of the touched sectors are used. A sector counts once, because a cache may keep it.
std::string of_group_sectors(const Counts& counts) {
    const double read = sectors_of_item(counts, &Footprint::read_sectors),
                 written = sectors_of_item(counts, &Footprint::written_sectors);
    const bool reads = read >= written;
    const double moved = sector_bytes * std::max(read, written),
                 used = reads ? counts.global.load_bytes.mean : counts.global.store_bytes.mean;
    if (used <= 0 || moved < worth_a_sentence * used) return "";
    return std::string(reads ? "Loads" : "Stores") + " use only " + number(used) + " of the " + number(moved) +
           " bytes per work-item in the touched sectors, because the accesses are scattered" +
           where(counts, &CountedLine::sectors) + ".";
}

std::string of_sectors(const Counts& counts) {
    const bool reads = counts.reads.sectors.mean - counts.reads.least_sectors.mean >=
                       counts.writes.sectors.mean - counts.writes.least_sectors.mean;
    const auto& requests = reads ? counts.reads : counts.writes;
    const auto& accesses = counts.global;
    const double accessed = reads ? accesses.loads.mean : accesses.stores.mean,
                 bytes = reads ? accesses.load_bytes.mean : accesses.store_bytes.mean;
    if (accessed <= 0 || requests.sectors.mean < worth_a_sentence * requests.least_sectors.mean) return "";
    const double used = bytes / accessed, moved = sector_bytes * requests.sectors.mean / accessed;
    return std::string(reads ? "Loads" : "Stores") + " move " + number(moved) + " bytes and use " + number(used) +
           ": " + times(requests.sectors.mean / requests.least_sectors.mean) +
           " as many sectors as if neighbouring work-items accessed adjacent data" +
           where(counts, &CountedLine::sectors) + ".";
}

std::string of_banks(const Counts& counts) {
    const double ways = counts.local_reads.ways.mean + counts.local_writes.ways.mean,
                 least = counts.local_reads.least_ways.mean + counts.local_writes.least_ways.mean;
    if (ways < worth_a_sentence * least || least <= 0) return "";
    return "Because of bank conflicts, local memory needs " + times(ways / least) +
           " as many passes through its banks" + where(counts, &CountedLine::ways) + ".";
}

/// `limits`: atomics are the limiter, so advice is due even if they have many addresses.
std::string of_atomics(const Atomics& atomics, const Counts& counts, bool local, bool limits) {
    const double of_group = atomics.number.mean * counts.group_items;
    if (of_group >= 2 && atomics.most_in_group >= meeting_in_group * of_group)
        return number(atomics.most_in_group) + " of a work-group's " + number(of_group) +
               (local ? " local atomics go to one word; a sum within each work-item or wave would need fewer atomics."
                      : " atomics go to one address; a sum in local memory would replace them with one atomic.");
    return limits ? "If a work-item or work-group combines several elements first, in private or local memory, it "
                    "needs fewer atomics."
                  : "";
}

std::string of_lanes(const Record& record) {
    const auto& counts = *record.counts;
    if (!is_gpu(record) || counts.lanes_active * worth_a_sentence > 1) return "";
    return "On average, only " + number(100 * counts.lanes_active) +
           " % of a wave's lanes are active, because neighbouring work-items take different paths.";
}

/// Advises larger work-groups only if every compute unit still gets one.
std::string of_groups(const WorkInfo& work, const Limits& limits) {
    const double larger = work.groups * work.group / usual_items;
    if (work.group <= 0 || work.group >= enough_items || work.groups < 2 || larger < limits.units) return "";
    return "The work-group size is " + number(work.group) + ". With size " + number(usual_items) +
           ", the launch would have " + times(usual_items / work.group) + " fewer work-groups.";
}

/// Mentions a chain only if it is at least `least_share` of all operations or loads.
std::string of_chain(const Counts& counts, double least_share) {
    const auto& path = counts.path;
    const double loads = path.loads + path.local_loads, all_loads = counts.global.loads.mean + counts.local.loads.mean;
    if (loads >= long_chain && loads >= least_share * all_loads)
        return "A work-item waits for a chain of " + number(loads) +
               " loads: each load gives the address of the next load. Several such chains in a work-item would "
               "overlap.";
    if (path.arithmetic < long_chain || path.arithmetic < least_share * all_operations(counts)) return "";
    return "The longest chain of a work-item has " + number(path.arithmetic) +
           " operations, each of which needs the result of the one before. Several shorter chains would overlap, for "
           "example a sum in several accumulators.";
}

std::string of_spills(const Record& record) {
    const auto spills = record.code.spills.value_or(0);
    return spills > 0 ? "The compiler spills " + std::to_string(spills) + " registers to memory." : "";
}

/// `1 - least / is`: the avoidable share of an amount.
double wasted(const Amount& is, const Amount& least) { return is.mean > 0 ? 1 - least.mean / is.mean : 0; }

struct Cost {
    std::vector<std::string_view> bounds;  ///< affected bounds; the largest counts
    double part;                           ///< avoidable share of that bound
    std::string sentence;
};

std::vector<Cost> costs_of_counts(const Record& record, const Explanation& e, const Limits& limits) {
    const auto& c = *record.counts;
    const auto both = [&](auto member) { return sum(c.local_reads.*member, c.local_writes.*member); };
    const auto all = [&](auto member) { return sum(c.reads.*member, c.writes.*member); };
    // Scattered accesses cost nothing if all buffers fit in the first-level cache.
    const bool near = !is_gpu(record) && !limits.caches.empty() &&
                      record.work.footprint <= static_cast<double>(limits.caches.front());
    const bool waves = is_gpu(record);
    // No bound covers scattered stores of a CPU.
    const bool stores =
        !waves && sectors_of_item(c, &Footprint::written_sectors) > sectors_of_item(c, &Footprint::read_sectors);
    using Bounds = std::vector<std::string_view>;
    return {{{"latency"}, 1, of_chain(c, e.limited_by("latency") ? 0 : chain_of_most)},
            {stores ? Bounds{} : Bounds{"memory", "l1", "l2", "l3", "lines"},
             wasted(all(&SectorRequests::sectors), all(&SectorRequests::least_sectors)),
             near    ? ""
             : waves ? of_sectors(c)
                     : of_group_sectors(c)},
            {{"local"}, wasted(both(&BankRequests::ways), both(&BankRequests::least_ways)), waves ? of_banks(c) : ""},
            {{"atomics", "shared"}, 1, of_atomics(c.global_atomics, c, false, e.limited_by("atomics"))},
            {{"local_atomics"}, 1, of_atomics(c.local_atomics, c, true, e.limited_by("local_atomics"))},
            {{"issue", "pipe", "arithmetic", "functions", "division"}, 1 - c.lanes_active, of_lanes(record)}};
}

/// Whether a cost without a bound may explain the time: the time is unexplained, or the cost can lengthen a limiter.
/// `bounds`: the bounds that the cost affects. Empty for scattered stores of a CPU, which can lengthen only "access".
bool may_explain(const std::vector<std::string_view>& bounds, const Explanation& e) {
    if (e.limit == Limit::unexplained) return true;
    const auto can_cause = [&](const Bound* part) {
        return part && (bounds.empty() ? part->id == "access" : is_effect_of(part->id, std::string(bounds.front())));
    };
    return can_cause(e.limiter()) || can_cause(e.follower());
}

std::vector<std::string> costs(const Record& record, const Explanation& e, const Limits& limits) {
    auto all = record.counts ? costs_of_counts(record, e, limits) : std::vector<Cost>{};
    all.push_back({{"groups"}, 1, of_groups(record.work, limits)});
    all.push_back({{"issue", "memory", "l1", "l2"}, worth_saying, of_spills(record)});
    std::vector<std::string> out;
    for (auto& [bounds, part, sentence] : all) {
        double most = 0;
        for (const auto& b : e.bounds)
            if (std::ranges::count(bounds, b.id) > 0) most = std::max(most, b.seconds);
        const bool open = most <= 0 && part > worth_saying && may_explain(bounds, e);
        if (!sentence.empty() && (open || most * part >= worth_saying * record.time->median))
            out.push_back(std::move(sentence));
    }
    return out;
}

/// Says that the launch is too small for the device; "" if it is not, or if the operation has several launches.
std::string of_size(const Record& record, const Limits& limits) {
    const auto& work = record.work;
    const double idle = 1 - work.groups / limits.units;
    if (work.groups <= 0 || work.launches != 1) return "";
    if (idle >= worth_saying)
        return concat(work.groups == 1 ? "One group works" : number(work.groups) + " groups work", " on ",
                      number(work.groups), " of the ", limits.units, is_gpu(record) ? " compute units" : " cores",
                      ", and the others are idle.");
    const auto* width = limits.find("divergence.width.full");
    const double wave = width ? width->value : limits.compute_capability > 0 ? 32 : 0;  // 0: not known
    const double items = work.groups * work.group, lanes = std::round(wave) * limits.units;
    if (!is_gpu(record) || items <= 0 || items > lanes * (1 - worth_saying)) return "";
    return concat("The launch has ", number(items), " work-items, but ", number(lanes),
                  " are needed for one full wave on each compute unit.");
}

double most(const Counts& counts, const Amount& amount) { return counts.items * std::max(amount.high, amount.mean); }

double bytes_asked(const Counts& counts) {
    double out = 0;
    for (const auto* space : {&counts.global, &counts.constant})
        out += most(counts, space->load_bytes) + most(counts, space->store_bytes);
    constexpr double read_and_written = 16;  // bytes: one 64-bit word read, one written
    return out + read_and_written * most(counts, counts.global_atomics.number);
}

/// Distinct bytes used: `bytes of touched sectors * least_sectors / sectors`.
double bytes_touched(const Record& record) {
    const auto& counts = *record.counts;
    const auto all = distinct(counts, record.work);
    const auto used = [](const SectorRequests& r) {
        return r.sectors.mean > 0 ? std::min(1.0, r.least_sectors.mean / r.sectors.mean) : 0;
    };
    return all.read * used(counts.reads) + all.written * used(counts.writes);
}

std::string both(const std::string& declared, const std::string& what, const std::string& counted,
                 const Counts& counts) {
    return declared + " " + what + ", but " + counted + ", " + source_of(counts);
}

struct Compared {
    const char* name;
    double a = 0, b = 0;  ///< totals of the launches
    bool open = false;    ///< estimated from some work-groups
    double ratio() const { return std::max(a, b) / std::max(1.0, std::min(a, b)); }
    bool only_one() const { return std::min(a, b) < 1; }
    /// Rank of the difference. It is fixed if only one cell has the amount: the ratio would be the total itself, and
    /// one barrier per work-item would outrank a large ratio of instructions.
    double weight() const { return only_one() ? as_of_one_alone : ratio(); }
    static constexpr double as_of_one_alone = 4;
};

/// Says how many work-groups the counts may not represent; empty if they represent all.
std::string of_others(std::span<const Counts> a, std::span<const Counts> b) {
    double unlike = 0;
    for (const auto& launches : {a, b})
        for (const auto& c : launches) unlike = std::max(unlike, c.unlike_groups);
    return unlike > 0 ? fmt::format(
                            " With 95 % confidence, at most {:.2g} % of the work-groups execute something else "
                            "than the counted ones.",
                            100 * unlike)
                      : "";
}

struct SideBySide {
    std::span<const Counts> a, b;
    std::vector<Compared> amounts{};
    std::vector<std::string> not_known{};

    template <class PerItem>
    static Amount sum_of(std::span<const Counts> launches, PerItem per_item) {
        Amount out;
        for (const auto& c : launches) out = sum(out, std::invoke(per_item, c), c.items * c.launches);
        return out;
    }
    template <class PerItem>
    void compare(const char* name, PerItem per_item) {
        const auto of_a = sum_of(a, per_item), of_b = sum_of(b, per_item);
        const Compared both{name, of_a.mean, of_b.mean, of_a.open || of_b.open};
        const bool apart = std::abs(of_a.mean - of_b.mean) > of_a.margin + of_b.margin;
        add(both, of_a.known && of_b.known && (apart || both.ratio() < little));
    }
    void add(const Compared& both, bool known) { known ? amounts.push_back(both) : not_known.push_back(both.name); }
};

void compare_memory(SideBySide& both, bool waves) {
    if (waves)
        both.compare("sectors of global memory",
                     [](const Counts& c) { return sum(c.reads.sectors, c.writes.sectors); });
    // Neighbours share sectors, so the amounts are comparable only for equal numbers of counted work-items.
    else if (both.a.front().counted_items == both.b.front().counted_items)
        both.compare("distinct sectors of the counted work-groups",
                     [](const Counts& c) { return Amount{sectors_of_item(c, &Footprint::sectors)}; });
    // Equal totals can hide a difference: of two transposes, one scatters its loads, the other its stores.
    if (both.not_known.empty() && (both.amounts.empty() || both.amounts.back().ratio() < little)) {
        both.compare("sectors of loads", [](const Counts& c) { return c.reads.sectors; });
        both.compare("sectors of stores", [](const Counts& c) { return c.writes.sectors; });
    }
    both.compare("bytes of loads and stores", asked_amount);
    if (waves)
        both.compare("passes through local memory",
                     [](const Counts& c) { return sum(c.local_reads.ways, c.local_writes.ways); });
}

void compare_operations(SideBySide& both, bool waves) {
    const auto of_kind = [](Operation kind) {
        return [kind](const Counts& c) {
            Amount out;
            for (const auto& o : c.operations)
                if (o.kind == kind) out = sum(out, o.per_item);
            return out;
        };
    };
    const auto longest = [](std::span<const Counts> launches) {
        return std::ranges::max(launches, {}, [](const Counts& c) { return c.path.arithmetic; }).path.arithmetic;
    };
    if (const double a = longest(both.a), b = longest(both.b); std::max(a, b) >= long_chain) {
        const auto executed = both.sum_of(both.a, &Counts::instructions),
                   other = both.sum_of(both.b, &Counts::instructions);
        both.add({"operations in the longest chain", a, b, executed.open || other.open}, executed.known && other.known);
    }
    both.compare("floating-point operations", [](const Counts& c) { return flop_amount(c); });
    both.compare("integer divisions", of_kind(Operation::integer_divide));
    both.compare("calls of functions", of_kind(Operation::float_function));
    const auto steps = waves ? &Atomics::turns : &Atomics::number;
    both.compare(waves ? "serial steps of global atomics" : "global atomics",
                 [&](const Counts& c) { return c.global_atomics.*steps; });
    both.compare(waves ? "serial steps of local atomics" : "local atomics",
                 [&](const Counts& c) { return c.local_atomics.*steps; });
    both.compare("barriers", &Counts::barriers);
    if (waves) both.compare("instructions of waves", &Counts::issued);
    if (!waves) both.compare("instructions", &Counts::instructions);
}

}  // namespace

std::string advice(const Record& record, const Explanation& explanation, const Limits& limits) {
    if (!record.time) return "";
    auto out = costs(record, explanation, limits);
    if (const auto size = of_size(record, limits); !size.empty()) out.push_back(size);
    for (const auto& warning : record.warnings)
        if (is(warning, Warning::driver_group)) {
            auto sentence = std::string(sentence_of(warning)) + ".";
            sentence.front() = static_cast<char>(std::toupper(sentence.front()));
            out.push_back(std::move(sentence));
        }
    return join(out, " ");
}

std::vector<std::string> contradictions(const Record& record) {
    std::vector<std::string> out;
    if (!record.counts || record.work.launches != 1) return out;
    const auto& counts = *record.counts;
    const auto& work = record.work;
    if (const double asked = bytes_asked(counts), touched = bytes_touched(record); work.bytes > 0 && !work.assumed) {
        if (work.bytes > alike * asked && asked > 0)
            out.push_back(both(format_rate(work.bytes, "B"), "are declared",
                               "the work-items request at most " + format_rate(asked, "B"), counts));
        if (work.bytes < touched / most_apart)
            out.push_back(both(format_rate(work.bytes, "B"), "are declared",
                               "the work-items touch " + format_rate(touched, "B") + " of distinct data", counts));
    }
    if (work.flops <= 0 || is_whole_type(work.type)) return out;
    // Authors disagree on the FLOP of a division or a function, so a larger declared count proves nothing.
    const bool calls =
        operations(counts, Operation::float_divide) > 0 || operations(counts, Operation::float_function) > 0;
    const double counted = counts.items * flops(counts);
    // Many authors also count integer operations as FLOP.
    double integers = 0;
    for (const auto kind : {Operation::integer_add, Operation::integer_multiply, Operation::integer_divide})
        integers += counts.items * operations(counts, kind);
    if (work.flops < counted / most_apart || (!calls && work.flops > most_apart * (counted + integers)))
        out.push_back(both(format_rate(work.flops, "FLOP"), "are declared",
                           "the kernel's text computes " + format_rate(counted, "FLOP") +
                               (integers > 0 ? " and " + format_rate(integers, "integer operations") : ""),
                           counts));
    return out;
}

std::string difference(std::span<const Counts> a, std::span<const Counts> b, double as_long, bool waves,
                       double named_ratio) {
    SideBySide both{a, b};
    compare_memory(both, waves);
    compare_operations(both, waves);
    auto& amounts = both.amounts;
    const auto& not_known = both.not_known;
    const auto &id_a = a.front().id, &id_b = b.front().id;
    const std::string open =
        (not_known.empty() ? "" : " Not known, and so not compared: " + join(not_known, ", ") + ".") + of_others(a, b);
    constexpr std::size_t most = 2;
    const auto executed = [&](bool by_a) { return SideBySide::sum_of(by_a ? a : b, &Counts::instructions).mean; };
    std::erase_if(amounts, [&](const Compared& x) {
        constexpr double hardly = 0.01;
        const double larger = std::max(x.a, x.b);
        return larger <= 0 || x.ratio() < little || (x.only_one() && larger < hardly * executed(x.a > x.b)) ||
               (!waves && std::string_view(x.name).find("sectors") != std::string_view::npos &&
                x.ratio() < named_ratio);
    });
    const bool apart = std::max(as_long, 1 / as_long) >= little;
    if (amounts.empty())
        return concat("No counted amount of work of ", id_a, " and ", id_b, " differs much",
                      apart ? "; `cllab isa` shows the code." : ".", open);
    // Only an amount that is larger in the slower kernel can be the reason.
    const auto is_reason = [&](const Compared& x) { return !apart || (x.b > x.a) == (as_long > 1); };
    const bool explains = std::ranges::any_of(amounts, is_reason);
    if (explains) std::erase_if(amounts, std::not_fn(is_reason));
    std::ranges::stable_sort(amounts, std::greater(), &Compared::weight);
    if (amounts.size() > most) amounts.resize(most);
    std::vector<std::string> parts;
    for (const auto& x : amounts) {
        const auto &more = x.a > x.b ? id_a : id_b, &less = x.a > x.b ? id_b : id_a;
        parts.push_back(x.only_one() ? "only " + more + " has " + x.name
                                     : more + " has " + times(x.ratio()) + " as many " + x.name +
                                           (parts.empty() && amounts.size() == 1 ? " as " + less : ""));
    }
    const bool of_some = std::ranges::any_of(amounts, &Compared::open);
    const std::string begin = !explains ? "The counts do not explain it, because the faster kernel does more: "
                              : of_some ? "In the counted groups: "
                                        : "Counted: ";
    return begin + join(parts, ", and ") + "." + open;
}

}  // namespace cllab::explain
