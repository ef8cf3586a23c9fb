#include "device/timer.hpp"

#include <algorithm>
#include <numeric>

#include "core/clock.hpp"
#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"
#include "device/program.hpp"
#include "device/session.hpp"

namespace cllab::device {
namespace {

double event_seconds(const Stamps& s) { return s.end >= s.start ? static_cast<double>(s.end - s.start) * 1e-9 : 0; }

}  // namespace

Stamps stamps_of(const cl::Event& event) {
    Stamps out;
    const auto ask = [&](cl_profiling_info what, std::uint64_t& to) {
        cl_ulong value = 0;
        if (clGetEventProfilingInfo(event(), what, sizeof value, &value, nullptr) == CL_SUCCESS) to = value;
    };
    ask(CL_PROFILING_COMMAND_QUEUED, out.queued);
    ask(CL_PROFILING_COMMAND_SUBMIT, out.submit);
    ask(CL_PROFILING_COMMAND_START, out.start);
    ask(CL_PROFILING_COMMAND_END, out.end);
    return out;
}

double row_seconds(std::span<const Stamps> commands, bool one_queue) {
    auto begun = commands.front().start, ended = commands.back().end;
    bool sound = begun > 0 && ended >= begun;
    for (std::size_t i = 0; !one_queue && i < commands.size(); ++i) {
        const auto& s = commands[i];
        sound = sound && s.start > 0 && s.end >= s.start;
        begun = std::min(begun, s.start), ended = std::max(ended, s.end);
    }
    if (!sound) throw Error(Blame::result, "the driver returned profiling times that are 0 or end before they start");
    return static_cast<double>(ended - begun) * 1e-9;
}

void judge_stamps(TimerAudit& audit, const std::vector<Stamps>& stamps) {
    audit.launches = static_cast<unsigned>(stamps.size());
    audit.ordered = !stamps.empty();
    audit.varied = false;
    std::uint64_t step = 0;
    std::vector<double> empty;
    for (const auto& s : stamps) {
        audit.ordered = audit.ordered && s.queued <= s.submit && s.submit <= s.start && s.start <= s.end;
        const auto& first = stamps.front();
        audit.varied = audit.varied || s.start != first.start || s.end != first.end;
        // On many drivers, QUEUED and SUBMIT come from the host's clock, so only START and END show the step.
        step = std::gcd(step, std::gcd(s.start, s.end));
        empty.push_back(event_seconds(s));
    }
    audit.step_ns = step;
    if (!empty.empty()) audit.empty_seconds = summarise(empty).median;
}

void judge(TimerAudit& audit) {
    audit.trusted = false;
    if (!audit.varied) {
        audit.verdict = "not trusted: all " + std::to_string(audit.launches) + " launches gave the same stamps";
    } else if (!audit.ordered) {
        audit.verdict = "not trusted: stamps are out of order (QUEUED <= SUBMIT <= START <= END does not hold)";
    } else if (audit.event_over_host < 0.80 || audit.event_over_host > 1.02) {
        audit.verdict = "not trusted: by events a batch took " + format_significant(audit.event_over_host, 3) +
                        " of the time that the host measured (0.80 to 1.02 is believable)";
    } else if (audit.tenfold < 3) {
        audit.verdict =
            "not trusted: ten times the work took only " + format_significant(audit.tenfold, 3) + " times as long";
    } else {
        audit.trusted = true;
        audit.verdict = "trusted";
    }
}

namespace {

/// Seconds of a launch and of an event: minima of several rows, because other load only lengthens them.
void time_launches(TimerAudit& audit, Chain& chain, const cl::CommandQueue& queue) {
    const auto row = [&](bool with_events) {
        std::vector<cl::Event> events(200);
        const auto start = Clock::now();
        for (auto& event : events) chain.launch(0, with_events ? &event : nullptr);
        queue.finish();
        return seconds_since(start) / static_cast<double>(events.size());
    };
    double plain = row(false), marked = row(true);
    for (int again = 0; again < 2; ++again) plain = std::min(plain, row(false)), marked = std::min(marked, row(true));
    audit.gap_seconds = plain;
    audit.event_seconds = std::max(marked - plain, 0.0);
}

/// Trips for 1 to 2 ms by the host clock, which needs no audit.
int trips_of_milliseconds(Chain& chain, const cl::CommandQueue& queue) {
    const auto host_seconds = [&](int trips) {
        const auto start = Clock::now();
        chain.launch(trips, nullptr);
        queue.finish();
        return seconds_since(start);
    };
    // Take the shorter of two launches, because preemption of the host would make one look long.
    int trips = 1000;
    while (trips < 100'000'000 && (host_seconds(trips) < 1e-3 || host_seconds(trips) < 1e-3)) trips *= 2;
    return trips;
}

constexpr int attempts = 6;

/// Keeps the best agreement of several batches, because preemption of the host spoils a batch now and then. Later
/// batches are longer, which makes the spoiled part smaller.
void compare_with_host(TimerAudit& audit, Chain& chain, const cl::CommandQueue& queue, int trips) {
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::vector<cl::Event> events(10);
        const auto start = Clock::now();
        for (auto& event : events) chain.launch(trips * (2 << attempt / 2), &event);
        queue.finish();
        const double host = seconds_since(start);
        const auto first = stamps_of(events.front()), last = stamps_of(events.back());
        const double ratio = last.end > first.start ? static_cast<double>(last.end - first.start) * 1e-9 / host : 0;
        if (attempt == 0 || std::abs(ratio - 1) < std::abs(audit.event_over_host - 1)) audit.event_over_host = ratio;
        if (audit.event_over_host >= 0.80 && audit.event_over_host <= 1.02) break;
    }
}

/// Compares the shortest of each, because other load only lengthens them. Stops once the ratio is about ten.
void compare_tenfold(TimerAudit& audit, Chain& chain, const cl::CommandQueue& queue, int trips) {
    double one_seconds = 0, ten_seconds = 0;
    for (int attempt = 0; attempt < attempts && std::abs(audit.tenfold - 10) > 2; ++attempt) {
        cl::Event one, ten;
        chain.launch(trips, &one);
        chain.launch(trips * 10, &ten);
        queue.finish();
        const double a = event_seconds(stamps_of(one)), b = event_seconds(stamps_of(ten));
        one_seconds = attempt == 0 ? a : std::min(one_seconds, a);
        ten_seconds = attempt == 0 ? b : std::min(ten_seconds, b);
        audit.tenfold = one_seconds > 0 ? ten_seconds / one_seconds : 0;
    }
}

}  // namespace

