// Cells of the families set up for made-up devices, buffers as a kernel would leave them, and curves as a run would.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "unit/cells.hpp"

namespace cllab::test {

inline model::Device probe_gpu() {
    model::Device out;
    out.name = "test GPU";
    out.type = model::DeviceType::gpu;
    out.implementation = model::Implementation::nvidia;
    out.compute_units = 4;
    out.max_group = 256;
    out.max_group_promised = 1024;
    out.max_items = {1024, 1024, 64};
    out.preferred_multiple = 32;
    out.fp64 = out.fp16 = true;
    out.local_bytes = 48 << 10;
    out.local_is_dedicated = true;
    out.cacheline_bytes = 128;
    out.last_level_bytes = 4 << 20;
    out.global_bytes = out.max_alloc_bytes = 1ull << 32;
    return out;
}

inline model::Device probe_cpu() {
    auto out = probe_gpu();
    out.name = "test CPU";
    out.type = model::DeviceType::cpu;
    out.implementation = model::Implementation::pocl;
    out.max_group = out.max_group_promised = 4096;
    out.max_items = {4096, 4096, 4096};
    out.fp16 = out.local_is_dedicated = false;
    out.cacheline_bytes = 64;
    return out;
}

inline const model::Experiment& family(const std::string& name) {
    return *model::select(model::registry(), {name}).front().experiment;
}

/// The first cell of "family_variant" with these axes.
inline model::Setup set_up(const std::string& id, const model::Device& device, const Axes& axes = {}) {
    return set_up_cell(id, axes, device);
}

inline constexpr std::uint64_t poison_seed = 7;

/// What a kernel is given under a name; of an Output the poison.
template <typename T>
std::vector<T> argument(const model::Setup& setup, const std::string& name) {
    const auto copy = [](const model::Bytes& bytes) {
        std::vector<T> out(bytes.size() / sizeof(T));
        std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
        return out;
    };
    for (const auto& a : setup.args) {
        if (const auto* input = std::get_if<model::Input>(&a); input && input->name == name) return copy(*input->data);
        if (const auto* inout = std::get_if<model::InOut>(&a); inout && inout->name == name) return copy(*inout->data);
        if (const auto* scalar = std::get_if<model::Value>(&a); scalar && scalar->name == name)
            return copy(scalar->data);
        if (const auto* output = std::get_if<model::Output>(&a); output && output->name == name) {
            model::Bytes bytes(output->size_bytes);
            model::poison(bytes, poison_seed);
            return copy(bytes);
        }
    }
    throw std::runtime_error("the set-up has no argument '" + name + "'");
}

/// What the check says of these contents of one buffer after so many trips; empty when it is content.
template <typename T>
std::string verdict(const model::Setup& setup, const std::string& name, const std::vector<T>& contents,
                    std::int32_t trips = 0) {
    model::Buffers buffers;
    buffers.data.emplace(name, std::as_bytes(std::span(contents)));
    buffers.poison_seed = poison_seed;
    buffers.trips = trips;
    return setup.check(buffers).value_or("");
}

/// Right as it is, and wrong with the element at `at` off by one.
template <typename T>
void require_right_and_watched(const model::Setup& setup, const std::string& name, std::vector<T> contents,
                               std::int32_t trips, std::size_t at) {
    BOOST_TEST(verdict(setup, name, contents, trips) == "");
    contents.at(at) += 1;
    BOOST_TEST(verdict(setup, name, contents, trips) != "", "element " << at << " off by one passed");
}

/// Samples of x and seconds a step, each known to half a percent.
inline model::Curve curve_of(const std::string& variant, const std::vector<std::pair<double, double>>& points,
                             const Axes& fixed = {}) {
    model::Curve out;
    out.variant = variant;
    for (const auto& [axis, value] : fixed) out.fixed.set(axis, value);
    for (const auto& [x, step] : points) out.samples.push_back({x, step, 0.995 * step, 1.005 * step, {}, step, {}});
    return out;
}

inline std::vector<model::Finding> concluded(const std::string& name, const std::vector<model::Curve>& curves,
                                             const model::Device& device) {
    return family(name).conclude(curves, device);
}

/// A copy: the findings asked are often gone with the statement.
inline std::optional<model::Finding> finding(const std::vector<model::Finding>& findings, const std::string& name) {
    for (const auto& f : findings)
        if (f.name == name) return f;
    return std::nullopt;
}

inline void require_finding(const std::vector<model::Finding>& findings, const std::string& name, double value,
                            double tolerance = 0.02) {
    const auto f = finding(findings, name);
    BOOST_REQUIRE_MESSAGE(f, "no finding '" << name << "'");
    BOOST_TEST(f->value == value, boost::test_tools::tolerance(tolerance));
}

/// By its identifier.
inline model::Finding of_id(const std::vector<model::Finding>& findings, const std::string& id) {
    for (const auto& f : findings)
        if (f.id == id) return f;
    throw std::runtime_error("no finding " + id);
}

}  // namespace cllab::test
