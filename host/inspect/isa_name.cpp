#include "inspect/disassemble.hpp"

namespace cllab::inspect {

const char* name(Isa isa) {
    switch (isa) {
        case Isa::none:
            return "none";
        case Isa::x86:
            return "x86";
        case Isa::other_host:
            return "host";
        case Isa::gcn:
            return "gcn";
        case Isa::sass:
            return "sass";
        case Isa::ptx:
            return "ptx";
        case Isa::spirv:
            return "spirv";
        case Isa::llvm_ir:
            return "llvm-ir";
    }
    return "none";
}

Isa isa_from(std::string_view text) {
    for (const Isa isa : {Isa::x86, Isa::other_host, Isa::gcn, Isa::sass, Isa::ptx, Isa::spirv, Isa::llvm_ir})
        if (text == name(isa)) return isa;
    return Isa::none;
}

}  // namespace cllab::inspect
