// pitch: one image comparison written many ways, from the code published in 2013 to packed arithmetic.
#include "experiments/lib/pitch.hpp"

#include "experiments/lib/family.hpp"
#include "experiments/lib/native.hpp"

namespace cllab::model::pitch_family {

using namespace pitch;
using namespace lib;

// --- The axes of a cell.

/// One cell's axes, all resolved.
struct Choice {
    Geometry g;
    double pitch = 1;
    Weights weights = Weights::linear;
    Transfer transfer = Transfer::copied;
    Extent local;                   ///< dims == 0: left to the driver
    std::size_t items = 0;          ///< work-items of variants with one per band or strip; 0: by the image
    std::string element = "short";  ///< the type in which a pixel is computed
    bool columns = false;           ///< strips of columns instead of bands of rows

    bool is_float(const std::string& variant) const;
};

/// The image given by --input src=FILE, or nullptr.
const Loaded* loaded(const Request& request) {
    const auto found = request.files.find("src");
    return found == request.files.end() ? nullptr : &found->second;
}

/// Sixteen-byte blocks of the buffer that a row of the ROI may touch, at any alignment.
std::size_t blocks_of(const Geometry& g) { return (g.columns() + 14) / 16 + 1; }

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

/// Default work-group of variants with one work-item per pixel. On a CPU the implementation knows best (PoCL makes one
/// vector loop of a work-group). On a GPU it may choose badly if the size is a prime.
Extent automatic_local(const std::string& variant, const Geometry& g, const Device& device) {
    if (is_one_of(variant, {"swar", "wide"}))
        return Extent(std::min<std::size_t>(device.is_cpu() || blocks_of(g) < 256 ? 64 : 256, device.max_group), 1);
    if (device.is_cpu() && variant != "local") return {};
    return device.max_group >= 256 ? Extent(64, 4) : Extent(device.max_group, 1);
}

Extent local_of(const Request& request, Params& params, const Geometry& g) {
    auto local = params.shape("local", automatic_local(request.variant.name, g, request.device));
    if (local.dims > 2) throw Error(Blame::usage, "axis 'local' is ", local.text(), "; expected 1 or 2 dimensions");
    require_group(request.device, local.count());
    if (local.dims == 1) {
        local = Extent(local.size[0], 1);
        params.record("local", local.text());
    }
    return local;
}

bool Choice::is_float(const std::string& variant) const {
    return element == "float" || is_one_of(variant, {"float", "roi", "struct", "struct_value", "struct_constant",
                                                     "published", "local", "image"});
}

/// Bytes of local memory for the variant `local`: a work-group's pixels and their neighbors on both sides.
std::size_t tile_bytes(const Geometry& g, const Extent& local) {
    return (local.size[0] + 2 * static_cast<std::size_t>(g.n + 1)) * local.size[1];
}

/// Reads the axes and records the values of auto. Throws Unsupported if the device has no room, Error(usage) for an
/// invalid region.
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
    require_room(device, "src", g.bytes());
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
            throw Unsupported("a tile for local size ", out.local.text(), " and pitch ", format_exact(out.pitch),
                              " takes ", tile, " bytes; the device has ", device.local_bytes, " bytes of local memory");
    }
    return out;
}

// --- The launch of a cell.

/// Image and references for a point and seed, or for a file.
std::shared_ptr<Scene> scene_of(const Request& request, const Choice& choice) {
    const auto file = loaded(request) ? loaded(request)->grey : nullptr;
    const auto key = std::tuple(choice.g, choice.pitch, choice.weights, file ? 0 : request.seed, file);
    return cached(request, "pitch", key, [&] {
        return Scene(file ? file : random_bytes(choice.g.bytes(), request.seed), choice.g, choice.pitch,
                     choice.weights);
    });
}

struct RegionArguments {  // Region of cl/pitch.cl
    std::int32_t width, left, top, right, bottom;
};
struct InterpolationArguments {  // Interpolation of cl/pitch.cl
    std::int32_t n;
    float floor, ceiling;
};

template <typename T>
Input struct_input(const char* name, const T& v) {
    return {name, share(std::vector<T>{v})};
}

/// Adds the kernels' arguments after src and dst.
void add_arguments(Setup& out, const std::string& variant, const Choice& choice) {
    const auto& g = choice.g;
    const auto fixed = fixed_weights(choice.pitch, choice.weights);
    const auto floating = float_weights(choice.pitch, choice.weights);
    const RegionArguments region{g.width, g.left, g.top, g.right, g.bottom};
    const InterpolationArguments weights{g.n, floating.floor, floating.ceiling};
    const auto add = [&](const std::vector<Argument>& more) {
        out.args.insert(out.args.end(), more.begin(), more.end());
    };
    if (variant == "struct_value") return add({value("region", region), value("weights", weights)});
    if (is_one_of(variant, {"struct", "struct_constant"}))
        return add({struct_input("region", region), struct_input("weights", weights)});
    if (variant == "local") add({Local{"tile", tile_bytes(g, choice.local)}});
    add({value("width", g.width), value("left", g.left), value("top", g.top), value("right", g.right),
         value("bottom", g.bottom)});
    if (is_one_of(variant, {"swar", "wide"})) {
        // Pitch and weights are build-time constants.
        out.defines = defines({{"PITCH_N", g.n}, {"PITCH_F", fixed.floor}, {"PITCH_C", fixed.ceiling}});
        if (choice.items == 0) add({value("height", g.height)});
    } else if (choice.is_float(variant)) {
        add({value("n", g.n), value("f", floating.floor), value("c", floating.ceiling)});
    } else {
        add({value("n", g.n), value<std::int16_t>("f", fixed.floor), value<std::int16_t>("c", fixed.ceiling)});
    }
}

