#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "count/plugin/code.hpp"

namespace cllab::count {
namespace {

/// The address of an access to one element of a vector, else nothing.
const llvm::GetElementPtrInst* element_of(const llvm::Instruction& access) {
    const auto* address = llvm::dyn_cast_or_null<llvm::GetElementPtrInst>(llvm::getLoadStorePointerOperand(&access));
    if (!address || address->getNumIndices() < 2 || !llvm::isa<llvm::ConstantInt>(*std::prev(address->idx_end())))
        return nullptr;
    const std::vector<llvm::Value*> of_vector(address->idx_begin(), std::prev(address->idx_end()));
    const auto* type = llvm::GetElementPtrInst::getIndexedType(address->getSourceElementType(), of_vector);
    return type && type->isVectorTy() ? address : nullptr;
}

const llvm::Instruction* access_before(const llvm::Instruction& instruction) {
    const auto* out = instruction.getPrevNode();
    while (out && !out->mayReadOrWriteMemory()) out = out->getPrevNode();
    return out;
}

bool of_one_vector(const llvm::Instruction& a, const llvm::Instruction& b) {
    const auto *one = element_of(a), *other = element_of(b);
    return one && other && one->getNumOperands() == other->getNumOperands() &&
           std::equal(one->op_begin(), std::prev(one->op_end()), other->op_begin());
}

/// Whether it stores an element behind a store of what is constant of the vector.
bool completes(const llvm::Instruction& instruction) {
    const auto* before = access_before(instruction);
    if (!before || !llvm::isa<llvm::StoreInst>(before) || !llvm::isa<llvm::StoreInst>(instruction)) return false;
    const auto* constant = llvm::dyn_cast<llvm::Constant>(before->getOperand(0));
    return (element_of(instruction) && constant && constant->containsUndefOrPoisonElement()) ||
           (of_one_vector(instruction, *before) && completes(*before));
}

}  // namespace

std::vector<const llvm::BasicBlock*> in_order(const llvm::Function& function) {
    using Block = const llvm::BasicBlock*;
    llvm::DominatorTree dominators(const_cast<llvm::Function&>(function));  // which asks for one that it could change
    const llvm::LoopInfo loops(dominators);
    // In how many of the loops around `block` the other one is.
    const auto stays = [&](Block block, Block other) {
        const auto* loop = loops.getLoopFor(block);
        while (loop && !loop->contains(other)) loop = loop->getParentLoop();
        return loop ? loop->getLoopDepth() : 0;
    };
    std::set<Block> seen;
    std::vector<Block> left;
    // Depth first: what leaves a loop is visited first, and so is left first and comes last.
    const std::function<void(Block)> visit = [&](Block block) {
        if (!seen.insert(block).second) return;
        std::vector<Block> next(llvm::succ_begin(block), llvm::succ_end(block));
        std::stable_sort(next.begin(), next.end(), [&](Block a, Block b) { return stays(block, a) < stays(block, b); });
        for (const auto one : next) visit(one);
        left.push_back(block);
    };
    visit(&function.getEntryBlock());
    return {left.rbegin(), left.rend()};
}

bool goes_on(const llvm::Instruction& instruction) {
    if (completes(instruction)) return true;
    const auto* before = access_before(instruction);
    if (!before || before->getOpcode() != instruction.getOpcode() || !of_one_vector(instruction, *before)) return false;
    const auto number = [](const llvm::Instruction& access) {
        return llvm::cast<llvm::ConstantInt>(*std::prev(element_of(access)->idx_end()))->getSExtValue();
    };
    return llvm::isa<llvm::LoadInst>(instruction) || number(instruction) == number(*before) + 1;
}

}  // namespace cllab::count
