// From chases over footprints to the levels of memory behind them.
//
// One curve is not enough: a knee may be that of a cache, of the TLB, of pages that lie badly in a cache, or of a
// neighbour that came in between. So the chase is made in two orders (every load to another page; all lines of a page,
// then the next page) and, on a CPU, in two kinds of pages. The TLB's knees move with order and pages, a cache's do
// not. And where the system describes a CPU's caches, a figure that contradicts it is withheld, with both numbers.
#pragma once

#include "experiments/lib/family.hpp"

namespace cllab::model::lib {

/// What a cell's value of the axis `pages` means.
inline Pages pages_of(Params& params) { return params.text("pages") == "huge" ? Pages::huge : Pages::small; }

/// Chases through the same memory; the first is what figures are taken from, the others may be absent.
struct Chases {
    const Curve* main = nullptr;         ///< page after page, in huge pages where the system gives them
    const Curve* other_order = nullptr;  ///< every load to another page
    const Curve* other_pages = nullptr;  ///< page after page in small pages
    std::string path{}, prefix{};        ///< of identifiers and of names: "bypass.", "past-L1 "
    std::size_t first_level = 1;         ///< the level that the chase meets first
};

/// Capacity of a level that a curve leaves gradually, where every footprint on the way says the same one. `hit` and
/// `miss`: time of a step that stays in it and of one that does not. A level that replaces any of its lines with equal
/// chance keeps a line through a round of a footprint F in which a part m misses with probability exp(-m F / C): so m
/// of a footprint gives C. Nothing where fewer than three footprints miss by a tenth to nine tenths, or theirs differ
/// by more than 1.3 times. The interval is theirs and a tenth more either way, because no cache chooses quite at
/// random.
std::optional<Estimate> capacity_of_random_replacement(std::span<const double> footprints,
                                                       std::span<const double> times, double hit, double miss);

/// "l1.size", "l1.latency", "l2.size", …, "memory.latency": each a figure or withheld with the reason.
std::vector<Finding> levels(const Chases& chases, const Device& device);

/// "tlb.reach" and "tlb.cost": where loads that each go to another page begin to take longer than loads that stay, and
/// by how much. `name`: "TLB" with the kind of pages. `how`: what was held against what.
std::vector<Finding> tlb(const Curve& scattered, const Curve& staying, const std::string& id, const std::string& name,
                         const std::string& how =
                             "loads that each go to another page against loads that stay in one for all of its lines, "
                             "which prefetchers may follow");

/// "l1.rate", …, "memory.rate" of a CPU whose caches the system describes: bytes per second of regions that all cores
/// read and that fit in one level only.
std::vector<Finding> rates(const Curve& reread, const Device& device, const std::string& how);

/// "l3.copy": likewise of copies, read and written, in the last level. Empty where no copy of the sweep lies in it.
std::vector<Finding> copy_rates(const Curve& copy, const Device& device, const std::string& how);

}  // namespace cllab::model::lib
