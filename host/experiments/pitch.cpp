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
        return resolve(static_cast<long long>(file->width), static_cast<long long>(file->height), point.real("pitch"),
                       region);
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

/// What one work-item a pixel is launched with where the point does not say: on a CPU the implementation knows best
/// (PoCL makes one vector loop of a work-group), on a GPU it may choose badly where the size is a prime.
Extent automatic_local(const Device& device) {
    if (device.is_cpu()) return {};
    return device.max_group >= 256 ? Extent(64, 4) : Extent(device.max_group, 1);
}

std::size_t items_of(const Request& request, std::size_t automatic) {
    return request.point.is_auto("items") ? automatic : static_cast<std::size_t>(request.point.integer("items"));
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

/// One cell while its arguments and launch are put together.
struct Assembly {
    const Request& request;
    Geometry g;
    FixedWeights fixed;
    FloatWeights floating;
    SharedBytes src;
    bool is_float;
    Setup out{};
    std::size_t items = 0;  ///< of the variants that take such a number

    void add(std::vector<Argument> more) {
        for (auto& a : more) out.args.push_back(std::move(a));
    }
    void add_region() {
        add({value("width", g.width), value("left", g.left), value("top", g.top), value("right", g.right),
             value("bottom", g.bottom)});
    }
    void add_interpolation() {
        if (is_float)
            add({value("n", g.n), value("f", floating.floor), value("c", floating.ceiling)});
        else
            add({value("n", g.n), value("f", static_cast<std::int16_t>(fixed.floor)),
                 value("c", static_cast<std::int16_t>(fixed.ceiling))});
    }
    void launch(std::size_t columns, std::size_t rows, const Extent& local) {
        out.local = local;
        out.global = local.dims == 0 ? Extent(columns, rows)
                                     : Extent(round_up(columns, local.size[0]), round_up(rows, local.size[1]));
    }
    void launch_items(std::size_t count) {
        items = count;
        out.local = Extent(1);  // else an implementation may put all items into one work-group, that is on one core
        out.global = Extent(count);
    }
};

/// implicit, float: one work-item a pixel of the ROI.
void set_up_pixels(Assembly& cell) {
    cell.add_region();
    cell.add_interpolation();
    cell.launch(cell.g.columns(), cell.g.rows(), local_of(cell.request, automatic_local(cell.request.device)));
    if (cell.out.global.count() != cell.g.pixels()) cell.out.defines.push_back("PITCH_PARTIAL");
}

/// roi, struct, image: one work-item a pixel of the image.
void set_up_whole_image(Assembly& cell) {
    const auto& g = cell.g;
    const auto width = static_cast<std::size_t>(g.width), height = static_cast<std::size_t>(g.height);
    if (cell.request.variant.name == "image")
        cell.out.args.front() = Image{"src", width, height, Image::Format::r8_unsigned, cell.src};
    if (cell.request.variant.name == "struct") {
        cell.add({struct_input("region", RegionArguments{g.width, g.left, g.top, g.right, g.bottom}),
                  struct_input("weights", InterpolationArguments{g.n, cell.floating.floor, cell.floating.ceiling})});
    } else {
        cell.add_region();
        cell.add_interpolation();
    }
    cell.launch(width, height, local_of(cell.request, automatic_local(cell.request.device)));
}

/// local: as set_up_pixels, with a tile. Throws Unsupported when the tile does not fit.
void set_up_tile(Assembly& cell) {
    const auto& device = cell.request.device;
    const Extent usual = device.max_group >= 256 ? Extent(64, 4) : Extent(device.max_group, 1);
    const auto local = local_of(cell.request, usual);
    const std::size_t tile = (local.size[0] + 2 * static_cast<std::size_t>(cell.g.n + 1)) * local.size[1];
    if (tile > device.local_bytes)
        throw Unsupported("a tile for local size " + local.text() + " and pitch " + cell.request.point.text("pitch") +
                          " takes " + std::to_string(tile) + " bytes; the device has " +
                          std::to_string(device.local_bytes) + " bytes of local memory");
    cell.add({Local{"tile", tile}});
    cell.add_region();
    cell.add_interpolation();
    cell.launch(cell.g.columns(), cell.g.rows(), local);
}

/// loop, short8, vload8: one work-item a band of rows or a strip of columns.
void set_up_parts(Assembly& cell) {
    cell.add_region();
    cell.add_interpolation();
    cell.launch_items(items_of(cell.request, cell.request.device.compute_units));
}

/// swar, wide: pitch and weights are constants of the build.
void set_up_specialised(Assembly& cell) {
    const auto& device = cell.request.device;
    cell.add_region();
    cell.out.defines = {"PITCH_N=" + std::to_string(cell.g.n), "PITCH_F=" + std::to_string(cell.fixed.floor),
                        "PITCH_C=" + std::to_string(cell.fixed.ceiling)};
    if (cell.request.variant.name == "wide" && device.is_cpu()) {
        // Short bands even out cores that are not equally free.
        cell.launch_items(items_of(cell.request, 8ull * device.compute_units));
        return;
    }
    cell.add({value("height", cell.g.height)});
    // Sixteen-byte blocks of the buffer that the ROI can touch in a row, wherever in a block it begins.
    const std::size_t blocks = (cell.g.columns() + 14) / 16 + 1;
    const std::size_t wide = std::min<std::size_t>(device.is_cpu() || blocks < 256 ? 64 : 256, device.max_group);
    cell.launch(blocks, cell.g.rows(), local_of(cell.request, Extent(wide, 1)));
}

/// dst as a picture: zero outside the ROI, where the buffer holds poison.
Bytes difference_map(const Geometry& g, std::span<const std::byte> dst) {
    Bytes grey(g.bytes());
    for (int y = g.top; y <= g.bottom; ++y) {
        const auto at = static_cast<std::ptrdiff_t>(y) * g.width + g.left;
        std::copy_n(dst.begin() + at, g.columns(), grey.begin() + at);
    }
    return grey;
}

Setup setup(const Request& request) {
    validate(request);
    const auto& point = request.point;
    const auto& variant = request.variant.name;
    const auto is = [&](std::initializer_list<const char*> names) {
        return std::any_of(names.begin(), names.end(), [&](const char* n) { return variant == n; });
    };
    const bool is_float = is({"float", "roi", "struct", "local", "image"});
    const double pitch = point.real("pitch");
    const auto weights = weights_of(point);
    const auto g = geometry_of(request);
    const auto scene = scene_of(request, g);

    Assembly cell{request, g, fixed_weights(pitch, weights), float_weights(pitch, weights), scene->src, is_float};
    cell.add({Input{"src", scene->src}, Output{"dst", g.bytes()}});
    if (is({"implicit", "float"}))
        set_up_pixels(cell);
    else if (is({"roi", "struct", "image"}))
        set_up_whole_image(cell);
    else if (is({"local"}))
        set_up_tile(cell);
    else if (is({"loop", "short8", "vload8"}))
        set_up_parts(cell);
    else
        set_up_specialised(cell);

    auto out = std::move(cell.out);
    const auto pixels = static_cast<double>(g.pixels());
    // Every pixel of the ROI and of its margins is read once, every pixel of the ROI is written once.
    out.work.bytes = pixels * 2 + static_cast<double>(g.rows()) * 2 * (g.n + 1);
    out.work.flops = is_float ? 10 * pixels : 0;  // 6 multiplications, 3 additions, 1 subtraction
    out.work.steps = pixels;
    out.check = [scene, is_float](const Buffers& b) {
        return check(b, scene->g, is_float ? scene->floating() : scene->fixed());
    };
    out.resolved = {
        {"width", std::to_string(g.width)}, {"height", std::to_string(g.height)},
        {"left", std::to_string(g.left)},   {"top", std::to_string(g.top)},
        {"right", std::to_string(g.right)}, {"bottom", std::to_string(g.bottom)},
        {"local", out.local.text()},        {"items", std::to_string(cell.items ? cell.items : out.global.count())}};
    out.pictures["dst"] = {static_cast<std::size_t>(g.width), static_cast<std::size_t>(g.height),
                           [g](std::span<const std::byte> dst) { return difference_map(g, dst); }};
    out.transfer = point.text("transfers") == "mapped" ? Transfer::mapped : Transfer::copied;
    out.time_transfers = true;
    return out;
}

Axis pixel_axis(const char* name, const char* meaning, const char* automatic_or_value, double least) {
    return {name,
            "pixel",
            meaning,
            Axis::Kind::integer,
            {automatic_or_value},
            {},
            least,
            1 << 20,
            std::string(automatic_or_value) == "auto"};
}

}  // namespace

