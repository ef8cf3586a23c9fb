// Where the wall-clock time of a run goes. Phases nest: while an inner one lasts, the clock of the outer one stands, so
// that the phases of a thread never add up to more than its time.
#pragma once

#include <array>
#include <map>

namespace cllab {

enum class Phase {
    driver_start,  ///< loading the drivers, listing their devices, making a context
    timer_audit,
    data,  ///< random inputs and what a family computes with them
    build,
    buffers,  ///< allocation, upload, poison and guards
    verify,   ///< launches of the verification, and what the driver compiles at the first one
    download,
    host_reference,  ///< comparing what came back with the host's own result
    warm_up,
    yardstick,
    sampling,
    drift_reference,  ///< the kernel that is timed between the samples
    hot_code,         ///< launches while addresses are sampled
    disassembly,
    dump,
    transfers,     ///< the timed ones
    energy,        ///< at rest, and the row of operations
    arrangements,  ///< the processes of --vs
};
/// In the order of the enumeration.
inline constexpr std::array all_phases{Phase::driver_start, Phase::timer_audit, Phase::data,     Phase::build,
                                       Phase::buffers,      Phase::verify,      Phase::download, Phase::host_reference,
                                       Phase::warm_up,      Phase::yardstick,   Phase::sampling, Phase::drift_reference,
                                       Phase::hot_code,     Phase::disassembly, Phase::dump,     Phase::transfers,
                                       Phase::energy,       Phase::arrangements};
/// As records have it: "driver_start".
const char* name(Phase phase);

using Phases = std::map<Phase, double>;  ///< seconds
double total(const Phases& phases);
void add(Phases& to, const Phases& more);

/// While it lives, the time of this thread goes to the phase.
class InPhase {
public:
    enum class Inner { apart, included };
    /// `included`: time in inner phases goes to this one too.
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

/// While it lives, the phases of this thread are added to `account`; those of a thread without one are lost.
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
