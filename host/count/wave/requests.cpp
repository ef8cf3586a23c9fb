#include "count/wave/requests.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>
#include <utility>

namespace cllab::count {
namespace {

constexpr std::uint64_t sector_bytes = 32, sectors_of_line = 4, word_bytes = 4, banks_in_memory = 32;

/// The aligned blocks of `bytes` bytes that the accesses touch: each once, ascending.
void distinct(std::span<const Access> accesses, std::uint64_t bytes, std::vector<std::uint64_t>& out) {
    out.clear();
    for (const auto& a : accesses)
        for (auto unit = a.address / bytes; unit <= (a.address + std::max(a.bytes, 1u) - 1) / bytes; ++unit)
            if (out.empty() || out.back() != unit) out.push_back(unit);
    if (!std::is_sorted(out.begin(), out.end())) std::sort(out.begin(), out.end());  // usually sorted already
    out.erase(std::unique(out.begin(), out.end()), out.end());
}

std::uint64_t bytes_of(std::span<const Access> accesses) {
    std::uint64_t sum = 0;
    for (const auto& a : accesses) sum += a.bytes;
    return sum;
}

}  // namespace

void RequestSums::add(std::uint64_t found, std::uint64_t possible) {
    ++requests;
    units += found;
    least += possible;
    worst = std::max(worst, found);
}

void Requests::touch(std::uint64_t sector, bool written) {
    constexpr std::uint8_t read_bit = 1, written_bit = 2;
    auto& seen = sectors_[sector];
    if (seen == 0) {
        ++launch.sectors;
        if (auto& line = lines_[sector / sectors_of_line]; line == 0) {
            line = 1;
            ++launch.lines;
        }
    }
    const auto bit = written ? written_bit : read_bit;
    if (seen & bit) return;
    seen = static_cast<std::uint8_t>(seen | bit);
    ++(written ? launch.written_sectors : launch.read_sectors);
}

void Requests::touch_bytes(std::span<const Access> accesses) {
    constexpr std::uint64_t bits = 64;
    std::uint64_t word = 0, mask = 0;
    const auto add = [&] {
        if (mask == 0) return;
        auto& known = bytes_[word];
        launch.bytes += static_cast<std::uint64_t>(std::popcount(mask & ~known));
        known |= mask;
        mask = 0;
    };
    for (const auto& a : accesses)
        for (auto at = a.address, end = a.address + a.bytes; at < end;) {
            if (at / bits != word) add();
            word = at / bits;
            const auto count = std::min(end - at, bits - at % bits);
            mask |= (count == bits ? ~std::uint64_t{0} : ((std::uint64_t{1} << count) - 1) << (at % bits));
            at += count;
        }
    add();
}

void Requests::global(std::span<const Access> accesses) {
    const bool written = accesses.front().what == What::store;
    distinct(accesses, sector_bytes, places_);
    const auto found = static_cast<std::uint64_t>(places_.size());
    // Lanes that read the same bytes touch fewer sectors than their bytes would fill side by side.
    const auto bytes = bytes_of(accesses);
    const auto least = std::min(found, (bytes + sector_bytes - 1) / sector_bytes);
    (written ? group.writes : group.reads).add(found, least);
    for (const auto sector : places_) touch(sector, written);
    touch_bytes(accesses);
    auto& of = instructions[accesses.front().instruction];
    of.bytes += bytes;
    of.sectors += found;
    of.least_sectors += least;
}

void Requests::banks(std::span<const Access> accesses) {
    distinct(accesses, word_bytes, places_);
    std::uint64_t in_bank[banks_in_memory] = {}, ways = 0;
    for (const auto word : places_) ways = std::max(ways, ++in_bank[word % banks_in_memory]);
    const auto least = (places_.size() + banks_in_memory - 1) / banks_in_memory;
    (accesses.front().what == What::store ? group.local_writes : group.local_reads).add(ways, least);
    auto& of = instructions[accesses.front().instruction];
    of.ways += ways;
    of.least_ways += least;
}

void Requests::atomic(std::span<const Access> accesses) {
    const auto space = static_cast<std::size_t>(accesses.front().space);
    places_.clear();
    for (const auto& a : accesses) {
        places_.push_back(a.address);
        auto& in_group = in_group_[space][a.address];
        launch.most_in_group[space] = std::max<std::uint64_t>(launch.most_in_group[space], ++in_group);
        if (a.space == Space::local) continue;
        auto& in_launch = in_launch_[space][a.address];
        launch.most_on_address[space] = std::max<std::uint64_t>(launch.most_on_address[space], ++in_launch);
    }
    std::sort(places_.begin(), places_.end());
    std::uint64_t turns = 0;
    for (std::size_t i = 0, first = 0; i < places_.size(); ++i) {
        if (places_[i] != places_[first]) first = i;
        turns = std::max<std::uint64_t>(turns, i - first + 1);
    }
    if (accesses.front().space == Space::global) touch_bytes(accesses);
    (accesses.front().space == Space::local ? group.local_atomics : group.global_atomics).add(turns, 1);
    launch.most_in_wave[space] = std::max(launch.most_in_wave[space], turns);
    group.atomics[space] += accesses.size();
    instructions[accesses.front().instruction].turns += turns;
}

void Requests::request(std::span<const Access> accesses) {
    const auto& one = accesses.front();
    if (one.what == What::atomic) return atomic(accesses);
    auto& sums = group.spaces[static_cast<std::size_t>(one.space)];
    (one.what == What::store ? sums.stores : sums.loads) += accesses.size();
    (one.what == What::store ? sums.store_bytes : sums.load_bytes) += bytes_of(accesses);
    if (one.space == Space::global) global(accesses);
    if (one.space == Space::local) banks(accesses);
}

void Requests::end_group() {
    constexpr auto local = static_cast<std::size_t>(Space::local), far = static_cast<std::size_t>(Space::global);
    launch.addresses[local] = std::max<std::uint64_t>(launch.addresses[local], in_group_[local].size());
    launch.addresses[far] = in_launch_[far].size();
    launch.most_on_address[local] = launch.most_in_group[local];
    for (auto& map : in_group_) map.clear();
    group = {};
}

namespace {

using Lanes = std::vector<Lane*>;

/// Selects the lanes that continue together and returns the segment that they execute. No lanes: all have finished.
std::uint32_t choose(std::span<Lane> lanes, Lanes& together) {
    together.clear();
    std::pair<unsigned, std::uint32_t> best{};
    for (auto& lane : lanes) {
        if (lane.at == lane.trace.size()) continue;
        const std::pair here{lane.depth, lane.trace[lane.at]};
        const bool ahead =
            together.empty() || here.first > best.first || (here.first == best.first && here.second < best.second);
        if (ahead) {
            together.clear();
            best = here;
        }
        if (here == best) together.push_back(&lane);
    }
    return best.second;
}

/// One request for the first accesses of all lanes, then one for their second accesses, and so on.
void ask(const Lanes& together, std::uint32_t instruction, std::vector<Access>& accesses, Requests& requests) {
    for (bool first = true;; first = false) {
        accesses.clear();
        for (auto* lane : together) {
            if (lane->access == lane->accesses.size()) continue;
            const auto& next = lane->accesses[lane->access];
            if (next.instruction != instruction || next.first != first) continue;
            accesses.push_back(next);
            ++lane->access;
        }
        if (accesses.empty()) return;
        requests.request(accesses);
    }
}

}  // namespace

void replay(std::span<Lane> lanes, std::span<const Segment> segments, SegmentCounts& counts, Requests& requests) {
    counts.by_lanes.resize(segments.size());
    counts.by_waves.resize(segments.size());
    for (auto& lane : lanes) lane.at = lane.access = 0;
    Lanes together;
    std::vector<Access> accesses;
    for (auto number = choose(lanes, together); !together.empty(); number = choose(lanes, together)) {
        const auto& segment = segments[number];
        counts.by_lanes[number] += together.size();
        ++counts.by_waves[number];
        for (const auto instruction : segment.memory) ask(together, instruction, accesses, requests);
        for (auto* lane : together) {
            ++lane->at;
            if (segment.calls) ++lane->depth;
            if (segment.returns && lane->depth > 0) --lane->depth;
        }
    }
    for (auto& lane : lanes) {
        lane.trace.clear();
        lane.accesses.clear();
    }
}

namespace {

/// The 97.5 % quantile of Student's t, to 1 % from two degrees of freedom on (Abramowitz and Stegun, 26.7.5).
double student(double freedom) {
    if (freedom < 2) return 12.706;
    if (freedom < 3) return 4.303;
    constexpr double x = 1.959964, cube = x * x * x, fifth = cube * x * x, seventh = fifth * x * x;
    return x + (cube + x) / (4 * freedom) + (5 * fifth + 16 * cube + 3 * x) / (96 * freedom * freedom) +
           (3 * seventh + 19 * fifth + 17 * cube - 15 * x) / (384 * freedom * freedom * freedom);
}

}  // namespace

double confidence(std::span<const double> drawn, double population) {
    const auto n = static_cast<double>(drawn.size());
    if (n >= population) return 0;
    if (n < 2) return std::numeric_limits<double>::infinity();
    const double mean = std::accumulate(drawn.begin(), drawn.end(), 0.0) / n;
    double squares = 0;
    for (const double x : drawn) squares += (x - mean) * (x - mean);
    return student(n - 1) * std::sqrt(squares / (n - 1) / n * (1 - n / population));
}

void GroupSample::begin(std::uint64_t groups, std::size_t most) {
    *this = {};
    groups_ = groups;
    most_ = most;
}

std::vector<std::uint64_t> GroupSample::next() {
    if (counted_ < certain()) {
        std::vector<std::uint64_t> out{0, groups_ - 1, groups_ / 2};
        out.resize(certain());
        return out;
    }
    if (drawn_.size() >= pairs() || counted_ >= most_) return {};
    std::uint64_t pair = 0;
    do pair = 1 + random_() % pairs();
    while (!drawn_.insert(pair).second);
    return {pair, groups_ - 1 - pair};
}

void GroupSample::counted(const std::array<double, watched>& amounts) {
    const bool begins = counted_ >= certain() && (counted_ - certain()) % 2 == 0;
    for (std::size_t i = 0; i < watched; ++i) {
        all_[i] += amounts[i];
        if (counted_ < certain()) continue;
        if (begins)
            of_pair_[i].push_back(amounts[i]);
        else
            of_pair_[i].back() += amounts[i];
    }
    ++counted_;
}

bool GroupSample::is_enough(bool all_code_ran) const {
    // If this many pairs are alike, at most 5 % of the others differ, at 95 % confidence (0.95^59 < 0.05).
    constexpr std::size_t least_pairs = 59;
    constexpr double narrow = 0.01;
    const auto number = static_cast<double>(of_pair_[0].size()), of = static_cast<double>(pairs());
    if (number >= of) return true;
    if (of_pair_[0].size() < least_pairs || !all_code_ran) return false;
    return std::ranges::all_of(std::views::iota(std::size_t{0}, watched), [&](std::size_t i) {
        const double mean = all_[i] / static_cast<double>(counted_);
        return confidence(of_pair_[i], of) <= narrow * 2 * mean;
    });
}

}  // namespace cllab::count
