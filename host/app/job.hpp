// A run as data: what is shared by the in-process and the isolated way to carry it out.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "core/error.hpp"
#include "device/platforms.hpp"
#include "run/executor.hpp"

namespace cllab::app {

/// Called for each cell event; cell = (group, index).
struct Events {
    std::function<void(std::size_t, std::size_t, const model::Record&, const char*)> begin;
    std::function<void(std::size_t, std::size_t, const model::Record&)> done;
};

struct Job {
    Invocation invocation;
    std::vector<model::Group> plan;
    run::Options options;
    std::map<std::string, model::Limits> limits;  ///< from profiles, by the device's selector
};

/// What the records say of the run: its id, the same in every child process, the label and the drivers' caches.
model::RunInfo run_info(const Invocation& invocation);

/// Set by SIGINT and SIGTERM; asked between samples.
bool interrupted();
void catch_interrupts();   ///< the first one: wind down; a second one: end at once
void note_interrupts();    ///< for child processes: they only wind down, the parent kills

/// A crash while the drivers are loaded says so. Later ones say what describe_crash() was told last.
void catch_driver_crashes();

/// A device is there but its driver does not work: other devices of the run may.
class DeviceLost : public Error {
public:
    explicit DeviceLost(const std::string& sentence) : Error(Blame::environment, sentence) {}
};

/// Facts of the devices that the invocation names. Throws as device::resolve. Devices that fail their queries go to `troubles`.
std::vector<model::Device> resolve_devices(const Job& job, std::vector<std::string>* troubles = nullptr);

/// Writes the record beside its dump, when there is one; where that cannot be, the record gets a warning. For the process
/// that made the dump, before others may replace it.
void write_timing(model::Record& record);

/// A point that makes no sense, or a kernel's text that cannot be read, is the command line's fault, said before the long
/// part: Error(usage).
void check_points(const Job& job, const model::Device& device);

/// All cells of the plan on the device "P:D", in this process. Resolves every point first.
void run_on(const Job& job, const std::string& selector, const Events& events);

/// The same in a child process for each attempt: a child that dies or stalls costs the cell it was in, and a new child
/// goes on with the rest. Throws Error when the child reports one; DeviceLost when the device or its driver is to blame.
void run_isolated(const Job& job, const std::string& selector, const Events& events);

using HandOver = std::function<void(const std::string& line)>;
/// Runs `work` in a child process, which may call OpenCL while this process does not, and returns the lines that it hands
/// over. Throws what the child throws; DeviceLost, beginning with `doing`, when it dies, hands no first line over within
/// `first_seconds`, or no other one within `seconds`.
std::vector<std::string> in_child(const std::function<void(const HandOver&)>& work, const std::string& doing,
                                  double first_seconds, double seconds);

/// resolve_devices in a child process, so that a driver that crashes while loading is an Error and not a crash.
std::vector<model::Device> resolve_isolated(const Job& job, std::vector<std::string>* troubles = nullptr);

}  // namespace cllab::app
