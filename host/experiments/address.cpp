// address: pairs of kernels that differ in how the source writes an address, after an article of 2015.
#include <tuple>

#include "experiments/support.hpp"

namespace cllab::model {
namespace {

using namespace support;

struct Shape {
    std::size_t trips = 0, items = 0, width = 0, height = 0;
    std::size_t step() const { return round_up(width, 64); }  // bytes from one row of the picture to the next
};

Shape shape_of(const Request& request) {
    const auto& device = request.device;
    const auto& point = request.point;
    const auto trips = integer_or(point, "trips", by_scale(device, 4, 64, 16));
    const auto items = static_cast<std::int64_t>(
        round_up(static_cast<std::size_t>(integer_or(point, "items", by_scale(device, 64, 1 << 15, 1 << 18))), 64));
    const auto width = integer_or(point, "width", by_scale(device, 20, 4096, 16384));
    const auto height = integer_or(point, "height", by_scale(device, 5, 2048, 16384));
    // The kernels index with 32-bit integers, as the article's do: bytes of every buffer below 2^31.
    const std::uint64_t most = (1ull << 31) - 1;
    require_room(device, "out", product("the buffer of 8 x items x trips byte", {8, items, trips}, most));
    require_room(device, "picture", product("the picture", {static_cast<std::int64_t>(round_up(static_cast<std::size_t>(width), 64)), height}, most));
    return {static_cast<std::size_t>(trips), static_cast<std::size_t>(items), static_cast<std::size_t>(width),
            static_cast<std::size_t>(height)};
}

SharedBytes random_words(std::size_t count, std::uint64_t seed) {
    static Recent<std::tuple<std::size_t, std::uint64_t>, SharedBytes> recent;
    return *recent.get({count, seed}, [&] { return random_values<std::int32_t>(count, seed, [](std::uint32_t w) {
        return static_cast<std::int32_t>(w >> 2);  // neither one added to it nor two of them overflow
    }); });
}

void strided(Setup& out, const Shape& s, std::uint64_t seed, std::size_t local) {
    const auto v = static_cast<std::int32_t>(mix64(seed) >> 33);
    out.args = {Output{"out", s.items * s.trips * 8}, value("trips", static_cast<std::int32_t>(s.trips)), value("v", v)};
    out.global = Extent(s.items);
    out.local = Extent(local);
    out.work = {4.0 * static_cast<double>(s.items * s.trips), 0, static_cast<double>(s.items * s.trips)};
    out.check = [v](const Buffers& buffers) -> std::optional<std::string> {
        const auto found = buffers.as<std::int32_t>("out");
        for (std::size_t i = 0; i < found.size(); i += 2) {
            if (found[i] != v) return difference("out", i, found[i], v);
            for (std::size_t byte = 4 * i + 4; byte < 4 * i + 8; ++byte) {
                if (!buffers.untouched("out", byte)) return "out[" + std::to_string(i + 1) + "] was written; only even ones should be";
            }
        }
        return std::nullopt;
    };
}

void picture(Setup& out, const Shape& s, const Request& request) {
    auto data = random_words(s.step() * s.height / 4, request.seed);
    out.args = {InOut{"p", data, s.step()}, value("width", static_cast<std::int32_t>(s.width)),
                value("height", static_cast<std::int32_t>(s.height)), value("step", static_cast<std::int32_t>(s.step()))};
    if (request.variant.name == "pixel") {
        out.local = Extent(group_of(request.device, 64), request.device.max_group >= 256 ? 4 : 1);
        out.global = Extent(round_up(s.width, out.local.size[0]), round_up(s.height, out.local.size[1]));
    } else {
        out.local = Extent(group_of(request.device, request.device.is_cpu() ? 1 : 64));
        out.global = Extent(round_up(s.height, out.local.size[0]));
    }
    const auto pixels = static_cast<double>(s.width * s.height);
    out.work = {2 * pixels, 0, pixels};
    out.accumulates = true;
    out.check = [data, s](const Buffers& buffers) -> std::optional<std::string> {
        const bool inverted = buffers.operations % 2 == 1;
        const auto found = buffers.as<std::uint8_t>("p"), before = view<std::uint8_t>(data);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const bool inside = i % s.step() < s.width;
            const auto expected = static_cast<std::uint8_t>(inside && inverted ? 255 - before[i] : before[i]);
            if (found[i] != expected)
                return "pixel (" + std::to_string(i % s.step()) + ", " + std::to_string(i / s.step()) + ") is " +
                       std::to_string(found[i]) + ", expected " + std::to_string(expected);
        }
        return std::nullopt;
    };
}

void masked(Setup& out, const Shape& s, std::uint64_t seed) {
    const std::size_t groups = s.items / 64;
    const auto data = random_words(groups * s.trips * 32, seed);
    out.args = {InOut{"p", data}, value("trips", static_cast<std::int32_t>(s.trips))};
    out.global = Extent(s.items);
    out.local = Extent(64);
    const auto updates = static_cast<double>(groups * s.trips * 32);
    out.work = {8 * updates, 0, updates};
    out.accumulates = true;
    out.check = [data](const Buffers& buffers) {
        const auto before = view<std::int32_t>(data);
        const auto added = static_cast<std::int32_t>(buffers.operations);
        return first_difference<std::int32_t>("p", buffers.as<std::int32_t>("p"), [&](std::size_t i) { return before[i] + added; });
    };
}

void locals(Setup& out, const Shape& s, std::uint64_t seed) {
    const std::size_t groups = s.items / 32;
    const auto data = random_words(groups * 64, seed);
    out.args = {Input{"src", data}, Output{"out", groups * s.trips * 128}, value("trips", static_cast<std::int32_t>(s.trips))};
    out.global = Extent(s.items);
    out.local = Extent(32);
    const auto sums = static_cast<double>(groups * s.trips * 32);
    out.work = {4 * sums, 0, sums};
    out.check = [data, s](const Buffers& buffers) {
        const auto src = view<std::int32_t>(data);
        return first_difference<std::int32_t>("out", buffers.as<std::int32_t>("out"), [&](std::size_t i) {
            const std::size_t group = i / (s.trips * 32), trip = i / 32 % s.trips, at = (i % 32 + trip) % 32;
            return src[group * 64 + at] + src[group * 64 + 32 + at];
        });
    };
}

Setup setup(const Request& request) {
    const auto s = shape_of(request);
    const auto& variant = request.variant.name;
    if (request.device.max_group < 64)
        throw Unsupported("the kernels have work-groups of 64; the device has at most " + std::to_string(request.device.max_group));
    Setup out;
    if (variant == "index" || variant == "pointer")
        strided(out, s, request.seed, 64);
    else if (variant == "pixel" || variant == "row")
        picture(out, s, request);
    else if (variant.rfind("masked", 0) == 0)
        masked(out, s, request.seed);
    else
        locals(out, s, request.seed);
    out.resolved = {{"trips", std::to_string(s.trips)}, {"items", std::to_string(s.items)},
                    {"width", std::to_string(s.width)}, {"height", std::to_string(s.height)}};
    return out;
}

}  // namespace

