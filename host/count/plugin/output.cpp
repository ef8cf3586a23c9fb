#include "count/plugin/output.hpp"

#include <fstream>
#include <map>
#include <ostream>
#include <system_error>
#include <tuple>

namespace cllab::count {
namespace {

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
    return out + "\"";
}

/// An array of numbers; what they are is said where they are read.
template <class... Numbers>
std::string numbers(const Numbers&... all) {
    std::string out;
    ((out += (out.empty() ? "[" : ",") + std::to_string(all)), ...);
    return out + "]";
}

std::string of(const Asked& a) { return numbers(a.requests, a.units, a.least, a.worst); }
std::string of(const Amounts& a) { return numbers(a.loads, a.stores, a.load_bytes, a.store_bytes); }
std::string of(const std::array<std::uint32_t, links>& a) { return numbers(a[0], a[1], a[2], a[3]); }

constexpr auto far = static_cast<std::size_t>(Space::global), near = static_cast<std::size_t>(Space::local);

void write_group(std::ostream& out, const CountedGroup& g) {
    const auto& t = g.tally;
    out << R"({"items":)" << g.items << R"(,"whole":)" << (g.whole ? "true" : "false") << R"(,"instructions":)"
        << g.instructions << R"(,"issued":)" << g.issued << R"(,"barriers":)" << g.barriers << R"(,"images":)"
        << g.image_accesses << R"(,"private":)" << of(t.spaces[0]) << R"(,"global":)" << of(t.spaces[1])
        << R"(,"constant":)" << of(t.spaces[2]) << R"(,"local":)" << of(t.spaces[3]) << R"(,"reads":)" << of(t.reads)
        << R"(,"writes":)" << of(t.writes) << R"(,"local_reads":)" << of(t.local_reads) << R"(,"local_writes":)"
        << of(t.local_writes) << R"(,"global_atomics":)" << of(t.global_atomics) << R"(,"local_atomics":)"
        << of(t.local_atomics) << R"(,"atomics":)" << numbers(t.atomics[far], t.atomics[near]) << R"(,"footprint":)"
        << numbers(g.so_far.sectors, g.so_far.read_sectors, g.so_far.written_sectors, g.so_far.lines)
        << R"(,"operations":[)";
    for (std::size_t i = 0; i < g.operations.size(); ++i) out << (i ? "," : "") << g.operations[i];
    out << "]}";
}

struct OfLine {
    std::uint64_t issued = 0;
    OfInstruction memory;
};

void write_lines(std::ostream& out, const LaunchCount& count) {
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
    bool first = true;
    for (const auto& [place, line] : lines) {
        if (place.second == 0) continue;
        const auto& m = line.memory;
        out << (std::exchange(first, false) ? "" : ",") << "[" << quoted(place.first) << ","
            << numbers(place.second, line.issued, m.bytes, m.sectors, m.least_sectors, m.ways, m.least_ways, m.turns)
            << "]";
    }
}

void write_all(std::ostream& out, const LaunchFacts& facts, const LaunchCount& count,
               const std::vector<CountedGroup>& groups) {
    const auto& launch = groups.back().so_far;
    out << R"({"kernel":)" << quoted(facts.kernel) << R"(,"number":)" << facts.number << R"(,"items":)" << facts.items
        << R"(,"groups":)" << facts.groups << R"(,"group_items":)" << facts.group_items << R"(,"wave":)" << count.wave()
        << R"(,"seconds":)" << facts.seconds << R"(,"finished":)" << (facts.finished ? "true" : "false");
    out << R"(,"odd_bits":)" << count.code().odd_bits() << R"(,"operations":[)";
    bool first = true;
    for (const auto& o : count.code().operations())
        out << (std::exchange(first, false) ? "" : ",") << "[" << quoted(name(o.kind)) << "," << o.bits << ","
            << quoted(o.function) << "]";
    out << R"(],"counted":[)";
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i) out << ",";
        write_group(out, groups[i]);
    }
    for (const auto& [key, space] : {std::pair{"global", far}, std::pair{"local", near}})
        out << (space == far ? "]" : "") << ",\"" << key << R"(_addresses":)"
            << numbers(launch.addresses[space], launch.most_in_wave[space], launch.most_in_group[space],
                       launch.most_on_address[space]);
    out << R"(,"longest":)" << of(count.longest().longest) << R"(,"path":)" << of(count.longest().path)
        << R"(,"lines":[)";
    write_lines(out, count);
    out << "]}\n";
}

}  // namespace

void write(const std::filesystem::path& path, const LaunchFacts& facts, const LaunchCount& count,
           const std::vector<CountedGroup>& groups) {
    if (groups.empty()) return;
    const std::filesystem::path beside = path.string() + ".new";
    std::ofstream out(beside, std::ios::binary);
    write_all(out, facts, count, groups);
    out.close();
    std::error_code ignored;  // who reads it is told of a file that is not there
    if (out) std::filesystem::rename(beside, path, ignored);
}

}  // namespace cllab::count
