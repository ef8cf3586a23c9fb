// What waves make of what work-items do: sectors, banks, turns, lanes that meet again, chains through memory.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "count/called.hpp"
#include "count/wave/chain.hpp"
#include "count/wave/requests.hpp"

BOOST_AUTO_TEST_SUITE(count_wave)

namespace {

using namespace cllab::count;
using cllab::model::Operation;

constexpr auto far = static_cast<std::size_t>(Space::global), near = static_cast<std::size_t>(Space::local);

Access access(std::uint64_t address, std::uint32_t bytes, Space space = Space::global, What what = What::load) {
    Access out;
    out.address = address;
    out.bytes = bytes;
    out.space = space;
    out.what = what;
    out.first = true;
    return out;
}

/// What 32 lanes access, `stride` bytes apart.
std::vector<Access> lanes(std::uint64_t stride, std::uint32_t bytes, Space space = Space::global,
                          What what = What::load) {
    std::vector<Access> out;
    for (std::uint64_t lane = 0; lane < 32; ++lane) out.push_back(access(lane * stride, bytes, space, what));
    return out;
}

Requests ask(const std::vector<Access>& accesses) {
    Requests out;
    out.instructions.resize(1);
    out.request(accesses);
    return out;
}

/// Segments of one instruction each, all of which may access memory.
std::vector<Segment> segments(std::size_t count) {
    std::vector<Segment> out(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        out[i].weight = 1;
        out[i].memory = out[i].instructions = {i};
    }
    return out;
}

/// How often waves executed each segment.
std::vector<std::uint64_t> by_waves(std::vector<Lane> lanes, const std::vector<Segment>& segments) {
    SegmentCounts counts;
    Requests requests;
    requests.instructions.resize(segments.size());
    replay(lanes, segments, counts, requests);
    for (const auto& lane : lanes) BOOST_TEST(lane.trace.empty());
    return counts.by_waves;
}

Lane lane(std::vector<std::uint32_t> trace) {
    Lane out;
    out.trace = std::move(trace);
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(request_moves_each_touched_sector_once) {
    struct {
        std::uint64_t stride;
        std::uint32_t bytes;
        std::uint64_t sectors, least;
    } cases[] = {{4, 4, 4, 4}, {8, 4, 8, 4},     {32, 4, 32, 4}, {128, 4, 32, 4},
                 {0, 4, 1, 1}, {16, 16, 16, 16}, {1, 1, 1, 1}};
    for (const auto& c : cases) {
        const auto found = ask(lanes(c.stride, c.bytes)).group.reads;
        BOOST_TEST(found.units == c.sectors, c.stride);
        BOOST_TEST(found.least == c.least, c.stride);
        BOOST_TEST(found.worst == c.sectors);
    }
    BOOST_TEST(ask({access(30, 4)}).group.reads.units == 2u);  // it lies across a border
    BOOST_TEST(ask(lanes(4, 4, Space::global, What::store)).group.writes.units == 4u);
    BOOST_TEST(ask(lanes(4, 4, Space::constant)).group.reads.requests == 0u);
}

BOOST_AUTO_TEST_CASE(footprint_counts_each_sector_once) {
    auto requests = ask(lanes(4, 4));
    requests.request(lanes(4, 4));
    requests.request(lanes(4, 4, Space::global, What::store));
    BOOST_TEST(requests.launch.sectors == 4u);
    BOOST_TEST(requests.launch.read_sectors == 4u);
    BOOST_TEST(requests.launch.written_sectors == 4u);
    BOOST_TEST(requests.launch.lines == 1u);
    requests.request(lanes(128, 4));
    BOOST_TEST(requests.launch.sectors == 4u + 31u);
    BOOST_TEST(requests.launch.lines == 32u);
}

BOOST_AUTO_TEST_CASE(different_words_of_one_bank_are_serialised) {
    const auto ways = [](std::uint64_t stride, std::uint32_t bytes) {
        const auto found = ask(lanes(stride, bytes, Space::local)).group.local_reads;
        return std::pair(found.units, found.least);
    };
    BOOST_TEST((ways(4, 4) == std::pair<std::uint64_t, std::uint64_t>(1, 1)));
    BOOST_TEST((ways(8, 4) == std::pair<std::uint64_t, std::uint64_t>(2, 1)));
    BOOST_TEST((ways(128, 4) == std::pair<std::uint64_t, std::uint64_t>(32, 1)));
    BOOST_TEST((ways(132, 4) == std::pair<std::uint64_t, std::uint64_t>(1, 1)));
    BOOST_TEST((ways(0, 4) == std::pair<std::uint64_t, std::uint64_t>(1, 1)));  // one word goes to all
    BOOST_TEST((ways(8, 8) == std::pair<std::uint64_t, std::uint64_t>(2, 2)));
}

BOOST_AUTO_TEST_CASE(atomics_on_one_address_are_serialised) {
    auto requests = ask(lanes(0, 4, Space::global, What::atomic));
    BOOST_TEST(requests.group.global_atomics.units == 32u);
    requests.request(lanes(4, 4, Space::global, What::atomic));
    BOOST_TEST(requests.group.global_atomics.units == 33u);
    BOOST_TEST(requests.launch.most_in_wave[far] == 32u);
    BOOST_TEST(requests.launch.most_in_group[far] == 33u);
    requests.end_group();
    requests.request(lanes(0, 4, Space::global, What::atomic));
    requests.end_group();
    BOOST_TEST(requests.launch.most_in_group[far] == 33u);
    BOOST_TEST(requests.launch.most_on_address[far] == 65u);
    BOOST_TEST(requests.launch.addresses[far] == 32u);
    BOOST_TEST(requests.launch.addresses[near] == 0u);
}

BOOST_AUTO_TEST_CASE(lanes_reconverge_after_a_branch) {
    const auto code = segments(4);  // 0 goes to 1 or 2, both to 3
    const std::vector<std::uint64_t> once{1, 1, 1, 1};
    BOOST_TEST(by_waves({lane({0, 1, 3}), lane({0, 2, 3}), lane({0, 1, 3})}, code) == once);
    BOOST_TEST((by_waves({lane({0, 1, 3}), lane({0, 1, 3})}, code) == std::vector<std::uint64_t>{1, 1, 0, 1}));
}

// The k-th execution of 1 by one lane is not beside the k-th of the other: each runs its long loop while the other one
// waits behind its short loop.
BOOST_AUTO_TEST_CASE(nested_loops_with_different_trip_counts_do_not_overlap) {
    const auto code = segments(4);  // 0: head of the outer loop, 1: the inner loop, 2: behind it, 3: the end
    const auto found = by_waves({lane({0, 1, 2, 0, 1, 1, 1, 2, 3}), lane({0, 1, 1, 1, 2, 0, 1, 2, 3})}, code);
    BOOST_TEST((found == std::vector<std::uint64_t>{2, 6, 2, 1}));
    BOOST_TEST(
        (by_waves({lane({0, 1, 1, 1, 2, 3}), lane({0, 1, 2, 3})}, code) == std::vector<std::uint64_t>{1, 3, 1, 1}));
}

BOOST_AUTO_TEST_CASE(lanes_after_a_call_wait_for_lanes_inside_it) {
    auto code = segments(4);  // 0 calls 3, or goes to 2 at once; behind the call is 1, then 2
    code[0].calls = code[3].returns = true;
    Lane caller = lane({0, 3, 1, 2});
    auto other = segments(4);
    BOOST_TEST((by_waves({caller, lane({0, 3, 1, 2})}, code) == std::vector<std::uint64_t>{1, 1, 1, 1}));
    other = code;
    other[0].calls = false;
    other[1].calls = true;  // 1 calls 3
    BOOST_TEST((by_waves({lane({0, 1, 3, 2}), lane({0, 2})}, other) == std::vector<std::uint64_t>{1, 1, 1, 1}));
    BOOST_TEST((by_waves({lane({0, 2}), lane({0, 1, 3, 2})}, other) == std::vector<std::uint64_t>{1, 1, 1, 1}));
}

BOOST_AUTO_TEST_CASE(accesses_of_lanes_executing_together_are_one_request) {
    const auto code = segments(2);
    std::vector<Lane> wave(32);
    for (std::uint32_t i = 0; i < 32; ++i) {
        wave[i].trace = {0, 0, 1};
        for (std::uint64_t k = 0; k < (i < 16 ? 1 : 2); ++k) {
            auto one = access(1024 * k + 4 * i, 4);
            wave[i].accesses.push_back(one);
        }
        if (i < 16) wave[i].trace = {0, 1};  // half of them go round once
    }
    SegmentCounts counts;
    Requests requests;
    requests.instructions.resize(2);
    replay(wave, code, counts, requests);
    BOOST_TEST(requests.group.reads.requests == 2u);
    BOOST_TEST(requests.group.reads.units == 4u + 2u);
    BOOST_TEST(counts.by_lanes[0] == 48u);
    BOOST_TEST(counts.by_waves[0] == 2u);
}

BOOST_AUTO_TEST_CASE(second_access_of_an_execution_is_a_separate_request) {
    auto again = access(64, 4), second = access(1024, 4);
    second.first = false;
    std::vector<Lane> wave{lane({0, 0}), lane({0})};
    wave[0].accesses = {access(0, 4), again};   // two executions
    wave[1].accesses = {access(4, 4), second};  // one, with two accesses
    SegmentCounts counts;
    Requests requests;
    requests.instructions.resize(1);
    replay(wave, segments(1), counts, requests);
    BOOST_TEST(requests.group.reads.requests == 3u);
}

BOOST_AUTO_TEST_CASE(a_value_carries_the_longest_chain_of_its_operands) {
    Depth loaded, computed;
    loaded.add(Link::load);
    for (int i = 0; i < 20; ++i) computed.add(Link::arithmetic);
    auto both = computed;
    both.join(loaded);
    BOOST_TEST(both.longest[0] == 1u);
    BOOST_TEST(both.longest[2] == 20u);
    BOOST_TEST(both.path[0] == 1u);  // a load takes longer than twenty operations
    BOOST_TEST(both.path[2] == 0u);
}

BOOST_AUTO_TEST_CASE(chain_passes_through_memory_but_not_against_a_barrier) {
    StoredDepths memory;
    Depth stored, found;
    stored.add(Link::load);
    memory.store(100, 8, stored, 3, 0);
    memory.load(104, 4, found, 4, 0);
    BOOST_TEST(found.longest[0] == 0u);  // another work-item, before a barrier
    memory.load(104, 4, found, 4, 1);
    BOOST_TEST(found.longest[0] == 1u);
    Depth own;
    memory.load(100, 1, own, 3, 0);
    BOOST_TEST(own.longest[0] == 1u);
    Depth neighbour;
    memory.load(108, 4, neighbour, 3, 0);
    BOOST_TEST(neighbour.longest[0] == 0u);
    memory.clear();
    Depth none;
    memory.load(100, 4, none, 3, 0);
    BOOST_TEST(none.longest[0] == 0u);
}

BOOST_AUTO_TEST_CASE(cleared_map_is_empty_and_grows_again) {
    FlatMap<int> map;
    for (std::uint64_t i = 0; i < 1000; ++i) map[i * 64] = static_cast<int>(i);
    BOOST_TEST(map.size() == 1000u);
    for (std::uint64_t i = 0; i < 1000; ++i) BOOST_TEST(*map.find(i * 64) == static_cast<int>(i));
    BOOST_TEST((map.find(1) == nullptr));
    map.clear();
    BOOST_TEST(map.size() == 0u);
    BOOST_TEST((map.find(64) == nullptr));
    for (std::uint64_t i = 0; i < 5000; ++i) BOOST_TEST_REQUIRE(map[i * 64] == 0);
    BOOST_TEST(map.size() == 5000u);
    BOOST_TEST((map.find(1) == nullptr));
}

BOOST_AUTO_TEST_CASE(functions_are_known_by_their_names) {
    BOOST_TEST(plain_name("_Z10native_sinDv4_f") == "native_sin");
    BOOST_TEST(plain_name("llvm.fmuladd.f32") == "llvm.fmuladd.f32");
    const auto kind = [](const char* name, bool floats) { return called(name, floats).kind; };
    BOOST_TEST((kind("_Z3fmafff", true) == Operation::float_fma));
    BOOST_TEST((kind("llvm.fmuladd.v4f32", true) == Operation::float_fma));
    BOOST_TEST((kind("_Z13native_divideff", true) == Operation::float_divide));
    BOOST_TEST((kind("_Z4fminff", true) == Operation::float_compare));
    BOOST_TEST((kind("_Z3minii", false) == Operation::integer_add));
    BOOST_TEST((kind("_Z5mul24ii", false) == Operation::integer_multiply));
    BOOST_TEST((kind("_Z13convert_floati", true) == Operation::conversion));
    BOOST_TEST(called("_Z5rsqrtf", true).function == "rsqrt");
    BOOST_TEST((called("_Z7barrierj", false).is == Called::Is::barrier));
    for (const char* other : {"_Z6vload4mPKU3AS1f", "_Z10atomic_incPU3AS1Vi", "_Z13get_global_idj"})
        BOOST_TEST((called(other, false).is == Called::Is::other));
    BOOST_TEST((called("_Z8as_floati", true).is == Called::Is::nothing));
}

BOOST_AUTO_TEST_CASE(distinct_bytes_are_counted_within_sectors) {
    // 9.25 bytes per access and not the sectors' 11.25: each is touched once, across 64 bytes and by an atomic, too.
    auto one = ask({access(60, 8), access(60, 8), access(128, 1)});
    BOOST_TEST(one.launch.bytes == 9u);
    BOOST_TEST(one.launch.sectors == 3u);
    one.request(std::vector{access(130, 4, Space::global, What::atomic)});
    BOOST_TEST(one.launch.bytes == 13u);
    one.request(std::vector{access(60, 8, Space::global, What::store), access(64, 64)});
    BOOST_TEST(one.launch.bytes == 13u + 60);
    BOOST_TEST(ask({access(60, 8, Space::local)}).launch.bytes == 0u);
}

BOOST_AUTO_TEST_CASE(pairs_of_groups_are_drawn_until_the_mean_is_known) {
    const auto drawn_of = [](std::uint64_t groups, auto amount_of) {
        GroupSample sample;
        sample.begin(groups, 2003);
        std::vector<std::uint64_t> all;
        for (auto next = sample.next(); !next.empty(); next = sample.is_enough(true) ? decltype(next){} : sample.next())
            for (const auto group : next) {
                all.push_back(group);
                const double amount = amount_of(group);
                sample.counted({amount, amount, 0, 0, 0});
            }
        return all;
    };
    const auto alike = [](std::uint64_t) { return 7.0; };
    for (const std::uint64_t groups : {1, 2, 3, 4, 5, 10, 117}) {
        auto all = drawn_of(groups, alike);
        std::ranges::sort(all);
        BOOST_TEST(all.size() == groups);
        BOOST_TEST((std::ranges::adjacent_find(all) == all.end()));
        BOOST_TEST(all.back() == groups - 1);
    }
    BOOST_TEST(drawn_of(16384, alike).size() == 2 + 2 * 59u);
    // Where they differ, more are drawn.
    BOOST_TEST(drawn_of(16384, [](std::uint64_t g) { return g % 7 == 0 ? 100.0 : 1.0; }).size() > 1000u);
    // Work that grows from group to group is the same in each pair.
    BOOST_TEST(drawn_of(16384, [](std::uint64_t g) { return static_cast<double>(g); }).size() == 2 + 2 * 59u);
}

BOOST_AUTO_TEST_CASE(confidence_interval_uses_students_t) {
    const std::vector<double> five{1, 2, 3, 4, 5};  // s^2 is 2.5, t is 2.776
    BOOST_TEST(confidence(five, 1e12) == 2.776 * std::sqrt(0.5), boost::test_tools::tolerance(0.01));
    BOOST_TEST(confidence(five, 10) == 2.776 * std::sqrt(0.5 / 2), boost::test_tools::tolerance(0.01));
    BOOST_TEST(confidence(five, 5) == 0);
    BOOST_TEST(std::isinf(confidence(std::vector<double>{1}, 2)));
    const std::vector<double> three{1, 2, 3};
    BOOST_TEST(confidence(three, 1e12) == 4.303 / std::sqrt(3.0), boost::test_tools::tolerance(0.001));
}

BOOST_AUTO_TEST_SUITE_END()
