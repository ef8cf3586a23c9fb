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

/// Puts `value` at `to` as one lane of the type; integers that do not fit are refused before, by fits().
void put_real(std::byte* to, const model::ElementType& type, double value);
void put_integer(std::byte* to, const model::ElementType& type, std::int64_t value);
bool fits(const model::ElementType& type, std::int64_t value);
/// One lane of an integer type, which has so many bytes.
std::uint64_t unsigned_lane(const std::byte* from, std::size_t bytes);
std::int64_t signed_lane(const std::byte* from, std::size_t bytes);
/// Numbers of 4 bits, one and two to a byte.
model::Bytes packed_nibbles(std::span<const std::byte> single);
model::Bytes single_nibbles(std::span<const std::byte> packed);
/// One lane of a floating type.
double lane_value(const std::byte* from, const model::ElementType& type);
/// One lane in digits that tell it from its neighbours.
std::string lane_text(const std::byte* from, const model::ElementType& type);
/// How many representable values lie between two lanes; floating types only.
double ulps_between(const std::byte* a, const std::byte* b, const model::ElementType& type);

/// A file's bytes. Throws Error(usage) with the place that names the file.
model::Bytes read_bytes(const std::filesystem::path& path, const Place& place);

struct Array {
    std::string type;    ///< "float", of OpenCL C
    bool truth = false;  ///< NumPy's bool: bytes of 0 and 1, which are numbers of either sign
    std::vector<std::size_t> shape;
    model::Bytes data;
};
/// NumPy's format, versions 1 to 3, C order. Throws Error(usage) for what is damaged, of another byte order or of
/// another type.
Array read_npy(const model::Bytes& file, const std::string& name, const Place& place);
/// Whether its elements are those of a buffer of `element`; elements of no known kind take anything.
bool fits(const Array& array, const model::ElementType& element);
std::string shape_text(const std::vector<std::size_t>& shape);  ///< "(256, 256)"

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

/// The bytes of a file, or of an array of NumPy (.npy, or `is_npy`), whose elements must be those of a buffer of
/// `element`. `whose`: that buffer and its type, for the sentence when they are not.
model::SharedBytes read_elements(const std::filesystem::path& path, const Place& place,
                                 const model::ElementType& element, const std::string& whose, bool is_npy = false);

// --- Where results differ, and by how much, in words.

/// Whether it, or a field of it, is of a floating-point type.
bool has_floats(const model::ElementType& type);

/// The first element of `found` that differs from `expected` by more than `errors` takes: "dst[17] is 3, expected 4".
/// Of differences as rounding makes them it says which tolerance takes them all. `all_errors`: as of results of
/// another's arithmetic, of every difference in floating point it has the largest errors.
std::optional<std::string> difference(const std::string& name, std::span<const std::byte> found,
                                      std::span<const std::byte> expected, const model::ElementType& type,
                                      model::Errors& errors, const std::string& whose, bool all_errors = false);

/// Bytes that hold the poison of the seed: all of them, or those of aligned words of eight, so that chance plays no
/// part. Nobody writes padding, so it does not count.
std::size_t untouched_bytes(std::span<const std::byte> data, std::uint64_t seed, const model::ElementType& type);

}  // namespace cllab::kernelfile
