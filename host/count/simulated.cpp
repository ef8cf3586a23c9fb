#include "count/simulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>

#include "core/error.hpp"
#include "core/reading.hpp"
#include "count/wave/requests.hpp"
#include "json/read.hpp"

namespace cllab::count {
namespace {

using Json = nlohmann::json;
using namespace model;

/// Whether a piece of code contributes to an amount.
using Has = std::function<bool(const Json&)>;

/// The counted groups: first the certain ones, then the drawn pairs (wave/requests.hpp).
class Groups {
public:
    Groups(const Json& j, double groups)
        : list_(j.at("counted")),
          groups_(groups),
          certain_(certain_groups(static_cast<std::uint64_t>(groups))),
          pairs_((groups - static_cast<double>(certain_)) / 2),
          never_(j.at("never")),
          uneven_(j.at("uneven")) {
        const auto counted = list_.size();
        const bool whole = list_.back().at("whole").get<bool>();
        all_ = whole && static_cast<double>(counted) >= groups;
        const double drawn = counted > certain_ ? static_cast<double>((counted - certain_) / 2) : 0;
        const bool ended = whole && j.at("ended").get<bool>();
        is_sample_ = all_ || (ended && counted >= certain_ && (drawn >= 2 || drawn >= pairs_));
        alike_ = !j.at("by_place").get<bool>() && !j.at("by_data").get<bool>();
        // A larger share of unlike groups would have appeared among the drawn pairs, at 95 % confidence.
        constexpr double unseen = 0.05;
        if (is_sample_ && !all_ && !alike_ && drawn >= 1) unlike_ = 1 - std::pow(unseen, 1 / drawn);
    }

