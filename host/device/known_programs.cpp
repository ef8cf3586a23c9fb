#include "device/known_programs.hpp"

#include "core/hash.hpp"
#include "core/includes.hpp"
#include "device/program.hpp"

namespace cllab::device {

std::string KnownPrograms::key_of(const std::string& source, const std::string& options) {
    return includes_of(source).empty() ? sha256_hex(options + std::string(1, '\0') + source) : std::string();
}

bool KnownPrograms::pay(const model::Device& device) {
    return device.implementation == model::Implementation::pocl && device.is_cpu();
}

const std::vector<std::byte>* KnownPrograms::find(const std::string& key) const {
    const auto found = known_.find(key);
    return found == known_.end() || key.empty() ? nullptr : &found->second;
}

void KnownPrograms::built(const std::string& key, const cl::Program& program) {
    if (keeps_ && !key.empty()) made_.insert_or_assign(key, program);
}

ProgramBytes KnownPrograms::made() const {
    ProgramBytes out;
    for (const auto& [key, program] : made_) {
        try {
            auto bytes = program_binary({.program = program, .ok = true});
            if (!bytes.empty()) out.emplace(key, std::move(bytes));
        } catch (const std::exception&) {  // the next process builds it from text
        }
    }
    return out;
}

}  // namespace cllab::device
