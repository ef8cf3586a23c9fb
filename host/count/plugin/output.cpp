#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "count/plugin/launch_count.hpp"

namespace cllab::count {
namespace {

// Numbers of one kind are an array; what they are is said where they are read.
using Json = nlohmann::json;

Json of(const Asked& a) { return {a.requests, a.units, a.least, a.worst}; }
Json of(const Amounts& a) { return {a.loads, a.stores, a.load_bytes, a.store_bytes}; }

constexpr auto far = static_cast<std::size_t>(Space::global), near = static_cast<std::size_t>(Space::local);

Json group_json(const CountedGroup& g) {
    const auto& t = g.tally;
    return {{"items", g.items},
            {"whole", g.whole},
            {"instructions", g.instructions},
            {"issued", g.issued},
            {"barriers", g.barriers},
            {"images", g.image_accesses},
            {"private", of(t.spaces[0])},
            {"global", of(t.spaces[1])},
            {"constant", of(t.spaces[2])},
            {"local", of(t.spaces[3])},
            {"reads", of(t.reads)},
            {"writes", of(t.writes)},
            {"local_reads", of(t.local_reads)},
            {"local_writes", of(t.local_writes)},
            {"global_atomics", of(t.global_atomics)},
            {"local_atomics", of(t.local_atomics)},
            {"atomics", {t.atomics[far], t.atomics[near]}},
            {"footprint",
             {g.so_far.sectors, g.so_far.read_sectors, g.so_far.written_sectors, g.so_far.lines, g.so_far.bytes}},
            {"operations", g.operations}};
}

struct OfLine {
    std::uint64_t issued = 0;
    OfInstruction memory;
};

Json lines_json(const LaunchCount& count) {
    std::map<std::pair<std::string, std::uint32_t>, OfLine> lines;
    const auto& code = count.code();
    const auto line_of = [&](std::uint32_t number) -> OfLine& {
        return lines[{code[number].file ? *code[number].file : "", code[number].line}];
    };
    for (std::uint32_t s = 0; s < code.segments().size(); ++s)
        for (const auto number : code.segments()[s].instructions)
            line_of(number).issued += count.executions(s) * code[number].weight;
    const auto& memory = count.requests().instructions;
    for (std::uint32_t number = 0; number < memory.size(); ++number) {
        auto& line = line_of(number).memory;
        const auto& one = memory[number];
        line.bytes += one.bytes;
        line.sectors += one.sectors;
        line.least_sectors += one.least_sectors;
        line.ways += one.ways;
        line.least_ways += one.least_ways;
        line.turns += one.turns;
    }
    auto out = Json::array();
    for (const auto& [place, line] : lines) {
        const auto& m = line.memory;
        if (place.second > 0)
            out.push_back(
                {place.first,
                 {place.second, line.issued, m.bytes, m.sectors, m.least_sectors, m.ways, m.least_ways, m.turns}});
    }
    return out;
}

/// What is in the code that no counted group executed.
Json never_json(const LaunchCount& count) {
    const auto& code = count.code();
    bool weighs = false, barrier = false, image = false;
    unsigned touches = 0, atomics = 0, line = 0;
    std::set<std::uint32_t> operations;
    for (const auto number : count.never_run()) {
        const auto& segment = code.segments()[number];
        weighs = weighs || segment.weight > 0;
        barrier = barrier || segment.ends_at_barrier;
        for (const auto one : segment.instructions) {
            const auto& instruction = code[one];
            image = image || instruction.image;
            (instruction.atomic ? atomics : touches) |= instruction.touches;
            for (const auto& does : instruction.does) operations.insert(does.operation);
            if (line == 0 && instruction.weight > 0) line = instruction.line;
        }
    }
    return {{"weighs", weighs},   {"barrier", barrier}, {"image", image},          {"touches", touches},
            {"atomics", atomics}, {"line", line},       {"operations", operations}};
}

Json launch_json(const LaunchFacts& facts, const LaunchCount& count, const std::vector<CountedGroup>& groups) {
    const auto& launch = groups.back().so_far;
    const auto addresses = [&](std::size_t space) -> Json {
        return {launch.addresses[space], launch.most_in_wave[space], launch.most_in_group[space],
                launch.most_on_address[space]};
    };
    Json out{{"kernel", facts.kernel},
             {"items", facts.items},
             {"groups", facts.groups},
             {"group_items", facts.group_items},
             {"wave", count.wave()},
             {"seconds", facts.seconds},
             {"ended", facts.ended},
             {"by_place", count.by_place()},
             {"by_data", count.by_data()},
             {"never", never_json(count)},
             {"odd_bits", count.code().odd_bits()},
             {"operations", Json::array()},
             {"counted", Json::array()},
             {"global_addresses", addresses(far)},
             {"local_addresses", addresses(near)},
             {"longest", count.longest().longest},
             {"path", count.longest().path},
             {"lines", lines_json(count)}};
    for (const auto& o : count.code().operations())
        out["operations"].push_back(Json::array({name(o.kind), o.bits, o.function}));
    for (const auto& group : groups) out["counted"].push_back(group_json(group));
    return out;
}

void write_text(const std::filesystem::path& path, const Json& json) {
    const std::filesystem::path beside = path.string() + ".new";
    std::ofstream out(beside, std::ios::binary);
    constexpr int no_indent = -1;
    out << json.dump(no_indent, ' ', false, Json::error_handler_t::replace) << '\n';
    out.close();
    std::error_code ignored;  // who reads it is told of a file that is not there
    if (out) std::filesystem::rename(beside, path, ignored);
}

}  // namespace

void write_same(const std::filesystem::path& path, unsigned as) { write_text(path, {{"same_as", as}}); }

void write(const std::filesystem::path& path, const LaunchFacts& facts, const LaunchCount& count,
           const std::vector<CountedGroup>& groups) {
    if (groups.empty()) return;
    write_text(path, launch_json(facts, count, groups));
}

}  // namespace cllab::count
