#include "device/cuda.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <regex>
#include <utility>

#include "core/error.hpp"
#include "model/registry.hpp"

namespace cllab::device {
namespace {

const std::string register_limit = "-cl-nv-maxrregcount=";

/// Replaces every match; `$1` and so on are its groups.
void replace(std::string& text, const char* pattern, const char* by) {
    text = std::regex_replace(text, std::regex(pattern), by);
}

/// The seven functions of NVRTC that a build needs (NVRTC's manual, "Compilation"). They return 0 on success.
struct Nvrtc {
    using Program = void*;
    int (*create)(Program*, const char* text, const char* name, int headers, const char* const*,
                  const char* const*) = nullptr;
    int (*compile)(Program, int options, const char* const*) = nullptr;
    int (*destroy)(Program*) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*ptx_size)(Program, std::size_t*) = nullptr;
    int (*ptx)(Program, char*) = nullptr;
    bool found = false;

    Nvrtc() {
        void* library = nullptr;
        std::vector<std::string> folders{""};
        for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
            if (const char* home = std::getenv(variable)) folders.push_back(std::string(home) + "/lib64/");
        folders.emplace_back("/usr/local/cuda/lib64/");
        for (const auto& folder : folders)
            for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"})
                if (!library) library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) return;
        const auto get = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
            return function != nullptr;
        };
        found = get(create, "nvrtcCreateProgram") && get(compile, "nvrtcCompileProgram") &&
                get(destroy, "nvrtcDestroyProgram") && get(log_size, "nvrtcGetProgramLogSize") &&
                get(log, "nvrtcGetProgramLog") && get(ptx_size, "nvrtcGetPTXSize") && get(ptx, "nvrtcGetPTX");
    }
};

const Nvrtc& nvrtc() {
    static const Nvrtc one;
    return one;
}

/// The text behind a pair of functions "size of" and "get".
std::string text_of(Nvrtc::Program program, int (*size_of)(Nvrtc::Program, std::size_t*),
                    int (*get)(Nvrtc::Program, char*)) {
    std::size_t size = 0;
    if (size_of(program, &size) != 0 || size == 0) return {};
    std::string out(size, '\0');
    if (get(program, out.data()) != 0) return {};
    out.resize(out.find_last_not_of('\0') + 1);
    return out;
}

CudaBuild compile(const std::string& text, const std::vector<std::string>& options) {
    CudaBuild out;
    Nvrtc::Program program = nullptr;
    if (nvrtc().create(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) {
        out.log = "NVRTC cannot create a program from the text";
        return out;
    }
    std::vector<const char*> words;
    for (const auto& option : options) words.push_back(option.c_str());
    out.ok = nvrtc().compile(program, static_cast<int>(words.size()), words.data()) == 0;
    out.log = text_of(program, nvrtc().log_size, nvrtc().log);
    if (out.ok) out.ptx = text_of(program, nvrtc().ptx_size, nvrtc().ptx);
    nvrtc().destroy(&program);
    return out;
}

}  // namespace

std::vector<std::string> words_of(const std::string& options) {
    std::vector<std::string> out;
    bool in_word = false;
    char quote = 0;
    for (const char c : options) {
        const bool is_quote = quote ? c == quote : c == '"' || c == '\'';
        const bool ends = !quote && std::isspace(static_cast<unsigned char>(c));
        if (is_quote) quote = quote ? '\0' : c;
        if (!ends && !std::exchange(in_word, true)) out.emplace_back();
        if (!ends && !is_quote) out.back() += c;
        in_word = !ends;
    }
    return out;
}

bool asks_for_cuda(const std::string& options) {
    const auto words = words_of(options);
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
        if (words[i] == "-x" && words[i + 1] == "cuda") return true;
    return false;
}

