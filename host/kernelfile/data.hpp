// Bytes for arguments from files, and numbers in the types of OpenCL C.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kernelfile/description.hpp"
#include "model/experiment.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

/// Puts `value` at `to` as one lane of the type; integers that do not fit are refused before, by fits().
void put_real(std::byte* to, const model::ElementType& type, double value);
void put_integer(std::byte* to, const model::ElementType& type, std::int64_t value);
bool fits(const model::ElementType& type, std::int64_t value);
/// One lane of an integer type, which has so many bytes.
std::uint64_t unsigned_lane(const std::byte* from, std::size_t bytes);
std::int64_t signed_lane(const std::byte* from, std::size_t bytes);
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

}  // namespace cllab::kernelfile