/// One work-item per band or strip, per pixel of the image or of its region, or per block of 16 pixels.
void launch_over(Setup& out, const std::string& variant, const Choice& choice) {
    // Groups of one; otherwise an implementation may put all work-items into one work-group, on one core.
    if (choice.items > 0) return launch_groups(out, choice.items, 1);
    const auto& g = choice.g;
    const bool image = is_one_of(variant, {"roi", "struct", "struct_value", "struct_constant", "published", "image"});
    const bool blocks = is_one_of(variant, {"swar", "wide"});
    const std::size_t columns = image    ? static_cast<std::size_t>(g.width)
                                : blocks ? blocks_of(g)
                                         : g.columns(),
                      rows = image ? static_cast<std::size_t>(g.height) : g.rows();
    const auto& local = out.local = choice.local;
    out.global = local.dims == 0 ? Extent(columns, rows)
                                 : Extent(round_up(columns, local.size[0]), round_up(rows, local.size[1]));
    if (is_one_of(variant, {"implicit", "float"}) && out.global.count() != g.pixels())
        out.defines.push_back("PITCH_PARTIAL");
}

/// The published kernel reads its neighbors before it checks whether it needs them, up to a row and a pitch outside the
/// image. So the buffer has margins before and after the image, which make these reads harmless.
void add_margins(Setup& out, const SharedBytes& src, const Geometry& g) {
    const std::size_t before = round_up(static_cast<std::size_t>(g.n) + 1, std::size_t{64});
    const auto [columns, rows, planes] = out.global.size;
    const std::size_t last =
        (rows - 1) * static_cast<std::size_t>(g.width) + columns + static_cast<std::size_t>(g.n) + 1;
    const std::size_t size = before + std::max(last, g.bytes());
    out.args.front() =
        Input{"src", {size, [src, size, before] {
                          Bytes wide(size);
                          std::copy(src->begin(), src->end(), wide.begin() + static_cast<std::ptrdiff_t>(before));
                          return wide;
                      }}};
    out.defines.push_back(concat("PITCH_MARGIN=", before));
}

/// dst as a picture: zero outside the ROI, where the buffer has poison.
Bytes difference_map(const Geometry& g, std::span<const std::byte> dst) {
    Bytes grey(g.bytes());
    for (int y = g.top; y <= g.bottom; ++y) {
        const auto at = static_cast<std::ptrdiff_t>(y) * g.width + g.left;
        std::copy_n(dst.begin() + at, g.columns(), grey.begin() + at);
    }
    return grey;
}

Setup setup(const Request& request, const Choice& choice) {
    const auto& variant = request.variant.name;
    const bool is_float = choice.is_float(variant);
    const auto& g = choice.g;
    const auto width = static_cast<std::size_t>(g.width), height = static_cast<std::size_t>(g.height);
    const auto scene = scene_of(request, choice);

    Setup out;
    out.args = {Input{"src", scene->src}, Output{"dst", g.bytes(), width}};
    if (variant == "image") {
        out.args.front() = Image{"src", width, height, r8_unsigned, scene->src};
        // PoCL 7.2 declares read_imageui only in OpenCL C 3.0; PoCL 3.1 to 7.1 accept 3.0, too.
        const auto& device = request.device;
        if (device.implementation == Implementation::pocl && device.device_version.starts_with("OpenCL 3"))
            out.defines = {"-cl-std=CL3.0"};
    }
    add_arguments(out, variant, choice);
    launch_over(out, variant, choice);
    if (variant == "published") add_margins(out, scene->src, g);
    const double pixels = g.pixels();
    // Every pixel of the ROI and of its margins is read once, every pixel of the ROI is written once.
    out.work.bytes = pixels * 2 + static_cast<double>(g.rows()) * 2 * (g.n + 1);
    out.work.stored = pixels;
    out.work.flops = is_float ? 10 * pixels : 0;  // 6 multiplications, 3 additions, 1 subtraction
    out.work.steps = pixels;
    // With or without fma, a value next to an integer may be truncated to either side.
    out.check = [scene, is_float, slack = variant == "published" ? 1 : 0](const Buffers& b) {
        return check(b, scene->g, is_float ? scene->floating() : scene->fixed(), slack);
    };
    if (choice.columns) out.defines.push_back("PITCH_COLUMNS");
    if (choice.element == "float")
        out.defines.push_back("PITCH_IN_FLOAT");
    else if (choice.element != "short")
        out.defines.push_back("PITCH_ELEMENT=" + choice.element);
    if (choice.element.front() == 'u') out.defines.push_back("PITCH_UNSIGNED");
    out.pictures["dst"] = {width, height, [g](std::span<const std::byte> dst) { return difference_map(g, dst); }};
    out.transfer = choice.transfer;
    out.time_transfers = true;
    return out;
}

Experiment describe() {
    auto out =
        family<Choice>("pitch", choice_of, setup, {.metrics = {rate_metric("pixel_rate", "pixel/s", &Work::steps)}});
    out.native = native::pitch_loops();
    return out;
}

}  // namespace cllab::model::pitch_family
