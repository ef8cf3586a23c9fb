// One cell on one device, from its text to its record.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/random.hpp"
#include "inspect/analysis.hpp"
#include "inspect/dump_folder.hpp"
#include "run/drift.hpp"
#include "run/executor.hpp"
#include "run/instruments.hpp"
#include "run/measure.hpp"
#include "run/subject.hpp"

namespace cllab::run {

class CellRun {
public:
    using Phase = std::function<void(const char*)>;

    CellRun(device::Session& session, Instruments& instruments, const model::Cell& cell, const model::Order& order,
            const Settings& settings, Phase phase);

    /// Before prepare(): uses the buffers of `other`, which is prepared, where they are alike. Method rule 15.
    void share_memory_with(const CellRun& other) { beside_ = &other; }
    /// needs -> setup -> build -> verify. False: the record has a final status and the cell is finished.
    bool prepare();
    /// Rules 4 and 5: warm up by time, then fix the operations of a sample. False as in prepare().
    bool warm_up();
    /// Takes one sample. False: enough, or failed.
    bool sample();
    /// True when the samples that count do not suffice yet.
    bool lacks_samples();
    /// Rule 14: the reference kernel took `seconds` just now; 0: there is none.
    void reference(double seconds) { if (seconds > 0) drift_.reference(seconds); }
    /// Ends the sampling with the samples there are; the record says `interrupted`.
    void stop_early() { interrupted_ = true; }
    /// Lets other runs write where this one dumped; after the record is beside the dump.
    void end_dump() { dumped_.reset(); }
    /// Of the copy that it can be held against; 0: none.
    std::uint64_t yardstick_bytes() const;
    void set_yardstick(const Yardsticks::Known& known);
    /// Cells with the same number take turns. `apart`: why others of the comparison are in another batch; empty: none is.
    void set_batch(unsigned number, const std::string& apart);
    /// Checks what the timed operations left, dumps, fills the record. Never throws for what a driver did.
    const model::Record& finish();

    // One arrangement of a comparison: cells that were proved before, on shared memory, in whole rounds.
    /// One sample that counts nothing, e.g. to bring the clock up. False as in prepare().
    bool idle_sample();
    /// Takes one sample; the caller decides how many. False: failed.
    bool round_sample();
    /// The samples as they are and the guards; no code is read and nothing dumped.
    const model::Record& finish_arrangement();

    const model::Record& record() const { return record_; }
    double device_bytes() const { return device_bytes_; }
    const model::Setup& setup() const { return setup_; }
    const model::Buffers& buffers() const { return subject_->buffers(); }

private:
    bool guarded(const std::function<void()>& work);  ///< turns what drivers throw into a status
    bool fail(model::Status status, const std::string& reason);
    void build();
    void build_reference();
    bool proved(const Subject::Wrong& wrong);  ///< false: it is wrong, and the record says so
    void look();                               ///< at what the samples so far have left; then poisons it
    double one_sample(unsigned operations);
    void warn(const std::string& warning);
    void say_proof();
    void fill_metrics();
    bool proved_after();
    void transfers();
    void observe();
    void dump();
    void judge_code(const inspect::Analysis& analysis);  ///< the work must be there
    void check_line();                                   ///< the same by the time, where no code could be counted

    device::Session& session_;
    Instruments& instruments_;
    const model::Cell& cell_;
    const Settings& settings_;
    Phase phase_;
    const CellRun* beside_ = nullptr;
    MeasureRules rules_;
    StopRule stop_;
    DriftFilter drift_;
    model::Record record_;
    model::Setup setup_;
    std::string source_;
    device::Built built_, reference_;
    std::optional<inspect::DumpFolder> dumped_;
    std::unique_ptr<Subject> subject_;
    std::size_t sets_ = 1;
    double device_bytes_ = 0;
    bool settled_ = false, interrupted_ = false, work_counted_ = false;
    unsigned per_sample_ = 1, batch_ = 1;
    unsigned samples_ = 0, look_at_ = 0, look_before_ = 1;  ///< taken so far; when what they left is looked at, which is before …
    Random random_;
    double spent_ = 0;
};

}  // namespace cllab::run
