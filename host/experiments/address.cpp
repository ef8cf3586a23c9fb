// address: pairs of kernels that differ only in how the source writes an address, after an article of 2015.
#include "experiments/lib/family.hpp"

namespace cllab::model::address_family {

using namespace lib;

struct Shape {
    std::size_t trips = 0, items = 0, width = 0, height = 0, pixels = 1;
    std::string index = "int";
    std::size_t step() const { return round_up(width, 64); }  // bytes from one row of the picture to the next
};

// The kernels index with 32-bit integers, like the article's: every buffer has less than 2^31 bytes.
constexpr std::uint64_t most_bytes = (1ull << 31) - 1;

// Variants by their axes.
const Texts pictures{"pixel", "column", "strided", "row"}, coarse{"column", "strided"},
    loops{"index", "pointer", "masked_inside", "masked_hoisted", "masked_bytes"},
    locals{"locals_two", "locals_one", "locals_two_given", "locals_one_given"};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    Shape s;
    if (is_one_of(variant, pictures)) {
        s.index = params.text("index");
        if (is_one_of(variant, coarse)) s.pixels = params.count("pixels");
        s.width = params.count("width", by_scale(device, 20, 4096, 16384));
        s.height = params.count("height", by_scale(device, 5, 2048, 16384));
        require_room(device, "p", product("the picture's size in bytes", {s.step(), s.height}, most_bytes));
    } else {
        s.trips =
            is_one_of(variant, locals) ? params.count("length") : params.count("trips", by_scale(device, 4, 64, 16));
        s.items = round_up(params.count("items", by_scale(device, 64, 1 << 15, 1 << 18)), 64);
        params.record("items", s.items);
        require_room(device, "out",
                     product("the size of 'out' in bytes, 8 x items x trips,", {8, s.items, s.trips}, most_bytes));
        if (device.max_group < 64)
            throw Unsupported("the kernels have work-groups of 64; the device takes at most ", device.max_group);
    }
    return s;
}

SharedBytes random_words(const Request& request, std::size_t count) {
    return *cached(request, "address", std::tuple(count, request.seed), [&] {
        return random_values<std::int32_t>(count, request.seed, [](std::uint32_t w) {
            return static_cast<std::int32_t>(w >> 2);  // adding one, or adding two of them, does not overflow
        });
    });
}

void strided(Setup& out, const Shape& s, std::uint64_t seed) {
    const std::int32_t v = mix64(seed) >> 33;
    out.args = {Output{"out", s.items * s.trips * 8}, value<std::int32_t>("trips", s.trips), value("v", v)};
    launch_groups(out, s.items / 64, 64);
    out.work = {4.0 * (s.items * s.trips), 0, static_cast<double>(s.items * s.trips)};
    out.check = [v](const Buffers& buffers) -> std::optional<std::string> {
        const auto found = buffers.as<std::int32_t>("out");
        return first_wrong(found.size(), [&](std::size_t i) -> std::optional<std::string> {
            if (i % 2 == 0) return found[i] == v ? std::nullopt : std::optional(difference("out", i, found[i], v));
            for (std::size_t byte = 4 * i; byte < 4 * i + 4; ++byte) {
                if (!buffers.untouched("out", byte))
                    return concat("out[", i, "] was written; only even ones should be");
            }
            return std::nullopt;
        });
    };
}

void picture(Setup& out, const Shape& s, const Request& request) {
    auto data = random_words(request, s.step() * s.height / 4);
    out.args = {InOut{"p", data, s.step()}, value<std::int32_t>("width", s.width),
                value<std::int32_t>("height", s.height), value<std::int32_t>("step", s.step())};
    out.defines = {"INDEX=" + s.index, concat("PIXELS=", s.pixels)};
    if (request.variant.name == "row") {
        launch_items(out, s.height, group_of(request.device, request.device.is_cpu() ? 1 : 64));
    } else {
        const bool column = request.variant.name == "column";
        const auto columns = column ? s.width : divide_up(s.width, s.pixels),
                   rows = column ? divide_up(s.height, s.pixels) : s.height;
        out.local = Extent(group_of(request.device, 64), request.device.max_group >= 256 ? 4 : 1);
        out.global = Extent(round_up(columns, out.local.size[0]), round_up(rows, out.local.size[1]));
    }
    const double pixels = s.width * s.height;
    out.work = {2 * pixels, 0, pixels};
    out.accumulates = true;
    out.check = [data, s](const Buffers& buffers) -> std::optional<std::string> {
        const bool inverted = buffers.operations % 2 == 1;
        const auto found = buffers.as<std::uint8_t>("p"), before = view<std::uint8_t>(data);
        return first_wrong(found.size(), [&](std::size_t i) -> std::optional<std::string> {
            const bool inside = i % s.step() < s.width;
            const std::uint8_t expected = inside && inverted ? 255 - before[i] : before[i];
            if (found[i] == expected) return std::nullopt;
            return concat("pixel (", i % s.step(), ", ", i / s.step(), ") is ", found[i], ", expected ", expected);
        });
    };
}

void masked(Setup& out, const Shape& s, const Request& request) {
    const std::size_t groups = s.items / 64;
    const auto data = random_words(request, groups * s.trips * 32);
    out.args = {InOut{"p", data}, value<std::int32_t>("trips", s.trips)};
    launch_groups(out, groups, 64);
    const double updates = groups * s.trips * 32;
    out.work = {8 * updates, 0, updates};
    out.accumulates = true;
    out.check = [data](const Buffers& buffers) {
        const auto before = view<std::int32_t>(data);
        const std::int32_t added = buffers.operations;
        return first_difference<std::int32_t>(buffers, "p", [&](std::size_t i) { return before[i] + added; });
    };
}

void sums(Setup& out, const Shape& s, const Request& request) {
    const std::size_t groups = s.items / 32, length = s.trips;
    const auto data = random_words(request, groups * 64);
    const auto& variant = request.variant.name;
    out.args = {Input{"src", data}, Output{"out", s.items * length * 4}};
    if (variant == "locals_two_given") out.args.insert(out.args.end(), {Local{"a", 128}, Local{"b", 128}});
    if (variant == "locals_one_given") out.args.push_back(Local{"ab", 256});
    out.args.push_back(value<std::int32_t>("length", length));
    launch_groups(out, groups, 32);
    const double written = s.items * length;
    out.work = {4 * written, 0, written};
    out.check = [data, length](const Buffers& buffers) {
        const auto src = view<std::int32_t>(data);
        return first_difference<std::int32_t>(buffers, "out", [&](std::size_t i) {
            const std::size_t group = i / length / 32, at = i % length;
            return src[group * 64 + at] + src[group * 64 + 32 + at];
        });
    };
}

Setup setup(const Request& request, const Shape& s) {
    const auto& variant = request.variant.name;
    Setup out;
    if (variant == "index" || variant == "pointer")
        strided(out, s, request.seed);
    else if (is_one_of(request.variant.name, pictures))
        picture(out, s, request);
    else if (variant.rfind("masked", 0) == 0)
        masked(out, s, request);
    else
        sums(out, s, request);
    return out;
}

Experiment describe() { return family("address", shape_of, setup); }

}  // namespace cllab::model::address_family
