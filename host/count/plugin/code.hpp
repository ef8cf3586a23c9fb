// The code of a kernel and of what it calls, as the plugin looks at it: values and instructions by number, what an
// instruction is, and the segments that waves execute.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "count/wave/chain.hpp"
#include "count/wave/requests.hpp"
#include "model/counts.hpp"

namespace llvm {
class BasicBlock;
class CallInst;
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace cllab::count {

inline constexpr std::uint32_t no_number = 0xFFFFFFFFu;

/// The metadata of instructions that are no work of the text.
inline constexpr const char* is_aside = "cllab.aside";

/// Of an integer's bits: whether the simulator computes with so many.
inline bool is_whole(unsigned bits) { return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64; }

/// What an instruction adds to the operations of a work-item.
struct Does {
    std::uint32_t operation = 0;  ///< number in Code::operations
    std::uint32_t elements = 1;
};

struct Instruction {
    enum class Is : std::uint8_t { plain, phi, call, returns };
    const llvm::Instruction* llvm = nullptr;  ///< of arguments nothing
    Is is = Is::plain;
    Link link = Link::none;
    bool image = false, memory = false;
    bool decides = false;               ///< what is executed next
    bool of_place = false;              ///< gives the work-item's place in the launch, which its group shares in
    bool grows = false;                 ///< or falls with its operands, as a sum does and a remainder does not
    bool merges = false;                ///< phi: of values that a branch has chosen, not of a loop's iterations
    std::uint32_t address = no_number;  ///< load, store, atomic: the value that its address is
    std::uint8_t touches = 0;           ///< a bit of each Space that it may access
    bool atomic = false;
    bool goes_on = false;                   ///< with the access of the instruction before it
    bool constant = false;                  ///< what it loads is of constant memory, which the simulator calls global
    std::uint32_t segment = no_number;      ///< that begins here
    std::uint32_t operands = 0, count = 0;  ///< values in Code::operands
    std::uint32_t weight = 0;
    std::uint32_t first_argument = no_number;  ///< call: of the function's
    std::uint32_t line = 0;
    const std::string* file = nullptr;
    std::vector<Does> does{};
};

struct OperationName {
    model::Operation kind;
    unsigned bits;
    std::string function;
    bool operator==(const OperationName&) const = default;
};

class Code {
public:
    Code();
    /// The instruction's number. `expected`: where it probably is.
    std::uint32_t find(const llvm::Instruction* instruction, std::uint32_t expected);
    const Instruction& operator[](std::uint32_t number) const { return instructions_[number]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(instructions_.size()); }
    const std::vector<Segment>& segments() const { return segments_; }
    const std::vector<OperationName>& operations() const { return operations_; }
    const std::uint32_t* operands(const Instruction& of) const { return operands_.data() + of.operands; }
    /// phi: the operand that comes from this block; no_number for a constant.
    std::uint32_t incoming(const Instruction& phi, const llvm::BasicBlock* from) const;

    /// The segments of the outermost loop that a branch may leave, and of functions that it may call.
    std::vector<std::uint32_t> of_loop_left_by(std::uint32_t branch) const;

    /// Of an integer that the simulator computes wrongly, and widen_odd_integers() left. 0: there is none.
    unsigned odd_bits() const { return odd_bits_; }

private:
    void add(const llvm::Function& function);
    std::uint32_t add_value(const llvm::Value* value);
    void add_block(const llvm::BasicBlock& block);
    void describe(Instruction& out, const llvm::Instruction& instruction);
    void describe_call(Instruction& out, const llvm::CallInst& call);
    void describe_operands(Instruction& out, const llvm::Instruction& instruction);
    void does(Instruction& out, model::Operation kind, unsigned bits, unsigned elements, const std::string& name = {});
    void place(Instruction& out, const llvm::Instruction& instruction);
    /// As bits: of what calls gave clang adds whole vectors for a.x + b.x + c.x.
    std::uint64_t used_elements(const llvm::Value& value);

    std::vector<Instruction> instructions_;  ///< by number; arguments are among them
    std::vector<std::uint32_t> operands_;
    std::vector<Segment> segments_;
    std::vector<OperationName> operations_;
    unsigned odd_bits_ = 0;
    std::unordered_map<const llvm::Value*, std::uint32_t> numbers_;
    std::unordered_map<const llvm::Value*, std::uint64_t> used_;
    std::unordered_map<std::string, std::unique_ptr<std::string>> files_;
};

// Where an instruction stands among others, as far as waves and accesses depend on it.

/// Blocks so laid out that lanes of a wave that wait for each other meet: a block stands before what follows it, and a
/// loop's blocks before what follows the loop.
std::vector<const llvm::BasicBlock*> in_order(const llvm::Function& function);

/// Accesses to single elements of a vector are one access of a device: of float4 clang makes single elements, behind a
/// store of what is constant of them. Whether this one loads another element of the vector of the access before it, or
/// stores the next one, or one that a store of the whole vector left undefined.
bool goes_on(const llvm::Instruction& instruction);

}  // namespace cllab::count
