#include "device/pocl_lines.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace cllab::device {
namespace {

constexpr const char* variable = "POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES";
std::atomic<bool> is_asked = false;

/// Calls a function of LLVM's C interface, whose handles are pointers. Returns an empty result if the function is
/// missing.
template <typename Result = void*, typename... Arguments>
Result llvm(void* library, const char* name, Arguments... arguments) {
    void* found = ::dlsym(library, name);
    return found ? reinterpret_cast<Result (*)(Arguments...)>(found)(arguments...) : Result();
}

void forget_debug_information(void* library, void* function) {
    constexpr unsigned debug_information = 0;  // LLVMContext::MD_dbg
    llvm<int>(library, "LLVMGlobalEraseMetadata", function, debug_information);
}

/// True if the debug information has only a declaration of the function, which is in no compilation unit.
bool is_of_declaration(void* library, const void* module, void* subprogram) {
    void* context = llvm(library, "LLVMGetModuleContext", module);
    void* node = llvm(library, "LLVMMetadataAsValue", context, subprogram);
    std::vector<void*> operands(llvm<unsigned>(library, "LLVMGetMDNodeNumOperands", node));
    llvm<int>(library, "LLVMGetMDNodeOperands", node, operands.data());
    constexpr std::size_t unit = 5;
    return operands.size() > unit && !operands[unit];
}

/// Gives each function that PoCL made in a module the debug information of its inlined kernel. The machine code stays
/// the same and gets lines. Removes the debug information of PoCL's built-in functions, which is only of declarations:
/// LLVM rejects it when it reads the module again, and drops all lines.
void name_functions(void* library, const void* module) {
    const std::string end = "_workgroup";
    void* function = llvm(library, "LLVMGetFirstFunction", module);
    for (; function; function = llvm(library, "LLVMGetNextFunction", function)) {
        if (void* known = llvm(library, "LLVMGetSubprogram", function);
            known && is_of_declaration(library, module, known))
            forget_debug_information(library, function);
        std::size_t length = 0;
        const char* text = llvm<const char*>(library, "LLVMGetValueName2", function, &length);
        auto name = text ? std::string(text, length) : std::string();
        if (!name.starts_with("_pocl_kernel_") || !name.ends_with(end)) continue;
        name.resize(length - end.size());
        void* kernel = llvm(library, "LLVMGetNamedFunction", module, name.c_str());
        void* subprogram = kernel ? llvm(library, "LLVMGetSubprogram", kernel) : nullptr;
        if (!subprogram || llvm(library, "LLVMGetFirstUse", kernel)) continue;
        forget_debug_information(library, kernel);  // two functions may not have the same
        llvm<int>(library, "LLVMSetSubprogram", function, subprogram);
    }
}

}  // namespace

LinesOfPocl::LinesOfPocl() : is_users_(std::getenv(variable)) {
    setenv(variable, "1", 1);
    is_asked = true;
}

LinesOfPocl::~LinesOfPocl() {
    is_asked = false;
    if (!is_users_) unsetenv(variable);
}

}  // namespace cllab::device

/// llvm::WriteBitcodeToFile(const Module&, raw_ostream&, bool, const ModuleSummaryIndex*, bool, ModuleHash*), since
/// LLVM 7. This definition is found before the one of the calling library.
#define WRITE_BITCODE \
    "_ZN4llvm18WriteBitcodeToFileERKNS_6ModuleERNS_11raw_ostreamEbPKNS_18ModuleSummaryIndexEbPSt5arrayIjLm5EE"
[[gnu::visibility("default")]] void cllab_write_bitcode(const void* module, void* out, bool keeps_order,
                                                        const void* index, bool makes_hash,
                                                        void* hash) __asm__(WRITE_BITCODE);

namespace {

/// The library at `path`, if it is loaded and has LLVM's own function or links to it.
void* library_that_writes(const char* path) {
    void* library = path && *path ? ::dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    void* found = library ? ::dlsym(library, WRITE_BITCODE) : nullptr;
    if (found && found != reinterpret_cast<void*>(&cllab_write_bitcode)) return library;
    if (library) ::dlclose(library);
    return nullptr;
}

/// The caller's library. A tail call leaves no trace of the caller: then any loaded library with the function.
void* library_that_writes(void* return_address) {
    Dl_info caller{};
    ::dladdr(return_address, &caller);
    if (void* library = library_that_writes(caller.dli_fname)) return library;
    std::vector<std::string> loaded;
    const auto note = [](dl_phdr_info* info, std::size_t, void* to) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
        return 0;
    };
    ::dl_iterate_phdr(note, &loaded);
    for (const auto& path : loaded)
        if (void* library = library_that_writes(path.c_str())) return library;
    return nullptr;
}

}  // namespace

void cllab_write_bitcode(const void* module, void* out, bool keeps_order, const void* index, bool makes_hash,
                         void* hash) {
    void* library = library_that_writes(__builtin_return_address(0));
    if (!library)  // otherwise the driver's file would be empty without an error
        throw cllab::Error(cllab::Blame::environment,
                           "no loaded library exports llvm::WriteBitcodeToFile, which the driver calls");
    if (cllab::device::is_asked) cllab::device::name_functions(library, module);
    cllab::device::llvm<int>(library, WRITE_BITCODE, module, out, keeps_order, index, makes_hash, hash);
    ::dlclose(library);
}
