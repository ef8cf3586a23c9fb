// A kernel captured by the OpenCL Intercept Layer (CLI_CaptureReplay=1): text, options, sizes, arguments, and the
// buffers before and after.
#pragma once

#include <filesystem>
#include <string>

#include "kernelfile/description.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::app {

struct Capture {
    std::filesystem::path folder;
    std::string text_path, kernel, options;
    std::string global, local, offset;  ///< "96,80"; empty: none
};

/// Throws Error(usage) if the folder is not a capture.
Capture read_capture(const std::filesystem::path& folder);

/// The captured launch as a kernel file's description. Throws Error(usage) for a missing or unsupported argument.
kernelfile::Description described(const Capture& capture, const model::KernelSignature& kernel);

}  // namespace cllab::app
