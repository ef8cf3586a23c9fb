// A memory probe set up for a made-up device, and buffers as a run would leave them, so that checks are tested without
// one.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "unit/cells.hpp"
#include "unit/probe_setup.hpp"

namespace cllab::memory_test {

inline model::Device gpu() {
    model::Device out;
    out.name = "made-up GPU";
    out.type = model::DeviceType::gpu;
    out.implementation = model::Implementation::nvidia;
    out.compute_units = 4;
    out.max_group = out.max_group_promised = 1024;
    out.max_items = {1024, 1024, 64};
    out.preferred_multiple = 32;
    out.local_bytes = 48 << 10;
    out.local_is_dedicated = true;
    out.cacheline_bytes = 128;
    out.last_level_bytes = 4 << 20;
    out.global_bytes = out.max_alloc_bytes = 1ull << 32;
    return out;
}

inline model::Device cpu() {
    auto out = gpu();
    out.name = "made-up CPU";
    out.type = model::DeviceType::cpu;
    out.implementation = model::Implementation::pocl;
    out.local_is_dedicated = false;
    out.cacheline_bytes = 64;
    return out;
}

using test::family;

using Settings = std::map<std::string, std::string>;

inline model::Setup set_up(const std::string& name, const std::string& variant, const model::Device& device,
                           const Settings& settings = {}, std::uint64_t seed = 1) {
    return test::set_up_cell(name + "_" + variant, {settings.begin(), settings.end()}, device, seed);
}

/// What a kernel is given under a name.
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
            model::poison(bytes, 7);
            return copy(bytes);
        }
    }
    throw Error(Blame::usage, "no argument " + name);
}

/// The check's answer to these contents of one buffer after so many trips.
template <typename T>
std::optional<std::string> check(const model::Setup& setup, const std::string& name, const std::vector<T>& contents,
                                 std::int32_t trips) {
    model::Buffers buffers;
    buffers.data.emplace(name, std::as_bytes(std::span(contents)));
    buffers.poison_seed = 7;
    buffers.trips = trips;
    return setup.check(buffers);
}

template <typename T>
void require_right(const model::Setup& setup, const std::string& name, const std::vector<T>& contents,
                   std::int32_t trips) {
    const auto wrong = check(setup, name, contents, trips);
    BOOST_TEST(!wrong.has_value(), wrong.value_or(""));
}

/// Right as it is, and wrong with the element at `at` off by one.
template <typename T>
void require_right_and_watched(const model::Setup& setup, const std::string& name, std::vector<T> contents,
                               std::int32_t trips, std::size_t at) {
    require_right(setup, name, contents, trips);
    contents.at(at) += 1;
    BOOST_TEST(check(setup, name, contents, trips).has_value(), "element " << at << " off by one passed");
}

inline model::Curve curve(const std::string& variant, const std::vector<std::pair<double, double>>& points,
                          const Settings& fixed = {}) {
    model::Curve out;
    out.variant = variant;
    for (const auto& [name, value] : fixed) out.fixed.set(name, value);
    for (const auto& [x, step] : points) {
        model::Curve::Sample s;
        s.x = x;
        s.seconds = s.per_step = step;
        s.low = step * 0.995;
        s.high = step * 1.005;
        out.samples.push_back(s);
    }
    return out;
}

inline const model::Finding* finding(const std::vector<model::Finding>& findings, const std::string& name) {
    for (const auto& f : findings) {
        if (f.name == name) return &f;
    }
    return nullptr;
}

inline void require_finding(const std::vector<model::Finding>& findings, const std::string& name, double value) {
    const auto* f = finding(findings, name);
    BOOST_REQUIRE_MESSAGE(f, "no finding '" << name << "'");
    BOOST_TEST(f->value == value, boost::test_tools::tolerance(0.02));
}

}  // namespace cllab::memory_test