Experiment describe_pitch() {
    Experiment out;
    out.family = "pitch";
    out.question = "How fast can each pixel of a periodic pattern be compared with its neighbours one pitch away?";
    out.axes = {
        pixel_axis("width", "columns of the image; a file given by --input decides instead", "4096", 5),
        pixel_axis("height", "rows of the image; a file given by --input decides instead", "4096", 1),
        pixel_axis("left", "first column of the region of interest; auto is the first with neighbours in the image",
                   "auto", 0),
        pixel_axis("top", "first row of the region of interest; auto is the first", "auto", 0),
        pixel_axis("right", "last column of the region of interest; auto is the last with neighbours in the image",
                   "auto", 0),
        pixel_axis("bottom", "last row of the region of interest; auto is the last", "auto", 0),
        {"pitch",
         "pixel",
         "distance of the two neighbours, with its fraction",
         Axis::Kind::real,
         {"20.2"},
         {},
         1,
         1 << 20},
        {"local",
         "work-item",
         "work-group of the variants with one work-item a pixel or block; the others have 1",
         Axis::Kind::shape,
         {"auto"},
         {},
         1,
         1 << 20,
         true,
         {"auto", "32x1", "64x1", "128x1", "256x1", "32x4", "64x4", "128x2", "32x8", "16x16", "8x8"},
         {"implicit", "float", "roi", "struct", "local", "image", "swar", "wide"}},
        {"items",
         "",
         "work-items of loop, short8, vload8 (auto: one a compute unit) and, on a CPU, wide (auto: eight)",
         Axis::Kind::integer,
         {"auto"},
         {},
         1,
         1 << 20,
         true,
         {"auto", "1:16:*2", "64", "256", "1024", "4096", "16384", "65536"},
         {"loop", "short8", "vload8", "wide"}},
        {"weights",
         "",
         "linear interpolation, or the arithmetic published in 2013 (exchanged weights that sum to 127)",
         Axis::Kind::choice,
         {"linear"},
         {"linear", "published"}},
        {"transfers",
         "",
         "how the image gets to the device and back: copied, or mapped where memory is shared",
         Axis::Kind::choice,
         {"copied"},
         {"copied", "mapped"}},
    };
    out.variants = {
        {"implicit", "One work-item a pixel in 16-bit integers; the compiler is left to vectorise."},
        {"float", "One work-item a pixel in float, launched over the region of interest."},
        {"loop", "An explicit loop over a band of rows in each work-item; the compiler is left to vectorise it."},
        {"short8", "The loop in steps of eight pixels, with vectors loaded and stored whole."},
        {"vload8",
         "short8 as published: strips of columns, vload8, vstore8 and abs_diff, of which PoCL makes byte moves and "
         "shuffles."},
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
