// The order in which blocks are laid out so that lanes of a wave that wait for each other meet: a block stands before
// what follows it, and a loop's blocks before what follows the loop.
#pragma once

#include <vector>

namespace llvm {
class BasicBlock;
class Function;
}  // namespace llvm

namespace cllab::count {

std::vector<const llvm::BasicBlock*> in_order(const llvm::Function& function);

}  // namespace cllab::count
