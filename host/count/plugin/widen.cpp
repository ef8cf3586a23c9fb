// Widens integers whose size is not a whole number of bytes. Clang generates them from ordinary kernel code: `switch (i
// & 3)` uses 2 bits, and the closed form of a loop's sum uses 33. Oclgrind 21.10 computes them wrongly. Here they
// become the next wider integer that Oclgrind supports; its upper bits stay zero.
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "count/plugin/code.hpp"
#include "count/plugin/oclgrind.hpp"

namespace cllab::count {
namespace {

using I = llvm::Instruction;

bool is_odd(const llvm::Value* value) {
    const auto* type = llvm::dyn_cast<llvm::IntegerType>(value->getType());
    return type && type->getBitWidth() <= 64 && !is_whole(type->getBitWidth());
}

bool touches_odd(const llvm::Instruction& instruction) {
    return is_odd(&instruction) || std::ranges::any_of(instruction.operands(), [](const auto& o) { return is_odd(o); });
}

bool can_widen(const llvm::Instruction& instruction) {
    switch (instruction.getOpcode()) {
        case I::Trunc:
        case I::ZExt:
        case I::SExt:
        case I::Add:
        case I::Sub:
        case I::Mul:
        case I::And:
        case I::Or:
        case I::Xor:
        case I::Shl:
        case I::LShr:
        case I::AShr:
        case I::UDiv:
        case I::URem:
        case I::SDiv:
        case I::SRem:
        case I::ICmp:
        case I::Select:
        case I::PHI:
        case I::Freeze:
        case I::Switch:
        case I::UIToFP:
        case I::SIToFP:
            return true;
        case I::Call:
            return llvm::isa<llvm::MinMaxIntrinsic>(instruction);
        default:
            return false;
    }
}

class Widener {
public:
    explicit Widener(llvm::Function& function) : function_(function) {}