    using Of = std::function<double(const Json&)>;
    /// `by_address`: the amount also depends on addresses.
    Amount amount(const Of& of, const Has& has, bool by_address = false) const {
        Amount out;
        double sum = 0, items = 0, certain = 0;
        std::vector<double> pairs;
        for (std::size_t i = 0; i < list_.size(); ++i) {
            const double group_items = list_[i].at("items").get<double>(), found = of(list_[i]);
            const double each = group_items > 0 ? found / group_items : 0;
            sum += found;
            items += group_items;
            out.low = i == 0 ? each : std::min(out.low, each);
            out.high = std::max(out.high, each);
            if (i < certain_)
                certain += found;
            else if ((i - certain_) % 2 == 0)
                pairs.push_back(found);
            else
                pairs.back() += found;
        }
        const bool same_everywhere = alike_ && !by_address;
        out.known = all_ || same_everywhere || (is_sample_ && !has(never_));
        out.mean = items > 0 ? sum / items : 0;
        if (out.low == out.high) out.mean = out.low;  // without rounding
        if (is_sample_ && !all_ && !pairs.empty() && out.low < out.high) {
            const double drawn = std::accumulate(pairs.begin(), pairs.end(), 0.0) / static_cast<double>(pairs.size());
            const double all_items = groups_ * items / static_cast<double>(list_.size());
            out.mean = (certain + pairs_ * drawn) / all_items;
            if (!same_everywhere) out.margin = pairs_ * confidence(pairs, pairs_) / all_items;
        }
        // The unlike groups may do nothing, or twice as much.
        out.margin = std::max(out.margin, unlike_ * out.high);
        out.open = out.known && !all_ && has(uneven_);
        if (out.open && out.low == out.high) out.known = false, out.at_least = out.mean - out.margin;
        return out;
    }
    Amount amount(const char* key, const Has& has) const {
        return amount([&](const Json& group) { return group.at(key).get<double>(); }, has);
    }
    Amount amount(const char* key, std::size_t place, const Has& has, bool by_address = false) const {
        return amount([&](const Json& group) { return group.at(key).at(place).get<double>(); }, has, by_address);
    }
    double most(const char* key, std::size_t place) const {
        return std::ranges::max(
            mapped(list_, [&](const Json& group) { return group.at(key).at(place).get<double>(); }));
    }
    double items() const {
        double out = 0;
        for (const auto& group : list_) out += group.at("items").get<double>();
        return out;
    }
    bool has_all() const { return all_; }
    bool is_sample() const { return is_sample_; }
    bool are_alike() const { return alike_; }
    double unlike() const { return unlike_; }
    /// Source line of the first code that no counted group executed but another group may; 0: none.
    unsigned unseen_line() const {
        const bool anything = never_.at("weighs").get<bool>() || never_.at("touches").get<unsigned>() > 0;
        return all_ || alike_ || !anything ? 0 : never_.at("line").get<unsigned>();
    }

private:
    const Json& list_;
    double groups_;
    std::size_t certain_;
    double pairs_;  ///< in the launch
    const Json &never_, &uneven_;
    double unlike_ = 0;
    bool all_ = false, is_sample_ = false, alike_ = false;
};

Has on(const char* what) {
    return [=](const Json& code) { return code.at(what).get<bool>(); };
}
/// `what`: "touches" or "atomics", a bit mask of spaces.
Has on(const char* what, Space space) {
    return [=](const Json& code) { return (code.at(what).get<unsigned>() >> static_cast<unsigned>(space) & 1) != 0; };
}
Has on_operation(std::size_t number) {
    return [=](const Json& code) {
        return std::ranges::any_of(code.at("operations"), [&](const Json& one) { return one == number; });
    };
}

Accesses accesses(const Groups& groups, const char* key, Space space) {
    const auto has = on("touches", space);
    return {groups.amount(key, 0, has), groups.amount(key, 1, has), groups.amount(key, 2, has),
            groups.amount(key, 3, has)};
}

template <class Requests>
Requests requests(const Groups& groups, const char* key, Space space) {
    const auto amount = [&](std::size_t place) { return groups.amount(key, place, on("touches", space), true); };
    return {amount(0), amount(1), amount(2), groups.most(key, 3)};
}

Atomics atomics(const Groups& groups, const char* key, Space space, std::size_t place, const Json& addresses) {
    const auto has = on("atomics", space);
    Atomics out{groups.amount("atomics", place, has), groups.amount(key, 0, has, true),
                groups.amount(key, 1, has, true)};
    out.addresses = addresses.at(0);
    out.most_in_wave = addresses.at(1);
    out.most_in_group = addresses.at(2);
    out.most_on_address = addresses.at(3);
    return out;
}

Chain chain(const Json& j) { return {j.at(0), j.at(1), j.at(2), j.at(3)}; }

Operation operation_named(const std::string& text) {
    if (const auto kind = operation_from(text)) return *kind;
    throw Error(Blame::result,
                "this cllab does not know the operation '" + text + "' of its plugin; rebuild cllab and the plugin");
}

void read_operations(const Json& j, const Groups& groups, Counts& out) {
    const auto& names = j.at("operations");
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto in_group = [&](const Json& group) {
            const auto& sums = group.at("operations");
            return i < sums.size() ? sums.at(i).get<double>() : 0;  // the operation was first seen after that group
        };
        const auto amount = groups.amount(in_group, on_operation(i));
        if (amount.high > 0 || !amount.known)
            out.operations.push_back({operation_named(names[i].at(0)), names[i].at(1), names[i].at(2), amount});
    }
    std::sort(out.operations.begin(), out.operations.end(), [](const auto& a, const auto& b) {
        return std::tie(a.kind, a.bits, a.function) < std::tie(b.kind, b.bits, b.function);
    });
}

void read_lines(const Json& j, Counts& out) {
    for (const auto& l : j.at("lines")) {
        const auto& n = l.at(1);
        const auto each = [&](std::size_t place) { return n.at(place).get<double>() / out.counted_items; };
        out.lines.push_back({.line = n.at(0),
                             .file = l.at(0),
                             .instructions = each(1),
                             .bytes = each(2),
                             .sectors = each(3),
                             .least_sectors = each(4),
                             .ways = each(5),
                             .least_ways = each(6),
                             .atomic_turns = each(7)});
    }
    const auto cost = [](const CountedLine& l) { return l.sectors + l.ways + l.atomic_turns; };
    std::stable_sort(out.lines.begin(), out.lines.end(), [&](const auto& a, const auto& b) {
        return std::pair(cost(a), a.instructions) > std::pair(cost(b), b.instructions);
    });
}

void say_what_is_missing(const Json& j, const Groups& groups, Counts& out) {
    const auto say = [&](const std::string& what, const std::string& why) { out.not_counted.push_back({what, why}); };
    if (const auto& images = out.image_accesses; images.high > 0)
        say("the bytes of " + fmt::format("{:.4g} image accesses per item", images.mean),
            "each device lays out images in its own way");
    const auto left = fmt::format("{:.0f} of {:.0f} groups", out.groups - out.counted_groups, out.groups);
    if (!j.at("counted").back().at("whole").get<bool>())
        say("the rest of the first group" + (out.groups > 1 ? " and the other groups" : std::string()),
            "the budget ended after " + fmt::format("{:.0f}", out.counted_items) + " of its work-items");
    else if (!j.at("ended").get<bool>() && !groups.has_all())
        say(left, "the budget ended in one of them, which may do more than those before it");
    else if (!out.bounded)
        say(left, "the budget ended, and too few groups were counted to bound the mean");
    if (const auto line = groups.unseen_line(); line > 0 && groups.is_sample())
        say(fmt::format("the code at line {}", line),
            fmt::format("none of the {:.0f} counted groups executed it, and one of the others may",
                        out.counted_groups));
}

/// Footprints after 1, 2, 4, ... groups, and after all.
void read_footprint(const Json& list, Counts& out) {
    for (std::size_t i = 1; i <= list.size(); ++i) {
        if (!std::has_single_bit(i) && i != list.size()) continue;
        const auto& f = list[i - 1].at("footprint");
        out.footprint.push_back({static_cast<double>(i), f.at(0), f.at(1), f.at(2), f.at(3), f.at(4)});
    }
}

}  // namespace

