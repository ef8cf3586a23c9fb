// pitch: one image comparison written many ways, from the code published in 2013 to packed arithmetic.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include "experiments/lib/data.hpp"
#include "experiments/lib/describe.hpp"
#include "experiments/lib/native.hpp"
#include "experiments/lib/one_of.hpp"
#include "experiments/lib/pitch_choice.hpp"
#include "experiments/lib/pitch_geometry.hpp"
#include "experiments/lib/pitch_reference.hpp"
#include "experiments/lib/sizes.hpp"
#include "model/params.hpp"

namespace cllab::model {
namespace {

using namespace pitch;
using namespace lib;

/// Image and references of a point and seed, or of a file.
std::shared_ptr<Scene> scene_of(const Request& request, const Choice& choice) {
    const auto file = loaded(request) ? loaded(request)->grey : nullptr;
    const auto key = std::tuple(choice.g, choice.pitch, choice.weights, file ? 0 : request.seed, file);
    return kept(request, "pitch", key, [&] {
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

/// One cell while its arguments and launch are put together.
struct Assembly {
    const Request& request;
    const Choice& choice;
    const Geometry& g;
    FixedWeights fixed;
    FloatWeights floating;
    SharedBytes src;
    bool is_float;
    Setup out{};

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
    void launch(std::size_t columns, std::size_t rows) {
        const auto& local = out.local = choice.local;
        out.global = local.dims == 0 ? Extent(columns, rows)
                                     : Extent(round_up(columns, local.size[0]), round_up(rows, local.size[1]));
    }
    void launch_items() {
        out.local = Extent(1);  // else an implementation may put all items into one work-group, that is on one core
        out.global = Extent(choice.items);
    }
};

/// implicit, float: one work-item per pixel of the ROI.
void set_up_pixels(Assembly& cell) {
    cell.add_region();
    cell.add_interpolation();
    cell.launch(cell.g.columns(), cell.g.rows());
    if (cell.out.global.count() != cell.g.pixels()) cell.out.defines.push_back("PITCH_PARTIAL");
}

/// The published kernel reads its neighbors before it knows that it needs them, up to a row and a pitch outside the
/// image: the buffer holds the image between two margins, so that this harms nobody.
void set_up_published(Assembly& cell) {
    const auto& g = cell.g;
    const std::size_t before = round_up(static_cast<std::size_t>(g.n) + 1, std::size_t{64});
    const auto& global = cell.out.global;
    const std::size_t last =
        (global.size[1] - 1) * static_cast<std::size_t>(g.width) + global.size[0] + static_cast<std::size_t>(g.n) + 1;
    const std::size_t size = before + std::max(last, g.bytes());
    cell.out.args.front() =
        Input{"src", {size, [src = cell.src, size, before] {
                          Bytes wide(size);
                          std::copy(src->begin(), src->end(), wide.begin() + static_cast<std::ptrdiff_t>(before));
                          return wide;
                      }}};
    cell.out.defines.push_back("PITCH_MARGIN=" + std::to_string(before));
}

/// roi, struct, struct_value, struct_constant, image, published: one work-item per pixel of the image.
void set_up_whole_image(Assembly& cell) {
    const auto& g = cell.g;
    const auto width = static_cast<std::size_t>(g.width), height = static_cast<std::size_t>(g.height);
    if (cell.request.variant.name == "image")
        cell.out.args.front() = Image{"src", width, height, Image::Format::r8_unsigned, cell.src};
    if (cell.request.variant.name == "struct_value") {
        cell.add({value("region", RegionArguments{g.width, g.left, g.top, g.right, g.bottom}),
                  value("weights", InterpolationArguments{g.n, cell.floating.floor, cell.floating.ceiling})});
    } else if (is_one_of(cell.request.variant.name, {"struct", "struct_constant"})) {
        cell.add({struct_input("region", RegionArguments{g.width, g.left, g.top, g.right, g.bottom}),
                  struct_input("weights", InterpolationArguments{g.n, cell.floating.floor, cell.floating.ceiling})});
    } else {
        cell.add_region();
        cell.add_interpolation();
    }
    cell.launch(width, height);
    if (cell.request.variant.name == "published") set_up_published(cell);
}

/// local: as set_up_pixels, with a tile.
void set_up_tile(Assembly& cell) {
    cell.add({Local{"tile", tile_bytes(cell.g, cell.choice.local)}});
    cell.add_region();
    cell.add_interpolation();
    cell.launch(cell.g.columns(), cell.g.rows());
}

/// loop, short8, vload8: one work-item per band of rows or strip of columns.
void set_up_parts(Assembly& cell) {
    cell.add_region();
    cell.add_interpolation();
    cell.launch_items();
}

/// swar, wide: pitch and weights are constants of the build.
void set_up_specialised(Assembly& cell) {
    cell.add_region();
    cell.out.defines = {"PITCH_N=" + std::to_string(cell.g.n), "PITCH_F=" + std::to_string(cell.fixed.floor),
                        "PITCH_C=" + std::to_string(cell.fixed.ceiling)};
    if (cell.choice.items > 0) {
        cell.launch_items();
        return;
    }
    cell.add({value("height", cell.g.height)});
    cell.launch(blocks_of(cell.g), cell.g.rows());
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

Setup setup(const Request& request, Params& params) {
    const auto choice = choice_of(request, params);
    const auto& variant = request.variant.name;
    const auto is = [&](std::initializer_list<std::string_view> names) { return is_one_of(variant, names); };
    const bool is_float = choice.is_float(variant);
    const auto& g = choice.g;
    const auto scene = scene_of(request, choice);

    Assembly cell{request,
                  choice,
                  g,
                  fixed_weights(choice.pitch, choice.weights),
                  float_weights(choice.pitch, choice.weights),
                  scene->src,
                  is_float};
    cell.add({Input{"src", scene->src}, Output{"dst", g.bytes(), static_cast<std::size_t>(g.width)}});
    if (is({"implicit", "float"}))
        set_up_pixels(cell);
    else if (is({"roi", "struct", "struct_value", "struct_constant", "published", "image"}))
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
    // Fused or not, a value next to a whole number may be truncated to either.
    out.check = [scene, is_float, slack = variant == "published" ? 1 : 0](const Buffers& b) {
        return check(b, scene->g, is_float ? scene->floating() : scene->fixed(), slack);
    };
    if (choice.columns) out.defines.push_back("PITCH_COLUMNS");
    if (choice.element == "float")
        out.defines.push_back("PITCH_IN_FLOAT");
    else if (choice.element != "short")
        out.defines.push_back("PITCH_ELEMENT=" + choice.element);
    if (choice.element.front() == 'u') out.defines.push_back("PITCH_UNSIGNED");
    out.pictures["dst"] = {static_cast<std::size_t>(g.width), static_cast<std::size_t>(g.height),
                           [g](std::span<const std::byte> dst) { return difference_map(g, dst); }};
    out.transfer = choice.transfer;
    out.time_transfers = true;
    return out;
}

}  // namespace

Experiment describe_pitch() {
    Experiment out;
    out.family = "pitch";
    out.question = "How fast can each pixel of a periodic pattern be compared with its neighbours one pitch away?";
    out.axes = {
        count_axis("width", "pixel", "columns of the image; a file given by --input decides instead", 5, 1 << 20)
            .usually("4096"),
        count_axis("height", "pixel", "rows of the image; a file given by --input decides instead", 1, 1 << 20)
            .usually("4096"),
        count_axis("left", "pixel",
                   "first column of the region of interest; auto is the first with neighbours in the image", 0,
                   1 << 20),
        count_axis("top", "pixel", "first row of the region of interest; auto is the first", 0, 1 << 20),
        count_axis("right", "pixel",
                   "last column of the region of interest; auto is the last with neighbours in the image", 0, 1 << 20),
        count_axis("bottom", "pixel", "last row of the region of interest; auto is the last", 0, 1 << 20),
        real_axis("pitch", "pixel", "distance from a pixel to its two neighbours, may have a fraction", 1, 1 << 20)
            .usually("20.2"),
        shape_axis("local", "work-group; auto is chosen by the variant, on a CPU by the driver")
            .from(1, 1 << 20)
            .tune({"auto", "32x1", "64x1", "128x1", "256x1", "32x4", "64x4", "128x2", "32x8", "16x16", "8x8"})
            .only({"implicit", "float", "roi", "struct", "struct_value", "struct_constant", "published", "local",
                   "image", "swar", "wide"}),
        count_axis("items", "",
                   "work-items, each with a band of rows or a strip of columns. auto: one per compute unit; for wide, "
                   "eight (wide has this axis on a CPU only)",
                   1, 1 << 20)
            .tune({"auto", "1:16:*2", "64", "256", "1024", "4096", "16384", "65536"})
            .only({"loop", "short8", "vload8", "wide"}),
        choice_axis("layout",
                    "part of the image per work-item. rows: a band of rows. columns: a strip of columns. auto: rows; "
                    "for vload8 columns, as published",
                    {"rows", "columns"})
            .usually("auto")
            .tuned()
            .only({"loop", "short8", "vload8"}),
        choice_axis("element", "what a pixel is computed in", {"short", "ushort", "int", "uint", "float"})
            .tune({"short"})
            .only({"implicit", "loop"}),
        choice_axis(
            "weights",
            "linear: linear interpolation; published: the arithmetic of 2013, with exchanged weights that sum to 127",
            {"linear", "published"}),
        choice_axis("transfers",
                    "how the image gets to the device and back: copied, or mapped where host and device share memory",
                    {"copied", "mapped"})};
    out.variants = {
        {"implicit", "One work-item per pixel in 16-bit integers; vectorising is left to the compiler."},
        variant("float", "One work-item per pixel in float, launched over the region of interest.")
            .defines({"PITCH_IN_FLOAT", "PITCH_UNHINTED"}),
        {"loop", "A loop over a band of rows in each work-item; vectorising is left to the compiler."},
        {"short8", "loop in steps of eight pixels, with whole vectors loaded and stored."},
        {"vload8",
         "short8 as published: strips of columns, vload8, vstore8 and abs_diff, which PoCL compiles to byte moves and "
         "shuffles."},
        {"roi", "float launched over the whole image, with the bounds check in the kernel."},
        variant("struct", "roi with its arguments behind pointers to structs in global memory.")
            .defines({"ARGUMENTS=__global"}),
        {"struct_value", "struct with both structs passed by value: the fast form of 2013."},
        variant("struct_constant", "struct with both structs behind pointers to __constant memory.")
            .defines({"ARGUMENTS=__constant"}),
        {"published",
         "The GPU kernel as published: loads first, contraction on, a division, and only the store guarded. Its check "
         "allows a difference of 1: contraction may truncate to either side of a whole number."},
        {"local", "float from a tile in local memory, each byte fetched once per work-group."},
        variant("image", "roi reading from an image2d_t.").needs({"image"}),
        {"swar", "Sixteen pixels per work-item, two in each 32-bit word, 128-bit loads and stores."},
        {"wide",
         "The fastest known form: on a CPU whole rows in vectors that take even and odd pixels apart, swar "
         "elsewhere."}};
    out.native = native::loops("implicit", "The loop over rows and columns in 16-bit integers",
                               [](const HostMemory& m, const Point&, unsigned threads) {
                                   const auto of = [&](const char* name) { return m.value<std::int32_t>(name); };
                                   native::pitch(m.as<std::uint8_t>("src").data(), m.as<std::uint8_t>("dst").data(),
                                                 {of("width"), of("left"), of("top"), of("right"), of("bottom"),
                                                  of("n"), m.value<std::int16_t>("f"), m.value<std::int16_t>("c")},
                                                 threads);
                               });
    out.setup = setup;
    out.resolve = [](const Request& request, Params& params) { choice_of(request, params); };
    out.metrics = {{"pixel_rate", "pixel/s", Better::higher,
                    [](const Setup& s, double seconds) { return s.work.steps / seconds; }}};
    out.file_inputs = {"src"};
    return out;
}

}  // namespace cllab::model
