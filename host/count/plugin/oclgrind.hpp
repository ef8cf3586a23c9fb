// Oclgrind's headers, which mostly lack include guards, so that this file is their only includer; and the declarations
// that both kinds of plugin share.
#pragma once

#include <oclgrind/Context.h>
#include <oclgrind/Kernel.h>
#include <oclgrind/KernelInvocation.h>
#include <oclgrind/Memory.h>
#include <oclgrind/Plugin.h>
#include <oclgrind/Program.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>

#include <memory>
#include <string>

#include "count/wave/requests.hpp"

namespace cllab::count {

/// Passes every memory access to one function.
class AccessPlugin : public oclgrind::Plugin {
public:
    using oclgrind::Plugin::Plugin;

    bool isThreadSafe() const override { return false; }
    void memoryLoad(const oclgrind::Memory* memory, const oclgrind::WorkItem* item, size_t address,
                    size_t size) override {
        access(memory, item, address, size, What::load);
    }
    void memoryStore(const oclgrind::Memory* memory, const oclgrind::WorkItem* item, size_t address, size_t size,
                     const uint8_t*) override {
        access(memory, item, address, size, What::store);
    }
    void memoryLoad(const oclgrind::Memory* memory, const oclgrind::WorkGroup*, size_t address, size_t size) override {
        access(memory, nullptr, address, size, What::load);
    }
    void memoryStore(const oclgrind::Memory* memory, const oclgrind::WorkGroup*, size_t address, size_t size,
                     const uint8_t*) override {
        access(memory, nullptr, address, size, What::store);
    }
    /// Every atomic loads; a compare-exchange that fails does not store.
    void memoryAtomicLoad(const oclgrind::Memory* memory, const oclgrind::WorkItem* item, oclgrind::AtomicOp,
                          size_t address, size_t size) override {
        access(memory, item, address, size, What::atomic);
    }

private:
    /// `item`: nullptr for an asynchronous copy by the group.
    virtual void access(const oclgrind::Memory* memory, const oclgrind::WorkItem* item, size_t address, size_t size,
                        What what) = 0;
};

/// The plugin for CLLAB_TOUCHED_FILE: instead of counting, it records which bytes of its arguments a launch touches.
/// app/choose/guessing.cpp reads the file; each launch replaces it.
///   CLLAB_TOUCHED_FILE          output
///   CLLAB_TOUCHED_INSTRUCTIONS  maximum number of instructions; then the launch ends
std::unique_ptr<oclgrind::Plugin> make_touch_recorder(const oclgrind::Context* context, const std::string& file);

/// Adds the LLVM functions that Oclgrind lacks to the one in this process.
void teach_intrinsics();

/// Call before a launch: replaces integers of the program that the simulator would compute wrongly.
void widen_odd_integers(const oclgrind::KernelInvocation& invocation);

}  // namespace cllab::count