Counts read_simulated(std::string_view text) {
    const auto j = parse_json<Json>(text);
    try {
        Counts out;
        out.kernel = j.at("kernel");
        out.items = j.at("items");
        out.groups = j.at("groups");
        out.group_items = j.at("group_items");
        out.wave = j.at("wave");
        out.seconds = j.at("seconds");
        const auto& list = j.at("counted");
        if (list.empty()) throw Error(Blame::result, "the plugin counted no work-group");
        if (const unsigned bits = j.at("odd_bits"); bits > 0)
            throw Error(Blame::result, "clang compiles the kernel to " + std::to_string(bits) +
                                           "-bit integers, which the simulator computes wrongly");
        const Groups groups(j, out.groups);
        out.bounded = groups.is_sample() || groups.are_alike();
        out.by_place = j.at("by_place");
        out.by_data = j.at("by_data");
        out.counted_groups = static_cast<double>(list.size());
        out.counted_items = groups.items();
        out.unlike_groups = groups.unlike();
        if (!(out.counted_items > 0)) throw Error(Blame::result, "the plugin counted no work-item");
        read_operations(j, groups, out);
        out.private_memory = accesses(groups, "private", Space::private_memory);
        out.global = accesses(groups, "global", Space::global);
        out.constant = accesses(groups, "constant", Space::constant);
        out.local = accesses(groups, "local", Space::local);
        out.image_accesses = groups.amount("images", on("image"));
        out.instructions = groups.amount("instructions", on("weighs"));
        out.issued = groups.amount("issued", on("weighs"));
        const double slots = out.issued.mean * out.wave;
        out.lanes_active = slots > 0 ? out.instructions.mean / slots : 1;
        out.reads = requests<SectorRequests>(groups, "reads", Space::global);
        out.writes = requests<SectorRequests>(groups, "writes", Space::global);
        out.local_reads = requests<BankRequests>(groups, "local_reads", Space::local);
        out.local_writes = requests<BankRequests>(groups, "local_writes", Space::local);
        out.global_atomics = atomics(groups, "global_atomics", Space::global, 0, j.at("global_addresses"));
        out.local_atomics = atomics(groups, "local_atomics", Space::local, 1, j.at("local_addresses"));
        out.barriers = groups.amount("barriers", on("barrier"));
        read_footprint(list, out);
        out.longest = chain(j.at("longest"));
        out.path = chain(j.at("path"));
        read_lines(j, out);
        say_what_is_missing(j, groups, out);
        return out;
    } catch (const Json::exception&) {
        throw Error(Blame::result, "this cllab cannot read the output of its plugin; rebuild cllab and the plugin");
    }
}

std::vector<Counts> read_launches(const std::filesystem::path& file, std::size_t launches) {
    std::vector<Counts> out;
    std::map<std::size_t, std::size_t> places;  // index in `out` by launch number
    for (std::size_t n = 1; n <= launches; ++n) {
        const auto text = cllab::read_file(file.string() + "." + std::to_string(n));
        if (!text) continue;
        if (const auto j = parse_json<Json>(*text); j.contains("same_as") && j["same_as"].is_number_unsigned()) {
            const auto first = places.find(j.at("same_as").get<std::size_t>());
            if (first != places.end()) ++out[first->second].launches;
            continue;
        }
        places[n] = out.size();
        out.push_back(read_simulated(*text));
        if (launches > 1) out.back().launch = fmt::format("{} of {}", n, launches);
    }
    return out;
}

}  // namespace cllab::count
