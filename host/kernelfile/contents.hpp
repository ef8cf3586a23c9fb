// What files, pictures and image formats are as elements of an argument.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "kernelfile/data.hpp"
#include "model/experiment.hpp"
#include "model/pixel_format.hpp"

namespace cllab::kernelfile {

/// Reads a picture as one grey byte per pixel; throws Error(usage).
using LoadPicture = std::function<model::Loaded(const std::string& path)>;

/// A file named in a kernel file's block lies beside it, one named on the command line in the current folder.
std::filesystem::path resolved(const std::string& path, const Place& place);

/// Of 'reference FILE.cl:KERNEL' the file, as a pattern names it, and the kernel; nothing where no file is named.
std::optional<std::pair<std::string, std::string>> file_of_reference(const Placed& reference);

/// The format of images that has the name. Throws Error(usage) where none has.
model::PixelFormat image_format(const std::string& name, const Place& place);

struct Picture {
    std::size_t width = 0, height = 0;
    model::SharedBytes pixels;
};
/// In elements of 1, 2 or 4 lanes: floats from 0 to 1, integers from 0 to `white`; the fourth lane is opaque.
Picture read_picture(const LoadPicture& load, const std::filesystem::path& path, const Place& place,
                     const model::ElementType& type, std::int64_t white = 255);

/// The bytes of a file, or of an array of NumPy, whose elements must be those of a buffer of `element`. `whose`: that
/// buffer and its type, for the sentence when they are not.
model::Bytes read_elements(const std::filesystem::path& path, const Place& place, bool is_npy,
                           const model::ElementType& element, const std::string& whose);

}  // namespace cllab::kernelfile