std::string cuda_text(const std::string& source) {
    std::string text = source;
    // CUDA expresses a promised work-group size as launch bounds.
    replace(text, R"(__attribute__\s*\(\(\s*reqd_work_group_size\s*\(\s*([^,()]+),\s*([^,()]+),\s*([^,()]+)\)\s*\)\))",
            "__launch_bounds__(($1) * ($2) * ($3))");
    replace(text, R"(__attribute__\s*\(\(\s*(vec_type_hint|work_group_size_hint)\s*\([^()]*\)\s*\)\))", "");
    // Does not replace the names where lab.h defines them as macros.
    replace(text, R"((^|[^\w#])(__)?kernel(?=\s+((__launch_bounds__\s*\([^;{]*?\)|\w+)\s+)?void\b))",
            "$1extern \"C\" __global__");
    // CUDA's pointers have one address space. (No macros: __global__ itself is one, for __attribute__((global)).)
    replace(text, R"((^|[^\w.])(__)?(global|constant|private|read_only)\b)", "$1");  // not in "ld.global"
    // In CUDA, a pointer to local memory is a plain pointer. Other local declarations are arrays or variables.
    replace(text, R"((^|\W)(__)?local\b(?=(\s+\w+)+\s*\*))", "$1");
    replace(text, R"((^|\W)(__)?local\b(?=\s+\w+\s))", "$1__shared__");
    // In C++, (float4)(a, b, c, d) would cast only d.
    replace(text, R"(\(\s*((u?char|u?short|u?int|u?long|float|double)(2|3|4|8|16))\s*\)\s*\()", "$1(");
    std::string out;
    for (const std::string header : {"cuda_vectors.h", "cuda.h"})
        out += "#line 1 \"" + header + "\"\n" + std::string(model::embedded_kernel("include/" + header)) + "\n";
    return out + text + "\n";
}

std::vector<std::string> nvrtc_options(const std::string& options, const std::string& source, int sm) {
    const auto words = words_of(options);
    const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
    std::vector<std::string> out{"--std=c++17", "--device-as-default-execution-space", "--disable-warnings"};
    out.push_back("--gpu-architecture=compute_" + std::to_string(sm));
    const bool fast = has("-cl-fast-relaxed-math") || has("-cl-unsafe-math-optimizations");
    const bool contracts = fast || has("-cl-mad-enable") ||
                           !std::regex_search(source, std::regex(R"(#pragma\s+OPENCL\s+FP_CONTRACT\s+OFF)"));
    const bool exact = has("-cl-fp32-correctly-rounded-divide-sqrt");
    out.push_back(contracts ? "--fmad=true" : "--fmad=false");
    for (const char* option : {"--prec-div=", "--prec-sqrt="})
        out.push_back(option + std::string(exact ? "true" : "false"));
    if (has("-cl-fast-relaxed-math")) out.emplace_back("--use_fast_math");
    if (has("-cl-denorms-are-zero")) out.emplace_back("--ftz=true");
    static const auto known = words_of(
        "-cl-fast-relaxed-math -cl-unsafe-math-optimizations -cl-mad-enable -cl-denorms-are-zero -cl-finite-math-only "
        "-cl-fp32-correctly-rounded-divide-sqrt -cl-no-signed-zeros -cl-nv-verbose -cl-single-precision-constant "
        "-cl-kernel-arg-info -w");
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& word = words[i];
        if (word == "-x")
            ++i;
        else if (word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-I")) {
            out.push_back(word);
            if (word.size() == 2 && i + 1 < words.size()) out.back() += words[++i];
        } else if (!word.starts_with("-cl-std=") && !word.starts_with(register_limit) &&
                   std::ranges::count(known, word) == 0)
            throw Unsupported("NVRTC has no equivalent of the build option '" + word + "' (given with -x cuda)");
    }
    return out;
}

std::string with_register_limit(const std::string& ptx, const std::string& options) {
    for (const auto& word : words_of(options)) {
        if (!word.starts_with(register_limit)) continue;
        static const std::regex entry(R"(\.entry\s+\w+\s*\([^)]*\))");
        return std::regex_replace(ptx, entry, "$&\n.maxnreg " + word.substr(register_limit.size()));
    }
    return ptx;
}

