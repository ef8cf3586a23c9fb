// The code of a kernel and of the functions that it calls: numbers of values and instructions, what each instruction
// does, and the segments that waves execute.
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

/// Metadata on instructions that only the simulator needs. They do not count as work of the kernel.
inline constexpr const char* is_aside = "cllab.aside";

/// Whether the simulator computes correctly with integers of this many bits.
inline bool is_whole(unsigned bits) { return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64; }

/// What an instruction adds to the operations of a work-item.
struct Does {
    std::uint32_t operation = 0;  ///< number in Code::operations
    std::uint32_t elements = 1;
};

struct Instruction {
    enum class Is : std::uint8_t { plain, phi, call, returns };
    const llvm::Instruction* llvm = nullptr;  ///< nullptr for function arguments
    Is is = Is::plain;
    Link link = Link::none;
    bool image = false, memory = false;
    bool decides = false;               ///< branch with several successors
    bool of_place = false;              ///< returns an id that depends on the work-group, such as get_global_id
    bool grows = false;                 ///< result rises or falls with its operands; true of a sum, false of a
                                        ///< remainder
    bool merges = false;                ///< phi: selects a value by a branch, not by a loop's iteration
    std::uint32_t address = no_number;  ///< load, store, atomic: number of the value that holds its address
    std::uint8_t touches = 0;           ///< bit mask of the Spaces that it may access
    bool atomic = false;
    bool continues_access = false;          ///< continues the previous instruction's access
    bool constant = false;                  ///< reads constant memory, which the simulator reports as global
    std::uint32_t segment = no_number;      ///< segment that begins here
    std::uint32_t operands = 0, count = 0;  ///< values in Code::operands
    std::uint32_t weight = 0;
    std::uint32_t first_argument = no_number;  ///< call: number of the called function's first argument
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
    /// The instruction's number. `expected`: number to try first.
    std::uint32_t find(const llvm::Instruction* instruction, std::uint32_t expected);
    const Instruction& operator[](std::uint32_t number) const { return instructions_[number]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(instructions_.size()); }
    const std::vector<Segment>& segments() const { return segments_; }
    const std::vector<OperationName>& operations() const { return operations_; }
    const std::uint32_t* operands(const Instruction& of) const { return operands_.data() + of.operands; }
    /// phi: the operand for this predecessor block; no_number for a constant.
    std::uint32_t incoming(const Instruction& phi, const llvm::BasicBlock* from) const;

    /// Segments of the outermost loop that `branch` may leave, and of all other functions, which the loop may call.
    /// Empty if the branch leaves no loop.
    std::vector<std::uint32_t> of_loop_left_by(std::uint32_t branch) const;

    /// Width of an integer that the simulator computes wrongly and that widen_odd_integers() did not change. 0: none.
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
    /// Bit mask of the vector elements that any user reads. For a.x + b.x + c.x of call results, clang adds whole
    /// vectors.
    std::uint64_t used_elements(const llvm::Value& value);

    std::vector<Instruction> instructions_;  ///< by number; includes function arguments
    std::vector<std::uint32_t> operands_;
    std::vector<Segment> segments_;
    std::vector<OperationName> operations_;
    unsigned odd_bits_ = 0;
    std::unordered_map<const llvm::Value*, std::uint32_t> numbers_;
    std::unordered_map<const llvm::Value*, std::uint64_t> used_;
    std::unordered_map<std::string, std::unique_ptr<std::string>> files_;
};

// Order of blocks, and accesses that belong together.

/// The blocks in an order in which diverged lanes of a wave meet again. A block comes before its successors, and a
/// loop's blocks come before the blocks after the loop.
std::vector<const llvm::BasicBlock*> in_order(const llvm::Function& function);

/// Whether the access belongs to the vector access before it. Clang splits an access to a vector such as float4 into
/// accesses to its elements; a device makes one access. True in three cases: it loads another element of the same
/// vector, stores the next element, or stores an element that a store of the whole vector left undefined.
bool continues_access(const llvm::Instruction& instruction);

}  // namespace cllab::count