    void run() {
        const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
        for (auto* block : order)
            for (auto& instruction : *block)
                if (touches_odd(instruction)) replaced_.push_back(&instruction);
        for (auto* one : replaced_) widen(*one);
        for (auto* one : replaced_)
            if (auto* phi = llvm::dyn_cast<llvm::PHINode>(one))
                for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
                    llvm::cast<llvm::PHINode>(wide_.lookup(phi))
                        ->addIncoming(wide(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
        for (auto* one : replaced_) {
            one->replaceAllUsesWith(llvm::UndefValue::get(one->getType()));
            one->eraseFromParent();
        }
    }

private:
    using Builder = llvm::IRBuilder<>;

    llvm::Type* type_of(const llvm::Value* odd) const {
        const unsigned bits = odd->getType()->getIntegerBitWidth();
        return llvm::IntegerType::get(function_.getContext(), std::max(8u, unsigned(llvm::PowerOf2Ceil(bits))));
    }
    /// The widened value; the value itself if the simulator supports its type.
    llvm::Value* wide(llvm::Value* value) const {
        if (!is_odd(value)) return value;
        if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value))
            return llvm::ConstantInt::get(type_of(value), constant->getZExtValue());
        const auto known = wide_.find(value);
        return known != wide_.end() ? known->second : llvm::Constant::getNullValue(type_of(value));  // undefined
    }
    /// Marks an instruction that only the simulator needs, so that it does not count as work.
    static llvm::Value* aside(llvm::Value* value) {
        if (auto* made = llvm::dyn_cast<llvm::Instruction>(value))
            made->setMetadata(is_aside, llvm::MDNode::get(made->getContext(), {}));
        return value;
    }
    static llvm::Value* masked(Builder& b, llvm::Value* value, unsigned bits) {
        const auto mask = llvm::maskTrailingOnes<std::uint64_t>(bits);
        return b.CreateAnd(value, llvm::ConstantInt::get(value->getType(), mask));
    }
    /// The widened value, sign-extended.
    llvm::Value* with_sign(Builder& b, llvm::Value* value) const {
        auto* out = wide(value);
        if (!is_odd(value)) return out;
        const unsigned by = out->getType()->getIntegerBitWidth() - value->getType()->getIntegerBitWidth();
        return aside(b.CreateAShr(aside(b.CreateShl(out, by)), by));
    }
    void widen(llvm::Instruction& of) {
        Builder b(&of);
        auto* out = made(b, of);
        if (!out) return;
        if (is_odd(&of))
            wide_[&of] = out;
        else
            of.replaceAllUsesWith(out);
    }
    llvm::Value* made(Builder& b, llvm::Instruction& of) {
        const auto opcode = of.getOpcode();
        const bool odd = is_odd(&of);
        const unsigned bits = odd ? of.getType()->getIntegerBitWidth() : 0;
        auto* type = odd ? type_of(&of) : of.getType();
        const auto operand = [&](unsigned i) { return wide(of.getOperand(i)); };
        const auto fit = [&](llvm::Value* value) { return odd ? aside(masked(b, value, bits)) : value; };
        switch (opcode) {
            case I::Trunc: {
                constexpr unsigned of_a_mask = 8;  // `i & 3`; clang uses wider ones only for its own computations
                if (odd && bits < of_a_mask) return b.CreateZExtOrTrunc(masked(b, operand(0), bits), type);
                return fit(b.CreateZExtOrTrunc(operand(0), type));
            }
            case I::ZExt:
                return b.CreateZExtOrTrunc(operand(0), type);
            case I::SExt:
                return fit(b.CreateSExtOrTrunc(with_sign(b, of.getOperand(0)), type));
            case I::UIToFP:
                return b.CreateUIToFP(operand(0), type);
            case I::SIToFP:
                return b.CreateSIToFP(with_sign(b, of.getOperand(0)), type);
            case I::ICmp: {
                const auto predicate = llvm::cast<llvm::ICmpInst>(of).getPredicate();
                const bool is_signed = llvm::ICmpInst::isSigned(predicate);
                const auto side = [&](unsigned i) { return is_signed ? with_sign(b, of.getOperand(i)) : operand(i); };
                return b.CreateICmp(predicate, side(0), side(1));
            }
            case I::Select:
                return b.CreateSelect(operand(0), operand(1), operand(2));
            case I::PHI:
                return b.CreatePHI(type, llvm::cast<llvm::PHINode>(of).getNumIncomingValues());
            case I::Freeze:
                return b.CreateFreeze(operand(0));
            case I::Switch:
                widen_switch(b, llvm::cast<llvm::SwitchInst>(of));
                return nullptr;
            case I::Call: {
                const auto& call = llvm::cast<llvm::MinMaxIntrinsic>(of);
                const auto side = [&](llvm::Value* v) { return call.isSigned() ? with_sign(b, v) : wide(v); };
                auto* takes_left = b.CreateICmp(call.getPredicate(), side(call.getLHS()), side(call.getRHS()));
                return b.CreateSelect(takes_left, wide(call.getLHS()), wide(call.getRHS()));
            }
            default: {
                const bool is_signed = opcode == I::AShr || opcode == I::SDiv || opcode == I::SRem;
                auto* left = is_signed ? with_sign(b, of.getOperand(0)) : operand(0);
                auto* right = is_signed && opcode != I::AShr ? with_sign(b, of.getOperand(1)) : operand(1);
                return fit(b.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(opcode), left, right));
            }
        }
    }
    void widen_switch(Builder& b, llvm::SwitchInst& of) const {
        auto* out = b.CreateSwitch(wide(of.getCondition()), of.getDefaultDest(), of.getNumCases());
        for (const auto& one : of.cases())
            out->addCase(llvm::cast<llvm::ConstantInt>(wide(one.getCaseValue())), one.getCaseSuccessor());
    }

    llvm::Function& function_;
    std::vector<llvm::Instruction*> replaced_;
    llvm::DenseMap<const llvm::Value*, llvm::Value*> wide_;
};

// The simulator's cache of a kernel's values is private, but an explicit instantiation may name private members.
using Caches = std::map<const llvm::Function*, oclgrind::InterpreterCache*>;
Caches& caches_of(oclgrind::Program& program);
template <auto Member>
struct ReachCaches {
    friend Caches& caches_of(oclgrind::Program& program) { return program.*Member; }
};
template struct ReachCaches<&oclgrind::Program::m_interpreterCache>;

/// Whether it changed anything. Functions that use an odd integer in an unsupported instruction stay unchanged.
bool widen_integers(llvm::Module& module) {
    bool any = false;
    for (auto& function : module) {
        bool odd = false, all = true;
        for (auto& block : function)
            for (auto& instruction : block)
                if (touches_odd(instruction)) odd = true, all = all && can_widen(instruction);
        if (!odd || !all) continue;  // Code::odd_bits() reports the rest
        Widener(function).run();
        any = true;
    }
    return any;
}

}  // namespace

void widen_odd_integers(const oclgrind::KernelInvocation& invocation) {
    const auto& kernel = *invocation.getKernel();
    // The simulator owns the program, but only reads it.
    auto& module = *const_cast<llvm::Module*>(kernel.getFunction()->getParent());
    if (!widen_integers(module)) return;
    for (auto& [function, cache] : caches_of(const_cast<oclgrind::Program&>(*kernel.getProgram()))) {
        delete cache;
        cache = new oclgrind::InterpreterCache(const_cast<llvm::Function*>(function));
    }
}

}  // namespace cllab::count
