// Conditions of this machine that may disturb a timing, as far as they can be read: settings, other load, memory
// placement.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.hpp"

namespace cllab::run {

/// "governor": "powersave". Reads /proc and /sys below `root`; omits what is missing there.
std::map<std::string, std::string> host_conditions(const std::filesystem::path& root = "/");

// How long the threads of this process had cores, and how long they were runnable without a core.
//
// Sharing two cores with other processes does not slow a kernel evenly. Next to two compilers, one of PoCL's two
// threads did all work-groups in most samples while the other waited. So arithmetic took twice its time within 0.3 %,
// which no interval and no drift of a reference kernel shows. Only 1 in 100 samples had no such wait. Therefore no
// samples are set aside; the system's own account of each thread tells the cores it had.

struct CoreTime {
    double had = 0, waited = 0;  ///< seconds, summed over all threads

    CoreTime operator-(const CoreTime& before) const { return {had - before.had, waited - before.waited}; }
    CoreTime operator+(const CoreTime& other) const { return {had + other.had, waited + other.waited}; }
};

/// Parses the line of a thread's "schedstat"; nullopt if it is malformed.
std::optional<CoreTime> parse_schedstat(std::string_view line);

class CoreClock {
public:
    /// Watches the threads that exist now below `tasks`; `caller` is the ID of the calling thread. Watches none if the
    /// system does not count the times.
    CoreClock();
    CoreClock(const std::filesystem::path& tasks, const std::string& caller);

    bool is_known() const { return !files_.empty(); }
    /// Since the threads began: times of the calling thread, which enqueues, and of all others together.
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

/// One sample, and the cores that the threads had during it.
struct SharedSample {
    double seconds = 0;        ///< of an operation or a step, as reported
    double duration = 0;       ///< of all its operations, by the clock that times them
    CoreClock::Reading cores;  ///< during all of its operations
    CoreClock::Reading had;    ///< per operation like `seconds`, or per step as the difference of two runs
};

struct CoresHad {
    double had = 0, waited = 0;  ///< average cores; zeros: unknown
};

/// had: core time of the median sample, divided by the median time. The enqueuing thread counts only if the other
/// threads do not do the work: they do not wait for what it does between launches. waited: from the samples
/// between the first and third quartile of the time, because waits come in bursts.
CoresHad cores_had(const std::vector<SharedSample>& samples);

}  // namespace cllab::run
