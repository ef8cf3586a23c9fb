#include "device/program.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <regex>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/kernel_text.hpp"
#include "core/text.hpp"
#include "device/cuda.hpp"
#include "device/quirks.hpp"
#include "device/session.hpp"
#include "device/spirv.hpp"

namespace cllab::device {
namespace {

/// Builds from another process's bytes. nullopt if there are none or the driver rejects them.
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
    std::size_t bytes = 0;  // a driver without SPIR-V reports 1, for an empty text
    return clGetDeviceInfo(device(), CL_DEVICE_IL_VERSION, 0, nullptr, &bytes) == CL_SUCCESS && bytes > 1;
}

cl::Program program_of_spirv(const Session& session, const std::string& bytes) {
    if (!takes_spirv(session.device())) {
        std::vector<std::string> others;
        for (const auto& found : discover())
            if (takes_spirv(found.device)) others.push_back(found.facts.selector + " (" + found.facts.name + ")");
        throw Unsupported(session.facts().platform, ", driver ", session.facts().driver, ", does not accept SPIR-V; ",
                          others.empty() ? "Intel's drivers do" : "these devices do: " + join(others, ", "));
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

/// Sets `out` even if it throws, so that the caller can read the log. A text with instructions of sm_90a is built from
/// the PTX that the driver makes of it.
void build_source(Session& session, const std::string& source, const std::string& options, cl::Program& out) {
    const auto bytes = program_of_text(source);
    out = !bytes             ? cl::Program(session.context(), source)
          : is_spirv(*bytes) ? program_of_spirv(session, *bytes)
                             : program_of(session, *bytes);
    // Oclgrind 21.10 gives clang 14 extensions without their features, which clang rejects for OpenCL C 3.0. The
    // simulator has no functions for the extensions omitted here.
    const bool is_oclgrind = session.facts().implementation == model::Implementation::oclgrind;
    const bool states_features = is_oclgrind && options.find("-cl-std=CL3") != std::string::npos;
    const std::string features =
        " -cl-ext=+all,-cl_khr_subgroups,-__opencl_c_subgroups,-__opencl_c_pipes,-__opencl_c_device_enqueue";
    out.build(session.device(), (options + (states_features ? features : "")).c_str());
    if (session.facts().compute_capability != 90 || source.find(sm_90a_mark) == source.npos) return;
    const auto binary = program_binary({.program = out, .ok = true});
    const auto ptx = with_sm_90a({reinterpret_cast<const char*>(binary.data()), binary.size()});
    if (ptx.empty()) return;
    out = program_of(session, ptx);
    out.build(session.device(), "");
}

/// PoCL writes "error: t.cl:9:5: text"; this becomes "t.cl:9:5: error: text".
std::string with_places_first(const std::string& log) {
    static const std::regex place_last("((?:fatal )?error|warning|note): (.*?:[0-9]+:[0-9]+(?: <[^>]*>)?): (.*)");
    return join(split(log, '\n'), "\n", [](const auto& line) {
        constexpr std::size_t longest = 2000;  // a regular expression needs stack for each character
        constexpr auto whole = std::regex_constants::match_continuous;
        return line.size() > longest ? line : std::regex_replace(line, place_last, "$2: $1: $3", whole);
    });
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
            out.log = "error: the driver accepts only its own binaries, and this is not one";
        out.ok = false;
    }
    out.seconds = seconds_since(start);
    try {
        // On some drivers, a rejected option leaves no program object with a log.
        if (out.program()) out.log = out.program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(session.device());
    } catch (const cl::Error&) {  // the program has no log
    }
    while (!out.log.empty() && (out.log.back() == '\0' || out.log.back() == '\n')) out.log.pop_back();
    out.log = with_places_first(out.log);
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
    if (!built.ok) return {};  // rusticl aborts the process if this is called before a build
    const cl_program program = built.program();
    cl_uint devices = 0;
    cl_int code = clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, nullptr);
    if (code != CL_SUCCESS) throw cl::Error(code, "clGetProgramInfo(CL_PROGRAM_NUM_DEVICES)");
    if (devices != 1)
        throw Error(Blame::result, "the program belongs to " + std::to_string(devices) + " devices; expected 1");
    std::size_t size = 0;
    code = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
    if (code != CL_SUCCESS) throw cl::Error(code, "clGetProgramInfo(CL_PROGRAM_BINARY_SIZES)");
    std::vector<std::byte> out(size);
    if (size == 0) return out;
    // PoCL 5 overwrites the caller's pointer with NULL if it has no binary. `out` keeps the memory in either case.
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

// The parameters of kernels.

namespace {

using model::ElementType;
using model::Parameter;

/// "__global const float4 *" becomes "float4". Drivers leave different qualifiers in the text.
std::string plain_type(const std::string& text) {
    std::vector<std::string> words;
    std::string spaced = text;
    std::ranges::replace(spaced, '*', ' ');
    for (const auto& word : split(spaced, ' ')) {
        static const std::string dropped[] = {"",           "const",    "restrict", "volatile", "__global", "global",
                                              "__constant", "constant", "__local",  "local",    "__private"};
        if (std::find(std::begin(dropped), std::end(dropped), word) == std::end(dropped)) words.push_back(word);
    }
    return join(words, " ");
}

Parameter parameter_of(const cl::Kernel& kernel, cl_uint index) {
    Parameter out;
    // Some drivers count more than one NUL per text.
    out.name = kernel.getArgInfo<CL_KERNEL_ARG_NAME>(index).c_str();
    const auto plain = plain_type(kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(index).c_str());
    const auto address = kernel.getArgInfo<CL_KERNEL_ARG_ADDRESS_QUALIFIER>(index);
    const auto access = kernel.getArgInfo<CL_KERNEL_ARG_ACCESS_QUALIFIER>(index);
    const auto qualifiers = kernel.getArgInfo<CL_KERNEL_ARG_TYPE_QUALIFIER>(index);
    const auto refuse = [&](const std::string& what) {
        out.kind = Parameter::Kind::refused;
        out.refusal = what;
        return out;
    };
    if (qualifiers & CL_KERNEL_ARG_TYPE_PIPE || plain.find("pipe") == 0) return refuse("a pipe");
    if (plain == "queue_t") return refuse("a queue for device-side enqueue");
    if (plain == "event_t" || plain == "clk_event_t" || plain == "reserve_id_t") return refuse("a '" + plain + "'");
    if (plain.starts_with("image")) {
        for (const unsigned dims : {1u, 2u, 3u}) {
            const auto name = "image" + std::to_string(dims) + "d_";
            if (plain == name + "t" || plain == name + "depth_t" || plain == name + "buffer_t") out.dims = dims;
            if (plain == name + "array_t" || plain == name + "array_depth_t") out.dims = dims + 1, out.is_array = true;
        }
        if (out.dims == 0 || out.dims > 3)
            return refuse("an '" + plain +
                          "'; supported images are image1d_t, image1d_buffer_t, image2d_t, image3d_t, image1d_array_t, "
                          "image2d_array_t, image2d_depth_t and image2d_array_depth_t");
        out.kind = Parameter::Kind::image;
        out.type.name = plain;
        out.reads_too = access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
        out.writes = out.reads_too || access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
        return out;
    }
    if (plain == "sampler_t") {
        out.kind = Parameter::Kind::sampler;
        return out;
    }
    out.kind = address == CL_KERNEL_ARG_ADDRESS_GLOBAL     ? Parameter::Kind::global
               : address == CL_KERNEL_ARG_ADDRESS_CONSTANT ? Parameter::Kind::constant
               : address == CL_KERNEL_ARG_ADDRESS_LOCAL    ? Parameter::Kind::local
                                                           : Parameter::Kind::value;
    out.is_const = out.kind == Parameter::Kind::constant || (qualifiers & CL_KERNEL_ARG_TYPE_CONST) != 0;
    const auto known = model::builtin_type(plain);
    out.type = known ? *known : ElementType{plain};
    return out;
}

/// The text with kernels turned into unused functions, which a compiler drops. Reason: 2600 lines of CLBlast name eight
/// types, and with kernels each of the 16 builds took Intel's CPU runtime 3.2 s.
std::string types_of(const std::string& text) {
    // Only kernels may have these attributes and variables in local memory.
    const std::string hidden[] = {"__kernel inline",
                                  "kernel inline",
                                  "__local",
                                  "local",
                                  "reqd_work_group_size(x, y, z) unused",
                                  "work_group_size_hint(x, y, z) unused",
                                  "vec_type_hint(x) unused"};
    std::string before, behind;
    for (const auto& macro : hidden) {
        before += "#define " + macro + "\n";
        behind += "#undef " + macro.substr(0, macro.find_first_of(" (")) + "\n";
    }
    return before + text + "\n" + behind;
}

/// The `bytes` bytes that `kernel` writes if it is appended to the text; empty if that does not build.
std::vector<unsigned char> written_by(Session& session, const std::string& text, const std::string& options,
                                      const std::string& kernel, std::size_t bytes) {
    const auto built = build(session, text + "\n" + kernel, options);
    if (!built.ok) return {};
    std::vector<unsigned char> out(bytes, 0);
    const cl::Buffer buffer(session.context(), CL_MEM_READ_WRITE, bytes);
    session.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, out.data());
    cl::Kernel probe(built.program, "cllab_probe");
    probe.setArg(0, buffer);
    session.queue().enqueueNDRangeKernel(probe, cl::NullRange, cl::NDRange(1), cl::NullRange);
    session.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, bytes, out.data());
    return out;
}

/// A type that the text defines: its size, and whether it is an alias of a scalar or vector.
ElementType defined_type(Session& session, const std::string& text, const std::string& options,
                         const std::string& name) {
    ElementType out{name};
    const auto asks_size = "__kernel void cllab_probe(__global uint* out) { out[0] = (uint)sizeof(" + name + "); }\n";
    auto base = types_of(text);
    auto size = written_by(session, base, options, asks_size, 4);
    if (size.empty()) size = written_by(session, base = text, options, asks_size, 4);
    if (size.empty()) return out;
    out.bytes = out.lane_bytes =
        size[0] | static_cast<std::size_t>(size[1]) << 8 | static_cast<std::size_t>(size[2]) << 16;
    // Only scalars and vectors can be made of a number. An integer made of 0.5 is 0; a float has nonzero bits.
    const auto half = written_by(session, base, options,
                                 "__kernel void cllab_probe(__global uchar* out) { *(__global " + name + "*)out = (" +
                                     name + ")(0.5f); out[128] = (uchar)vec_step(" + name + "); }\n",
                                 256);
    if (half.empty() || half[128] == 0 || out.bytes == 0) return out;
    const bool zero = std::all_of(half.begin(), half.begin() + 8, [](unsigned char c) { return c == 0; });
    out.kind = !zero                 ? ElementType::Kind::floating
               : name.front() == 'u' ? ElementType::Kind::unsigned_integer
                                     : ElementType::Kind::signed_integer;
    out.lanes = half[128];
    out.lane_bytes = out.bytes / out.lanes;
    return out;
}

/// Whether the log names a place in a text: "t.cl:9:5: error". Errors without a place come from later stages: a symbol
/// is missing, or ptxas finds more local memory than the device has.
bool names_a_place(const std::string& log) {
    static const std::regex place(":[0-9]+:[0-9]+");
    for (const auto& line : split(log, '\n'))
        if (lower(line).find("error") != std::string::npos && std::regex_search(line, place)) return true;
    return false;
}

}  // namespace

