// Oclgrind's headers, most of which may be read only once by a compiler call and say nothing against a second time, and
// what both of the things that the plugin may be are.
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

/// Is told of every access by one function.
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
    /// `item`: nullptr of what a group copies asynchronously.
    virtual void access(const oclgrind::Memory* memory, const oclgrind::WorkItem* item, size_t address, size_t size,
                        What what) = 0;
};

/// What the plugin does instead of counting where CLLAB_TOUCHED_FILE is set: it writes which bytes of its arguments a
/// launch touches. Read by app/choose/guessing.cpp; each launch replaces the file.
///   CLLAB_TOUCHED_FILE          where to
///   CLLAB_TOUCHED_INSTRUCTIONS  after so many the launch ends
std::unique_ptr<oclgrind::Plugin> make_touch_recorder(const oclgrind::Context* context, const std::string& file);

/// Adds to the Oclgrind of this process functions of LLVM that it lacks.
void teach_intrinsics();

/// Before a launch: integers of the program that the simulator would compute wrongly become others.
void widen_odd_integers(const oclgrind::KernelInvocation& invocation);

}  // namespace cllab::count
