#include "run/cell_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <sys/utsname.h>
#include <unistd.h>

#include "core/hash.hpp"
#include "core/stats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/quirks.hpp"
#include "model/params.hpp"
#include "run/kernel_source.hpp"
#include "run/needs.hpp"

namespace cllab::run {
namespace {

using namespace model;
using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

MeasureRules rules_for(const Device& device, const Settings& settings) {
    MeasureRules rules;
    if (device.is_gpu()) {
        rules.warm_seconds = 0.25;  // GPUs raise their clock over some 100 ms
    } else {
        rules.warm_cap_seconds = 0.2;  // a busy host never settles within 1 %, and waiting does not help it
    }
    if (settings.warm_seconds > 0) {
        rules.warm_seconds = settings.warm_seconds;
        rules.warm_cap_seconds = 4 * settings.warm_seconds;
    }
    rules.sampling_seconds = settings.sampling_seconds;
    if (settings.arrangement) {
        // Enough for caches and pages; a GPU's clock is brought up by the executor, once for all cells.
        rules.warm_seconds = 0.01;
        rules.warm_cap_seconds = 0.05;
    }
    return rules;
}

}  // namespace

const HostInfo& this_host() {
    static const HostInfo host = [] {
        HostInfo out;
        char name[256] = "";
        gethostname(name, sizeof name - 1);
        // Under Slurm the node's own name: several nodes may share a machine, and a container's host name says nothing.
        const char* node = std::getenv("SLURMD_NODENAME");
        out.name = node && *node ? node : name;
        std::ifstream cpuinfo("/proc/cpuinfo");
        for (std::string line; std::getline(cpuinfo, line);) {
            if (line.rfind("model name", 0) == 0) {
                out.cpu = trim(line.substr(line.find(':') + 1));
                break;
            }
        }
        utsname system{};
        if (uname(&system) == 0) out.os = std::string(system.sysname) + " " + system.release;
        out.threads = std::thread::hardware_concurrency();
        return out;
    }();
    return host;
}

CellRun::CellRun(device::Session& session, Instruments& instruments, const Cell& cell, const Order& order, const Settings& settings,
                 Phase phase)
    : session_(session),
      instruments_(instruments),
      cell_(cell),
      settings_(settings),
      phase_(std::move(phase)),
      rules_(rules_for(session.facts(), settings)),
      stop_(rules_),
      drift_(rules_.first_check),
      random_(mix64(settings.seed)) {
    const auto& facts = session.facts();
    record_.id = cell.id;
    record_.family = cell.experiment->family;
    record_.variant = cell.variant->name;
    record_.point = cell.point.values();
    record_.device = {facts.platform, facts.name, facts.vendor, facts.driver, name(facts.type), facts.selector, facts.identity,
                      instruments.last_level().bytes, instruments.last_level().from};
    record_.host = this_host();
    record_.run = settings.run;
    record_.run.seed = settings.seed;
    record_.run.order = order;
    record_.utc = utc_now();
    record_.argv = settings.argv;
}

bool CellRun::fail(Status status, const std::string& reason) {
    record_.status = status;
    record_.reason = one_line(reason);
    // A wrong kernel has no time.
    record_.time.reset();
    record_.samples.clear();
    record_.aside.clear();
    record_.metrics.clear();
    return false;
}

void CellRun::warn(const std::string& warning) {
    if (std::find(record_.warnings.begin(), record_.warnings.end(), warning) == record_.warnings.end())
        record_.warnings.push_back(warning);
}

bool CellRun::guarded(const std::function<void()>& work) {
    try {
        work();
        return record_.status == Status::ok;
    } catch (const Unsupported& e) {
        return fail(Status::unsupported, e.what());
    } catch (const cl::Error& e) {
        return fail(Status::launch_failed, std::string(e.what()) + " gives " + device::error_name(e.err()));
    } catch (const Error& e) {
        if (e.blame() != Blame::result) throw;
        return fail(Status::launch_failed, e.what());
    } catch (const std::length_error&) {
        return fail(Status::launch_failed, "this point needs more memory than a process can have");
    } catch (const std::bad_alloc&) {
        return fail(Status::launch_failed, "the host has no memory left for this point");
    }
}

void CellRun::build() {
    const auto& facts = session_.facts();
    auto source = kernel_source(*cell_.experiment, *cell_.variant, settings_.cl_dir);
    source_ = std::move(source.text);
    record_.build.options = build_options(cell_, setup_, facts, settings_.build_options);
    record_.build.source = source.origin;
    record_.build.source_sha256 = sha256_hex(source_);
    built_ = device::build(session_, source_, record_.build.options);
    built_.log = name_lines(built_.log, source_);
    record_.build.seconds = built_.seconds;
    record_.build.log = built_.log;
    // The fastest compile seen from text took 20 ms; an answer in 5 ms came from the driver's own cache.
    record_.build.cached = built_.ok && built_.seconds < 5e-3;
    if (!built_.ok) {
        std::string first;
        for (const auto& line : split(built_.log, '\n')) {
            if (lower(line).find("error") != std::string::npos) {
                first = trim(line);
                break;
            }
        }
        if (first.empty()) first = one_line(built_.log);
        fail(Status::build_failed, device::error_name(built_.code) + (first.empty() ? "" : ": " + first));
        return;
    }
    if (setup_.reference) build_reference();
}

void CellRun::build_reference() {
    const auto& variant = *setup_.reference->variant;
    const model::Cell cell{cell_.experiment, &variant, cell_.experiment->id(variant), cell_.point, {}};
    reference_ = device::build(session_, kernel_source(*cell.experiment, variant, settings_.cl_dir).text,
                               build_options(cell, *setup_.reference->setup, session_.facts(), settings_.build_options));
    if (!reference_.ok)
        fail(Status::build_failed, "the reference '" + variant.name + "' does not build: " + device::error_name(reference_.code));
}

bool CellRun::prepare() {
    phase_("build");
    const bool built = guarded([&] {
        if (const auto reason = missing_need(*cell_.variant, session_.facts())) {
            fail(Status::unsupported, *reason);
            return;
        }
        setup_ = model::set_up(*cell_.experiment, {*cell_.variant, cell_.point, session_.facts(), settings_.seed, settings_.files});
        record_.point = setup_.point.values();
        const auto& facts = session_.facts();
        device_bytes_ = run::device_bytes(setup_);
        const auto room = static_cast<double>(facts.global_bytes);
        if (room > 0 && device_bytes_ > room)
            throw Unsupported("it needs " + format_bytes(static_cast<std::uint64_t>(device_bytes_)) + "; the device has " +
                              format_bytes(facts.global_bytes));
        if (settings_.measure) {
            sets_ = sets_for(settings_.cache, facts, setup_, instruments_.last_level().bytes, memory_budget(facts));
            device_bytes_ *= static_cast<double>(sets_);
            if (settings_.cache == Cache::cold) instruments_.flush();
        }
        build();
        if (record_.status != Status::ok) return;
        subject_ = std::make_unique<Subject>(session_, built_, setup_, cell_.experiment->entry(*cell_.variant),
                                             beside_ ? beside_->subject_.get() : nullptr);
        if (setup_.reference) subject_->set_reference(reference_);
    });
    if (!built) {
        if (record_.status == Status::build_failed) guarded([&] { dump(); });
        return false;
    }
    phase_("verify");
    const bool right = guarded([&] {
        if (!proved(subject_->verify(setup_, settings_.seed, setup_.verify_operations))) return;
        if (!settings_.measure) {
            // A simulator takes as long for the second time as for the first.
            if (session_.facts().implementation != Implementation::oclgrind) proved(subject_->verify_one_more(settings_.seed));
            return;
        }
        subject_->make_sets(sets_);
        if (settings_.arrangement) {  // both seeds were proved when the cell was measured alone
            if (sets_ > 1) proved(subject_->verify(setup_, settings_.seed, setup_.verify_operations));
            return;
        }
        setup_ = model::set_up(*cell_.experiment, {*cell_.variant, cell_.point, session_.facts(), settings_.seed + 1, settings_.files, 1});
        proved(subject_->verify(setup_, settings_.seed + 1, setup_.verify_operations));
    });
    if (!right) guarded([&] { dump(); });  // the code of a wrong kernel is what its author wants to see
    return right;
}

bool CellRun::proved(const Subject::Wrong& wrong) { return !wrong || fail(Status::wrong_result, *wrong); }

std::uint64_t CellRun::yardstick_bytes() const {
    if (setup_.slope || setup_.work.bytes <= 0) return 0;
    return run::yardstick_bytes(setup_.work.bytes, data_bytes(setup_));
}

double CellRun::one_sample(unsigned operations) {
    if (settings_.cache == Cache::cold) instruments_.flush().run();
    if (!setup_.slope) return subject_->timed(operations);
    const auto& slope = *setup_.slope;
    subject_->set_trips(slope.low);
    const double low = subject_->timed(operations);
    subject_->set_trips(slope.high);
    const double high = subject_->timed(operations);
    return (high - low) / (static_cast<double>(slope.high - slope.low) * slope.steps_per_trip);
}

bool CellRun::warm_up() {
    phase_("warm up");
    return guarded([&] {
        const auto& audit = session_.timer();
        if (setup_.slope) subject_->set_trips(setup_.slope->high);
        std::vector<double> launches;
        const auto start = Clock::now();
        double last = subject_->timed(1);
        // Very short launches are warmed up a handful at a time, or the loop itself would be what runs.
        const unsigned handful = operations_per_sample(std::max(last, 1e-9), 0, 0, rules_);
        do {
            last = subject_->timed(handful);
            launches.push_back(last);
            settled_ = settled(launches, rules_);
        } while ((launches.size() < 2 || since(start) < rules_.warm_seconds || !settled_) &&
                 since(start) < rules_.warm_cap_seconds);
        const auto tail = std::span<const double>(launches).last(std::min<std::size_t>(launches.size(), rules_.window));
        const double operation = std::max(summarise(tail).median, 1e-9);
        per_sample_ = operations_per_sample(operation, static_cast<double>(audit.step_ns) * 1e-9, audit.empty_seconds, rules_);
        if (settings_.cache == Cache::cold) per_sample_ = 1;  // the second would find what the first brought
    });
}

void CellRun::look() {
    if (!proved(subject_->check_left())) return;
    subject_->poison();
    subject_->run();  // not timed: what it finds in the caches is the poison
    // The next time at a sample that no kernel can foresee, once before each doubling of the samples.
    const auto from = look_before_;
    look_before_ = std::max(rules_.first_check, 2 * from);
    look_at_ = from + static_cast<unsigned>(random_.below(look_before_ - from));
}

bool CellRun::sample() {
    guarded([&] {
        if (samples_ == look_at_) look();
    });
    if (record_.status != Status::ok) return false;
    const auto start = Clock::now();
    guarded([&] { drift_.sample(one_sample(per_sample_)); });
    ++samples_;
    spent_ += since(start);
    return lacks_samples();
}

bool CellRun::lacks_samples() {
    if (record_.status != Status::ok) return false;
    const auto taken = drift_.kept().size() + drift_.aside().size();
    // Like the samples, the time for those set aside is at most three times what the others may take.
    if (taken > 0 && spent_ * static_cast<double>(drift_.aside().size()) / static_cast<double>(taken) > 3 * rules_.sampling_seconds)
        drift_.give_up();
    return !stop_.enough(drift_.kept(), spent_);
}

}  // namespace cllab::run
