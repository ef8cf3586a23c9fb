// Objects that the cells on a device share. Each is made when the first cell needs it.
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

/// The last few results by key. Each is made once, possibly still in another thread.
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
    /// `ahead`: builds run in another thread if the host can work while the device does. They run one at a time,
    /// because a driver's compiler may not support parallel builds. Otherwise the first get() of a result builds it.
    Programs(device::Session& session, bool ahead) : session_(session), ahead_(ahead) {}
    std::shared_future<device::Built> build(const std::string& source, const std::string& options);
    bool builds_ahead() const { return ahead_; }

private:
    device::Session& session_;
    bool ahead_;
    std::mutex one_at_a_time_;
    Recent<device::Built> recent_{128};
};

/// The last few binaries that were read. Points of a sweep often have the same code. Reading it with ptxas and a
/// disassembler takes longer than running it.
class CodeMemo {
public:
    /// As inspect::read_code: in another thread if `in_thread`, else in the first get(). The device in the request must
    /// outlive the result.
    std::shared_future<inspect::Analysis> read(const inspect::DumpRequest& request, bool in_thread);

private:
    Recent<inspect::Analysis> recent_{64};  ///< many, because cells wait for their code and may have several kernels
};

/// Results that outlive a run on a session: programs, code that was read, and the reference kernel. Destroy it before
/// its session.
struct Kept {
    std::optional<Reference> reference;
    std::optional<Programs> programs;
    bool in_advance = false;  ///< build_in_advance() made `programs`, and runs keep them
    CodeMemo code;
    model::Memo data;
    std::shared_ptr<const Answer> answer{};  ///< answer of the previous cell
};

class Instruments {
public:
    /// `results`: results of earlier runs on the session. Adds what is missing.
    Instruments(device::Session& session, Kept& results, const std::optional<model::Limits>& limits,
                bool builds_ahead = true)
        : session_(session), kept_(results), limits_(limits), last_level_(run::last_level(session.facts(), limits)) {
        if (!results.programs || (!results.in_advance && results.programs->builds_ahead() != builds_ahead))
            results.programs.emplace(session, builds_ahead);
    }

    const std::optional<model::Limits>& limits() const { return limits_; }
    const LastLevel& last_level() const { return last_level_; }
    Reference& reference() {
        if (!kept_.reference) kept_.reference.emplace(session_);
        return *kept_.reference;
    }
    /// The first call throws as Flush's constructor.
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
