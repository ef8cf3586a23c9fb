#include "inspect/tools/comgr.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "inspect/code/code.hpp"
#include "inspect/tools/tool.hpp"

#ifdef CLLAB_COMGR_HEADER
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include CLLAB_COMGR_HEADER
#endif

namespace cllab::inspect {

#ifndef CLLAB_COMGR_HEADER

std::string comgr_missing() {
    return "this build of cllab was made without amd_comgr's header: apt-get install libamd-comgr-dev, then build "
           "again";
}
std::vector<std::string> comgr_processors() { return {}; }
std::string comgr_nearest(const std::string&) { return {}; }
std::string comgr_version() { return {}; }
std::filesystem::path comgr_file() { return {}; }
ComgrOutput comgr_compile(const std::string&, const std::vector<std::string>&, const std::string&,
                          std::chrono::milliseconds) {
    return {false, {}, comgr_missing()};
}
int comgr_main(const std::filesystem::path&, const std::string&) { return 1; }
ComgrOutput comgr_disassemble(ByteSpan, const std::string&) { return {false, {}, comgr_missing()}; }

#else

namespace {

class Library {
public:
    Library() : handle_(::dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

    std::string missing() const {
        return handle_ ? "" : file_ + " cannot be loaded: apt-get install libamd-comgr2 (ROCm has it too)";
    }
    /// The file that it was loaded from.
    std::filesystem::path file() const {
        Dl_info info{};
        return handle_ && ::dladdr(::dlsym(handle_, "amd_comgr_get_version"), &info) != 0 ? info.dli_fname : "";
    }
    void* function(const char* name) const {
        void* found = ::dlsym(handle_, name);
        return found ? found : throw Error(Blame::environment, file_, " exports no function ", name);
    }

private:
    // The enumerations changed between major versions, so the code needs the version that the header describes.
    std::string file_ = "libamd_comgr.so." + std::to_string(AMD_COMGR_INTERFACE_VERSION_MAJOR);
    void* handle_;
};

const Library& library() {
    static const Library loaded;
    return loaded;
}

/// The library's function of this name, with its type from the header.
#define COMGR(name) reinterpret_cast<decltype(&::amd_comgr_##name)>(library().function("amd_comgr_" #name))

/// The library's LLVM has its options in globals, and the header does not say that two threads may use it at once.
std::mutex one_at_a_time;

/// Throws Error with the library's message for a failed call.
void check(amd_comgr_status_t status, const char* what) {
    if (status == AMD_COMGR_STATUS_SUCCESS) return;
    const char* text = nullptr;
    COMGR(status_string)(status, &text);
    throw Error(Blame::environment, "amd_comgr: ", what, " returned ", text ? text : "an unknown status");
}

void release(amd_comgr_data_t data) { COMGR(release_data)(data); }
void release(amd_comgr_data_set_t set) { COMGR(destroy_data_set)(set); }
void release(amd_comgr_action_info_t action) { COMGR(destroy_action_info)(action); }

/// A handle of the library; its owner releases it.
template <typename Raw>
struct Handle {
    Raw raw{};
    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (raw.handle) release(raw);
    }
};
using Data = Handle<amd_comgr_data_t>;

struct DataSet : Handle<amd_comgr_data_set_t> {
    DataSet() { check(COMGR(create_data_set)(&raw), "create_data_set"); }

