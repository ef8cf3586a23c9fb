#include "count/plugin/code.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "core/table.hpp"
#include "count/called.hpp"
#include "count/plugin/oclgrind.hpp"

namespace cllab::count {
namespace {

using I = llvm::Instruction;
using model::Operation;

unsigned elements_of(const llvm::Type* type) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector ? vector->getNumElements() : 1;
}

unsigned bits_of(const llvm::Type* type) { return type->getScalarSizeInBits(); }

bool is_constant(const llvm::Value* pointer) {
    constexpr unsigned constant_space = 2;  // of SPIR
    return pointer->getType()->isPointerTy() && pointer->getType()->getPointerAddressSpace() == constant_space;
}

bool is_float(const llvm::Type* type) { return type->isFPOrFPVectorTy(); }

unsigned bytes_of(const llvm::Type* type) { return static_cast<unsigned>(type->getPrimitiveSizeInBits()) / 8; }

/// Device instructions besides operations: computed addresses, conditional branches, 16-byte accesses, sign extensions.
std::uint32_t weight_of(const llvm::Instruction& instruction) {
    constexpr unsigned widest_access = 16;
    switch (instruction.getOpcode()) {
        case I::Load:
            return std::max(1u, (bytes_of(instruction.getType()) + widest_access - 1) / widest_access);
        case I::Store:
            return std::max(1u, (bytes_of(instruction.getOperand(0)->getType()) + widest_access - 1) / widest_access);
        case I::GetElementPtr:
            return llvm::cast<llvm::GetElementPtrInst>(instruction).hasAllConstantIndices() ? 0 : 1;
        case I::Br:
            return llvm::cast<llvm::BranchInst>(instruction).isConditional() ? 1 : 0;
        case I::Switch:
            return 1;
        case I::SExt:
            return elements_of(instruction.getType());
        default:
            return 0;
    }
}

/// Whether it accesses a struct argument passed by value, which the simulator alone keeps in private memory.
bool loads_argument(const llvm::Instruction& instruction) {
    const auto* address = llvm::getLoadStorePointerOperand(&instruction);
    const auto* argument = address ? llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(address)) : nullptr;
    return argument && argument->hasByValAttr();
}

/// Bit mask of the address spaces that its pointer operands point to; all bits for a generic pointer.
std::uint8_t spaces_of(const llvm::Instruction& instruction) {
    constexpr unsigned spaces = 4, all = 15;
    unsigned out = 0;
    const auto add = [&](const llvm::Value* pointer) {
        if (!pointer->getType()->isPointerTy() || llvm::isa<llvm::Function>(pointer)) return;
        const auto space = pointer->getType()->getPointerAddressSpace();
        out |= space < spaces ? 1u << space : all;
    };
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
        add(store->getPointerOperand());
    else
        for (const auto& operand : instruction.operands()) add(operand);
    return static_cast<std::uint8_t>(out);
}

/// The operation of an integer division. Compilers turn a division by a constant into shifts or multiplications.
Operation division(const llvm::Instruction& instruction) {
    const llvm::APInt* by = nullptr;
    if (!llvm::PatternMatch::match(instruction.getOperand(1), llvm::PatternMatch::m_APInt(by)))
        return Operation::integer_divide;
    return by->isPowerOf2() ? Operation::integer_add : Operation::integer_multiply;
}

/// Whether it stores the event of an asynchronous copy. Only the simulator keeps events in private memory.
bool stores_event(const llvm::Instruction& instruction) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    const auto* call = store ? llvm::dyn_cast<llvm::CallInst>(store->getValueOperand()) : nullptr;
    const auto* function = call ? call->getCalledFunction() : nullptr;
    return function && plain_name(function->getName().str()).rfind("async_work_group", 0) == 0;
}

/// Without negations: they are free as parts of other instructions, and clang compiles a - b * c to an fma of -b.
constexpr Entry<unsigned, std::optional<Operation>> operations[]{
    {I::FAdd, Operation::float_add},     {I::FSub, Operation::float_add},       {I::FMul, Operation::float_multiply},
    {I::FDiv, Operation::float_divide},  {I::FRem, Operation::float_divide},    {I::FCmp, Operation::float_compare},
    {I::Add, Operation::integer_add},    {I::Sub, Operation::integer_add},      {I::And, Operation::integer_add},
    {I::Or, Operation::integer_add},     {I::Xor, Operation::integer_add},      {I::Shl, Operation::integer_add},
    {I::LShr, Operation::integer_add},   {I::AShr, Operation::integer_add},     {I::ICmp, Operation::integer_add},
    {I::Select, Operation::integer_add}, {I::Mul, Operation::integer_multiply}, {I::FPExt, Operation::conversion},
    {I::FPTrunc, Operation::conversion}, {I::FPToSI, Operation::conversion},    {I::FPToUI, Operation::conversion},
    {I::SIToFP, Operation::conversion},  {I::UIToFP, Operation::conversion}};

