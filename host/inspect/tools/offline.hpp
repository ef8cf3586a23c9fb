// Code for devices that are not here: the same kernel text with the same options, compiled for another
// processor by the libraries and compilers of this machine.
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
    std::string gives;    ///< "code object, GCN, metadata", "PTX", "PTX, SASS, registers": what this machine can make
    std::string missing;  ///< a sentence: what would enable it, or the rest of it; empty when nothing is missing
    bool available() const { return !gives.empty(); }
};

/// Every target the lab knows, vendor by vendor, each with what this machine's tools are known to make of it.
std::vector<OfflineTarget> offline_targets();
/// What would enable the rest of one of them.
std::string missing_of(const std::string& target);
/// All of them, each with what a small kernel's build delivered here just now.
std::vector<OfflineTarget> tried_targets();
/// What makes the target's code, with its version: "clang 19.1.7 and libclc, ptxas 13.0.88".
std::string offline_compiler(const std::string& target, const ChosenCompiler& by = {});

/// Throws Error(usage) for a target that is not in the list, and Error(environment) for one that this machine makes no
/// code for, with what would enable it.
void require_offline(const std::string& target, const ChosenCompiler& by = {});

/// A device such as the target, for Experiment::setup and the LAB_* defines. Its memory and caches are small on
/// purpose: nothing runs on it, and inputs are sized after them. `options` are those of the build to come: an RDNA
/// processor's wave is as wide as the compiler makes it. Throws Error(usage) for a target that is not in the
/// list, with the nearest names.
model::Device offline_device(const std::string& target, const std::string& options = {}, const ChosenCompiler& by = {});

/// What a compiler made of one text: one piece, or several where not all of its kernels compile together.
struct OfflineProgram {
    struct Piece {
        std::string log, binary;  ///< the compiler's own words; code object, PTX …
        DisassembleOptions options;
    };
    std::vector<Piece> pieces;
    std::map<std::string, std::size_t> kernels;  ///< the piece that has it
    std::map<std::string, std::string> refused;  ///< kernels that do not compile, each with the compiler's words
    std::string log;                             ///< where nothing of the text compiles; else empty
    std::vector<std::string> notes;              ///< clauses: what is not as the text or its options say
};

struct OfflineBuild {
    bool ok = false;
    std::string log;                   ///< the compiler's own words
    std::string binary;                ///< code object or PTX
    Analysis analysis;                 ///< empty unless ok
    std::vector<std::string> notes{};  ///< of its program
    std::string lacking;               ///< a clause: what of it is nowhere; empty: nothing
};

/// Texts compiled for targets, each once however many kernels of it are asked for. May be used by several threads.
/// `options` are those of clBuildProgram; vendor switches that only a driver knows (-cl-nv-…) are left out.
class OfflinePrograms {
public:
    explicit OfflinePrograms(std::chrono::milliseconds limit, ChosenCompiler by = {})
        : limit_(limit), by_(std::move(by)) {}

    /// `apart`: the text has kernels that are wanted by themselves, so those that do not compile are taken out of it.
    /// A text that does not compile is an answer. Throws Error(usage) as offline_device and Error(environment) when
    /// this machine cannot make code for the target, with what would enable it.
    const OfflineProgram& program(const std::string& target, const std::string& text, const std::string& options,
                                  bool apart);
    /// One kernel of it. Throws as above.
    OfflineBuild kernel(const std::string& target, const std::string& text, const std::string& options, bool apart,
                        const std::string& entry, const LaunchSize& launch);

private:
    std::chrono::milliseconds limit_;
    ChosenCompiler by_;
    std::mutex access_;
    std::map<std::vector<std::string>, std::shared_ptr<Lazy<OfflineProgram>>> made_;
};

}  // namespace cllab::inspect
