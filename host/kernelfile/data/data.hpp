// Bytes for arguments from files and pictures, and numbers in the types of OpenCL C.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernelfile/description.hpp"
#include "model/experiment.hpp"
#include "model/kernel_signature.hpp"
#include "model/operation.hpp"

namespace cllab::kernelfile {

/// Stores `value` at `to` as one lane of the type. An integer must fit: see fits().
void put_real(std::byte* to, const model::ElementType& type, double value);
void put_integer(std::byte* to, const model::ElementType& type, std::int64_t value);
bool fits(const model::ElementType& type, std::int64_t value);
/// The value of an integer lane of `bytes` bytes.
std::uint64_t unsigned_lane(const std::byte* from, std::size_t bytes);
std::int64_t signed_lane(const std::byte* from, std::size_t bytes);
/// The value of a lane of a floating-point type.
double lane_value(const std::byte* from, const model::ElementType& type);
/// A lane's value with enough digits to distinguish it from its neighbors.
std::string lane_text(const std::byte* from, const model::ElementType& type);

/// A file's bytes. Throws Error(usage) with the place that names the file.
model::Bytes read_bytes(const std::filesystem::path& path, const Place& place);

struct Array {
    std::string type;    ///< its name in OpenCL C, such as "float"
    bool truth = false;  ///< NumPy's bool: bytes of 0 and 1, which fit signed and unsigned types
    std::vector<std::size_t> shape;
    model::Bytes data;
};
/// Reads NumPy's format, versions 1 to 3. Throws Error(usage) if the file is damaged, in Fortran order, or of an
/// unsupported byte order or type.
Array read_npy(const model::Bytes& file, const std::string& name, const Place& place);
/// Whether the array can fill a buffer of `element`. A type with unknown fields takes any array.
bool fits(const Array& array, const model::ElementType& element);
std::string shape_text(const std::vector<std::size_t>& shape);  ///< "(256, 256)"

/// Reads a picture as one grey byte per pixel; throws Error(usage).
using LoadPicture = std::function<model::Loaded(const std::string& path)>;

/// The path of a file that is named at `place`. Paths in a kernel file are relative to its folder, paths on the command
/// line to the current folder.
std::filesystem::path resolved(const std::string& path, const Place& place);

/// The file of `reference FILE.cl:KERNEL`, as patterns name it, and the kernel. nullopt if no file is named.
std::optional<std::pair<std::string, std::string>> file_of_reference(const Placed& reference);

/// The image format of that name. Throws Error(usage) if there is none.
model::PixelFormat image_format(const std::string& name, const Place& place);

struct Picture {
    std::size_t width = 0, height = 0;
    model::SharedBytes pixels;
};
/// In elements of 1, 2 or 4 lanes: floats from 0 to 1, integers from 0 to `white`; the fourth lane is opaque.
Picture read_picture(const LoadPicture& load, const std::filesystem::path& path, const Place& place,
                     const model::ElementType& type, std::int64_t white = 255);

/// The bytes of a file, or the data of a NumPy array (a .npy file, or `is_npy`). Throws Error(usage) if they do not fit
/// a buffer of `element`. `whose`: the buffer and its type, for the message.
model::SharedBytes read_elements(const std::filesystem::path& path, const Place& place,
                                 const model::ElementType& element, const std::string& whose, bool is_npy = false);

// --- Differences between results, as sentences.

/// Whether the type or one of its fields is floating-point.
bool has_floats(const model::ElementType& type);

/// "; 3 of 1024 elements differ", by more than `allowed`. Empty for data without elements and for different sizes.
std::string count_of_differences(std::span<const std::byte> found, std::span<const std::byte> expected,
                                 const model::ElementType& type, const model::Tolerance& allowed);

/// The first element of `found` that differs from `expected` by more than `errors` allows: "dst[17] is 3, expected 4".
/// If the differences look like rounding, names a tolerance that allows all of them. `all_errors`: always gives the
/// largest errors of floating-point results, for results of other arithmetic.
std::optional<std::string> difference(const std::string& name, std::span<const std::byte> found,
                                      std::span<const std::byte> expected, const model::ElementType& type,
                                      model::Errors& errors, const std::string& whose, bool all_errors = false);

/// The number of bytes that still hold the poison of the seed: all of them, or those in aligned words of 8 bytes, which
/// no result equals by chance. Words that begin or end in padding do not count, because kernels do not write it.
std::size_t untouched_bytes(std::span<const std::byte> data, std::uint64_t seed, const model::ElementType& type);

}  // namespace cllab::kernelfile