/// The operation of an instruction; nullopt if it is none.
std::optional<Operation> operation_of(const llvm::Instruction& instruction) {
    const auto opcode = instruction.getOpcode();
    const bool divides = opcode == I::SDiv || opcode == I::UDiv || opcode == I::SRem || opcode == I::URem;
    return divides ? division(instruction) : value_of(operations, opcode);
}

}  // namespace

Code::Code() { instructions_.emplace_back(); }  // number 0 stands for no instruction: asynchronous copies

std::uint32_t Code::find(const llvm::Instruction* instruction, std::uint32_t expected) {
    if (expected < instructions_.size() && instructions_[expected].llvm == instruction) return expected;
    auto known = numbers_.find(instruction);
    if (known == numbers_.end()) {
        add(*instruction->getFunction());
        known = numbers_.find(instruction);
    }
    return known->second;
}

std::uint32_t Code::add_value(const llvm::Value* value) {
    const auto number = size();
    instructions_.emplace_back();
    numbers_.emplace(value, number);
    return number;
}

void Code::add(const llvm::Function& function) {
    if (numbers_.count(&function.getEntryBlock().front())) return;
    for (const auto& argument : function.args()) add_value(&argument);
    for (const auto& block : function)
        for (const auto& instruction : block) instructions_[add_value(&instruction)].llvm = &instruction;
    for (const auto* block : in_order(function)) add_block(*block);
}

void Code::add_block(const llvm::BasicBlock& block) {
    bool begins = true;
    for (const auto& instruction : block) {
        const auto number = numbers_.at(&instruction);
        if (begins) {
            segments_.emplace_back();
            instructions_[number].segment = static_cast<std::uint32_t>(segments_.size() - 1);
        }
        const auto segment = segments_.size() - 1;
        Instruction out = instructions_[number];
        describe(out, instruction);  // may add the functions that it calls, with their segments
        auto& of = segments_[segment];
        of.weight += out.weight;
        of.instructions.push_back(number);
        if (out.memory) of.memory.push_back(number);
        of.calls = out.is == Instruction::Is::call;
        of.returns = out.is == Instruction::Is::returns;
        begins = of.calls || of.ends_at_barrier;
        instructions_[number] = std::move(out);
    }
}

std::uint64_t Code::used_elements(const llvm::Value& value) {
    const auto known = used_.find(&value);
    if (known != used_.end()) return known->second;
    const auto all = ~std::uint64_t{0} >> (64 - elements_of(value.getType()));
    std::uint64_t out = 0;
    for (const auto* user : value.users()) {
        const auto* element = llvm::dyn_cast<llvm::ExtractElementInst>(user);
        const auto* number = element ? llvm::dyn_cast<llvm::ConstantInt>(element->getIndexOperand()) : nullptr;
        out |= number ? 1ull << number->getZExtValue() & all
               : llvm::isa<llvm::BinaryOperator>(user) && value.getType()->isVectorTy() ? used_elements(*user)
                                                                                        : all;
    }
    return used_[&value] = out;
}

void Code::does(Instruction& out, Operation kind, unsigned bits, unsigned elements, const std::string& name) {
    const OperationName wanted{kind, bits, name};
    auto at = std::find(operations_.begin(), operations_.end(), wanted);
    if (at == operations_.end()) at = operations_.insert(operations_.end(), wanted);
    out.does.push_back({static_cast<std::uint32_t>(at - operations_.begin()), elements});
    out.weight += elements;
    out.link = Link::arithmetic;
}

void Code::place(Instruction& out, const llvm::Instruction& instruction) {
    const auto& at = instruction.getDebugLoc();
    if (!at) return;
    const auto name = at->getFilename().str();
    auto& file = files_[name];
    if (!file) file = std::make_unique<std::string>(name);
    out.line = at.getLine();
    out.file = file.get();
}

