// How long the threads of this process had cores, and how long they were ready to run and had none, because others had them.
//
// Two cores that others share do not slow a kernel evenly: beside two compilers one of PoCL's two threads did all of the groups in most samples while
// the other waited, so that arithmetic took twice its time within 0.3 %, which no interval and no drift of a reference kernel shows (2026-11-23).
// Samples without such a wait were 1 in 100. So nothing is set aside: what was had is counted, by the system's own account of each thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace cllab::run {

struct CoreTime {
    double had = 0, waited = 0;  ///< seconds, of all threads together

    CoreTime operator-(const CoreTime& before) const { return {had - before.had, waited - before.waited}; }
    CoreTime operator+(const CoreTime& other) const { return {had + other.had, waited + other.waited}; }
};

/// What the line of a thread's "schedstat" says; nothing where it is none.
std::optional<CoreTime> parse_schedstat(std::string_view line);

class CoreClock {
public:
    /// Of the threads below `tasks` that there are now. None where the system does not count it.
    explicit CoreClock(const std::filesystem::path& tasks = "/proc/self/task");
    ~CoreClock();
    CoreClock(const CoreClock&) = delete;
    CoreClock& operator=(const CoreClock&) = delete;

    bool is_known() const { return !files_.empty(); }
    /// Since the threads began.
    CoreTime now() const;

private:
    std::vector<int> files_;
};

/// One sample beside what its threads had meanwhile.
struct SharedSample {
    double seconds = 0;   ///< as it counts for the time: of an operation or a step
    double duration = 0;  ///< of all its operations, by the clock that times them
    CoreTime cores;
};

struct CoresHad {
    double had = 0, waited = 0;  ///< cores on average; zeros: not known
};

/// Of the samples from the first to the third quartile of their time: what the median is made of.
CoresHad cores_had(const std::vector<SharedSample>& samples);

}  // namespace cllab::run
