// The time that a profile may take, and what the sweeps still to come need of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "model/plan.hpp"

namespace cllab::portrait {

/// What takes time in a plan beside its sampling.
struct Amount {
    std::size_t cells = 0;
    std::size_t programs = 0;  ///< that differ: what is no part of the text or its options is the same program

    Amount operator+(const Amount& other) const { return {cells + other.cells, programs + other.programs}; }
    Amount operator-(const Amount& other) const;  ///< nothing below 0
};

/// `data`: as Probe::data.
Amount amount_of(const std::vector<model::Group>& plan, const std::vector<std::string>& data);

/// The first cell of each of the plan's programs, as a group of its own.
std::vector<model::Group> one_of_each_program(const std::vector<model::Group>& plan,
                                              const std::vector<std::string>& data);

/// What is left for the cells still to come. A slow driver shortens the sampling of later cells before it costs a
/// figure.
class Budget {
public:
    Budget(double seconds, const Amount& amount) : seconds_(seconds), rest_(amount) {}
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
    void start_over() { scales_.clear(); }
    void expect(const Amount& amount) { rest_ = rest_ + amount; }
    void forget(const Amount& amount) { rest_ = rest_ - amount; }
    /// So much was run in `seconds`, each cell sampling for `sampling`.
    void done(const Amount& amount, double seconds, double sampling);

    static constexpr double least_sampling = 0.02;

private:
    double overhead(const Amount& amount) const;

    Clock::time_point start_ = Clock::now();
    double seconds_;
    Amount rest_;
    std::vector<double> scales_;  ///< seconds of a cell's overhead in each of the plans run so far
};

}  // namespace cllab::portrait
