// Where the wall-clock time of a run goes. Phases nest: during an inner phase, the outer phase's clock stops. So the
// phases of a thread never add up to more than its time.
#pragma once

#include <array>
#include <map>

namespace cllab {

enum class Phase {
    driver_start,  ///< loading the drivers, listing their devices, making a context
    timer_audit,
    data,  ///< random inputs, and values that a family computes from them
    build,
    buffers,  ///< allocation, upload, poison and guards
    verify,   ///< launches of the verification, with the driver's compilation at the first one
    download,
    host_reference,  ///< comparing the output with the host's own result
    warm_up,
    yardstick,
    sampling,
    drift_reference,  ///< the reference kernel between the samples
    hot_code,         ///< launches while addresses are sampled
    disassembly,
    dump,
    transfers,     ///< the timed transfers
    energy,        ///< of the idle device, and of the row of operations
    arrangements,  ///< the processes of --vs
};
/// In the order of the enumeration.
inline constexpr std::array all_phases{Phase::driver_start, Phase::timer_audit, Phase::data,     Phase::build,
                                       Phase::buffers,      Phase::verify,      Phase::download, Phase::host_reference,
                                       Phase::warm_up,      Phase::yardstick,   Phase::sampling, Phase::drift_reference,
                                       Phase::hot_code,     Phase::disassembly, Phase::dump,     Phase::transfers,
                                       Phase::energy,       Phase::arrangements};
/// The name in records: "driver_start".
const char* name(Phase phase);

using Phases = std::map<Phase, double>;  ///< seconds
double total(const Phases& phases);
void add(Phases& to, const Phases& more);

/// During its lifetime, charges this thread's time to the phase.
class InPhase {
public:
    enum class Inner { apart, included };
    /// `included`: also charges the time of inner phases to this one.
    explicit InPhase(Phase phase, Inner inner = Inner::apart);
    ~InPhase();
    InPhase(const InPhase&) = delete;
    InPhase& operator=(const InPhase&) = delete;

private:
    const InPhase* outer_;
    Phase phase_;
    bool with_inner_;
    friend struct ThreadPhases;
};

/// During its lifetime, adds this thread's phases to `account`. A thread without an account does not count them.
class ChargedTo {
public:
    explicit ChargedTo(Phases& account);
    ~ChargedTo();
    ChargedTo(const ChargedTo&) = delete;
    ChargedTo& operator=(const ChargedTo&) = delete;

private:
    Phases* outer_;
};

}  // namespace cllab
