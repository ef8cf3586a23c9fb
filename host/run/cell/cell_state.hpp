// One cell on one device, from its text to its record, in three steps: prepare() makes it and proves it right, Sampling
// (cell_sampling.hpp) measures it, finish() reads its code, proves it once more and fills the record.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/phases.hpp"
#include "device/program.hpp"
#include "inspect/code/hot_code.hpp"
#include "inspect/tools/dump.hpp"
#include "model/warning.hpp"
#include "run/cell/subject.hpp"
#include "run/instruments.hpp"
#include "run/request.hpp"

namespace cllab::run {

class Sampling;

struct CellState {
    /// Called when the cell enters a phase.
    using Announce = std::function<void(const model::Record& so_far, const char* phase)>;

    CellState(device::Session& session, Instruments& instruments, const model::Cell& cell, const model::Order& order,
              const Settings& settings, Announce announce);

    /// Does `work` and turns what drivers throw into a status. False: the record has a final status and the cell is
    /// finished.
    bool guarded(const std::function<void()>& work);
    bool fail(model::Status status, const std::string& reason);  ///< false, for callers to return
    bool proved(const Subject::Wrong& wrong);                    ///< false: it is wrong, and the record says so
    void warn(const std::string& warning);
    void warn(model::Warning kind, const std::string& sentence) { warn(model::warning(kind, sentence)); }
    void announce(const char* phase) { announce_(record, phase); }
    void clocks(const device::Clocks& read);  ///< the clock as read between samples

    device::Session& session;
    Instruments& instruments;
    const model::Cell& cell;
    const Settings& settings;
    Announce announce_;
    model::Record record;
    model::Setup setup;
    std::string source;
    bool begun = false, code_seen = false;
    std::shared_future<device::Built> building;
    device::Built built, reference;  ///< reference: of Setup::reference
    std::string reference_known_by;  ///< the hash of its text and options
    std::vector<std::byte> binary;
    std::shared_future<inspect::Analysis> code;        ///< while or after it is read
    std::optional<inspect::AddressSamples> addresses;  ///< while the cell ran again and again
    std::string ran;  ///< path in PoCL's container of the function that was seen running; empty: none was
    std::unique_ptr<Subject> subject;
    std::size_t sets = 1;
    double device_bytes = 0;
    bool fresh_data = false;                    ///< what goes in is put back before each timed operation
    bool work_counted = false;                  ///< the declared work was found in the code
    std::optional<inspect::DumpFolder> dumped;  ///< while it lives no other run writes where this one dumped
};

/// needs -> setup, and begins the build. For what is prepared soon: builds of several cells then go on at once.
void begin(CellState& state);
/// begin() unless begun -> build -> verify. False: the cell is finished. `beside`: a prepared cell whose equal buffers
/// are reused (host/README.md, rule 15). `proved`: a cell with the same setup; its output is compared with this cell's
/// before the host's reference is.
bool prepare(CellState& state, const CellState* beside = nullptr, const CellState* proved = nullptr);

/// Bytes of the copy that the cell is compared with; 0: none.
std::uint64_t yardstick_bytes(const CellState& state);
void set_yardstick(CellState& state, const Yardsticks::Known& known);

/// On a device that is this host: runs the cell for Settings::hot_seconds and samples addresses. Where that is
/// impossible, the record has the reason.
void sample_hot_code(CellState& state);
/// Instructions of the hot code per pixel, or per byte moved, among the metrics; nothing where they are not known.
void count_per_unit(CellState& state);
/// Begins to read the code in a thread of its own.
void begin_reading_code(CellState& state);
/// Reads the code, or waits until it is read, lays the sampled addresses on it, and dumps it.
void read_code(CellState& state);
/// Samples what runs, reads the code and dumps it; once.
void see_code(CellState& state);
/// see_code(), checks what the timed operations left and fills the record. Never throws for what a driver
/// did. `sampling`: nothing where the cell was not to be measured.
void finish(CellState& state, Sampling* sampling);
/// Finishes a cell of an arrangement: keeps all samples and checks the guards. Reads no code and dumps nothing.
void finish_arrangement(CellState& state, Sampling& sampling);

}  // namespace cllab::run
