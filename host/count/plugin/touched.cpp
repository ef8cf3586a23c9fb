#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "count/called.hpp"
#include "count/plugin/oclgrind.hpp"

namespace cllab::count {
namespace {

using Json = nlohmann::json;

enum State : std::uint8_t { is_read = 1, is_written = 2 };

/// Accesses to one argument, or to one variable in local memory.
struct Touched {
    std::size_t size = 0;
    std::uint64_t last = 0;  ///< end of the highest access, in bytes
    unsigned unit = 0;       ///< bytes of the smallest access
    bool read = false, written = false, read_first = false, atomic = false, before = false;
    std::string channel{};                 ///< image: "f", "i" or "ui", from the functions called with it
    std::array<std::int64_t, 3> pixels{};  ///< image: end of the highest access in each dimension
    std::vector<std::uint8_t> bytes{};

    void touch(std::uint64_t offset, std::size_t count, bool reads, bool writes) {
        last = std::max(last, offset + count);
        unit = unit == 0 ? static_cast<unsigned>(count) : std::min(unit, static_cast<unsigned>(count));
        read = read || reads, written = written || writes;
        if (bytes.size() < size) bytes.resize(size);
        for (auto at = offset; at < std::min<std::uint64_t>(offset + count, size); ++at) {
            auto& state = bytes[at];
            if (reads && !(state & is_written)) read_first = true;
            state |= static_cast<std::uint8_t>((reads ? is_read : 0) | (writes ? is_written : 0));
        }
    }
    std::uint64_t count(std::uint8_t of) const {
        return static_cast<std::uint64_t>(
            std::count_if(bytes.begin(), bytes.end(), [&](auto state) { return (state & of) != 0; }));
    }
};

/// Passes each call and the called function to visit(), unless that is known only at run time.
template <typename Visit>
void each_call(const llvm::Function& function, const Visit& visit) {
    for (const auto& block : function)
        for (const auto& instruction : block)
            if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->getCalledFunction())
                visit(*call, *call->getCalledFunction());
}

/// The called built-in functions, each with a bit mask of its constant arguments (dimensions); bit 0 if it has none.
void find_calls(const llvm::Function& function, std::set<const llvm::Function*>& known,
                std::map<std::string, unsigned>& out) {
    if (!known.insert(&function).second) return;
    each_call(function, [&](const llvm::CallInst& call, const llvm::Function& called) {
        if (!called.isDeclaration()) return find_calls(called, known, out);
        const auto* dimension =
            call.arg_size() == 1 ? llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0)) : nullptr;
        const auto value = dimension ? std::min<std::uint64_t>(dimension->getZExtValue(), 3) : 0;
        out[plain_name(called.getName().str())] |= 1u << value;
    });
}

/// "f", "i" or "ui" for a function that reads or writes an image; otherwise empty.
std::string channel_of(const llvm::Function& function) {
    const auto name = plain_name(function.getName().str());
    if (!name.starts_with("read_image") && !name.starts_with("write_image")) return {};
    return name.substr(name.find("image") + std::string_view("image").size());
}

/// The argument that a value is. Follows one store and load, because unoptimized code stores arguments first.
const llvm::Argument* argument_of(const llvm::Value* value) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value))
        for (const auto* user : load->getPointerOperand()->users())
            if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
                store && store->getPointerOperand() == load->getPointerOperand())
                value = store->getValueOperand();
    return llvm::dyn_cast<llvm::Argument>(value->stripPointerCasts());
}

/// Sets `out` to the channel of the functions that read or write the image, in called functions too.
void find_channels(const llvm::Argument& image, std::set<const llvm::Argument*>& known, std::string& out) {
    if (!known.insert(&image).second) return;
    each_call(*image.getParent(), [&](const llvm::CallInst& call, const llvm::Function& called) {
        for (unsigned i = 0; i < std::min<unsigned>(call.arg_size(), called.arg_size()); ++i) {
            if (argument_of(call.getArgOperand(i)) != &image) continue;
            if (!called.isDeclaration())
                find_channels(*called.getArg(i), known, out);
            else if (const auto channel = channel_of(called); !channel.empty())
                out = channel;
        }
    });
}