/// The kernels of a program. Oclgrind cannot create a kernel that calls a function it lacks. Such a kernel is built
/// without its body to read its arguments; each of its cells then says that the kernel is missing.
static std::vector<cl::Kernel> kernels_of(Session& session, const Built& built, const std::string& text,
                                          const std::string& options) {
    std::vector<cl::Kernel> out;
    if (!has_quirk(session.facts(), "oclgrind-kernels")) {
        cl::Program(built.program).createKernels(&out);
        return out;
    }
    std::vector<std::string> not_made;
    const std::string names = built.program.getInfo<CL_PROGRAM_KERNEL_NAMES>().c_str();
    for (const auto& name : split(names, ';')) {
        try {
            out.emplace_back(built.program, name.c_str());
        } catch (const cl::Error&) {
            not_made.push_back(name);
        }
    }
    auto lacking = kernels_in(text);  // does not find kernels that macros define
    std::erase_if(lacking, [&](const auto& kernel) { return std::ranges::count(not_made, kernel.name) == 0; });
    if (lacking.empty()) return out;
    const auto hollow = build(session, without_bodies(text, lacking, "{}"), options);
    for (const auto& kernel : lacking)
        if (hollow.ok) out.emplace_back(hollow.program, kernel.name.c_str());
    return out;
}

