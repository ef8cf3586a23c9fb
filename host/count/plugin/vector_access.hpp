// Accesses to single elements of a vector that are one access of a device: of float4 clang makes single elements,
// behind a store of what is constant of them.
#pragma once

namespace llvm {
class Instruction;
}  // namespace llvm

namespace cllab::count {

/// Whether it loads another element of the vector of the access before it, or stores the next one, or one that a store
/// of the whole vector left undefined.
bool goes_on(const llvm::Instruction& instruction);

}  // namespace cllab::count
