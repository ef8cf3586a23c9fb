#include "count/plugin/code_order.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <set>
#include <vector>

namespace cllab::count {
namespace {

class Search {
public:
    explicit Search(llvm::Function& function) : dominators_(function), loops_(dominators_) {}

    /// Depth first: what leaves a loop is visited first, and so is left first and comes last.
    void visit(const llvm::BasicBlock* block) {
        if (!seen_.insert(block).second) return;
        std::vector<const llvm::BasicBlock*> next(llvm::succ_begin(block), llvm::succ_end(block));
        std::stable_sort(next.begin(), next.end(),
                         [&](const auto* a, const auto* b) { return stays(block, a) < stays(block, b); });
        for (const auto* one : next) visit(one);
        left_.push_back(block);
    }
    std::vector<const llvm::BasicBlock*> order() const { return {left_.rbegin(), left_.rend()}; }

private:
    /// In how many of the loops around `block` the other one is.
    unsigned stays(const llvm::BasicBlock* block, const llvm::BasicBlock* other) const {
        const auto* loop = loops_.getLoopFor(block);
        while (loop && !loop->contains(other)) loop = loop->getParentLoop();
        return loop ? loop->getLoopDepth() : 0;
    }

    llvm::DominatorTree dominators_;
    llvm::LoopInfo loops_;
    std::set<const llvm::BasicBlock*> seen_;
    std::vector<const llvm::BasicBlock*> left_;
};

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
    Search search(const_cast<llvm::Function&>(function));  // the analyses ask for one that they could change
    search.visit(&function.getEntryBlock());
    return search.order();
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