std::string with_sm_90a(std::string_view ptx) {
    if (ptx.find(sm_90a_mark) == ptx.npos) return {};
    const std::string text(ptx.substr(0, ptx.find('\0')));
    auto out = std::regex_replace(text, std::regex(std::string(sm_90a_mark)), "");
    replace(out, R"(\.target sm_\w+)", ".target sm_90a");
    replace(out, R"(\.version ([1-7]\.\d|8\.[0-2]))", ".version 8.3");  // clang may write a version that is too old
    return out;
}

std::vector<std::string> entries_in(const std::string& ptx) {
    static const std::regex entry(R"(\.entry\s+(\w+))");
    std::vector<std::string> out;
    for (std::sregex_iterator i(ptx.begin(), ptx.end(), entry), end; i != end; ++i) out.push_back((*i)[1]);
    return out;
}

std::string questions_about(const std::vector<std::string>& entries) {
    std::string out =
        "#line 1 \"pointers\"\n"
        "template <class T> struct lab_pointer { static constexpr bool is = false; };\n"
        "template <class T> struct lab_pointer<T*> { static constexpr bool is = true; };\n"
        "template <class T> struct lab_pointer<T* __restrict__> { static constexpr bool is = true; };\n"
        "template <class... A> constexpr unsigned long long lab_pointers(void (*)(A...)) {\n"
        "    unsigned long long bits = 0, bit = 1;\n"
        "    ((bits |= lab_pointer<A>::is ? bit : 0, bit <<= 1), ...);\n"
        "    return bits;\n}\n";
    for (const auto& entry : entries)
        out +=
            "extern \"C\" __constant__ unsigned long long lab_pointers_" + entry + " = lab_pointers(" + entry + ");\n";
    return out;
}

std::map<std::string, std::uint64_t> pointers_in(const std::string& ptx) {
    static const std::regex answer(R"(lab_pointers_(\w+)(?:\s*=\s*(\d+))?\s*;)");
    std::map<std::string, std::uint64_t> out;
    for (std::sregex_iterator i(ptx.begin(), ptx.end(), answer), end; i != end; ++i)
        out[(*i)[1]] = (*i)[2].matched ? std::stoull((*i)[2]) : 0;
    return out;
}

std::string with_pointers(const std::string& ptx, const std::map<std::string, std::uint64_t>& pointers) {
    std::string out = ptx;
    for (const auto& [entry, bits] : pointers) {
        for (std::size_t i = 0; i < 64; ++i) {
            if ((bits >> i & 1) == 0) continue;
            const std::regex parameter(R"(\.param\s+\.u64\s+(?:\.ptr[^,)]*\s)?()" + entry + "_param_" +
                                       std::to_string(i) + R"()(?!\d))");
            out = std::regex_replace(out, parameter, ".param .u64 .ptr .global .align 4 $1");
        }
    }
    return out;
}

std::string nvrtc_missing() {
    if (nvrtc().found) return {};
    return "the build option -x cuda needs libnvrtc of the CUDA toolkit (in its lib64, in CUDA_PATH or on the library "
           "path; `pip download nvidia-cuda-nvrtc` has it too)";
}

CudaBuild compile_cuda(const std::string& source, const std::string& options, int sm) {
    if (const auto missing = nvrtc_missing(); !missing.empty()) throw Unsupported(missing);
    const auto words = nvrtc_options(options, source, sm);
    const auto text = cuda_text(source);
    auto first = compile(text, words);
    if (!first.ok) return first;
    // PTX does not say which parameters are pointers. A second compilation asks the compiler, because the first one has
    // to tell the kernels' names.
    const auto entries = entries_in(first.ptx);
    const auto answers = compile(text + questions_about(entries), words);
    if (!answers.ok) return answers;
    first.ptx = with_register_limit(with_pointers(first.ptx, pointers_in(answers.ptx)), options);
    if (auto own = with_sm_90a(first.ptx); sm == 90 && !own.empty()) first.ptx = std::move(own);
    return first;
}

}  // namespace cllab::device
