// In which level of the caches the data of a cell lies, by what the levels were seen to hold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/explanation.hpp"
#include "model/limits.hpp"
#include "model/result.hpp"

namespace cllab::explain {

using namespace model;

std::string level_id(std::size_t level);    ///< "l1" of 0
std::string level_name(std::size_t level);  ///< "L1" of 0

/// What a level is taken to hold. `most`: all that its interval allows, and what of a larger footprint fits is found
/// there. No time beats that, so bounds are of it. `least`: half of the least it was seen to hold, and nothing of a
/// larger footprint: a level that replaces lines in the order of their use has none of a round through more than it
/// holds, and one that replaces any of them next to none of four times as much (1 MiB behind a first level of 128 to
/// 256 KiB took 0.87 times as long as 8 MiB on a GPU, `cllab run latency`). What a time will be lies between the two.
enum class Capacity { most, least };

/// Bytes that one instance of each level holds, as `family` found them, 0 of a last one that was seen but not where it
/// ends; else by the operating system.
std::vector<double> sizes_of(const Limits& limits, const std::string& family, Capacity capacity);

/// Where the data of a cell lies: the first level that holds all of it, and how much of it the level before may hold.
struct Place {
    std::size_t level = 0;
    bool memory = false;  ///< behind all levels
    double nearer = 0;    ///< 0.1: a tenth of it may be found in the level before
};

/// `instances`: of each level but the last, which may hold another part of the data each, unless every group goes
/// through all of it; of NVIDIA's levels only the first has several. Nothing when no size is known.
std::optional<Place> place_of(const Record& record, const Limits& limits, std::vector<double> sizes, double instances,
                              Capacity capacity);

bool is_gpu(const Record& record);

/// The value of an axis at the record's point; empty where it has no such axis.
std::string value_at(const Record& record, const std::string& axis);

/// How many times as long as on all units something takes of which each unit does a part: a group has one unit. 1 where
/// the number of groups is not known, or all units have work nearly all the time.
double uneven_share(const Record& record, const Limits& limits);

/// Units that so many groups have use for; where their number is not known, all.
double parallel_of(const Record& record, const Limits& limits);

}  // namespace cllab::explain
