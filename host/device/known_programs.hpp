// Programs that another process on the same device has built already, as bytes.
//
// An arrangement of a comparison is a fresh process, and what it does before its first sample is time without evidence.
// Most of it were the builds: PoCL 3.1 takes 35 ms or more, 50 to 90 on a busy machine, for each text that its cache
// knows, because clang starts and the bitcode is read; from the bytes that it gave for that very program it takes 1 ms,
// and loads the same machine code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/cl.hpp"
#include "model/device.hpp"

namespace cllab::device {

/// By what identifies text and options.
using ProgramBytes = std::map<std::string, std::vector<std::byte>>;

class KnownPrograms {
public:
    /// Text with which options; empty for one that includes files, which may change.
    static std::string key_of(const std::string& source, const std::string& options);
    /// Whether the driver is known to be the faster for it.
    static bool pay(const model::Device& device);

    /// From now on what is built from text is kept for made().
    void keep() { keeps_ = true; }
    void add(const ProgramBytes& known) { known_.insert(known.begin(), known.end()); }
    /// The bytes of a program; nothing where they are not known, or were refused.
    const std::vector<std::byte>* find(const std::string& key) const;
    void refused(const std::string& key) { known_.erase(key); }
    void built(const std::string& key, const cl::Program& program);
    /// The bytes of what was built() here since keep(), as they are now: PoCL adds the code of a local size when it
    /// first runs.
    ProgramBytes made() const;

private:
    bool keeps_ = false;
    ProgramBytes known_;
    std::map<std::string, cl::Program> made_;
};

}  // namespace cllab::device
