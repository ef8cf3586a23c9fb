// subgroup and convert without a device: what a kernel leaves, right and wrong, and how many instructions findings
// name.
#include <boost/test/unit_test.hpp>
#include <map>

#include "core/half.hpp"
#include "portrait/conclusion.hpp"
#include "unit/probe.hpp"
#include "unit/report_records.hpp"

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

BOOST_AUTO_TEST_SUITE(sub_groups_and_conversions)

namespace {

using Words = std::vector<std::uint32_t>;
using Left = std::map<std::string, Words>;  // by output

std::string judged(const Setup& setup, const Left& left, std::int32_t trips) {
    Buffers buffers;
    buffers.trips = trips;
    for (const auto& [name, words] : left) buffers.data.emplace(name, std::as_bytes(std::span(words)));
    return setup.check(buffers).value_or("");
}

/// With sub-groups whose width the language does not say.
Device any_width() {
    auto out = probe_gpu();
    out.implementation = Implementation::amd;
    out.extensions.insert("cl_khr_subgroups");
    return out;
}

/// The next value of a lane, by what OpenCL C says of the sub-group function.
std::uint32_t next(const std::string& operation, const Words& given, std::size_t lane, std::uint32_t pick) {
    if (operation == "broadcast") return given[pick % given.size()];
    if (operation == "shuffle") return given[(lane + pick) % given.size()];
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i <= (operation == "scan" ? lane : given.size() - 1); ++i) sum += given[i];
    return sum;
}

/// What subgroup.cl leaves of `latency` with one chain in sub-groups of `width`, of which the first works.
Left kernel(const Setup& setup, const std::string& operation, std::size_t width, int links) {
    const auto start = argument<std::uint32_t>(setup, "start");
    const auto pick = argument<std::uint32_t>(setup, "pick").front();
    Left left{{"out", start}, {"who", {}}};
    for (std::size_t i = 0; i < start.size(); ++i)
        for (const auto word : {i / width, i % width, width}) left["who"].push_back(static_cast<std::uint32_t>(word));
    for (int k = 0; k < links; ++k) {
        Words given;
        const bool sums = operation == "reduce";
        for (std::size_t lane = 0; lane < width; ++lane) given.push_back(left["out"][lane] + (sums ? 0 : start[lane]));
        for (std::size_t lane = 0; lane < width; ++lane)
            left["out"][lane] = next(operation, given, lane, pick) + (sums ? given[lane] : 0);
    }
    return left;
}

