#include "count/simulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/error.hpp"
#include "core/reading.hpp"
#include "json/read.hpp"

namespace cllab::count {
namespace {

using Json = nlohmann::json;
using namespace model;

/// How many groups of the launch a counted one stands for. The first and the last may be unlike the others, as at the
/// borders of an image: where some between them were counted, those stand for all between.
std::vector<double> weights(double groups, std::size_t counted) {
    std::vector<double> out(counted, 1);
    const auto all = static_cast<double>(counted);
    if (all >= groups || counted == 0) return out;
    if (counted < 3) {
        out.front() = groups - all + 1;
        return out;
    }
    for (std::size_t i = 2; i < counted; ++i) out[i] = (groups - 2) / (all - 2);
    return out;
}

class Groups {
public:
    Groups(const Json& list, double groups) : list_(list), weights_(weights(groups, list.size())) {}

    using Of = std::function<double(const Json&)>;
    Amount amount(const Of& of) const {
        Amount out;
        double sum = 0, items = 0;
        for (std::size_t i = 0; i < list_.size(); ++i) {
            const double group_items = list_[i].at("items").get<double>(), found = of(list_[i]);
            const double each = group_items > 0 ? found / group_items : 0;
            sum += weights_[i] * found;
            items += weights_[i] * group_items;
            out.low = i == 0 ? each : std::min(out.low, each);
            out.high = std::max(out.high, each);
        }
        out.mean = out.low == out.high ? out.low : items > 0 ? sum / items : 0;  // exactly, where all are alike
        return out;
    }
    Amount amount(const char* key) const {
        return amount([&](const Json& group) { return group.at(key).get<double>(); });
    }
    Amount amount(const char* key, std::size_t place) const {
        return amount([&](const Json& group) { return group.at(key).at(place).get<double>(); });
    }
    double most(const char* key, std::size_t place) const {
        double out = 0;
        for (const auto& group : list_) out = std::max(out, group.at(key).at(place).get<double>());
        return out;
    }
    double items() const {
        double out = 0;
        for (const auto& group : list_) out += group.at("items").get<double>();
        return out;
    }

private:
    const Json& list_;
    std::vector<double> weights_;
};

Accesses accesses(const Groups& groups, const char* key) {
    return {groups.amount(key, 0), groups.amount(key, 1), groups.amount(key, 2), groups.amount(key, 3)};
}

template <class Requests>
Requests requests(const Groups& groups, const char* key) {
    return {groups.amount(key, 0), groups.amount(key, 1), groups.amount(key, 2), groups.most(key, 3)};
}

Atomics atomics(const Groups& groups, const char* key, std::size_t place, const Json& addresses) {
    Atomics out{groups.amount("atomics", place), groups.amount(key, 0), groups.amount(key, 1)};
    out.addresses = addresses.at(0);
    out.most_in_wave = addresses.at(1);
    out.most_in_group = addresses.at(2);
    out.most_on_address = addresses.at(3);
    return out;
}

Chain chain(const Json& j) { return {j.at(0), j.at(1), j.at(2), j.at(3)}; }

Operation operation_named(const std::string& text) {
    if (const auto kind = operation_from(text)) return *kind;
    throw Error(Blame::result, "the plugin counted an operation '" + text + "' that this cllab does not know");
}

void read_operations(const Json& j, const Groups& groups, Counts& out) {
    const auto& names = j.at("operations");
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto amount = groups.amount([&](const Json& group) {
            const auto& sums = group.at("operations");
            return i < sums.size() ? sums.at(i).get<double>() : 0;  // it was not known yet when that group ran
        });
        if (amount.high > 0)
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
    if (const auto images = groups.amount("images"); images.high > 0)
        out.not_counted.push_back({"the bytes of " + fmt::format("{:.4g} image accesses per item", images.mean),
                                   "each device lays out images in its own way"});
    if (const unsigned bits = j.at("odd_bits"); bits > 0)
        out.not_counted.push_back({"what depends on integers of " + std::to_string(bits) + " bits",
                                   "clang makes them of the text, and the simulator computes them wrongly"});
    if (!j.at("counted").back().at("whole").get<bool>())
        out.not_counted.push_back(
            {"the rest of the first group",
             "the budget ended after " + fmt::format("{:.0f}", out.counted_items) + " of its work-items"});
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
        const Groups groups(list, out.groups);
        out.counted_groups = static_cast<double>(list.size());
        out.counted_items = groups.items();
        if (!(out.counted_items > 0)) throw Error(Blame::result, "the plugin counted no work-item");
        read_operations(j, groups, out);
        out.private_memory = accesses(groups, "private");
        out.global = accesses(groups, "global");
        out.constant = accesses(groups, "constant");
        out.local = accesses(groups, "local");
        out.instructions = groups.amount("instructions");
        out.issued = groups.amount("issued");
        const double slots = out.issued.mean * out.wave;
        out.lanes_active = slots > 0 ? out.instructions.mean / slots : 1;
        out.reads = requests<SectorRequests>(groups, "reads");
        out.writes = requests<SectorRequests>(groups, "writes");
        out.local_reads = requests<BankRequests>(groups, "local_reads");
        out.local_writes = requests<BankRequests>(groups, "local_writes");
        out.global_atomics = atomics(groups, "global_atomics", 0, j.at("global_addresses"));
        out.local_atomics = atomics(groups, "local_atomics", 1, j.at("local_addresses"));
        out.barriers = groups.amount("barriers");
        for (std::size_t i = 0; i < list.size(); ++i) {
            const auto& f = list[i].at("footprint");
            out.footprint.push_back({static_cast<double>(i + 1), f.at(0), f.at(1), f.at(2), f.at(3)});
        }
        out.longest = chain(j.at("longest"));
        out.path = chain(j.at("path"));
        read_lines(j, out);
        say_what_is_missing(j, groups, out);
        return out;
    } catch (const Json::exception&) {
        throw Error(Blame::result, "the plugin's file is not what this cllab expects; build both again");
    }
}

std::vector<Counts> read_launches(const std::filesystem::path& file) {
    constexpr unsigned most_launches = 64;  // of different kernels in one operation
    std::vector<Counts> out;
    for (unsigned n = 1; n <= most_launches; ++n) {
        const auto text = cllab::read_file(file.string() + "." + std::to_string(n));
        if (text) out.push_back(read_simulated(*text));
    }
    return out;
}

}  // namespace cllab::count