model::Introspection introspect(Session& session, const std::string& text, const std::string& options) {
    model::Introspection out;
    if (const auto known = kernels_of_program(text)) return *known;
    const bool program = program_of_text(text).has_value();
    const auto all_options = options.empty() ? option_of_arguments : options + " " + option_of_arguments;
    auto built = build(session, text, all_options);
    // The arguments are known without the body. Each cell of the kernel says why it does not build.
    if (!built.ok && !program && !names_a_place(built.log))
        if (auto hollow = build(session, without_bodies(text, kernels_in(text), "{}"), all_options); hollow.ok)
            built = std::move(hollow);
    out.built = built.ok;
    if (!built.ok) {
        out.log = built.log.empty() ? error_name(built.code) : built.log;
        return out;
    }
    std::map<std::string, ElementType> defined;
    try {
        for (const auto& kernel : kernels_of(session, built, text, all_options)) {
            model::KernelSignature signature;
            const std::string name = kernel.getInfo<CL_KERNEL_FUNCTION_NAME>().c_str();
            signature.name = written_name(session.facts(), name);
            const auto count = kernel.getInfo<CL_KERNEL_NUM_ARGS>();
            for (cl_uint i = 0; i < count; ++i) {
                auto parameter = parameter_of(kernel, i);
                parameter.name = written_name(session.facts(), parameter.name);
                const bool typed = parameter.kind != Parameter::Kind::image &&
                                   parameter.kind != Parameter::Kind::sampler &&
                                   parameter.kind != Parameter::Kind::refused;
                if (typed && !program && parameter.type.bytes == 0 && !parameter.type.name.empty() &&
                    parameter.type.name != "void") {
                    const auto type = parameter.type.name;
                    if (!defined.count(type)) defined[type] = defined_type(session, text, options, type);
                    parameter.type = defined[type];
                }
                signature.parameters.push_back(std::move(parameter));
            }
            std::size_t group[3] = {0, 0, 0};
            if (clGetKernelWorkGroupInfo(kernel(), session.device()(), CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group,
                                         group, nullptr) == CL_SUCCESS)
                signature.required_group = {group[0], group[1], group[2]};
            out.kernels.push_back(std::move(signature));
        }
    } catch (const cl::Error& e) {
        out.trouble = std::string(e.what()) + " returned " + error_name(e.err());
    }
    return out;
}

