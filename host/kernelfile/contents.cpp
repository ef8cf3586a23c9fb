#include "kernelfile/contents.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;
using Format = model::Image::Format;

struct PixelFormat {
    const char* name;
    Format format;
    const char* pixel;  ///< a type of OpenCL C
};
constexpr PixelFormat pixel_formats[] = {
    {"r8", Format::r8_normalised, "uchar"},        {"r8ui", Format::r8_unsigned, "uchar"},
    {"r32f", Format::r32_float, "float"},          {"rgba8", Format::rgba8_normalised, "uchar4"},
    {"rgba8ui", Format::rgba8_unsigned, "uchar4"}, {"rgba32f", Format::rgba32_float, "float4"}};

model::Bytes as_pixels(const model::Loaded& picture, const ElementType& type) {
    const auto pixels = picture.width * picture.height;
    model::Bytes out(pixels * type.bytes);
    const bool floating = type.kind == ElementType::Kind::floating;
    for (std::size_t i = 0; i < pixels; ++i)
        for (std::size_t lane = 0; lane < type.lanes; ++lane) {
            auto* to = out.data() + i * type.bytes + lane * type.lane_bytes;
            const int level = lane == 3 ? 255 : std::to_integer<int>((*picture.grey)[i]);
            if (floating)
                put_real(to, type, level / 255.0);
            else
                put_integer(to, type, level);
        }
    return out;
}

}  // namespace

std::filesystem::path resolved(const std::string& path, const Place& place) {
    const std::filesystem::path plain(path);
    if (place.line == 0 || plain.is_absolute()) return plain;
    return std::filesystem::path(place.file).parent_path() / plain;
}

std::optional<Format> image_format(const std::string& name) {
    const auto* found = std::ranges::find_if(pixel_formats, [&](const auto& f) { return name == f.name; });
    return found == std::end(pixel_formats) ? std::nullopt : std::optional(found->format);
}

ElementType pixel_type(Format format) {
    return *model::builtin_type(std::ranges::find(pixel_formats, format, &PixelFormat::format)->pixel);
}

Picture read_picture(const LoadPicture& load, const std::filesystem::path& path, const Place& place,
                     const ElementType& type) {
    try {
        const auto picture = load(path.string());
        return {picture.width, picture.height, std::make_shared<const model::Bytes>(as_pixels(picture, type))};
    } catch (const Error& e) {
        refuse(place, e.what());
    }
}

model::Bytes read_elements(const std::filesystem::path& path, const Place& place, bool is_npy,
                           const ElementType& element, const std::string& whose) {
    auto bytes = read_bytes(path, place);
    if (!is_npy) return bytes;
    auto array = read_npy(bytes, path.string(), place);
    if (!fits(array, element)) refuse(place, "'" + path.string() + "' holds " + array.type + ", " + whose);
    return std::move(array.data);
}

}  // namespace cllab::kernelfile
