// From pointer chases over footprints to the levels of memory.
//
// One curve is not enough. A knee may come from a cache, from the TLB, from pages placed badly in a cache, or from
// another program. So the chase has two orders: every load to another page, or all lines of a page before the next
// page. On a CPU it also has two page sizes. The TLB's knees change with order and page size; a cache's do not. If the
// system describes a CPU's caches, a figure that contradicts them is withheld, with both numbers.
#pragma once

#include "experiments/lib/family.hpp"

namespace cllab::model::lib {

/// The pages for the cell's value of the axis `pages`.
inline Pages pages_of(Params& params) { return params.text("pages") == "huge" ? Pages::huge : Pages::small; }

/// Chases through the same memory. The figures come from the first; the others may be missing.
struct Chases {
    const Curve* main = nullptr;         ///< page after page, in huge pages if the system provides them
    const Curve* other_order = nullptr;  ///< every load to another page
    const Curve* other_pages = nullptr;  ///< page after page in small pages
    std::string path{}, prefix{};        ///< of identifiers and of names: "bypass.", "past-L1 "
    std::size_t first_level = 1;         ///< the level that the chase meets first
};

/// Capacity of a level that a curve leaves gradually, if every footprint on the slope gives the same capacity. `hit`
/// and `miss`: seconds of a step inside and outside the level. Assume a level of capacity C that replaces its lines at
/// random, and a round through a footprint F in which a part m misses. A line survives the round with probability
/// exp(-m F / C), so m gives C. nullopt with fewer than three footprints whose miss rate is between 0.1 and 0.9, or if
/// their results differ by more than 1.3 times. The interval is the range of results, and 10 % more on each side,
/// because no cache replaces quite at random.
std::optional<Estimate> capacity_of_random_replacement(std::span<const double> footprints,
                                                       std::span<const double> times, double hit, double miss);

/// "l1.size", "l1.latency", "l2.size", …, "memory.latency". Each is a figure, or withheld with the reason.
std::vector<Finding> levels(const Chases& chases, const Device& device);

/// "tlb.reach" and "tlb.cost": the footprint beyond which loads to other pages take longer than loads within a page,
/// and how much longer. `name`: "TLB" with the kind of pages. `how`: what was compared.
std::vector<Finding> tlb(const Curve& scattered, const Curve& staying, const std::string& id, const std::string& name,
                         const std::string& how =
                             "loads that each go to another page against loads that stay in one for all of its lines, "
                             "which prefetchers may follow");

/// "l1.rate", …, "memory.rate" of a CPU whose caches the system describes: bytes per second that all cores read
/// together, from regions that fit into one level only.
std::vector<Finding> rates(const Curve& reread, const Device& device, const std::string& how);

/// "l3.copy": likewise for copies, bytes read and written, in the last level. Empty if no copy of the sweep fits there.
std::vector<Finding> copy_rates(const Curve& copy, const Device& device, const std::string& how);

}  // namespace cllab::model::lib
