#include "count/wave/requests.hpp"

#include <algorithm>
#include <bit>

namespace cllab::count {
namespace {

constexpr std::uint64_t sector_bytes = 32, sectors_of_line = 4, word_bytes = 4, banks_in_memory = 32;

/// The units of `bytes` that the accesses touch, each once, in order.
void distinct(std::span<const Access> accesses, std::uint64_t bytes, std::vector<std::uint64_t>& out) {
    out.clear();
    for (const auto& a : accesses)
        for (auto unit = a.address / bytes; unit <= (a.address + std::max(a.bytes, 1u) - 1) / bytes; ++unit)
            if (out.empty() || out.back() != unit) out.push_back(unit);
    if (!std::is_sorted(out.begin(), out.end())) std::sort(out.begin(), out.end());  // most are
    out.erase(std::unique(out.begin(), out.end()), out.end());
}

std::uint64_t bytes_of(std::span<const Access> accesses) {
    std::uint64_t sum = 0;
    for (const auto& a : accesses) sum += a.bytes;
    return sum;
}

}  // namespace

void Asked::add(std::uint64_t found, std::uint64_t possible) {
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
    // Lanes that read the same bytes need fewer sectors than as many bytes side by side.
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

}  // namespace cllab::count
