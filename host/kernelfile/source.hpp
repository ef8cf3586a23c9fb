// A kernel file as it is read: its text, and what its blocks say.
#pragma once

#include <memory>
#include <string>

#include "kernelfile/description.hpp"
#include "model/experiment.hpp"

namespace cllab::kernelfile {

struct SourceFile {
    std::string path;
    std::shared_ptr<const model::Text> text;
    Description description;           ///< its blocks, then the .cllab file beside it
    bool uses_integer_pixels = false;  ///< it calls read_imageui or write_imageui
    bool includes = false;             ///< it includes other files
};

/// Throws Error(usage) for what cannot be read or parsed. `text`: instead of the file's own.
SourceFile read_source(const std::string& path, const std::string* text = nullptr);

}  // namespace cllab::kernelfile
