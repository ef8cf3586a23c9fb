// One cell on one device, from its text to its record, in three steps. prepare() makes and verifies it. Sampling
// (cell_sampling.hpp) measures it. finish() reads its code, verifies it once more and fills the record.
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

    /// Does `work` and turns driver errors into a status. False: the record has a final status and the cell is
    /// finished.
    bool guarded(const std::function<void()>& work);
    bool fail(model::Status status, const std::string& reason);  ///< sets the record's status; returns false
    bool proved(const Subject::Wrong& wrong);                    ///< false: the cell is wrong, and the record says so
    void warn(const std::string& warning);
    void warn(model::Warning kind, const std::string& sentence) { warn(model::warning(kind, sentence)); }
    void announce(const char* phase) { announce_(record, phase); }
    void clocks(const device::Clocks& read);  ///< adds a clock reading taken between samples

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
    device::Built built, reference;  ///< reference: the program of Setup::reference
    std::string reference_known_by;  ///< the hash of its text and options
    std::vector<std::byte> binary;
    std::shared_future<inspect::Analysis> code;        ///< set once reading the code has begun
    std::optional<inspect::AddressSamples> addresses;  ///< sampled while the cell ran repeatedly
    std::string ran;  ///< path in PoCL's container of the function seen running; empty: none was seen
    std::unique_ptr<Subject> subject;
    std::size_t sets = 1;
    double device_bytes = 0;
    bool fresh_data = false;                    ///< inputs are restored before each timed operation
    bool work_counted = false;                  ///< the declared work was found in the code
    std::optional<inspect::DumpFolder> dumped;  ///< keeps other runs from writing to this folder
};

/// Checks the cell's needs, sets it up and starts its build. Call it early for cells that follow soon: their builds
/// then run in the background.
void begin(CellState& state);
/// begin() if not yet done, then builds and verifies. False: the cell is finished. `donor`: a prepared cell whose
/// equal buffers are reused (host/README.md, rule 15). `proved`: a verified cell with the same setup. Output equal to
/// that cell's is accepted without running the host's reference.
bool prepare(CellState& state, const CellState* donor = nullptr, const CellState* proved = nullptr);

/// Bytes of the copy that the cell is compared with; 0: no copy.
std::uint64_t yardstick_bytes(const CellState& state);
void set_yardstick(CellState& state, const Yardsticks::Outcome& known);

/// On a CPU device: runs the cell for Settings::hot_seconds and samples instruction addresses. If that is impossible,
/// the record has the reason.
void sample_hot_code(CellState& state);
/// Adds the metric hot_code: instructions of the hot code per pixel or other unit, or per byte moved. Adds nothing if
/// they are unknown.
void count_per_unit(CellState& state);
/// Starts reading the code in another thread.
void begin_reading_code(CellState& state);
/// Reads the code or waits for it, assigns the sampled addresses to it, and dumps it.
void read_code(CellState& state);
/// Samples addresses, then reads and dumps the code. Does so once; later calls do nothing.
void see_code(CellState& state);
/// see_code(), then checks the output of the timed operations and fills the record. Driver errors become a status.
/// `sampling`: nullptr if the cell was not to be measured.
void finish(CellState& state, Sampling* sampling);
/// Finishes a cell of an arrangement: keeps all samples and checks the guards. Reads no code and dumps nothing.
void finish_arrangement(CellState& state, Sampling& sampling);

}  // namespace cllab::run