/// One sample of a probe whose loop has so many instructions.
Curve counted(const std::string& variant, const Axes& fixed, double instructions, double x = 0) {
    auto out = curve_of(variant, {{x, 1e-9}}, fixed);
    out.samples[0].metrics = {{"loop_instructions", instructions}, {"flops", 1e9}};
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(sub_group_of_any_width_must_do_every_operation) {
    for (const std::string operation : {"reduce", "scan", "broadcast", "shuffle"}) {
        const auto setup = set_up("subgroup_latency", any_width(), {{"operation", operation}});
        for (const std::size_t width : {8, 32, 64}) {
            BOOST_TEST(judged(setup, kernel(setup, operation, width, 3 * 16), 3) == "", operation);
            BOOST_TEST(judged(setup, kernel(setup, operation, width, 3 * 16 - 1), 3) != "", operation);
        }
        auto wrong = kernel(setup, operation, 32, 3 * 16);
        wrong["out"][31] += 1;
        BOOST_TEST(says(judged(setup, wrong, 3), "out[31] is "), operation);
    }
}

BOOST_AUTO_TEST_CASE(sub_groups_must_hold_each_work_item_once) {
    const auto setup = set_up("subgroup_latency", any_width(), {{"operation", "reduce"}});
    const auto right = kernel(setup, "reduce", 32, 16);
    for (const auto& [at, word] : {std::pair{0, 1u}, {1, 1u}, {1, 40u}, {2, 16u}, {3 * 40, 0u}, {3 * 40, 7u}}) {
        auto wrong = right;
        wrong["who"][static_cast<std::size_t>(at)] = word;
        BOOST_TEST(says(judged(setup, wrong, 1), "do not hold each work-item once"), at << " " << word);
    }
}

BOOST_AUTO_TEST_CASE(missing_sub_groups_or_shuffles_are_reported) {
    const auto refused = [](const Device& device, const char* operation) {
        try {
            set_up("subgroup_rate", device, {{"operation", operation}});
        } catch (const Unsupported& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    auto device = probe_cpu();
    BOOST_TEST(refused(device, "reduce") == "the device has no sub-groups");
    device.extensions = {"cl_khr_subgroups"};
    BOOST_TEST(refused(device, "scan") == "");
    BOOST_TEST(refused(device, "shuffle") == "the device's sub-groups have no shuffle");
    device.extensions.insert("cl_khr_subgroup_shuffle");
    BOOST_TEST(refused(device, "shuffle") == "");
}

BOOST_AUTO_TEST_CASE(conversion_is_exact_in_every_trip) {
    const std::map<std::string, std::uint32_t (*)(std::uint32_t)> conversions{
        {"float_to_half", [](std::uint32_t w) { return std::uint32_t{to_half(std::bit_cast<float>(w)).bits}; }},
        {"half_to_float",
         [](std::uint32_t w) {
             const int exponent = static_cast<int>(w >> 10 & 31);
             const auto size = std::ldexp(static_cast<float>(1024 + (w & 1023)), exponent - 25);
             return std::bit_cast<std::uint32_t>(w >> 15 ? -size : size);
         }},
        {"int_to_char",
         [](std::uint32_t w) {
             const auto x = static_cast<std::int32_t>(w);
             return x > 127 ? 127u : x < -128 ? 128u : w & 255;
         }},
        {"char_to_int", [](std::uint32_t w) { return (w & 128 ? 0xFFFFFF00u : 0u) | (w & 255); }}};
    for (const auto& [name, convert] : conversions) {
        const auto setup = set_up("convert_latency", probe_cpu(), {{"conversion", name}});
        Left left{{"out", {}}, {"sums", {0}}};
        const auto args = argument<std::uint32_t>(setup, "args");
        for (std::size_t k = 0; k < 4; ++k) left["out"].push_back(convert(args[k]));
        for (int k = 0; k < 5; ++k) left["sums"][0] = left["sums"][0] * 3 + left["out"][3];
        BOOST_TEST(judged(setup, left, 5) == "", name);
        BOOST_TEST(judged(setup, left, 6) != "", name);
        left["out"][0] ^= 1;
        BOOST_TEST(judged(setup, left, 5) != "", name);
    }
}

BOOST_AUTO_TEST_CASE(finding_states_the_instructions_per_operation_if_several) {
    const auto dot = [](double instructions) {
        return of_id(concluded("integer", {counted("dot", {}, instructions)}, probe_cpu()), "dot").how;
    };
    BOOST_TEST(says(dot(50), "through 3.1 instructions each"));
    BOOST_TEST(!says(dot(19), "through"));
    const auto fixed = [](const char* conversion) { return Axes{{"conversion", conversion}}; };
    const auto of_half = [&](double instructions) {
        return of_id(concluded(
                         "convert",
                         {counted("rate", fixed("none"), 37), counted("rate", fixed("float_to_half"), instructions)},
                         probe_cpu()),
                     "rate.float_to_half")
            .how;
    };
    BOOST_TEST(!says(of_half(37 + 16), "through"));
    BOOST_TEST(says(of_half(37 + 16 * 56), "through 56 instructions each"));
}

BOOST_AUTO_TEST_CASE(instructions_are_named_for_machine_code_and_not_for_ptx) {
    const auto how = [](const std::string& set) {
        auto record = cell("integer", "dot", 1e-9);
        record.metrics = {{"step_time", {1e-9, "s", Better::lower}}};
        record.code.loop = {{"instructions", 50}};
        record.code.origin = {{"loop", set + ", one iteration of the innermost loop"}};
        auto device = probe_gpu();
        device.selector = record.device.selector;
        return of_id(portrait::conclude({record}, device).front().findings, "dot").how;
    };
    BOOST_TEST(says(how("sass"), "through 3.1 instructions each"));
    BOOST_TEST(!says(how("ptx"), "through"));
}

BOOST_AUTO_TEST_CASE(type_with_many_more_instructions_than_float_states_them) {
    const auto peak = [](const char* type, double instructions) {
        return counted("peak", {{"type", type}, {"ilp", "4"}, {"unroll", "16"}}, instructions, 4);
    };
    const auto half = [&](double instructions) {
        return of_id(concluded("fma", {peak("float", 66), peak("half", instructions)}, probe_cpu()), "peak.half").how;
    };
    BOOST_TEST(says(half(2563), "through 40 instructions each"));
    BOOST_TEST(!says(half(130), "through"));
}

BOOST_AUTO_TEST_SUITE_END()
