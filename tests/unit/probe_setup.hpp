// Set-ups of the probes on devices that need not be there, and buffers as a kernel would leave them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "unit/cells.hpp"

namespace cllab::test {

inline model::Device probe_gpu() {
    model::Device d;
    d.name = "test GPU";
    d.type = model::DeviceType::gpu;
    d.implementation = model::Implementation::nvidia;
    d.compute_units = 4;
    d.max_group = 256;
    d.max_group_promised = 1024;
    d.max_items = {1024, 1024, 64};
    d.preferred_multiple = 32;
    d.fp64 = d.fp16 = true;
    return d;
}

inline model::Device probe_cpu() {
    model::Device d = probe_gpu();
    d.name = "test CPU";
    d.type = model::DeviceType::cpu;
    d.implementation = model::Implementation::pocl;
    d.compute_units = 2;
    d.max_group = d.max_group_promised = 4096;
    d.max_items = {4096, 4096, 4096};
    d.fp16 = false;
    return d;
}

/// The first cell of "family_variant" with these axes.
inline model::Setup probe_setup(const std::string& id, const Axes& axes, const model::Device& device,
                                std::uint64_t seed = 7) {
    return set_up_cell(id, axes, device, seed);
}

inline const model::Experiment& family(const std::string& name) {
    return *model::select(model::registry(), {name}).front().experiment;
}

/// An Input's or Value's contents.
template <typename T>
std::vector<T> contents(const model::Setup& setup, const std::string& name) {
    for (const auto& argument : setup.args) {
        const model::Bytes* bytes = nullptr;
        if (const auto* input = std::get_if<model::Input>(&argument); input && input->name == name)
            bytes = &*input->data;
        if (const auto* scalar = std::get_if<model::Value>(&argument); scalar && scalar->name == name)
            bytes = &scalar->data;
        if (!bytes) continue;
        std::vector<T> out(bytes->size() / sizeof(T));
        std::memcpy(out.data(), bytes->data(), out.size() * sizeof(T));
        return out;
    }
    throw std::runtime_error("the set-up has no argument '" + name + "'");
}

inline std::size_t output_bytes(const model::Setup& setup, const std::string& name) {
    for (const auto& argument : setup.args) {
        if (const auto* output = std::get_if<model::Output>(&argument); output && output->name == name)
            return output->size_bytes;
    }
    throw std::runtime_error("the set-up has no output '" + name + "'");
}

/// Asks the check about these outputs; empty when it is content.
template <typename T>
std::string verdict(const model::Setup& setup, const std::map<std::string, std::vector<T>>& outputs,
                    std::int32_t trips = 0) {
    model::Buffers buffers;
    buffers.trips = trips;
    for (const auto& [name, values] : outputs) buffers.data.emplace(name, std::as_bytes(std::span(values)));
    return setup.check(buffers).value_or("");
}

/// A curve of slope samples: x and seconds a step.
inline model::Curve probe_curve(const std::string& variant, const Axes& fixed,
                                const std::vector<std::pair<double, double>>& points) {
    model::Curve curve;
    curve.variant = variant;
    for (const auto& [axis, value] : fixed) curve.fixed.set(axis, value);
    for (const auto& [x, y] : points) curve.samples.push_back({x, y, 0.99 * y, 1.01 * y, {}, y, {}});
    return curve;
}

/// A copy: the findings asked are often gone with the statement.
inline std::optional<model::Finding> found(const std::vector<model::Finding>& findings, const std::string& name) {
    for (const auto& f : findings)
        if (f.name == name) return f;
    return std::nullopt;
}

}  // namespace cllab::test
