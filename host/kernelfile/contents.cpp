#include "kernelfile/contents.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;
model::Bytes as_pixels(const model::Loaded& picture, const ElementType& type, std::int64_t white) {
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
                put_integer(to, type, level * white / 255);
        }
    return out;
}

}  // namespace

std::filesystem::path resolved(const std::string& path, const Place& place) {
    const std::filesystem::path plain(path);
    if (place.line == 0 || plain.is_absolute()) return plain;
    return std::filesystem::path(place.file).parent_path() / plain;
}

std::optional<std::pair<std::string, std::string>> file_of_reference(const Placed& reference) {
    const auto& [place, text] = reference;
    const auto at = text.rfind(".cl:");
    if (at == std::string::npos) return std::nullopt;
    return std::pair(resolved(text.substr(0, at + 3), place).string(), text.substr(at + 4));
}

model::PixelFormat image_format(const std::string& name, const Place& place) {
    if (const auto found = model::pixel_format(name)) return *found;
    refuse(place, cllab::quoted(name), " is no format of images; a format is ", model::pixel_formats);
}

Picture read_picture(const LoadPicture& load, const std::filesystem::path& path, const Place& place,
                     const ElementType& type, std::int64_t white) {
    try {
        const auto picture = load(path.string());
        return {picture.width, picture.height, std::make_shared<const model::Bytes>(as_pixels(picture, type, white))};
    } catch (const Error& e) {
        refuse(place, e.what());
    }
}

model::Bytes read_elements(const std::filesystem::path& path, const Place& place, bool is_npy,
                           const ElementType& element, const std::string& whose) {
    auto bytes = read_bytes(path, place);
    if (!is_npy) return bytes;
    auto array = read_npy(bytes, path.string(), place);
    if (!fits(array, element)) refuse(place, "'", path.string(), "' holds ", array.type, ", ", whose);
    return std::move(array.data);
}

}  // namespace cllab::kernelfile
