// libFuzzer target: the grammar of kernel files, and .npy files. The first byte chooses: 'n' a .npy file, 'o' an
// option, 's' a compiled program, else a kernel file with its block. Whatever is refused is refused in one sentence.
// Build and run with tests/fuzz/run.
#include <cstdint>
#include <cstdlib>

#include "core/error.hpp"
#include "core/kernel_text.hpp"
#include "core/text.hpp"
#include "device/spirv.hpp"
#include "kernelfile/data/data.hpp"
#include "kernelfile/description.hpp"
#include "model/registry.hpp"

/// Kernels are compiled nowhere here, so that none is embedded.
std::string_view cllab::model::embedded_kernel(std::string_view) { return {}; }

using namespace cllab;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void evaluate(const kernelfile::Expression& expression) {
    try {
        expression.evaluate(
            [](const std::string& name, const kernelfile::Place&) { return static_cast<std::int64_t>(name.size()); });
    } catch (const Error& e) {
        require(e.blame() == Blame::usage);
    }
}

void block(const std::string& text) {
    kernelfile::Description description;
    kernelfile::parse_blocks(text, "fuzz.cl", description);
    kernelfile::parse_statements(text, "fuzz.cllab", 1, description);
    for (const auto& [name, spec] : description.all.arguments)
        for (const auto& expression : spec.extent) evaluate(expression);
    if (description.all.global)
        for (const auto& expression : description.all.global->second) evaluate(expression);
    auto both = description;
    kernelfile::override_with(both, description);
    require(both.all.arguments.size() == description.all.arguments.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    try {
        if (data[0] == 's') {
            device::read_spirv(text);
            device::kernels_of_program(text_of_program(text));
        }
        if (data[0] == 'n') {
            const auto* first = reinterpret_cast<const std::byte*>(text.data());
            const auto array = kernelfile::read_npy({first, first + text.size()}, "fuzz.npy", {"fuzz", 0, 0});
            std::size_t count = 1;
            for (const auto n : array.shape) count *= n;
            require(array.data.size() == count * model::builtin_type(array.type)->bytes);
        } else if (data[0] == 'o') {
            kernelfile::Description description;
            for (const char* option : {"arg", "global", "work", "tolerance", "variant", "expect"})
                kernelfile::parse_option(option, text, description);
        } else {
            block(text);
        }
    } catch (const Error& e) {
        require(e.blame() == Blame::usage);
        require(sentence(e.what()).size() < 1000);
    }
    return 0;
}