Experiment describe_address() {
    Experiment out;
    out.family = "address";
    out.question = "How many instructions does an address cost in each way of writing it, and does the time notice?";
    const auto axis = [](const char* name, const char* unit, const char* meaning) {
        return Axis{name, unit, meaning, Axis::Kind::integer, {"auto"}, {}, 1, 1 << 30, true};
    };
    out.axes = {axis("trips", "", "iterations of the loop; not of pixel and row"),
                axis("items", "work-item", "work-items, rounded up to a multiple of 64; not of pixel and row"),
                axis("width", "pixel", "of the picture of pixel and row; its rows are a multiple of 64 byte apart"),
                axis("height", "pixel", "of the picture of pixel and row")};
    out.variants = {
        {"index", "Every second integer by p[i * 2]."},
        {"pointer", "Every second integer by *p, p += 2."},
        {"pixel", "A picture inverted by one work-item a pixel."},
        {"row", "The picture inverted by one work-item a row."},
        {"masked_inside", "Half a wavefront adds; address and loop inside the branch."},
        {"masked_hoisted", "Half a wavefront adds; address and loop outside the branch."},
        {"masked_bytes", "Half a wavefront adds; inside the branch, by offsets in bytes."},
        {"locals_two", "Sums of two arrays in local memory."},
        {"locals_one", "The same with one array that holds both."},
    };
    out.setup = setup;
    out.validate = [](const Request& request) { shape_of(request); };
    return out;
}

}  // namespace cllab::model
