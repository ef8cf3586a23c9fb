// Where an instruction stands among others, as far as waves and accesses depend on it.
#pragma once

#include <vector>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
}  // namespace llvm

namespace cllab::count {

/// Blocks so laid out that lanes of a wave that wait for each other meet: a block stands before what follows it, and a
/// loop's blocks before what follows the loop.
std::vector<const llvm::BasicBlock*> in_order(const llvm::Function& function);

/// Accesses to single elements of a vector are one access of a device: of float4 clang makes single elements, behind a
/// store of what is constant of them. Whether this one loads another element of the vector of the access before it, or
/// stores the next one, or one that a store of the whole vector left undefined.
bool goes_on(const llvm::Instruction& instruction);

}  // namespace cllab::count
