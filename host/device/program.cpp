#include "device/program.hpp"

#include <optional>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/includes.hpp"
#include "core/program_text.hpp"
#include "core/text.hpp"
#include "device/cuda.hpp"
#include "device/quirks.hpp"
#include "device/session.hpp"

namespace cllab::device {
namespace {

/// From the bytes of a process that built it before; nothing where there are none, or the driver does not take them.
std::optional<cl::Program> build_known(Session& session, const std::string& key) {
    const auto* bytes = session.programs().find(key);
    if (!bytes) return std::nullopt;
    try {
        const auto* begin = reinterpret_cast<const unsigned char*>(bytes->data());
        cl::Program out(session.context(), {session.device()}, {{begin, begin + bytes->size()}});
        out.build(session.device(), "");
        return out;
    } catch (const cl::Error&) {
        session.programs().refused(key);
        return std::nullopt;
    }
}

bool takes_spirv(const cl::Device& device) {
    std::size_t bytes = 0;  // one, of an empty text, where it takes none
    return clGetDeviceInfo(device(), CL_DEVICE_IL_VERSION, 0, nullptr, &bytes) == CL_SUCCESS && bytes > 1;
}

cl::Program program_of_spirv(const Session& session, const std::string& bytes) {
    if (!takes_spirv(session.device())) {
        std::vector<std::string> others;
        for (const auto& found : discover())
            if (takes_spirv(found.device)) others.push_back(found.facts.selector + " (" + found.facts.name + ")");
        throw Unsupported(session.facts().platform, ", driver ", session.facts().driver, ", takes no SPIR-V; ",
                          others.empty() ? "Intel's drivers do" : "here it is taken by " + join(others, ", "));
    }
    cl_int code = CL_SUCCESS;
    const auto program = clCreateProgramWithIL(session.context()(), bytes.data(), bytes.size(), &code);
    if (code != CL_SUCCESS) throw cl::Error(code, "clCreateProgramWithIL");
    return cl::Program(program);
}

cl::Program program_of(const Session& session, std::string_view bytes) {
    const auto* begin = reinterpret_cast<const unsigned char*>(bytes.data());
    return cl::Program(session.context(), {session.device()}, {{begin, begin + bytes.size()}});
}

/// Leaves the program in `out` also where it throws, to be asked for its log. One whose text has instructions of sm_90a
/// is built of the PTX that the driver makes of it.
void build_source(Session& session, const std::string& source, const std::string& options, cl::Program& out) {
    const auto bytes = program_of_text(source);
    out = !bytes             ? cl::Program(session.context(), source)
          : is_spirv(*bytes) ? program_of_spirv(session, *bytes)
                             : program_of(session, *bytes);
    out.build(session.device(), options.c_str());
    if (session.facts().compute_capability != 90 || source.find(sm_90a_mark) == source.npos) return;
    const auto binary = program_binary({.program = out, .ok = true});
    const auto ptx = with_sm_90a({reinterpret_cast<const char*>(binary.data()), binary.size()});
    if (ptx.empty()) return;
    out = program_of(session, ptx);
    out.build(session.device(), "");
}

}  // namespace

Built build(Session& session, const std::string& source, const std::string& options) {
    Built out;
    const auto start = Clock::now();
    const auto key = KnownPrograms::key_of(source, options);
    if (auto known = build_known(session, key)) {
        out.program = std::move(*known);
        out.ok = true;
        out.seconds = seconds_since(start);
        return out;
    }
    try {
        if (asks_for_cuda(options)) {
            const auto made = compile_cuda(source, options, session.facts().compute_capability);
            if (!made.ok) return {.code = CL_BUILD_PROGRAM_FAILURE, .log = made.log, .seconds = seconds_since(start)};
            out.program = program_of(session, made.ptx);
            out.program.build(session.device(), "");
        } else {
            build_source(session, source, options, out.program);
        }
        out.ok = true;
        session.programs().built(key, out.program);
    } catch (const cl::Error& e) {
        out.code = e.err();
        if (e.err() == CL_INVALID_BINARY)
            out.log = "error: the driver takes binaries of its own only, and this is none";
        out.ok = false;
    }
    out.seconds = seconds_since(start);
    try {
        // A refused option leaves no program object to ask on some drivers.
        if (out.program()) out.log = out.program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(session.device());
    } catch (const cl::Error&) {  // then there is none
    }
    while (!out.log.empty() && (out.log.back() == '\0' || out.log.back() == '\n')) out.log.pop_back();
    return out;
}

std::string kernel_name(const Session& session, const Built& built, const std::string& written) {
    if (!built.ok || !has_quirk(session.facts(), "pocl-renames")) return written;
    try {
        const std::string names = built.program.getInfo<CL_PROGRAM_KERNEL_NAMES>().c_str();
        return given_name(session.facts(), written, split(names, ';'));
    } catch (const cl::Error&) {
        return written;
    }
}

std::vector<std::byte> program_binary(const Built& built) {
    if (!built.ok) return {};  // rusticl aborts the process when asked before a build
    const cl_program program = built.program();
    cl_uint devices = 0;
    cl_int code = clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, nullptr);
    if (code != CL_SUCCESS) throw cl::Error(code, "clGetProgramInfo(CL_PROGRAM_NUM_DEVICES)");
    if (devices != 1)
        throw Error(Blame::result, "the program belongs to " + std::to_string(devices) + " devices instead of one");
    std::size_t size = 0;
    code = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
    if (code != CL_SUCCESS) throw cl::Error(code, "clGetProgramInfo(CL_PROGRAM_BINARY_SIZES)");
    std::vector<std::byte> out(size);
    if (size == 0) return out;
    // PoCL 5 writes NULL over the caller's pointer when it has nothing; `out` keeps the memory either way.
    unsigned char* pointer = reinterpret_cast<unsigned char*>(out.data());
    code = clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr);
    if (code != CL_SUCCESS) throw cl::Error(code, "clGetProgramInfo(CL_PROGRAM_BINARIES)");
    if (pointer == nullptr) out.clear();
    return out;
}

std::string KnownPrograms::key_of(const std::string& source, const std::string& options) {
    return includes_of(source).empty() ? sha256_hex(options + std::string(1, '\0') + source) : std::string();
}

bool KnownPrograms::pay(const model::Device& device) {
    return device.implementation == model::Implementation::pocl && device.is_cpu();
}

const std::vector<std::byte>* KnownPrograms::find(const std::string& key) const {
    const auto found = known_.find(key);
    return found == known_.end() || key.empty() ? nullptr : &found->second;
}

void KnownPrograms::built(const std::string& key, const cl::Program& program) {
    if (keeps_ && !key.empty()) made_.insert_or_assign(key, program);
}

ProgramBytes KnownPrograms::made() const {
    ProgramBytes out;
    for (const auto& [key, program] : made_) {
        try {
            auto bytes = program_binary({.program = program, .ok = true});
            if (!bytes.empty()) out.emplace(key, std::move(bytes));
        } catch (const std::exception&) {  // the next process builds it from text
        }
    }
    return out;
}

}  // namespace cllab::device
