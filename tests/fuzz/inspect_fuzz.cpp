// libFuzzer target: every parser that reads what a driver or a disassembler made. The first byte chooses the parser, so
// that one corpus serves all of them. Build and run with tests/fuzz/run.
#include <cstdint>
#include <cstdlib>

#include "inspect/binary/amd_metadata.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/binary/cpu_code.hpp"
#include "inspect/binary/nvidia.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"
#include "json/read.hpp"
#include "model/registry.hpp"

/// Kernels are compiled nowhere here, so that none is embedded.
std::string_view cllab::model::embedded_kernel(std::string_view) { return {}; }

using namespace cllab::inspect;

namespace {

/// Ends the process, so that libFuzzer reports it.
void require(bool condition) {
    if (!condition) std::abort();
}

bool inside(ByteSpan part, ByteSpan whole) {
    return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void binaries(ByteSpan bytes) {
    require(name(recognise(bytes)) != nullptr);
    require(ptx_text(bytes).size() <= bytes.size());
    const PoclContainer container = read_poclbin(bytes);
    for (const auto& entry : container.entries) require(inside(entry.content, bytes));
    require(inside(choose_pocl_code(container, "k", {cllab::model::Extent(64), {}}).content, bytes));
    read_cubin(bytes, "k");
    amd_processor(bytes);
    if (const auto metadata = read_amd_metadata(bytes)) amd_kernel(*metadata, "k");
}

void listing(const InstructionSet& set, ByteSpan bytes) {
    const auto stats = count_function(&set, as_text(bytes), "k");
    const std::size_t size = stats.code.instructions.size();
    require(stats.total.instructions <= size);
    std::size_t in_loops = 0;
    for (const auto& loop : stats.loops) {
        require(!loop.body.empty() && loop.body.back() < size);
        require(loop.parent < static_cast<int>(stats.loops.size()));
        in_loops += loop.body.size();
    }
    require(in_loops <= size);  // an instruction is in the own count of one loop at most
    summary(stats);
    if (size < 200) require(align(stats.code.instructions, stats.code.instructions).size() == size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const ByteSpan bytes = ByteSpan(reinterpret_cast<const std::byte*>(data), size).subspan(1);
    switch (data[0] % 16) {
        case 12:
            parse_ptxas_log(as_text(bytes), "k");
            break;
        case 13:
            cllab::parse_msgpack(bytes);
            break;
        case 14:
            cut_function(std::string(as_text(bytes)), "k"), cut_sass(std::string(as_text(bytes)), "k");
            break;
        case 15:
            binaries(bytes);
            break;
        default: {  // the counted instruction sets, in the order of their list
            static const auto sets = [] {
                auto counted = isa::all();
                std::erase_if(counted, [](const auto* set) { return set->parse == nullptr; });
                return counted;
            }();
            listing(*sets[data[0] % 16 % sets.size()], bytes);
            break;
        }
    }
    return 0;
}