namespace {

struct Trial {
    const char *extension, *expression;  ///< expression: an uint, computed from an uint `x`
};

/// PoCL 7.2 and Intel's CPU runtime 2026.2 define cl_khr_kernel_clock in language versions without its functions.
constexpr Trial trials[]{{"cl_khr_kernel_clock", "(uint)clock_read_sub_group()"},
                         {"cl_khr_subgroups", "sub_group_reduce_add(x) + get_sub_group_local_id()"},
                         {"cl_khr_subgroup_shuffle", "sub_group_shuffle(x, 0)"},
                         {"cl_intel_subgroups", "intel_sub_group_shuffle(x, 0)"},
                         {"cl_khr_fp16", "(uint)fma((half)x, (half)x, (half)1)"},
                         {"cl_khr_fp64", "(uint)fma((double)x, (double)x, 1.0)"}};

/// The option for the device's own language version, because some extensions have no functions in older ones.
std::string language(const model::Device& device) {
    if (device.device_version.starts_with("OpenCL 3")) return "-cl-std=CL3.0";
    return device.device_version.starts_with("OpenCL 2") ? "-cl-std=CL2.0" : "-cl-std=CL1.2";
}

}  // namespace

bool keeps_promise(Session& session, const std::string& extension) {
    const auto trial = std::ranges::find(trials, extension, &Trial::extension);
    if (trial == std::end(trials)) return true;
    return session.remembered("promise " + extension, [&] {
        const auto text = "#pragma OPENCL EXTENSION " + extension +
                          " : enable\n"
                          "kernel void trial(global uint* out) {\n"
                          "    const uint x = get_global_id(0);\n"
                          "    out[x] = " +
                          trial->expression + ";\n}\n";
        return build(session, text, language(session.facts())).ok;
    });
}

}  // namespace cllab::device
