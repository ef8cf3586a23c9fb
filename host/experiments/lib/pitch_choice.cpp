#include "experiments/lib/pitch_choice.hpp"

#include <algorithm>

#include "core/units.hpp"
#include "experiments/lib/one_of.hpp"
#include "experiments/lib/sizes.hpp"

namespace cllab::model::pitch {
namespace {

using lib::is_one_of, lib::round_up;

Geometry geometry_of(const Request& request, Params& params, double pitch) {
    const auto edge = [&](const char* axis) -> long long { return params.is_auto(axis) ? -1 : params.integer(axis); };
    const Region region{edge("left"), edge("top"), edge("right"), edge("bottom")};
    const auto* file = loaded(request);
    const long long width = params.integer("width"), height = params.integer("height");
    if (!file) return pitch::resolve(width, height, pitch, region);
    try {
        return pitch::resolve(static_cast<long long>(file->width), static_cast<long long>(file->height), pitch, region);
    } catch (const Error& e) {
        throw Error(e.blame(), file->path + ": " + e.what());
    }
}

/// What one work-item per pixel is launched with by default: on a CPU the implementation knows best (PoCL makes one
/// vector loop of a work-group), on a GPU it may choose badly where the size is a prime.
Extent automatic_local(const std::string& variant, const Geometry& g, const Device& device) {
    if (is_one_of(variant, {"swar", "wide"}))
        return Extent(std::min<std::size_t>(device.is_cpu() || blocks_of(g) < 256 ? 64 : 256, device.max_group), 1);
    if (device.is_cpu() && variant != "local") return {};
    return device.max_group >= 256 ? Extent(64, 4) : Extent(device.max_group, 1);
}

Extent local_of(const Request& request, Params& params, const Geometry& g) {
    auto local = params.shape("local", automatic_local(request.variant.name, g, request.device));
    if (local.dims > 2) throw Error(Blame::usage, "axis 'local' is " + local.text() + "; an image has two dimensions");
    lib::require_group(request.device, local.count());
    if (local.dims == 1) {
        local = Extent(local.size[0], 1);
        params.record("local", local.text());
    }
    return local;
}

}  // namespace

const Loaded* loaded(const Request& request) {
    const auto found = request.files.find("src");
    return found == request.files.end() ? nullptr : &found->second;
}

bool Choice::is_float(const std::string& variant) const {
    return element == "float" || is_one_of(variant, {"float", "roi", "struct", "struct_value", "struct_constant",
                                                     "published", "local", "image"});
}

std::size_t blocks_of(const Geometry& g) { return (g.columns() + 14) / 16 + 1; }

std::size_t tile_bytes(const Geometry& g, const Extent& local) {
    return (local.size[0] + 2 * static_cast<std::size_t>(g.n + 1)) * local.size[1];
}

Choice choice_of(const Request& request, Params& params) {
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    Choice out;
    out.pitch = params.real("pitch");
    out.weights = params.text("weights") == "published" ? Weights::published : Weights::linear;
    out.transfer = params.text("transfers") == "mapped" ? Transfer::mapped : Transfer::copied;
    if (is_one_of(variant, {"implicit", "loop"})) out.element = params.text("element");
    if (is_one_of(variant, {"loop", "short8", "vload8"}))
        out.columns = params.text("layout", variant == "vload8" ? "columns" : "rows") == "columns";
    const auto& g = out.g = geometry_of(request, params, out.pitch);
    for (const auto& [axis, value] : {std::pair{"width", g.width},
                                      {"height", g.height},
                                      {"left", g.left},
                                      {"top", g.top},
                                      {"right", g.right},
                                      {"bottom", g.bottom}})
        params.record(axis, static_cast<std::uint64_t>(value));
    lib::require_room(device, "src", g.bytes());
    if (is_one_of(variant, {"loop", "short8", "vload8"})) {
        out.items = params.count("items", device.compute_units);
    } else if (variant == "wide" && device.is_cpu()) {
        // Short bands even out cores that are not equally free.
        out.items = params.count("items", 8ull * device.compute_units);
        params.only("local", 1, "pitch_wide has one work-item per group on a CPU");
    } else {
        out.local = local_of(request, params, g);
        if (variant == "wide")
            params.only("items", round_up(blocks_of(g), out.local.size[0]) * round_up(g.rows(), out.local.size[1]),
                        "outside CPUs the image decides the number of work-items of pitch_wide");
    }
    if (variant == "local") {
        const std::size_t tile = tile_bytes(g, out.local);
        if (tile > device.local_bytes)
            throw Unsupported("a tile for local size " + out.local.text() + " and pitch " + format_exact(out.pitch) +
                              " takes " + std::to_string(tile) + " bytes; the device has " +
                              std::to_string(device.local_bytes) + " bytes of local memory");
    }
    return out;
}

}  // namespace cllab::model::pitch