void Code::describe(Instruction& out, const llvm::Instruction& instruction) {
    place(out, instruction);
    if (instruction.getType()->isIntOrIntVectorTy() && !is_whole(bits_of(instruction.getType())))
        odd_bits_ = bits_of(instruction.getType());
    if (instruction.hasMetadata(is_aside)) {
        describe_operands(out, instruction);
        return;
    }
    const bool no_access = loads_argument(instruction) || stores_event(instruction);
    out.continues_access = !no_access && continues_access(instruction);
    out.weight = no_access || out.continues_access ? 0 : weight_of(instruction);
    // Calls count too: they may access memory through a pointer.
    out.memory = !no_access && !out.continues_access && instruction.mayReadOrWriteMemory();
    out.constant = llvm::any_of(instruction.operands(), [](const auto& operand) { return is_constant(operand); });
    if (const auto kind = operation_of(instruction)) {
        const bool compares = llvm::isa<llvm::CmpInst>(instruction);
        const auto* type = compares ? instruction.getOperand(0)->getType() : instruction.getType();
        const unsigned bits = type->isPtrOrPtrVectorTy() ? 64 : bits_of(type);
        does(out, *kind, bits, llvm::countPopulation(used_elements(instruction)));
    }
    if (llvm::isa<llvm::ReturnInst>(instruction)) out.is = Instruction::Is::returns;
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
        out.is = Instruction::Is::phi;
        // Blocks are described in in_order(). An incoming block without a segment comes later: a loop's back edge.
        const auto around = llvm::count_if(phi->blocks(), [&](const auto* from) {
            return from == phi->getParent() || instructions_[numbers_.at(&from->front())].segment == no_number;
        });
        out.merges = around != 1 || phi->getNumIncomingValues() != 2;
    }
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call) describe_call(out, *call);
    out.decides = instruction.isTerminator() && instruction.getNumSuccessors() > 1;
    constexpr unsigned growing[] = {I::Add,  I::Sub,   I::Mul,  I::Shl,  I::SExt,
                                    I::ZExt, I::Trunc, I::SDiv, I::UDiv, I::ICmp};
    out.grows =
        llvm::is_contained(growing, instruction.getOpcode()) && bits_of(instruction.getOperand(0)->getType()) > 1;
    if (out.memory || out.continues_access) {
        out.touches = spaces_of(instruction);
        out.atomic = out.atomic || instruction.isAtomic();
        const auto* address = llvm::getLoadStorePointerOperand(&instruction);
        const auto known = address ? numbers_.find(address) : numbers_.end();
        if (known != numbers_.end()) out.address = known->second;
    }
    describe_operands(out, instruction);
}

void Code::describe_operands(Instruction& out, const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    out.operands = static_cast<std::uint32_t>(operands_.size());
    // Operands of phis and arguments of the kernel's own functions keep their positions, constants included.
    const bool has_places = out.is == Instruction::Is::phi || out.is == Instruction::Is::call;
    for (const auto& operand : call ? call->args() : instruction.operands()) {
        const auto known = numbers_.find(operand);
        if (known != numbers_.end())
            operands_.push_back(known->second);
        else if (has_places)
            operands_.push_back(no_number);
    }
    out.count = static_cast<std::uint32_t>(operands_.size()) - out.operands;
}

