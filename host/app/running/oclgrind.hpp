// Oclgrind as the only driver of child processes, and what it says of kernels.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/choose/choice.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::app {

struct OclgrindFinding {
    std::string what, kernel, entity, file, line;
    bool is_limit = false;  ///< nothing about the kernel: what Oclgrind cannot do, so that it ended the launch
    bool operator<(const OclgrindFinding& other) const {
        return std::tie(file, line, kernel, what) < std::tie(other.file, other.line, other.kernel, other.what);
    }
    /// Not a race, and no value that nobody wrote.
    bool is_outside() const { return what.starts_with("Invalid "); }
    bool is_unwritten() const { return what.find("ninitialized") != std::string::npos; }
};
using OclgrindFindings = std::map<OclgrindFinding, std::size_t>;  ///< with how often each was said

/// While one lives, child processes have Oclgrind as their only driver, which looks for races and, if it is to, for
/// values that nobody wrote. This process has called no OpenCL.
class OnlyOclgrind {
public:
    OnlyOclgrind(const std::filesystem::path& library, bool sees_unwritten);
    ~OnlyOclgrind();
    OnlyOclgrind(const OnlyOclgrind&) = delete;
    OnlyOclgrind& operator=(const OnlyOclgrind&) = delete;
    OclgrindFindings findings() const;
    bool left_some_out() const;  ///< of what it found: there was too much

private:
    inspect::TempFolder folder_;
    std::vector<std::pair<std::string, std::optional<std::string>>> before_;  ///< variables
};

/// The first of them in a clause; empty: there is none.
std::string first_finding(const OclgrindFindings& findings);
/// One line per place, with the line of the source below it.
void print_findings(const OclgrindFindings& findings, const Choice& choice);

}  // namespace cllab::app
