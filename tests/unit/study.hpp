// One cell of a study without a device: its set-up, and the buffers that a kernel would have written.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <map>
#include <string>

#include "unit/probe.hpp"

namespace cllab::test {

using namespace model;

inline Device small_device(DeviceType type = DeviceType::cpu) {
    Device d;
    d.name = "test device";
    d.type = type;
    d.compute_units = 2;
    d.max_group = d.max_group_promised = 256;
    d.max_items = {256, 256, 256};
    d.max_alloc_bytes = 1u << 28;
    d.last_level_bytes = 1u << 20;
    return d;
}

/// One cell: its set-up, and the buffers a kernel would have written, poisoned.
struct Study {
    Setup setup;
    std::map<std::string, Bytes> memory;

    Study(const std::string& family, const std::string& variant, const Axes& axes,
          const Device& device = small_device()) {
        setup = set_up_cell(family + "_" + variant, axes, device, 5);
        for (const auto& a : setup.args) {
            if (const auto* output = std::get_if<Output>(&a)) {
                memory[output->name].resize(output->size_bytes);
                poison(memory[output->name], poison_seed);
            }
            if (const auto* inout = std::get_if<InOut>(&a)) memory[inout->name] = *inout->data;
        }
    }

    template <typename T>
    T* out(const std::string& name) {
        BOOST_REQUIRE(memory.count(name) == 1);
        return reinterpret_cast<T*>(memory.at(name).data());
    }
    /// What the check says, "" when it accepts.
    std::string verdict() const {
        Buffers buffers;
        buffers.poison_seed = poison_seed;
        for (const auto& [name, bytes] : memory) buffers.data[name] = bytes;
        return setup.check(buffers).value_or("");
    }
};

inline std::string refusal(const std::string& family, const std::string& variant, const Axes& axes) {
    try {
        Study(family, variant, axes);
    } catch (const Error& e) {
        BOOST_TEST((e.blame() == Blame::usage));
        return e.what();
    }
    return "";
}

/// Why the test device cannot do the cell.
inline std::string unsupported(const std::string& family, const std::string& variant, const Axes& axes) {
    try {
        Study(family, variant, axes);
    } catch (const Unsupported& e) {
        return e.what();
    }
    return "";
}

}  // namespace cllab::test