void Code::describe_call(Instruction& out, const llvm::CallInst& call) {
    const auto* function = call.getCalledFunction();
    if (!function) function = llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
    if (!function) return;
    const auto segment = segments_.size() - 1;
    if (!function->isDeclaration()) {
        out.is = Instruction::Is::call;
        out.weight = 1;
        add(*function);
        if (function->arg_size() > 0) out.first_argument = numbers_.at(function->arg_begin());
        return;
    }
    const auto* first = call.arg_size() > 0 ? call.getArgOperand(0)->getType() : call.getType();
    const auto* result = call.getType()->isVoidTy() ? first : call.getType();
    const bool floats = is_float(first) || is_float(result);
    const auto what = called(function->getName().str(), floats);
    const auto name = plain_name(function->getName().str());
    out.of_place = name == "get_global_id" || name == "get_group_id" || name == "get_global_linear_id";
    out.atomic = name.starts_with("atom");
    const auto elements = std::max(elements_of(first), elements_of(result));
    switch (what.is) {
        case Called::Is::operation: {
            // A function of floats with an integer result (ilogb, isnan) counts by its argument's type.
            const bool converts = what.kind == Operation::conversion;
            const auto* type = !converts && floats && !is_float(result) ? first : result;
            const bool stores_half = converts && call.getType()->isVoidTy();
            does(out, what.kind, stores_half ? 16 : bits_of(type), elements, what.function);
            break;
        }
        case Called::Is::dot:
            does(out, Operation::float_multiply, bits_of(first), 1);
            if (elements > 1) does(out, Operation::float_fma, bits_of(first), elements - 1);
            break;
        case Called::Is::barrier:
            segments_[segment].ends_at_barrier = true;
            out.memory = false;  // of wait_group_events: events only
            out.weight = 1;
            break;
        case Called::Is::image:
            out.image = true;
            out.memory = false;
            out.link = Link::load;
            out.weight = 1;
            break;
        case Called::Is::other:
            out.memory = out.memory && function->getName() != "printf";  // printf reads its format
            out.weight = 1;
            break;
        case Called::Is::nothing:
            break;
    }
}

std::vector<std::uint32_t> Code::of_loop_left_by(std::uint32_t branch) const {
    const auto* block = instructions_[branch].llvm->getParent();
    llvm::DominatorTree dominators(const_cast<llvm::Function&>(*block->getParent()));
    const llvm::LoopInfo loops(dominators);
    const llvm::Loop* left = nullptr;
    for (const auto* loop = loops.getLoopFor(block); loop; loop = loop->getParentLoop())
        if (llvm::any_of(llvm::successors(block), [&](const auto* next) { return !loop->contains(next); })) left = loop;
    std::vector<std::uint32_t> out;
    for (std::uint32_t s = 0; left && s < segments_.size(); ++s) {
        const auto* other = instructions_[segments_[s].instructions.front()].llvm->getParent();
        if (other->getParent() != block->getParent() || left->contains(other)) out.push_back(s);
    }
    return out;
}

std::uint32_t Code::incoming(const Instruction& phi, const llvm::BasicBlock* from) const {
    const auto index = llvm::cast<llvm::PHINode>(phi.llvm)->getBasicBlockIndex(from);
    return index < 0 ? no_number : operands_[phi.operands + static_cast<std::uint32_t>(index)];
}

namespace {

/// The address of an access to one element of a vector; nullptr for any other access.
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

/// Whether it stores one element that a store of the whole vector left undefined, perhaps after other such stores.
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
    llvm::DominatorTree dominators(const_cast<llvm::Function&>(function));
    const llvm::LoopInfo loops(dominators);
    // Number of loops that contain both blocks.
    const auto stays = [&](Block block, Block other) {
        const auto* loop = loops.getLoopFor(block);
        while (loop && !loop->contains(other)) loop = loop->getParentLoop();
        return loop ? loop->getLoopDepth() : 0;
    };
    std::set<Block> seen;
    std::vector<Block> left;
    // Depth first. A successor outside the loop is visited first, so it finishes first and comes last in the result.
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

bool continues_access(const llvm::Instruction& instruction) {
    if (completes(instruction)) return true;
    const auto* before = access_before(instruction);
    if (!before || before->getOpcode() != instruction.getOpcode() || !of_one_vector(instruction, *before)) return false;
    const auto number = [](const llvm::Instruction& access) {
        return llvm::cast<llvm::ConstantInt>(*std::prev(element_of(access)->idx_end()))->getSExtValue();
    };
    return llvm::isa<llvm::LoadInst>(instruction) || number(instruction) == number(*before) + 1;
}

// LLVM intrinsics that clang generates from ordinary kernel code, such as a rotation from shifts. Oclgrind 21.10 lacks
// them and rejects a kernel that uses one.
namespace {

/// Operands of one element, zero above `bits` bits.
struct Operands {
    std::uint64_t a = 0, b = 0, c = 0;
    unsigned bits = 0;

