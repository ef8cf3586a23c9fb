#include "inspect/tools/comgr.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "inspect/tools/tool.hpp"

#ifdef CLLAB_COMGR_HEADER
#include <dlfcn.h>

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
ComgrOutput comgr_compile(const std::string&, const std::vector<std::string>&, const std::string&) {
    return {false, {}, comgr_missing()};
}
ComgrOutput comgr_disassemble(ByteSpan, const std::string&) { return {false, {}, comgr_missing()}; }

#else

namespace {

// Every function used, once: the list makes the table of pointers and the code that fills it.
#define CLLAB_COMGR_FUNCTIONS(X)                                                                               \
    X(get_version)                                                                                             \
    X(status_string)                                                                                           \
    X(get_isa_count)                                                                                           \
    X(get_isa_name) X(create_data) X(release_data) X(set_data) X(set_data_name) X(get_data) X(create_data_set) \
        X(destroy_data_set) X(data_set_add) X(action_data_count) X(action_data_get_data) X(create_action_info) \
            X(destroy_action_info) X(action_info_set_isa_name) X(action_info_set_language)                     \
                X(action_info_set_option_list) X(action_info_set_logging) X(do_action)

struct Library {
#define CLLAB_MEMBER(name) decltype(&::amd_comgr_##name) name = nullptr;
    CLLAB_COMGR_FUNCTIONS(CLLAB_MEMBER)
#undef CLLAB_MEMBER
    std::string missing;

    Library() {
        // The enumerations changed between major versions, so only the one the header describes will do.
        const std::string file = "libamd_comgr.so." + std::to_string(AMD_COMGR_INTERFACE_VERSION_MAJOR);
        void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) {
            missing = file + " cannot be loaded: apt-get install libamd-comgr2 (ROCm has it too)";
            return;
        }
#define CLLAB_LOAD(name)                                                          \
    name = reinterpret_cast<decltype(name)>(::dlsym(handle, "amd_comgr_" #name)); \
    if (!name) missing = file + " has no function amd_comgr_" #name;
        CLLAB_COMGR_FUNCTIONS(CLLAB_LOAD)
#undef CLLAB_LOAD
    }
};

const Library& library() {
    static const Library loaded;
    return loaded;
}

/// The library's LLVM keeps its options in globals, and nothing in its header says that two threads may use it at once.
std::mutex one_at_a_time;

/// A failed call, with the library's word for it.
struct Failure {
    std::string sentence;
};

void check(amd_comgr_status_t status, const char* what) {
    if (status == AMD_COMGR_STATUS_SUCCESS) return;
    const char* text = nullptr;
    library().status_string(status, &text);
    throw Failure{std::string("amd_comgr: ") + what + " gives " + (text ? text : "an unknown status")};
}

class Data {
public:
    Data() = default;
    explicit Data(amd_comgr_data_kind_t kind) { check(library().create_data(kind, &handle_), "create_data"); }
    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;
    ~Data() {
        if (handle_.handle) library().release_data(handle_);
    }
    amd_comgr_data_t& get() { return handle_; }

private:
    amd_comgr_data_t handle_{};
};

class DataSet {
public:
    DataSet() { check(library().create_data_set(&handle_), "create_data_set"); }
    DataSet(const DataSet&) = delete;
    DataSet& operator=(const DataSet&) = delete;
    ~DataSet() { library().destroy_data_set(handle_); }
    amd_comgr_data_set_t get() const { return handle_; }

    void add(amd_comgr_data_kind_t kind, ByteSpan bytes, const char* name) {
        Data data(kind);
        check(library().set_data(data.get(), bytes.size(), reinterpret_cast<const char*>(bytes.data())), "set_data");
        check(library().set_data_name(data.get(), name), "set_data_name");
        check(library().data_set_add(handle_, data.get()), "data_set_add");
    }
    /// All data of a kind, one after the other.
    std::string content(amd_comgr_data_kind_t kind) const {
        std::string all;
        std::size_t count = 0;
        check(library().action_data_count(handle_, kind, &count), "action_data_count");
        for (std::size_t i = 0; i < count; ++i) {
            Data data;
            check(library().action_data_get_data(handle_, kind, i, &data.get()), "action_data_get_data");
            std::size_t size = 0;
            check(library().get_data(data.get(), &size, nullptr), "get_data");
            std::string part(size, '\0');
            check(library().get_data(data.get(), &size, part.data()), "get_data");
            all += part;
        }
        return all;
    }

private:
    amd_comgr_data_set_t handle_{};
};

class Action {
public:
    explicit Action(const std::string& processor) {
        check(library().create_action_info(&handle_), "create_action_info");
        const auto status = library().action_info_set_isa_name(handle_, ("amdgcn-amd-amdhsa--" + processor).c_str());
        if (status != AMD_COMGR_STATUS_SUCCESS) {
            library().destroy_action_info(handle_);
            throw Failure{"amd_comgr knows no processor '" + processor + "'"};
        }
    }
    Action(const Action&) = delete;
    Action& operator=(const Action&) = delete;
    ~Action() { library().destroy_action_info(handle_); }

