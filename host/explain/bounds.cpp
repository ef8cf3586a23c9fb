// The bounds that explain/limiter.hpp is about, one function a resource.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/amounts.hpp"
#include "explain/limiter.hpp"
#include "model/work.hpp"

namespace cllab::explain {
namespace {

/// Parts of the bytes that differ by less are the same: an edge, or a table beside the arrays, makes the difference.
/// Those of the streams, 1/2 and 2/3, are five times as far apart.
constexpr double same_proportion = 0.03;

/// The fastest of the streams that read and write in the proportion of the cell; of all of them where none does.
const Figure* stream_like(const Record& record, const Limits& limits) {
    using Names = std::vector<const char*>;
    const auto fastest = [&](Names ids) {
        const Figure* out = nullptr;
        for (const auto* id : ids)
            if (const auto* f = limits.find(std::string("bandwidth.") + id); f && (!out || f->value > out->value))
                out = f;
        return out;
    };
    const std::pair<double, Names> streams[]{
        {1, {"read", "memory.rate"}}, {0, {"write"}}, {1.0 / 2, {"copy", "batch"}}, {2.0 / 3, {"triad"}}};
    if (record.work.read && record.work.bytes > 0)
        for (const auto& [read, ids] : streams)
            if (std::abs(*record.work.read / record.work.bytes - read) < same_proportion)
                if (const auto* like = fastest(ids)) return like;
    return fastest({"copy", "batch", "read", "write", "triad", "memory.rate"});
}

void bound_memory(const Record& record, const Limits& limits, Capacity capacity, Explanation& out) {
    const auto& work = record.work;
    const auto leave_out = [&](const std::string& why) { out.leave_out("memory traffic", why); };
    if (bound_counted_memory(record, stream_like(record, limits), out)) return;
    if (work.bytes <= 0) return leave_out("no bytes are declared");
    const auto take = [&](Bound bound) {
        if (work.assumed) bound.how += ", every buffer once";
        bound.simulated = work.assumed;  // it may touch a part of them
        out.bounds.push_back(std::move(bound));
    };
    const auto sizes = sizes_of(limits, "bandwidth", capacity);
    auto place = place_of(record, limits, sizes, limits.units, capacity);
    // The streams' own buffers are whole elements.
    if (const auto* streamed = limits.find("bandwidth.streamed"); streamed && work.footprint >= 0.99 * streamed->value)
        place = Place{sizes.size(), true, 0};
    if (!place) return leave_out("the profile does not say where the caches end");
    if (place->memory) {
        const auto* stream = stream_like(record, limits);
        if (!stream) return leave_out("the profile has no memory bandwidth");
        return take(
            without_nearer(at_rate("memory", "memory bandwidth", "memory", work.bytes, "B", *stream), place->nearer));
    }
    // What is known of a cache is the rate at which it is read.
    if (!work.read) return leave_out("its buffers may fit a cache, and the number of bytes read is not known");
    if (*work.read <= 0) return leave_out("its buffers may fit a cache, and it reads nothing");
    const auto name = level_name(place->level);
    const auto* rate = limits.find("bandwidth." + level_id(place->level) + ".rate");
    if (!rate) {
        out.missing.push_back("bandwidth." + level_id(place->level) + ".rate");
        return leave_out("the profile has no bandwidth of " + name);
    }
    // No level is slower than what lies behind it, whatever disturbed its figure.
    for (std::size_t behind = place->level + 1; behind <= sizes.size(); ++behind) {
        const auto* other =
            limits.find(behind == sizes.size() ? "bandwidth.read" : "bandwidth." + level_id(behind) + ".rate");
        if (other && other->value > rate->value) rate = other;
    }
    auto bound = at_rate(level_id(place->level), name + " bandwidth", name, *work.read, "B", *rate);
    // Where as much is written as read, the copy in that level is the same stream.
    const auto* copy = limits.find("bandwidth." + level_id(place->level) + ".copy");
    if (copy && std::abs(*work.read / work.bytes - 0.5) < same_proportion)
        if (auto both = at_rate(bound.id, name + " bandwidth", name, work.bytes, "B", *copy);
            both.seconds > bound.seconds)
            bound = std::move(both);
    // The last level is one for all, and how much of it a core alone can use is not known.
    if (place->level + 1 < sizes.size())
        bound = on_available_cores(std::move(bound), record, parallel_of(record, limits));
    // A core that goes through more than a level holds again and again may hit it never, and what does hit it takes its
    // time all the same.
    const auto* nearer = place->level > 0 && record.work.shared && !is_gpu(record)
                             ? limits.find("bandwidth." + level_id(place->level - 1) + ".rate")
                             : nullptr;
    take(without_nearer(std::move(bound), place->nearer, nearer ? std::min(1.0, rate->value / nearer->value) : 0));
}

/// Bits of the widest vectors in the code that was seen running; 0: not known, or some of it is elsewhere.
/// `scalar_bits` where it has none, and scalar floating-point instructions.
unsigned widest_vector(const Record& record, unsigned scalar_bits) {
    constexpr double nearly_all = 0.98;  // blocks of less than half a per cent have no name, and there may be four
    if (!record.hot || record.hot->evidence != Hot::sampled) return 0;
    double share = 0;
    unsigned out = 0;
    for (const auto& block : record.hot->blocks) {
        share += block.share;
        for (const auto& [name, count] : block.classes) {
            if (name == "scalar_float" && count > 0) out = std::max(out, scalar_bits);
            // Where a call leads to may be no part of the listing.
            if (name == "call" && count > 0) return 0;
            const auto bits = name.starts_with("vector_")
                                  ? parse_integer(name.substr(std::string_view("vector_").size()))
                                  : std::nullopt;
            if (bits && count > 0) out = std::max(out, static_cast<unsigned>(*bits));
        }
    }
    return share >= nearly_all ? out : 0;
}

/// Of a type that only matrix units have, the fastest of their instructions.
const Figure* matrix_peak(const Limits& limits, const std::string& type) {
    const auto *of_wave = limits.find("matrix.rate." + type), *of_four = limits.find("matrix.wgmma." + type);
    return of_wave && of_four ? (of_wave->value > of_four->value ? of_wave : of_four) : of_wave ? of_wave : of_four;
}

void bound_arithmetic(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    const auto leave_out = [&](const std::string& why) { out.leave_out("arithmetic", why); };
    if (work.flops <= 0) return leave_out("no operations are declared");
    const auto* peak = limits.find("fma.peak." + work.type);
    auto name = work.type + " arithmetic";
    if (!peak) {
        peak = matrix_peak(limits, work.type);
        name = work.type + " matrix units";
    }
    if (!peak) return leave_out("the profile has no " + work.type + " peak");
    // Narrow vectors do not reach the peak of wide ones, and a scalar instruction does one element where one of 128
    // bits does several: they are the same instructions with the other elements left out, and no processor executes
    // more of them.
    const unsigned scalar_bits = work.type == "float" ? 32 : work.type == "double" ? 64 : 0;
    const auto bits = widest_vector(record, scalar_bits);
    const bool scalar = bits > 0 && bits == scalar_bits;
    Figure narrowed;
    const auto* narrow = limits.find(concat("fma.peak.", work.type, ".", scalar ? 128 : bits));
    if (narrow && scalar) {
        narrowed = *narrow;
        for (double* rate : {&narrowed.value, &narrowed.low, &narrowed.high}) *rate *= bits / 128.0;
        narrowed.name = "one element of the " + narrow->name;
        narrow = &narrowed;
    }
    if (narrow && narrow->value < peak->value) {
        peak = narrow;
        name = scalar ? "scalar " + name : concat(name, " in vectors of ", bits, " bits");
    }
    auto bound =
        at_rate("arithmetic", name, work.type, work.flops, model::is_whole_type(work.type) ? "op" : "FLOP", *peak);
    // The staircase of the time over the number of groups showed that a unit does whole groups.
    const auto* units = limits.find("fma.units");
    const double rounds = units && work.groups > 0 ? std::ceil(work.groups / std::round(units->value)) *
                                                         std::round(units->value) / work.groups
                                                   : 1;
    if (rounds > alike) {
        const auto busy =
            format_significant(work.groups, 3) + " groups on " + format_significant(units->value, 3) + " units";
        bound.id = "units";
        bound.name += " of " + busy;
        bound.brief += "/units";
        scale(bound, rounds);
        bound.how += ", " + format_significant(rounds, 3) + " times as long by " + busy;
    }
    const double parallel = parallel_of(record, limits);
    out.bounds.push_back(
        on_available_cores(std::move(bound), record, parallel, std::max(1.0, rounds * parallel / limits.units)));
}

/// The last group begins when all others have, and waits for what it loads. A GPU's first level holds nothing of the
/// launch before (`cllab run latency`: the first round through a footprint takes what the second level takes), so what
/// is moved once comes from the second level at the nearest.
Bound with_last_load(Bound bound, const Record& record, const Limits& limits) {
    const auto& work = record.work;
    const auto* load = limits.find("latency.l2.latency");
    if (!is_gpu(record) || !load || work.read.value_or(0) <= 0 || work.bytes > 1.01 * work.footprint) return bound;
    add(bound, at_time("", "", "", 1, *load));
    bound.how += " of the last one's load";
    return bound;
}

void bound_launch(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    if (work.launches == 0) return;  // of a slope, launching cancels
    const auto *empty = limits.find("launch.empty.item"), *next = limits.find("launch.next.item");
    // A launch on a CPU may end only when all of its threads have woken up: 26 us of 16 groups, 19 of one, by
    // `cllab run launch` on PoCL with 16 cores.
    const auto* on_all = is_gpu(record) || work.groups < 2 ? nullptr : limits.find("launch.empty.device");
    if (empty && on_all && on_all->value > empty->value) empty = on_all;
    // One that lasts longer waits until all of them work.
    if (const auto* all = limits.find("launch.spread"); empty && all && on_all && work.groups >= limits.units)
        if (all->value > empty->value && record.time->median > all->value) empty = all;
    if (!empty) {
        out.missing.push_back("launch.empty.item");
        out.leave_out("launch", "the profile has no empty kernel");
        return;
    }
    auto bound = at_time("launch", "launch", "launch", 1, *empty);
    // A CPU's thread may have gone to sleep before the second one comes, and be awake when the others do.
    const auto* second = is_gpu(record) ? nullptr : limits.find("launch.second.item");
    if (work.launches > 1 && next && second) add(bound, at_time("", "", "", 1, *second));
    if (const double more = static_cast<double>(work.launches) - (second ? 2 : 1); more > 0 && next)
        add(bound, at_time("", "", "", more, *next));
    // What a launch takes changes with what else the host does: an empty one of one process took 0.31 us and of another
    // 1.4 on a CPU, of a GPU 5.0 to 6.1 us (`cllab run launch`, in several processes).
    const double changes_by = is_gpu(record) ? 1.25 : 5;
    bound.low = std::min(bound.low, bound.seconds / changes_by);
    out.bounds.push_back(std::move(bound));
    if (work.groups <= 1) return;
    if (const auto* time = limits.find("dispatch.group.time"))
        out.bounds.push_back(at_time("groups", "group dispatch", "groups", work.groups, *time));
    else if (const auto* rate = limits.find("dispatch.group.rate"))
        out.bounds.push_back(
            with_last_load(at_rate("groups", "group dispatch", "groups", work.groups, "group", *rate), record, limits));
}

/// Arithmetic of each type that was counted. What the compiler may have joined is no less of it than half.
void bound_counted_arithmetic(const Record& record, const Limits& limits, Explanation& out) {
    const auto before = out.bounds.size();
    for (const auto& [type, bits] : {std::pair{"float", 32u}, {"double", 64u}, {"half", 16u}, {"uint", 0u}}) {
        auto typed = record;
        const double products =
            per_launch(*record.counts, {operations(*record.counts, Operation::integer_multiply, 32)});
        const auto counted = bits > 0 ? multiply_adds(record, bits) : MultiplyAdds{products, products / 2};
        typed.work.type = type;
        typed.work.flops = 2 * counted.number;
        if (counted.number <= 0) continue;
        const auto from = out.bounds.size();
        bound_arithmetic(typed, limits, out);
        for (auto i = from; i < out.bounds.size(); ++i) {
            out.bounds[i].low *= counted.least / counted.number;
            out.bounds[i].how += ", " + source_of(*record.counts);
            lower_to_time(out.bounds[i], record);
        }
    }
    if (out.bounds.size() == before) out.leave_out("arithmetic", "none is counted that has a peak");
}

/// Of one resource that several rules bound the largest bound stays: of what was counted as it ran, where that was, and
/// else of what the text asks for. They are sorted.
void keep_largest(std::vector<Bound>& bounds) {
    std::set<std::string> counted;
    for (const auto& b : bounds)
        if (!b.simulated) counted.insert(b.id);
    std::erase_if(bounds, [&](const Bound& b) { return b.simulated && counted.contains(b.id); });
    for (auto i = bounds.begin(); i != bounds.end(); ++i)
        bounds.erase(std::remove_if(i + 1, bounds.end(), [&](const auto& b) { return b.id == i->id; }), bounds.end());
}

const std::vector<std::pair<std::string, std::vector<std::string>>> causes{
    {"pipe", {"arithmetic", "units", "integer", "division", "functions", "local", "l1"}},
    {"issue", {"pipe", "arithmetic", "units", "integer", "division", "functions"}},
    {"l1", {"local", "local_atomics"}}};

/// Of two bounds of the same work that are no farther apart than two limiters may be the one that says more stays. One
/// that alone exceeds the time says nothing.
void keep_the_cause(std::vector<Bound>& bounds, const Record& record) {
    const auto find = [&](const std::string& id) { return std::ranges::find(bounds, id, &Bound::id); };
    for (const auto& [effect, of] : causes)
        for (const auto& cause : of) {
            const auto general = find(effect), special = find(cause);
            if (general == bounds.end() || special == bounds.end()) continue;
            if (special->seconds < clear_of_the_next * general->seconds) continue;
            if (special->simulated && special->low > alike * record.time->high) continue;
            special->seconds = std::max(special->seconds, general->seconds);
            special->high = std::max(special->high, special->seconds);
            special->how += "; " + general->how;
            bounds.erase(find(effect));
            break;
        }
}

void bound_declared(const Record& record, const Limits& limits, Capacity capacity, Explanation& out) {
    bound_memory(record, limits, capacity, out);
    bound_arithmetic(record, limits, out);
    bound_atomics(record, limits, out);
    bound_launch(record, limits, out);
    bound_latency(record, limits, capacity, out);
    bound_local(record, limits, out);
    bound_counted(record, limits, out);
}

/// Groups that are shared out unevenly leave cores idle while the others work: what a core does alone is held against
/// the time that the cores worked, and is no more than all of it. A launch does not keep cores working. Where fewer
/// than three quarters worked, more than uneven sharing held them up.
void take_working_cores(const Record& record, const Limits& limits, Explanation& out) {
    const double parallel = parallel_of(record, limits), cores = record.time->cores + record.time->waited;
    if (is_gpu(record) || record.time->cores <= 0 || record.work.groups < limits.units) return;
    double launch = 0;
    for (const auto& b : out.bounds)
        if (b.id == "launch" || b.id == "groups") launch += b.seconds;
    const double worked = cores / parallel + launch / record.time->median;
    if (worked >= 1 / alike || worked < clear_of_the_next) return;
    for (auto& b : out.bounds) {
        static const std::set<std::string> own{"issue",   "arithmetic", "functions",     "division",
                                               "integer", "barriers",   "local_atomics", "latency"};
        const double times = std::min(1 / worked, record.time->median / std::max(1e-30, b.seconds));
        if (!own.contains(b.id) || times <= 1) continue;
        b.seconds *= times;
        b.high *= times;
        b.how += ", shared out so that " + format_significant(cores, 3) + " of " + format_exact(parallel) +
                 " cores work on average";
    }
}

/// Of a launch whose work was counted, and of what is declared of it.
void bound_counts(const Record& declared, const Limits& limits, Capacity capacity, Explanation& out) {
    const auto record = with_counted_work(declared);
    bound_memory(record, limits, capacity, out);
    if (const auto* stream = stream_like(record, limits); stream && !is_gpu(record) && far_place(record, limits))
        out.uncached = record.work.bytes / stream->value;
    const auto from = static_cast<std::ptrdiff_t>(out.bounds.size());
    for (const auto rule :
         {bound_levels, bound_counted_arithmetic, bound_operations, bound_atomics, bound_local, bound_banks})
        rule(record, limits, out);
    if (record.work.chain.empty()) bound_chain(record, limits, out);
    for (auto& bound : std::ranges::subrange(out.bounds.begin() + from, out.bounds.end())) bound.simulated = true;
    if (!record.work.chain.empty()) bound_latency(record, limits, capacity, out);
    bound_launch(record, limits, out);
    if (!record.counters.empty() || record.work.instructions > 0)
        bound_counted(record, limits, out);
    else
        bound_hot_block(record, limits, out);
    take_working_cores(record, limits, out);
}

}  // namespace

bool is_effect_of(const std::string& effect, const std::string& cause) {
    return std::ranges::any_of(
        causes, [&](const auto& c) { return c.first == effect && std::ranges::count(c.second, cause) > 0; });
}

Explanation bounds_of(const Record& record, const Limits& limits, Capacity capacity) {
    Explanation out;
    if (!record.time) return out;
    const bool simulated = record.counts && record.work.launches == 1;
    (simulated ? bound_counts : bound_declared)(record, limits, capacity, out);
    const auto sort = [&] { std::ranges::stable_sort(out.bounds, std::greater(), &Bound::seconds); };
    sort();
    if (!simulated && !(are_counted(record) && nobody_declared(record))) return out;
    keep_largest(out.bounds);
    // A forecast, which has no time, shows both: one of them may be sure.
    if (is_gpu(record) && record.time->median > 0) keep_the_cause(out.bounds, record);
    sort();
    return out;
}

}  // namespace cllab::explain
