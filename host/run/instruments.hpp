// What the cells of a device share beside their own kernels; made when the first cell needs it.
#pragma once

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "device/program.hpp"
#include "inspect/tools/dump.hpp"
#include "model/experiment.hpp"
#include "run/cache_state.hpp"
#include "run/conditions/reference.hpp"

namespace cllab::run {

struct Answer;

/// The last few results, each made once and found again by its key; some are still being made.
template <typename Result>
class Recent {
public:
    explicit Recent(std::size_t most) : most_(most) {}
    template <typename Make>
    std::shared_future<Result> find_or_make(std::string key, std::launch when, Make make) {
        const auto found = std::ranges::find(results_, key, &Entry::first);
        if (found != results_.end()) return found->second;
        if (results_.size() == most_) results_.pop_front();
        results_.emplace_back(std::move(key), std::async(when, std::move(make)).share());
        return results_.back().second;
    }

private:
    using Entry = std::pair<std::string, std::shared_future<Result>>;
    std::size_t most_;
    std::deque<Entry> results_;
};

class Programs {
public:
    /// `ahead`: texts may be built in a thread of their own where the device lets the host work beside it; one after
    /// the other, since what a driver's compiler does with several at once is its own affair. Else each is built by the
    /// first get().
    Programs(device::Session& session, bool ahead) : session_(session), ahead_(ahead) {}
    std::shared_future<device::Built> build(const std::string& source, const std::string& options);
    bool builds_ahead() const { return ahead_; }

private:
    device::Session& session_;
    bool ahead_;
    std::mutex one_at_a_time_;
    Recent<device::Built> recent_{128};
};

/// The last few binaries that were read. Points of a sweep often have the same code, and reading it takes longer than
/// running it where ptxas and a disassembler are asked.
class CodeMemo {
public:
    /// As inspect::read_code: in a thread of its own, or by the first get() when not `beside`. The device that
    /// the request refers to outlives it.
    std::shared_future<inspect::Analysis> read(const inspect::DumpRequest& request, bool beside);

private:
    Recent<inspect::Analysis> recent_{64};  ///< of the cells that wait for theirs, some have several kernels
};

/// What outlives a run on a session: the next one finds the same texts built and read, and the same reference. Goes
/// before its session.
struct Kept {
    std::optional<Reference> reference;
    std::optional<Programs> programs;
    bool in_advance = false;  ///< these were built before there was a run, for the runs to come
    CodeMemo code;
    model::Memo data;
    std::shared_ptr<const Answer> answer{};  ///< of the cell before
};

class Instruments {
public:
    /// `kept`: of the session; what is empty is made here.
    Instruments(device::Session& session, Kept& kept, const std::optional<model::Limits>& limits,
                bool builds_ahead = true)
        : session_(session), kept_(kept), limits_(limits), last_level_(run::last_level(session.facts(), limits)) {
        if (!kept.programs || (!kept.in_advance && kept.programs->builds_ahead() != builds_ahead))
            kept.programs.emplace(session, builds_ahead);
    }

    const std::optional<model::Limits>& limits() const { return limits_; }
    const LastLevel& last_level() const { return last_level_; }
    Reference& reference() {
        if (!kept_.reference) kept_.reference.emplace(session_);
        return *kept_.reference;
    }
    /// Throws as Flush's constructor at the first call.
    Flush& flush() {
        if (!flush_) flush_.emplace(session_, displacing(last_level_.bytes));
        return *flush_;
    }
    CodeMemo& code() { return kept_.code; }
    model::Memo& data() { return kept_.data; }
    std::shared_ptr<const Answer>& answer() { return kept_.answer; }
    Programs& programs() { return *kept_.programs; }
    Yardsticks& yardsticks() { return yardsticks_; }

private:
    device::Session& session_;
    Kept& kept_;
    std::optional<model::Limits> limits_;
    LastLevel last_level_;
    std::optional<Flush> flush_;
    Yardsticks yardsticks_;
};

}  // namespace cllab::run
