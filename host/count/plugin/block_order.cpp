#include "count/plugin/block_order.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include <algorithm>
#include <set>

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

}  // namespace

std::vector<const llvm::BasicBlock*> in_order(const llvm::Function& function) {
    Search search(const_cast<llvm::Function&>(function));  // the analyses ask for one that they could change
    search.visit(&function.getEntryBlock());
    return search.order();
}

}  // namespace cllab::count
