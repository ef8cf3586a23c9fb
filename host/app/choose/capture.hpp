// A kernel as the OpenCL Intercept Layer captured it (CLI_CaptureReplay=1): text, options, sizes, arguments, and the
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

/// Throws Error(usage) for a folder that is none.
Capture read_capture(const std::filesystem::path& folder);

/// What the capture says of its kernel, in the grammar's own terms. Throws Error(usage) for an argument that is
/// missing.
kernelfile::Description described(const Capture& capture, const model::KernelSignature& kernel);

}  // namespace cllab::app
