// Every instruction set the lab knows. A new one is a file beside this one and a name in this list.
#pragma once

#include <vector>

#include "inspect/isa/isa.hpp"

#define CLLAB_INSTRUCTION_SETS(X) X(x86) X(gcn) X(sass) X(ptx) X(xe) X(host) X(spirv) X(llvm_ir)

namespace cllab::inspect::isa {

#define CLLAB_DECLARE(name) extern const InstructionSet name;
CLLAB_INSTRUCTION_SETS(CLLAB_DECLARE)
#undef CLLAB_DECLARE

const std::vector<const InstructionSet*>& all();
/// "gcn" gives &gcn; nullptr for any other text.
const InstructionSet* named(std::string_view name);
/// The one whose code a binary of this kind holds; nullptr when it holds something else, or the code of several.
const InstructionSet* of(Kind kind);

}  // namespace cllab::inspect::isa
