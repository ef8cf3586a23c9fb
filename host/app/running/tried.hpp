// A cell that another implementation was asked about, and what that says of it.
#pragma once

#include <string>

#include "app/running/oclgrind.hpp"
#include "app/running/recording.hpp"
#include "kernelfile/proof/opinions.hpp"
#include "model/device.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"

namespace cllab::app {

/// A cell on the other device, and beside it here.
struct Tried {
    model::Cell cell;            ///< as it was launched
    model::Record there{};       ///< of the inputs that failed there, if any did
    OclgrindFindings found{};    ///< in its kernels
    std::string not_compared{};  ///< why, in a clause
    std::string difference{};    ///< in words; empty: none was seen
    std::string limit{};         ///< why Oclgrind cannot run it, in a clause
    bool sees_unwritten = true;  ///< values that nobody wrote were looked for
    bool is_compared = false, too_long = false;
    bool stays_small = false;  ///< something is wrong, and its own size takes too long or does not run

    bool ran() const {
        return limit.empty() && (there.status == model::Status::ok || there.status == model::Status::wrong_result);
    }
    bool is_fine() const {
        return limit.empty() && there.status == model::Status::ok && found.empty() && difference.empty();
    }
    std::string at() const { return point_text(cell.point).empty() ? "" : " at " + point_text(cell.point); }
    void is_not_compared(const std::string& other, const std::string& why) {
        not_compared = "not checked by " + other + at() + ": " + why;
    }
};

std::string quoted_name(const std::string& name);

/// Of the cell on `device` and on the one that is called `other`.
kernelfile::Agreement agreement(const Tried& tried, const model::Device& device, const std::string& other);

/// What the simulator says of a cell on `device`.
std::string words(const Tried& tried, const model::Device& device);

}  // namespace cllab::app