TimerAudit audit_timer(Session& session) {
    TimerAudit audit;
    audit.reported_step_ns = session.device().getInfo<CL_DEVICE_PROFILING_TIMER_RESOLUTION>();
    try {
        Chain chain(session);
        const auto& queue = session.queue();
        chain.launch(0, nullptr);  // compiles on PoCL
        queue.finish();

        std::vector<Stamps> stamps(400);
        for (auto& s : stamps) {
            cl::Event event;
            chain.launch(0, &event);
            event.wait();
            s = stamps_of(event);
        }
        judge_stamps(audit, stamps);
        time_launches(audit, chain, queue);
        const int trips = trips_of_milliseconds(chain, queue);
        compare_with_host(audit, chain, queue, trips);
        compare_tenfold(audit, chain, queue, trips);
    } catch (const Error& e) {
        audit.verdict = std::string("not trusted: ") + e.what();
        return audit;
    } catch (const cl::Error& e) {
        audit.verdict = "not trusted: the audit failed with " + error_name(e.err()) + " in " + e.what();
        return audit;
    }
    judge(audit);
    return audit;
}

Chain::Chain(Session& session) : queue_(session.queue()) {
    const auto built = build(session, std::string(embedded("device/chain.cl")), "");
    if (!built.ok)
        throw Error(Blame::result, "cllab's kernel lab_chain does not build (" + error_name(built.code) + ")");
    kernel_ = cl::Kernel(built.program, "lab_chain");
    out_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE, 64);
    kernel_.setArg(0, out_);
    kernel_.setArg(2, cl_uint{12345});
}

void Chain::launch(int trips, cl::Event* event) {
    kernel_.setArg(1, cl_int{trips});
    queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(1), cl::NDRange(1), nullptr, event);
}

}  // namespace cllab::device
