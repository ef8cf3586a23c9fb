// pitch: one image comparison written ten ways, from the code published in 2013 to packed arithmetic.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "core/random.hpp"
#include "experiments/pitch_geometry.hpp"
#include "experiments/pitch_reference.hpp"
#include "model/experiment.hpp"

namespace cllab::model {
namespace {

using namespace pitch;

Weights weights_of(const Point& point) {
    return point.text("weights") == "published" ? Weights::published : Weights::linear;
}

const Loaded* loaded(const Request& request) {
    const auto found = request.files.find("src");
    return found == request.files.end() ? nullptr : &found->second;
}

Geometry geometry_of(const Request& request) {
    const auto& point = request.point;
    const auto edge = [&](const char* axis) -> long long { return point.is_auto(axis) ? -1 : point.integer(axis); };
    const Region region{edge("left"), edge("top"), edge("right"), edge("bottom")};
    const auto* file = loaded(request);
    if (!file) return resolve(point.integer("width"), point.integer("height"), point.real("pitch"), region);
    try {
        return resolve(static_cast<long long>(file->width), static_cast<long long>(file->height), point.real("pitch"), region);
    } catch (const Error& e) {
        throw Error(e.blame(), file->path + ": " + e.what());
    }
}

void validate(const Request& request) {
    const auto g = geometry_of(request);
    const auto& device = request.device;
    if (!request.point.is_auto("local") && request.point.shape("local").dims > 2)
        throw Error(Blame::usage, "local is " + request.point.text("local") + "; an image has two dimensions");
    if (device.max_alloc_bytes > 0 && g.bytes() > device.max_alloc_bytes) {
        const auto* file = loaded(request);
        throw Error(Blame::usage, (file ? file->path + " has " : "the image has ") + std::to_string(g.bytes()) +
                                      " pixels of one byte; device '" + device.name + "' allocates at most " +
                                      std::to_string(device.max_alloc_bytes) + " bytes at once");
    }
}

/// Image and references of a point and seed. The two seeds of one verification stay, so that all variants share them.
std::shared_ptr<Scene> scene_of(const Request& request, const Geometry& g) {
    struct Entry {
        Geometry g;
        double pitch;
        Weights weights;
        std::uint64_t seed;
        SharedBytes file;
        std::shared_ptr<Scene> scene;
    };
    static std::deque<Entry> recent;
    const double pitch = request.point.real("pitch");
    const auto weights = weights_of(request.point);
    const auto file = loaded(request) ? loaded(request)->grey : nullptr;
    for (const auto& e : recent) {
        if (e.g == g && e.pitch == pitch && e.weights == weights && e.file == file && (file || e.seed == request.seed))
            return e.scene;
    }
    if (recent.size() == 2) recent.pop_front();  // before the next is made: each may be gigabytes
    auto image = file;
    if (!image) {
        Bytes random(g.bytes());
        fill_random(random, request.seed);
        image = std::make_shared<const Bytes>(std::move(random));
    }
    auto scene = std::make_shared<Scene>(std::move(image), g, pitch, weights);
    recent.push_back({g, pitch, weights, request.seed, file, scene});
    return scene;
}

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

/// A two-dimensional local size: the one asked for, else `automatic`.
Extent local_of(const Request& request, Extent automatic) {
    if (request.point.is_auto("local")) return automatic;
    const auto asked = request.point.shape("local");
    return Extent(asked.size[0], asked.size[1]);
}

Extent cover(std::size_t columns, std::size_t rows, const Extent& local) {
    if (local.dims == 0) return Extent(columns, rows);
    return Extent(round_up(columns, local.size[0]), round_up(rows, local.size[1]));
}

/// What one work-item a pixel is launched with where the point does not say: on a CPU the implementation knows best (PoCL
/// makes one vector loop of a work-group), on a GPU it may choose badly where the size is a prime.
Extent automatic_local(const Device& device) {
    if (device.is_cpu()) return {};
    return device.max_group >= 256 ? Extent(64, 4) : Extent(device.max_group, 1);
}

std::size_t items_of(const Request& request, std::size_t automatic) {
    return request.point.is_auto("items") ? automatic : static_cast<std::size_t>(request.point.integer("items"));
}

struct RegionArguments { std::int32_t width, left, top, right, bottom; };       // Region of cl/pitch.cl
struct InterpolationArguments { std::int32_t n; float floor, ceiling; };        // Interpolation of cl/pitch.cl

template <typename T>
Input struct_input(const char* name, const T& v) {
    return {name, share(std::vector<T>{v})};
}

void append(std::vector<Argument>& args, std::vector<Argument> more) {
    for (auto& a : more) args.push_back(std::move(a));
}

Setup setup(const Request& request) {
    validate(request);
    const auto& point = request.point;
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const double pitch = point.real("pitch");
    const auto weights = weights_of(point);
    const auto fixed = fixed_weights(pitch, weights);
    const auto floating = float_weights(pitch, weights);
    const auto g = geometry_of(request);
    const auto scene = scene_of(request, g);
    const auto is = [&](std::initializer_list<const char*> names) {
        return std::any_of(names.begin(), names.end(), [&](const char* n) { return variant == n; });
    };
    const bool is_float = is({"float", "roi", "struct", "local", "image"});

    Setup out;
    const std::vector<Argument> buffers{Input{"src", scene->src}, Output{"dst", g.bytes()}};
    const std::vector<Argument> region{value("width", g.width), value("left", g.left), value("top", g.top),
                                       value("right", g.right), value("bottom", g.bottom)};
    std::vector<Argument> interpolation{value("n", g.n)};
    if (is_float)
        append(interpolation, {value("f", floating.floor), value("c", floating.ceiling)});
    else
        append(interpolation, {value("f", static_cast<std::int16_t>(fixed.floor)), value("c", static_cast<std::int16_t>(fixed.ceiling))});
    out.args = buffers;

    std::size_t items = 0;  // of the variants that have such a number
    if (is({"implicit", "float"})) {
        append(out.args, region);
        append(out.args, interpolation);
        out.local = local_of(request, automatic_local(device));
        out.global = cover(g.columns(), g.rows(), out.local);
        if (out.global.count() != g.pixels()) out.defines.push_back("PITCH_PARTIAL");
    } else if (is({"roi", "struct", "image"})) {
        if (variant == "struct")
            append(out.args, {struct_input("region", RegionArguments{g.width, g.left, g.top, g.right, g.bottom}),
                              struct_input("weights", InterpolationArguments{g.n, floating.floor, floating.ceiling})});
        if (variant == "image")
            out.args.front() = Image{"src", static_cast<std::size_t>(g.width), static_cast<std::size_t>(g.height),
                                     Image::Format::r8_unsigned, scene->src};
        if (variant != "struct") append(out.args, region);
        if (variant != "struct") append(out.args, interpolation);
        out.local = local_of(request, automatic_local(device));
        out.global = cover(static_cast<std::size_t>(g.width), static_cast<std::size_t>(g.height), out.local);
    } else if (variant == "local") {
        out.local = local_of(request, Extent(std::min<std::size_t>(64, device.max_group), device.max_group >= 256 ? 4 : 1));
        out.global = cover(g.columns(), g.rows(), out.local);
        const std::size_t tile = (out.local.size[0] + 2 * static_cast<std::size_t>(g.n + 1)) * out.local.size[1];
        if (tile > device.local_bytes)
            throw Unsupported("a tile for local size " + out.local.text() + " and pitch " + point.text("pitch") + " takes " +
                              std::to_string(tile) + " bytes; the device has " + std::to_string(device.local_bytes) +
                              " bytes of local memory");
        append(out.args, {Local{"tile", tile}});
        append(out.args, region);
        append(out.args, interpolation);
    } else if (is({"loop", "short8", "vload8"})) {
        append(out.args, region);
        append(out.args, interpolation);
        items = items_of(request, device.compute_units);
        out.local = Extent(1);  // else an implementation may put all items into one work-group, that is on one core
        out.global = Extent(items);
    } else {  // wide, swar
        append(out.args, region);
        out.defines = {"PITCH_N=" + std::to_string(g.n), "PITCH_F=" + std::to_string(fixed.floor),
                       "PITCH_C=" + std::to_string(fixed.ceiling)};
        if (variant == "wide" && device.is_cpu()) {
            items = items_of(request, 8ull * device.compute_units);  // short bands even out cores that are not equally free
            out.local = Extent(1);
            out.global = Extent(items);
        } else {
            append(out.args, {value("height", g.height)});
            // Sixteen-byte blocks of the buffer that a row's ROI can touch, wherever in a block the row begins.
            const std::size_t blocks = (g.columns() + 14) / 16 + 1;
            const std::size_t wide = std::min<std::size_t>(device.is_cpu() || blocks < 256 ? 64 : 256, device.max_group);
            out.local = local_of(request, Extent(wide, 1));
            out.global = cover(blocks, g.rows(), out.local);
        }
    }

    const auto pixels = static_cast<double>(g.pixels());
    // Every pixel of the ROI and of its margins is read once, every pixel of the ROI is written once.
    out.work.bytes = pixels * 2 + static_cast<double>(g.rows()) * 2 * (g.n + 1);
    out.work.flops = is_float ? 10 * pixels : 0;  // 6 multiplications, 3 additions, 1 subtraction
    out.work.steps = pixels;
    out.check = [scene, is_float](const Buffers& b) { return check(b, scene->g, is_float ? scene->floating() : scene->fixed()); };
    out.resolved = {{"width", std::to_string(g.width)}, {"height", std::to_string(g.height)},
                    {"left", std::to_string(g.left)},   {"top", std::to_string(g.top)},
                    {"right", std::to_string(g.right)}, {"bottom", std::to_string(g.bottom)},
                    {"local", out.local.text()},        {"items", std::to_string(items ? items : out.global.count())}};
    out.pictures["dst"] = {static_cast<std::size_t>(g.width), static_cast<std::size_t>(g.height),
                           [g](std::span<const std::byte> dst) {
                               Bytes grey(g.bytes());  // zero outside the ROI, where dst holds poison
                               for (int y = g.top; y <= g.bottom; ++y) {
                                   const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(g.width) +
                                                   static_cast<std::size_t>(g.left);
                                   std::copy_n(dst.begin() + static_cast<std::ptrdiff_t>(at), g.columns(),
                                               grey.begin() + static_cast<std::ptrdiff_t>(at));
                               }
                               return grey;
                           }};
    out.transfer = point.text("transfers") == "mapped" ? Transfer::mapped : Transfer::copied;
    out.time_transfers = true;
    return out;
}

Axis pixel_axis(const char* name, const char* meaning, const char* automatic_or_value, double least) {
    return {name, "pixel", meaning, Axis::Kind::integer, {automatic_or_value}, {}, least, 1 << 20, std::string(automatic_or_value) == "auto"};
}

}  // namespace

Experiment describe_pitch() {
    Experiment out;
    out.family = "pitch";
    out.question = "How fast can each pixel of a periodic pattern be compared with its neighbours one pitch away?";
    out.axes = {
        pixel_axis("width", "columns of the image; a file given by --input decides instead", "4096", 5),
        pixel_axis("height", "rows of the image; a file given by --input decides instead", "4096", 1),
        pixel_axis("left", "first column of the region of interest; auto is the first with neighbours in the image", "auto", 0),
        pixel_axis("top", "first row of the region of interest; auto is the first", "auto", 0),
        pixel_axis("right", "last column of the region of interest; auto is the last with neighbours in the image", "auto", 0),
        pixel_axis("bottom", "last row of the region of interest; auto is the last", "auto", 0),
        {"pitch", "pixel", "distance of the two neighbours, with its fraction", Axis::Kind::real, {"20.2"}, {}, 1, 1 << 20},
        {"local", "work-item", "work-group of the variants with one work-item a pixel or block; the others have 1",
         Axis::Kind::shape, {"auto"}, {}, 1, 1 << 20, true},
        {"items", "", "work-items of loop, short8, vload8 (auto: one a compute unit) and, on a CPU, wide (auto: eight)",
         Axis::Kind::integer, {"auto"}, {}, 1, 1 << 20, true},
        {"weights", "", "linear interpolation, or the arithmetic published in 2013 (exchanged weights that sum to 127)",
         Axis::Kind::choice, {"linear"}, {"linear", "published"}},
        {"transfers", "", "how the image gets to the device and back: copied, or mapped where memory is shared",
         Axis::Kind::choice, {"copied"}, {"copied", "mapped"}},
    };
    out.variants = {
        {"implicit", "One work-item a pixel in 16-bit integers; the compiler is left to vectorise."},
        {"float", "One work-item a pixel in float, launched over the region of interest."},
        {"loop", "An explicit loop over a strip of columns in each work-item."},
        {"short8", "The loop in steps of eight pixels, with vectors loaded and stored whole."},
        {"vload8", "short8 as published: vload8, vstore8 and abs_diff, which PoCL takes apart."},
        {"roi", "float launched over the whole image, with the bounds test in the kernel."},
        {"struct", "roi with its arguments behind pointers to structs in global memory."},
        {"local", "float from a tile in local memory, each byte fetched once a work-group."},
        {"image", "roi reading an image2d_t.", {}, {"image"}},
        {"swar", "Sixteen pixels a work-item, two in each 32-bit word, 128-bit loads and stores."},
        {"wide", "The best known form: 256-bit vectors over whole rows on a CPU, swar elsewhere."},
    };
    out.setup = setup;
    out.validate = validate;
    out.metrics = {{"pixel_rate", "pixel/s", Better::higher,
                    [](const Setup& s, double seconds) { return s.work.steps / seconds; }}};
    out.file_inputs = {"src"};
    return out;
}

}  // namespace cllab::model