    void add(amd_comgr_data_kind_t kind, ByteSpan bytes, const char* name) {
        Data data;
        check(COMGR(create_data)(kind, &data.raw), "create_data");
        check(COMGR(set_data)(data.raw, bytes.size(), reinterpret_cast<const char*>(bytes.data())), "set_data");
        check(COMGR(set_data_name)(data.raw, name), "set_data_name");
        check(COMGR(data_set_add)(raw, data.raw), "data_set_add");
    }
    /// All data of one kind, concatenated.
    std::string content(amd_comgr_data_kind_t kind) const {
        std::string all;
        std::size_t count = 0;
        check(COMGR(action_data_count)(raw, kind, &count), "action_data_count");
        for (std::size_t i = 0; i < count; ++i) {
            Data data;
            check(COMGR(action_data_get_data)(raw, kind, i, &data.raw), "action_data_get_data");
            std::size_t size = 0;
            check(COMGR(get_data)(data.raw, &size, nullptr), "get_data");
            std::string part(size, '\0');
            check(COMGR(get_data)(data.raw, &size, part.data()), "get_data");
            all += part;
        }
        return all;
    }
};

struct Action : Handle<amd_comgr_action_info_t> {
    explicit Action(const std::string& processor) {
        check(COMGR(create_action_info)(&raw), "create_action_info");
        const auto name = "amdgcn-amd-amdhsa--" + processor;
        if (COMGR(action_info_set_isa_name)(raw, name.c_str()) != AMD_COMGR_STATUS_SUCCESS)
            throw Error(Blame::usage, "amd_comgr does not know processor '", processor, "'");
    }
    void language(bool version2) {
        check(COMGR(action_info_set_language)(raw,
                                              version2 ? AMD_COMGR_LANGUAGE_OPENCL_2_0 : AMD_COMGR_LANGUAGE_OPENCL_1_2),
              "set_language");
    }
    void options(const std::vector<std::string>& list) {
        std::vector<const char*> pointers;
        for (const auto& option : list) pointers.push_back(option.c_str());
        check(COMGR(action_info_set_option_list)(raw, pointers.data(), pointers.size()), "set_option_list");
        check(COMGR(action_info_set_logging)(raw, true), "set_logging");
    }
    /// `log` receives the log even if the action fails.
    void run(amd_comgr_action_kind_t kind, const DataSet& in, DataSet& out, std::string& log, const char* what) {
        const auto status = COMGR(do_action)(kind, raw, in.raw, out.raw);
        log += out.content(AMD_COMGR_DATA_KIND_LOG);
        check(status, what);
    }
};

/// The compiler names its own temporary copy, "/tmp/comgr-b5d900/input/kernel.cl:1:21". This keeps only
/// "kernel.cl:1:21".
std::string without_temporary_folder(std::string log) {
    for (auto at = log.find("/comgr-"); at != std::string::npos; at = log.find("/comgr-", at)) {
        const auto end = log.find("/input/", at);
        const auto begin = log.find_last_of(" \n'\"", at) + 1;  // npos + 1 is the start
        if (end == std::string::npos || log.substr(at, end - at).find_first_of(" \n") != std::string::npos)
            ++at;
        else
            log.erase(begin, end + 7 - begin), at = begin;
    }
    return log;
}

/// Writes function labels as llvm-objdump does, "0000000000001c00 <vadd>:", so that one parser reads both.
std::string as_objdump(const std::string& text) {
    std::string out, label;
    for (const auto line : lines_of(text)) {
        const auto comment = line.find("// ");
        if (!label.empty() && comment != std::string::npos) {
            std::string address(line.substr(comment + 3, line.find(':', comment) - comment - 3));
            address.insert(0, 16 - std::min<std::size_t>(16, address.size()), '0');
            out += address + " <" + label + ">:\n";
            label.clear();
        }
        const bool is_label = line.size() > 1 && line.back() == ':' && line.find_first_of(" \t") == std::string::npos;
        if (is_label)
            label = line.substr(0, line.size() - 1);
        else
            out.append(line).append("\n");
    }
    return out;
}

/// Bitcode of the text for a processor that the library does not list. Its clang uses the last -mcpu. The device
/// libraries of the nearest processor are linked to the result.
void compile_as(const std::string& processor, Action& action, std::vector<std::string> options, const DataSet& text,
                DataSet& bitcode, std::string& log) {
    const auto has = [&](const char* option) { return std::ranges::find(options, option) != options.end(); };
    std::vector<std::string> of_libraries;
    if (has("-mwavefrontsize64")) of_libraries.emplace_back("wavefrontsize64");
    if (has("-cl-denorms-are-zero")) of_libraries.emplace_back("daz_opt");
    if (has("-cl-fast-relaxed-math")) of_libraries.insert(of_libraries.end(), {"finite_only", "unsafe_math"});
    if (has("-cl-fp32-correctly-rounded-divide-sqrt")) of_libraries.emplace_back("correctly_rounded_sqrt");
    options.push_back("-mcpu=" + processor);
    auto without_libraries = options;
    without_libraries.emplace_back("-nogpulib");
    DataSet compiled, with_libraries;
    action.options(without_libraries);
    action.run(AMD_COMGR_ACTION_COMPILE_SOURCE_TO_BC, text, compiled, log, "compiling");
    action.options(of_libraries);
    action.run(AMD_COMGR_ACTION_ADD_DEVICE_LIBRARIES, compiled, with_libraries, log, "adding the device libraries");
    action.options({});
    action.run(AMD_COMGR_ACTION_LINK_BC_TO_BC, with_libraries, bitcode, log, "linking the device libraries");
    action.options(options);
}

/// The macros that clang defines for the processor (LLVM's user guide for AMDGPU). The precompiled header was made
/// without a processor, so with it the compiler defines other macros, such as waves of 64. AMD's driver uses the same
/// library; whether it defines more is unknown.
void add_processor_macros(std::vector<std::string>& options, const std::string& processor) {
    const auto family = processor.substr(3, processor.size() - 5);  // 9 of gfx90a, 10 of gfx1030
    const bool asks_for_64 = std::ranges::find(options, "-mwavefrontsize64") != options.end();
    options.insert(options.end(), {"-D__" + processor + "__=1", "-D__GFX" + family + "__=1"});
    if (family.size() > 1 && !asks_for_64)
        options.insert(options.end(), {"-U__AMDGCN_WAVEFRONT_SIZE", "-D__AMDGCN_WAVEFRONT_SIZE=32"});
}

/// The output that `work` makes with an action for the processor. The caller must prevent concurrent calls.
template <typename Work>
ComgrOutput with_action(const std::string& processor, Work work) {
    ComgrOutput out;
    try {
        Action action(processor);
        work(action, out);
        out.ok = !out.bytes.empty();
        out.log = without_temporary_folder(std::move(out.log));
    } catch (const Error& failure) {
        out.log = without_temporary_folder(std::move(out.log));
        out.log += (out.log.empty() || out.log.ends_with('\n') ? "" : "\n") + std::string(failure.what()) + "\n";
    }
    return out;
}

// The files in the folder, as both processes name them.
constexpr const char *source_file = "source.cl", *options_file = "options", *code_file = "code", *log_file = "log";

}  // namespace

std::string comgr_missing() { return library().missing(); }

std::vector<std::string> comgr_processors() {
    std::vector<std::string> names;
    std::size_t count = 0;
    if (!comgr_missing().empty() || COMGR(get_isa_count)(&count) != AMD_COMGR_STATUS_SUCCESS) return names;
    for (std::size_t i = 0; i < count; ++i) {
        const char* isa = nullptr;
        if (COMGR(get_isa_name)(i, &isa) != AMD_COMGR_STATUS_SUCCESS || !isa) continue;
        const std::string text = isa;
        const auto dashes = text.rfind("--");
        names.push_back(dashes == std::string::npos ? text : text.substr(dashes + 2));
    }
    return names;
}

std::string comgr_version() {
    if (!comgr_missing().empty()) return {};
    std::size_t major = 0, minor = 0;
    COMGR(get_version)(&major, &minor);
    return concat("amd_comgr ", std::to_string(major), ".", std::to_string(minor), " (",
                  library().file().filename().string(), ")");
}

std::filesystem::path comgr_file() { return library().file(); }

std::string comgr_nearest(const std::string& processor) {
    if (!processor.starts_with("gfx110") || !comgr_missing().empty()) return {};
    std::size_t major = 0, minor = 0;
    COMGR(get_version)(&major, &minor);
    const auto listed = comgr_processors();
    const auto is_listed = [&](const std::string& name) { return std::ranges::find(listed, name) != listed.end(); };
    const bool llvm_15 = major > 2 || (major == 2 && minor >= 4);
    return llvm_15 && !is_listed(processor) && is_listed("gfx1030") ? "gfx1030" : "";
}

ComgrOutput comgr_compile(const std::string& source, const std::vector<std::string>& options,
                          const std::string& processor, std::chrono::milliseconds limit) {
    if (const auto missing = comgr_missing(); !missing.empty()) return {false, {}, missing};
    const TempFolder folder;
    folder.write(source_file, as_bytes(source));
    folder.write(options_file, as_bytes(join(options, std::string(1, '\0'))));
    // For some texts the library's LLVM ends the process, and it has no time limit.
    const auto ran = run_tool(std::filesystem::read_symlink("/proc/self/exe"),
                              {"comgr-compile", folder.path().string(), processor}, limit);
    const auto log = read_file(folder.path() / log_file);
    if (ran.timed_out) return {false, {}, "amd_comgr did not end within its time limit\n", true};
    if (!log) return {false, {}, without_temporary_folder(ran.err) + "amd_comgr ended its process\n"};
    return {ran.ok(), read_file(folder.path() / code_file).value_or(""), *log};
}

int comgr_main(const std::filesystem::path& folder, const std::string& processor) {
    ::setenv("TMPDIR", folder.c_str(), 1);  // files that a stopped library leaves are removed with the folder
    const auto nearest = comgr_nearest(processor);
    const auto out = with_action(nearest.empty() ? processor : nearest, [&](Action& action, ComgrOutput& made) {
        // The language sets the version; a second -cl-std would contradict the precompiled header.
        bool version2 = false, optimised = true;
        std::vector<std::string> rest;
        const auto options = read_file(folder / options_file).value_or("");
        for (const auto& option : split(options, '\0')) {
            version2 = version2 || option.starts_with("-cl-std=CL2") || option.starts_with("-cl-std=CL3");
            optimised = optimised && option != "-cl-opt-disable";
            if (!option.empty() && !option.starts_with("-cl-std=")) rest.emplace_back(option);
        }
        add_processor_macros(rest, processor);
        // AMD's runtime optimizes unless told otherwise; the library alone does not.
        if (optimised) rest.insert(rest.begin(), "-O3");
        action.language(version2);
        action.options(rest);
        DataSet text, with_headers, bitcode, relocatable, executable;
        text.add(AMD_COMGR_DATA_KIND_SOURCE, as_bytes(read_file(folder / source_file).value_or("")), "kernel.cl");
        action.run(AMD_COMGR_ACTION_ADD_PRECOMPILED_HEADERS, text, with_headers, made.log, "adding the OpenCL header");
        if (nearest.empty())
            action.run(AMD_COMGR_ACTION_COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC, with_headers, bitcode, made.log,
                       "compiling");
        else
            compile_as(processor, action, rest, with_headers, bitcode, made.log);
        action.run(AMD_COMGR_ACTION_CODEGEN_BC_TO_RELOCATABLE, bitcode, relocatable, made.log, "generating code");
        action.options({});  // the linker accepts no compiler options
        action.run(AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE, relocatable, executable, made.log, "linking");
        made.bytes = executable.content(AMD_COMGR_DATA_KIND_EXECUTABLE);
    });
    write_file(folder / code_file, as_bytes(out.bytes));
    write_file(folder / log_file, as_bytes(out.log));
    return out.ok ? 0 : 1;
}

ComgrOutput comgr_disassemble(ByteSpan code_object, const std::string& processor) {
    // Keeps the last result, because every kernel of a code object asks for all of it.
    static std::string known;
    static ComgrOutput last;
    const std::lock_guard lock(one_at_a_time);
    if (const auto missing = comgr_missing(); !missing.empty()) return {false, {}, missing};
    if (auto key = processor + "\n" + std::string(as_text(code_object)); key != known) {
        last = with_action(processor, [&](Action& action, ComgrOutput& out) {
            action.options({});
            DataSet in, text;
            in.add(AMD_COMGR_DATA_KIND_EXECUTABLE, code_object, "program.co");
            action.run(AMD_COMGR_ACTION_DISASSEMBLE_EXECUTABLE_TO_SOURCE, in, text, out.log, "disassembling");
            out.bytes = as_objdump(text.content(AMD_COMGR_DATA_KIND_SOURCE));
        });
        known = std::move(key);
    }
    return last;
}

#endif

}  // namespace cllab::inspect