class TouchRecorder : public AccessPlugin {
public:
    TouchRecorder(const oclgrind::Context* context, std::string file) : AccessPlugin(context), file_(std::move(file)) {}

    void kernelBegin(const oclgrind::KernelInvocation* invocation) override {
        widen_odd_integers(*invocation);
        const char* most = std::getenv("CLLAB_TOUCHED_INSTRUCTIONS");
        most_ = most ? std::strtoull(most, nullptr, 10) : 1u << 20;
        instructions_ = 0, too_long_ = overruns_ = false;
        arguments_.clear(), addresses_.clear(), by_buffer_.clear(), local_.clear(), calls_.clear(), is_access_.clear();
        local_sizes_.clear();
        items_ = {};
        const auto* kernel = invocation->getKernel();
        const auto* function = kernel->getFunction();
        arguments_.resize(function->arg_size());
        for (auto value = kernel->values_begin(); value != kernel->values_end(); ++value) {
            const auto* argument = llvm::dyn_cast<llvm::Argument>(value->first);
            if (!argument || argument->getParent() != function || !argument->getType()->isPointerTy()) continue;
            constexpr unsigned local = 0x119C;  // CL_KERNEL_ARG_ADDRESS_LOCAL
            if (kernel->getArgumentAddressQualifier(argument->getArgNo()) == local)
                local_sizes_[value->second.size] = argument->getArgNo();
            else if (value->second.size == sizeof(std::size_t))
                addresses_.emplace_back(value->second.getPointer(), argument->getArgNo());
            std::set<const llvm::Argument*> handed_on;
            find_channels(*argument, handed_on, arguments_[argument->getArgNo()].channel);
        }
        std::set<const llvm::Function*> known;
        find_calls(*function, known, calls_);
    }
    void kernelEnd(const oclgrind::KernelInvocation*) override { write(); }
    void instructionExecuted(const oclgrind::WorkItem* item, const llvm::Instruction* instruction,
                             const oclgrind::TypedValue&) override {
        if (const auto* call = llvm::dyn_cast<llvm::CallInst>(instruction)) access_image(*item, *call);
        if (++instructions_ <= most_) return;
        too_long_ = true;
        throw oclgrind::FatalError("the launch takes too long", __FILE__, __LINE__);
    }
    void memoryAllocated(const oclgrind::Memory* memory, size_t address, size_t size, cl_mem_flags,
                         const uint8_t*) override {
        if (memory->getAddressSpace() != oclgrind::AddrSpaceLocal) return;
        auto& variable = local_[memory->extractBuffer(address)];
        variable.size = size;
        std::fill(variable.bytes.begin(), variable.bytes.end(), 0);  // from another group
    }

private:
    /// Records the pixels that a call accesses, if the coordinates are integers.
    void access_image(const oclgrind::WorkItem& item, const llvm::CallInst& call) {
        const auto* called = call.getCalledFunction();
        const auto [known, is_new] = is_access_.try_emplace(called);
        if (is_new) known->second = called && called->isDeclaration() && !channel_of(*called).empty();
        if (!known->second) return;
        const auto image = item.getOperand(call.getArgOperand(0)).getPointer();
        const auto found = std::ranges::find(addresses_, image, &std::pair<std::size_t, unsigned>::first);
        if (found == addresses_.end()) return;
        auto& out = arguments_[found->second];
        see(item);
        // A sampler may precede the coordinates.
        const bool writes = called->getReturnType()->isVoidTy();
        const auto* at = call.getArgOperand(!writes && call.arg_size() > 2 ? 2 : 1);
        if (at->getType()->isFPOrFPVectorTy()) return;
        const auto coordinates = item.getOperand(at);
        for (unsigned d = 0; d < std::min(coordinates.num, 3u); ++d)
            out.pixels[d] = std::max(out.pixels[d], coordinates.getSInt(d) + 1);
    }
    void see(const oclgrind::WorkItem& item) {
        for (unsigned d = 0; d < 3; ++d) items_[d] = std::max(items_[d], item.getGlobalID()[d] + 1);
    }
    /// The argument that uses buffer number `buffer`; nullptr if none does.
    Touched* argument_of(const oclgrind::Memory* memory, std::size_t buffer) {
        if (by_buffer_.empty())
            for (const auto& [address, number] : addresses_) {
                by_buffer_[memory->extractBuffer(address)] = number;
                if (const auto* known = memory->getBuffer(address)) arguments_[number].size = known->size;
            }
        const auto found = by_buffer_.find(buffer);
        return found == by_buffer_.end() ? nullptr : &arguments_[found->second];
    }
    void access(const oclgrind::Memory* memory, const oclgrind::WorkItem* item, size_t address, size_t size,
                What what) override {
        const bool reads = what != What::store, writes = what != What::load;
        const auto buffer = memory->extractBuffer(address);
        const auto offset = memory->extractOffset(address);
        if (memory->getAddressSpace() == oclgrind::AddrSpaceLocal) {
            const auto found = local_.find(buffer);
            if (found == local_.end()) return;
            const auto room = found->second.size;
            overruns_ = overruns_ || (offset + size > room && local_sizes_.count(room) == 0);
            found->second.touch(offset, size, reads, writes);
            return;
        }
        if (memory->getAddressSpace() == oclgrind::AddrSpacePrivate) {
            overruns_ = overruns_ || !memory->isAddressValid(address, size);
            return;
        }
        // An access before a buffer's start appears as a very large offset in the buffer with the previous number.
        constexpr std::size_t far = std::size_t{1} << 46;
        auto* out = argument_of(memory, offset >= far ? buffer + 1 : buffer);
        if (!out) return;
        if (offset >= far)
            out->before = true;
        else
            out->touch(offset, size, reads, writes);
        out->atomic = out->atomic || what == What::atomic;
        if (item) see(*item);
    }
    static Json json_of(const Touched& t) {
        return {{"size", t.size},
                {"last", t.last},
                {"unit", t.unit},
                {"read", t.read},
                {"written", t.written},
                {"read_first", t.read_first},
                {"atomic", t.atomic},
                {"before", t.before},
                {"channel", t.channel},
                {"pixels", t.pixels},
                {"bytes", t.count(is_read | is_written)},
                {"written_bytes", t.count(is_written)}};
    }
    void write() const {
        Json out{{"instructions", instructions_},
                 {"too_long", too_long_},
                 {"overruns", overruns_},
                 {"items", items_},
                 {"calls", calls_}};
        auto &arguments = out["arguments"] = Json::array(), &local = out["local"] = Json::array();
        for (const auto& argument : arguments_) arguments.push_back(json_of(argument));
        for (const auto& [buffer, variable] : local_) {
            local.push_back(json_of(variable));
            const auto argument = local_sizes_.find(variable.size);
            local.back()["argument"] = argument == local_sizes_.end() ? -1 : static_cast<int>(argument->second);
        }
        std::ofstream(file_, std::ios::binary) << out;
    }

    std::string file_;
    std::uint64_t instructions_ = 0, most_ = 0;
    bool too_long_ = false, overruns_ = false;
    std::vector<Touched> arguments_;
    std::vector<std::pair<std::size_t, unsigned>> addresses_;  ///< addresses of buffers, with argument numbers
    std::map<std::size_t, unsigned> by_buffer_;
    std::map<std::size_t, unsigned> local_sizes_;  ///< argument by size; each local argument has its own size
    std::map<std::size_t, Touched> local_;
    std::map<std::string, unsigned> calls_;
    std::map<const llvm::Function*, bool> is_access_;  ///< whether it accesses an image
    std::array<std::size_t, 3> items_{};
};

}  // namespace

std::unique_ptr<oclgrind::Plugin> make_touch_recorder(const oclgrind::Context* context, const std::string& file) {
    return std::make_unique<TouchRecorder>(context, file);
}

}  // namespace cllab::count
