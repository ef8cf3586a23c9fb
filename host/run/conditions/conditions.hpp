// What of this machine may disturb a timing, as far as it can be read: settings, neighbors, the way memory is given
// out.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.hpp"

namespace cllab::run {

/// "governor": "powersave". Reads /proc and /sys below `root`; what is not there is left out.
std::map<std::string, std::string> host_conditions(const std::filesystem::path& root = "/");

// How long the threads of this process had cores, and how long they were ready to run and had none, because others had
// them.
//
// Two cores that others share do not slow a kernel evenly: beside two compilers one of PoCL's two threads did all of
// the groups in most samples while the other waited, so that arithmetic took twice its time within 0.3 %, which no
// interval and no drift of a reference kernel shows. Samples without such a wait were 1 in 100. So nothing
// is set aside: what was had is counted, by the system's own account of each thread.

struct CoreTime {
    double had = 0, waited = 0;  ///< seconds, of all threads together

    CoreTime operator-(const CoreTime& before) const { return {had - before.had, waited - before.waited}; }
    CoreTime operator+(const CoreTime& other) const { return {had + other.had, waited + other.waited}; }
};

/// What the line of a thread's "schedstat" says; nothing where it is none.
std::optional<CoreTime> parse_schedstat(std::string_view line);

class CoreClock {
public:
    /// Of the threads below `tasks` that there are now, of which `caller` asks. None where the system does not count
    /// it.
    CoreClock();
    CoreClock(const std::filesystem::path& tasks, const std::string& caller);

    bool is_known() const { return !files_.empty(); }
    /// Since the threads began: of the one that asks, which is the one that enqueues, and of all others together.
    struct Reading {
        CoreTime caller, others;

        Reading operator-(const Reading& before) const { return {caller - before.caller, others - before.others}; }
        Reading operator/(double n) const {
            return {{caller.had / n, caller.waited / n}, {others.had / n, others.waited / n}};
        }
        Reading operator+(const Reading& more) const { return {caller + more.caller, others + more.others}; }
    };
    Reading now() const;

private:
    struct File {
        Descriptor schedstat;
        bool of_caller;
    };
    std::vector<File> files_;
};

/// One sample beside what its threads had meanwhile.
struct SharedSample {
    double seconds = 0;        ///< as it counts for the time: of an operation or a step
    double duration = 0;       ///< of all its operations, by the clock that times them
    CoreClock::Reading cores;  ///< meanwhile, for all of them
    CoreClock::Reading had;    ///< as `seconds` counts: of an operation, or the difference of two runs for a step
};

struct CoresHad {
    double had = 0, waited = 0;  ///< cores on average; zeros: not known
};

/// What is had is that of the median sample over the median time. The thread that enqueues counts only where the others
/// do not do the work: what it does between two launches is no part of their time. Waits come in bursts: they are those
/// of the samples from the first to the third quartile of the time.
CoresHad cores_had(const std::vector<SharedSample>& samples);

}  // namespace cllab::run