    void language(bool version2) {
        check(library().action_info_set_language(
                  handle_, version2 ? AMD_COMGR_LANGUAGE_OPENCL_2_0 : AMD_COMGR_LANGUAGE_OPENCL_1_2),
              "set_language");
    }
    void options(const std::vector<std::string>& list) {
        std::vector<const char*> pointers;
        for (const auto& option : list) pointers.push_back(option.c_str());
        check(library().action_info_set_option_list(handle_, pointers.data(), pointers.size()), "set_option_list");
        check(library().action_info_set_logging(handle_, true), "set_logging");
    }
    /// The log comes back through `log` also when the action fails.
    void run(amd_comgr_action_kind_t kind, const DataSet& in, DataSet& out, std::string& log, const char* what) {
        const auto status = library().do_action(kind, handle_, in.get(), out.get());
        log += out.content(AMD_COMGR_DATA_KIND_LOG);
        check(status, what);
    }

private:
    amd_comgr_action_info_t handle_{};
};

/// The compiler names its own temporary copy, "/tmp/comgr-b5d900/input/kernel.cl:1:21"; only "kernel.cl:1:21" is the
/// reader's.
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

/// Function labels as llvm-objdump writes them, "0000000000001c00 <vadd>:", so that one parser reads both.
std::string as_objdump(const std::string& text) {
    std::string out;
    std::size_t first = 0;
    std::string label;
    while (first < text.size()) {
        const auto end = std::min(text.find('\n', first), text.size());
        const std::string line = text.substr(first, end - first);
        first = end + 1;
        const auto comment = line.find("// ");
        if (!label.empty() && comment != std::string::npos) {
            std::string address = line.substr(comment + 3, line.find(':', comment) - comment - 3);
            address.insert(0, 16 - std::min<std::size_t>(16, address.size()), '0');
            out += address + " <" + label + ">:\n";
            label.clear();
        }
        const bool is_label = line.size() > 1 && line.back() == ':' && line.find_first_of(" \t") == std::string::npos;
        if (is_label)
            label = line.substr(0, line.size() - 1);
        else
            out += line + "\n";
    }
    return out;
}

ComgrOutput failed(ComgrOutput output, const Failure& failure) {
    output.ok = false;
    output.log = without_temporary_folder(std::move(output.log));
    output.log += (output.log.empty() || output.log.ends_with('\n') ? "" : "\n") + failure.sentence + "\n";
    return output;
}

}  // namespace

std::string comgr_missing() { return library().missing; }

std::vector<std::string> comgr_processors() {
    std::vector<std::string> names;
    std::size_t count = 0;
    if (!comgr_missing().empty() || library().get_isa_count(&count) != AMD_COMGR_STATUS_SUCCESS) return names;
    for (std::size_t i = 0; i < count; ++i) {
        const char* isa = nullptr;
        if (library().get_isa_name(i, &isa) != AMD_COMGR_STATUS_SUCCESS || !isa) continue;
        const std::string text = isa;
        const auto dashes = text.rfind("--");
        names.push_back(dashes == std::string::npos ? text : text.substr(dashes + 2));
    }
    return names;
}

ComgrOutput comgr_compile(const std::string& source, const std::vector<std::string>& options,
                          const std::string& processor) {
    ComgrOutput output;
    if (const auto missing = comgr_missing(); !missing.empty()) return {false, {}, missing};
    // The library needs files between its steps, and says no more than ERROR when it cannot have them.
    if (const auto fault = temporary_folder_fault(); !fault.empty()) throw Error(Blame::environment, fault);
    const std::lock_guard held(one_at_a_time);
    try {
        const bool version2 = std::any_of(options.begin(), options.end(), [](const std::string& o) {
            return o.starts_with("-cl-std=CL2") || o.starts_with("-cl-std=CL3");
        });
        // The language says the version; a second -cl-std would contradict the precompiled header.
        std::vector<std::string> rest;
        std::copy_if(options.begin(), options.end(), std::back_inserter(rest),
                     [](const std::string& o) { return !o.starts_with("-cl-std="); });
        // AMD's runtime optimises unless it is told not to; the library alone does not.
        if (std::find(options.begin(), options.end(), "-cl-opt-disable") == options.end())
            rest.insert(rest.begin(), "-O3");
        Action action(processor);
        action.language(version2);
        action.options(rest);
        DataSet text, with_headers, bitcode, relocatable, executable;
        text.add(AMD_COMGR_DATA_KIND_SOURCE, as_bytes(source), "kernel.cl");
        action.run(AMD_COMGR_ACTION_ADD_PRECOMPILED_HEADERS, text, with_headers, output.log,
                   "adding the OpenCL header");
        action.run(AMD_COMGR_ACTION_COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC, with_headers, bitcode, output.log,
                   "compiling");
        action.run(AMD_COMGR_ACTION_CODEGEN_BC_TO_RELOCATABLE, bitcode, relocatable, output.log, "generating code");
        action.options({});  // the linker takes none of the compiler's
        action.run(AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE, relocatable, executable, output.log, "linking");
        output.bytes = executable.content(AMD_COMGR_DATA_KIND_EXECUTABLE);
        output.ok = !output.bytes.empty();
        output.log = without_temporary_folder(std::move(output.log));
        return output;
    } catch (const Failure& failure) {
        return failed(std::move(output), failure);
    }
}

ComgrOutput comgr_disassemble(ByteSpan code_object, const std::string& processor) {
    ComgrOutput output;
    if (const auto missing = comgr_missing(); !missing.empty()) return {false, {}, missing};
    const std::lock_guard held(one_at_a_time);
    try {
        Action action(processor);
        action.options({});
        DataSet in, out;
        in.add(AMD_COMGR_DATA_KIND_EXECUTABLE, code_object, "program.co");
        action.run(AMD_COMGR_ACTION_DISASSEMBLE_EXECUTABLE_TO_SOURCE, in, out, output.log, "disassembling");
        output.bytes = as_objdump(out.content(AMD_COMGR_DATA_KIND_SOURCE));
        output.ok = !output.bytes.empty();
        return output;
    } catch (const Failure& failure) {
        return failed(std::move(output), failure);
    }
}

#endif

}  // namespace cllab::inspect
