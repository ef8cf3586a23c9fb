// The time that a profile may take, and what the sweeps still to come need of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"
#include "portrait/probes.hpp"

namespace cllab::portrait {

/// What takes time in a plan beside its sampling.
struct Amount {
    std::size_t cells = 0;     ///< with the first of each program
    std::size_t programs = 0;  ///< that differ: what is no part of the text or its options is the same program

    Amount operator+(const Amount& other) const { return {cells + other.cells, programs + other.programs}; }
    Amount operator-(const Amount& other) const;  ///< nothing below 0
    /// Cells that are another point of a program.
    std::size_t others() const { return cells - std::min(cells, programs); }
};

/// The cells of some sweeps. Interleaved: one group per variant, so that the samples of its points alternate.
std::vector<model::Group> plan_of(const std::vector<Part>& parts, bool interleave);
/// The sweeps whose points a refinement adds to, with these points of its axis.
std::vector<Part> refined_parts(const Probe& probe, const std::string& points);
/// What so many points of a refinement take.
Amount refined(const Probe& probe, std::size_t points);

/// `data`: as Probe::data.
Amount amount_of(const std::vector<model::Group>& plan, const std::vector<std::string>& data);

/// The first cell of each of the plan's programs, as a group of its own.
std::vector<model::Group> one_of_each_program(const std::vector<model::Group>& plan,
                                              const std::vector<std::string>& data);

/// Seconds that a cell took beside its sampling.
double beside_sampling(const model::Record& record);

/// What is left for the cells still to come. A slow driver shortens the sampling of later cells before it costs a
/// figure.
class Budget {
public:
    Budget(double seconds, const Amount& amount, const std::vector<Probe>& probes = {});
    double spent() const { return seconds_since(start_); }
    double left() const { return seconds_ - spent(); }
    /// Seconds of sampling for each cell.
    double sampling() const;
    /// The least that so much takes, by what it took so far.
    double least(const Amount& amount) const;
    /// True when so much may begin behind what is promised already. It may end a twentieth of the budget beyond it:
    /// what is left is known no better, and a line that is missing costs the reader more.
    bool has_room(const Amount& amount, const Amount& promised) const {
        return left() + 0.05 * seconds_ >= least(promised) + least(amount);
    }
    /// True when nothing still to come would be cut short by so much more.
    bool affords(const Amount& amount) const { return left() >= least(amount + rest_); }
    /// True when what is still to come has no room, and would have if its programs were built.
    bool lacks_room_for_programs() const { return left() < least(rest_) && left() >= least({rest_.cells, 0}); }
    /// What programs took so far says nothing of those to come: the driver's cache has them now.
    void start_over() { of_programs_.clear(); }
    void forget(const Amount& amount) { rest_ = rest_ - amount; }
    /// These records of the plan's cells, in its order, took so many seconds together. What the device refused says
    /// nothing of what is still to come.
    void learn(const std::vector<model::Group>& plan, std::span<const model::Record> records, double seconds);
    /// So much was run. Seconds that all first cells of a program, and all others, took beside their sampling.
    void done(const Amount& amount, double of_programs, double of_others);
    /// Seconds of sampling for each of so many cells that take `overhead` seconds together beside it.
    double sampling_of(std::size_t cells, double overhead) const;

    static constexpr double least_sampling = 0.02;

private:
    double overhead(const Amount& amount) const;

    Clock::time_point start_ = Clock::now();
    double seconds_;
    Amount rest_;
    std::map<std::string, std::vector<std::string>> data_of_family_;  ///< as Probe::data
    std::set<std::string> programs_;                                  ///< that were measured
    // Seconds beside the sampling in each of the plans run so far. A few plans, of large data, take far longer than
    // the rest: their medians tell what is usual.
    std::vector<double> of_programs_;  ///< of a program's first cell
    std::vector<double> of_others_;    ///< of another point of the same program
};

}  // namespace cllab::portrait
