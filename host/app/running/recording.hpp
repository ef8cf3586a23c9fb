// Cells launched on a device in child processes, for what they leave: nothing is measured.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "app/processes/runner.hpp"
#include "kernelfile/experiment.hpp"
#include "model/plan.hpp"

namespace cllab::app {

/// Whether the cells' own checks are asked too. Without them every result is right.
enum class OwnCheck { asked, left_out };

/// Cells whose results go to files, for inputs of any seed. A driver that is to choose the work-group is given the same
/// one as every other driver.
class Recording {
public:
    explicit Recording(std::filesystem::path folder, OwnCheck own) : folder_(std::move(folder)), own_(own) {}

    /// The cell, with the data of the seed. It may be used while this lives.
    model::Cell cell(const model::Cell& cell, std::uint64_t seed);
    /// What it left, by argument; empty when it left nothing.
    model::Bytes result(const model::Cell& cell, std::uint64_t seed, const std::string& name) const;

private:
    std::filesystem::path folder_;
    OwnCheck own_;
    std::map<std::pair<const model::Experiment*, std::uint64_t>, model::Experiment> made_;  ///< cells point into it
};

/// How one side differs from the other: the first element in words, with the largest errors. `there`: "on 'Oclgrind'".
std::optional<std::string> difference(const kernelfile::CellArguments& known, const model::Cell& cell,
                                      std::uint64_t seed, const Recording& here, const Recording& elsewhere,
                                      const std::string& there);

/// "n=1024 m=4"; empty without axes.
std::string point_text(const model::Point& point);

}  // namespace cllab::app
