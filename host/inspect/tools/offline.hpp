// Code for devices that this machine does not have: its libraries and compilers compile the same kernel text with the
// same options for another processor.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/tools/clang.hpp"
#include "model/device.hpp"

namespace cllab::inspect {

struct OfflineTarget {
    std::string name;     ///< "gfx900", "sm_90"
    std::string gives;    ///< what this machine can make: "code object, GCN, metadata", "PTX", "PTX, SASS, registers"
    std::string missing;  ///< a sentence: what would enable the target, or the rest of it; empty if nothing is missing
    bool available() const { return !gives.empty(); }
};

/// Every known target, by vendor, with what the tools of this machine are known to make for it.
std::vector<OfflineTarget> offline_targets();
/// What would enable the missing part of a target.
std::string missing_of(const std::string& target);
/// All targets, each with what a trial build of a small kernel made.
std::vector<OfflineTarget> tried_targets();
/// The compilers of the target's code, with versions: "clang 19.1.7 and libclc, ptxas 13.0.88".
std::string offline_compiler(const std::string& target, const ChosenCompiler& by = {});

/// Throws Error(usage) for a target that is not in the list. Throws Error(environment) for a target that this machine
/// cannot compile for; the message says what would enable it.
void require_offline(const std::string& target, const ChosenCompiler& by = {});

/// A device like the target, for Experiment::setup and the LAB_* defines. Its memory and caches are small on purpose:
/// nothing runs on it, but they determine the sizes of inputs. `options` are those of the build that follows, because
/// the compiler chooses the width of an RDNA processor's wave. Throws Error(usage) for a target that is not in the
/// list; the message has the nearest names.
model::Device offline_device(const std::string& target, const std::string& options = {}, const ChosenCompiler& by = {});

/// What a compiler made from one text: one piece, or several if not all of its kernels compile together.
struct OfflineProgram {
    struct Piece {
        std::string log, binary;  ///< the compiler's messages; code object, PTX …
        DisassembleOptions options;
    };
    std::vector<Piece> pieces;
    std::map<std::string, std::size_t> kernels;  ///< index of the piece with the kernel
    std::map<std::string, std::string> refused;  ///< kernels that do not compile, each with the compiler's messages
    std::string log;                             ///< if nothing of the text compiles; otherwise empty
    std::vector<std::string> notes;              ///< clauses: how the code differs from the text or its options
};

struct OfflineBuild {
    bool ok = false;
    std::string log;                   ///< the compiler's messages
    std::string binary;                ///< code object or PTX
    Analysis analysis;                 ///< empty unless ok
    std::vector<std::string> notes{};  ///< of its program
    std::string lacking;               ///< a clause: functions that it calls but nothing defines; empty: none
};

/// Compiles texts for targets, each text once for all of its kernels. Several threads may use it. `options` are those
/// of clBuildProgram; vendor switches that only a driver knows (-cl-nv-…) are dropped.
class OfflinePrograms {
public:
    explicit OfflinePrograms(std::chrono::milliseconds limit, ChosenCompiler by = {})
        : limit_(limit), by_(std::move(by)) {}

    /// `apart`: the kernels are needed independently, so those that do not compile are removed from the text. A text
    /// that does not compile is a result, not an exception. Throws Error(usage) like offline_device. Throws
    /// Error(environment), with what would enable the target, if this machine cannot compile for it.
    const OfflineProgram& program(const std::string& target, const std::string& text, const std::string& options,
                                  bool apart);
    /// One kernel of the program. Throws as above.
    OfflineBuild kernel(const std::string& target, const std::string& text, const std::string& options, bool apart,
                        const std::string& entry, const LaunchSize& launch);

private:
    std::chrono::milliseconds limit_;
    ChosenCompiler by_;
    std::mutex access_;
    std::map<std::vector<std::string>, std::shared_ptr<Lazy<OfflineProgram>>> made_;
};

}  // namespace cllab::inspect
