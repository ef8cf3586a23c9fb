#include "device/nvrtc.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "core/error.hpp"
#include "device/cuda_text.hpp"

namespace cllab::device {
namespace {

/// The seven functions of NVRTC that a build takes (NVRTC's manual, "Compilation"); 0 is success.
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

/// What one of the pairs of functions "size of", "get" gives.
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
        out.log = "NVRTC makes no program of the text";
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

std::string nvrtc_missing() {
    if (nvrtc().found) return {};
    return "the build option -x cuda needs libnvrtc of the CUDA toolkit (in its lib64, in CUDA_PATH or on the library "
           "path; `pip download "
           "nvidia-cuda-nvrtc` has it too)";
}

CudaBuild compile_cuda(const std::string& source, const std::string& options, int sm) {
    if (const auto missing = nvrtc_missing(); !missing.empty()) throw Unsupported(missing);
    const auto words = nvrtc_options(options, source, sm);
    const auto text = cuda_text(source);
    auto first = compile(text, words);
    if (!first.ok) return first;
    // PTX does not say which numbers are pointers; the compiler does when it is asked, once it has said which kernels
    // there are.
    const auto entries = entries_in(first.ptx);
    const auto answers = compile(text + questions_about(entries), words);
    if (!answers.ok) return answers;
    first.ptx = with_register_limit(with_pointers(first.ptx, pointers_in(answers.ptx)), options);
    return first;
}

}  // namespace cllab::device