    std::int64_t signed_a() const { return llvm::SignExtend64(a, bits); }
    std::int64_t signed_b() const { return llvm::SignExtend64(b, bits); }
    std::int64_t most() const { return llvm::maxIntN(bits); }
    std::int64_t least() const { return llvm::minIntN(bits); }
};

template <std::uint64_t Of(const Operands&)>
void each_element(oclgrind::WorkItem* item, const llvm::CallInst* call, const std::string&, const std::string&,
                  oclgrind::TypedValue& result, void*) {
    oclgrind::TypedValue given[3];
    const unsigned number = std::min(call->arg_size(), 3u);
    for (unsigned i = 0; i < number; ++i) given[i] = item->getOperand(call->getArgOperand(i));
    const auto at = [&](unsigned operand, unsigned element) -> std::uint64_t {
        if (operand >= number) return 0;
        return given[operand].getUInt(given[operand].num > 1 ? element : 0);  // a scalar flag applies to all elements
    };
    const unsigned bits = call->getType()->getScalarSizeInBits();
    for (unsigned i = 0; i < result.num; ++i) result.setUInt(Of({at(0, i), at(1, i), at(2, i), bits}), i);
}

/// The upper half of a:b shifted left by c.
std::uint64_t funnel_left(const Operands& o) {
    const auto by = o.c % o.bits;
    return by == 0 ? o.a : o.a << by | o.b >> (o.bits - by);
}
/// The lower half of a:b shifted right by c.
std::uint64_t funnel_right(const Operands& o) {
    const auto by = o.c % o.bits;
    return by == 0 ? o.b : o.b >> by | o.a << (o.bits - by);
}
std::uint64_t absolute(const Operands& o) { return o.signed_a() < 0 ? -o.a : o.a; }
std::uint64_t ones(const Operands& o) { return llvm::countPopulation(o.a); }
std::uint64_t leading_zeros(const Operands& o) { return llvm::countLeadingZeros(o.a) - (64 - o.bits); }
std::uint64_t trailing_zeros(const Operands& o) { return std::min(llvm::countTrailingZeros(o.a), o.bits); }
std::uint64_t reversed(const Operands& o) { return llvm::reverseBits(o.a) >> (64 - o.bits); }
std::uint64_t add_unsigned(const Operands& o) {
    const auto most = llvm::maxUIntN(o.bits);
    return o.a > most - o.b ? most : o.a + o.b;
}
std::uint64_t subtract_unsigned(const Operands& o) { return o.a < o.b ? 0 : o.a - o.b; }
std::uint64_t add_signed(const Operands& o) {
    const auto a = o.signed_a(), b = o.signed_b();
    if (b > 0 && a > o.most() - b) return static_cast<std::uint64_t>(o.most());
    if (b < 0 && a < o.least() - b) return static_cast<std::uint64_t>(o.least());
    return static_cast<std::uint64_t>(a + b);
}
std::uint64_t subtract_signed(const Operands& o) {
    const auto a = o.signed_a(), b = o.signed_b();
    if (b < 0 && a > o.most() + b) return static_cast<std::uint64_t>(o.most());
    if (b > 0 && a < o.least() + b) return static_cast<std::uint64_t>(o.least());
    return static_cast<std::uint64_t>(a - b);
}

void nothing(oclgrind::WorkItem*, const llvm::CallInst*, const std::string&, const std::string&, oclgrind::TypedValue&,
             void*) {}

}  // namespace

void teach_intrinsics() {
    using Handler = decltype(oclgrind::BuiltinFunction::func);
    static constexpr std::pair<const char*, Handler> all[]{{"llvm.fshl.", each_element<funnel_left>},
                                                           {"llvm.fshr.", each_element<funnel_right>},
                                                           {"llvm.abs.", each_element<absolute>},
                                                           {"llvm.ctpop.", each_element<ones>},
                                                           {"llvm.ctlz.", each_element<leading_zeros>},
                                                           {"llvm.cttz.", each_element<trailing_zeros>},
                                                           {"llvm.bitreverse.", each_element<reversed>},
                                                           {"llvm.uadd.sat.", each_element<add_unsigned>},
                                                           {"llvm.usub.sat.", each_element<subtract_unsigned>},
                                                           {"llvm.sadd.sat.", each_element<add_signed>},
                                                           {"llvm.ssub.sat.", each_element<subtract_signed>},
                                                           {"llvm.experimental.noalias.scope.decl", nothing}};
    auto& known = oclgrind::workItemPrefixBuiltins;
    for (const auto& [name, does] : all)
        if (std::ranges::find(known, name, [](const auto& entry) { return entry.first; }) == known.end())
            known.emplace_back(name, oclgrind::BuiltinFunction(does, nullptr));
}

}  // namespace cllab::count
