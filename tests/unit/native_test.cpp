// The loops of --native without a device: on the memory that a kernel would have had, held against what the kernels are
// held against.
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "unit/study.hpp"

BOOST_AUTO_TEST_SUITE(native)

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

namespace {

const Experiment& family_of(const std::string& name) {
    for (const auto& e : registry())
        if (e.family == name) return e;
    throw Error(Blame::result, "no family " + name);
}

/// Those of the loops in a plan of all kernels and loops.
std::vector<Cell> cells_of(const Experiment& family, const Axes& axes) {
    auto selected = select(registry(), {family.family});
    for (const auto& loop : family.native) selected.push_back({&family, &loop, family.id(loop)});
    std::vector<Cell> out;
    for (const auto& group : make_plan(selected, axes))
        for (const auto& cell : group)
            if (cell.variant->native) out.push_back(cell);
    return out;
}

/// A cell whose operations are done here, `operations` times, by what its steps say.
std::string verdict_of(const Cell& cell, const Device& device, unsigned operations) {
    const std::map<std::string, Loaded> no_files;
    auto setup = set_up(*cell.experiment, {*cell.variant, cell.point, device, 5, no_files});
    constexpr std::uint64_t seed = 7;
    std::map<std::string, Bytes> memory;
    for (auto& argument : setup.args) {
        if (const auto* a = std::get_if<Input>(&argument)) memory[a->name] = *a->data;
        if (const auto* a = std::get_if<InOut>(&argument)) memory[a->name] = *a->data;
        if (const auto* a = std::get_if<Value>(&argument)) memory[a->name] = a->data;
        if (const auto* a = std::get_if<Scratch>(&argument)) memory[a->name].resize(a->size_bytes);
        if (const auto* a = std::get_if<Output>(&argument)) {
            memory[a->name].resize(a->size_bytes);
            poison(memory[a->name], seed);
        }
    }
    HostMemory host;
    for (auto& [name, bytes] : memory) host.data[name] = bytes;
    for (unsigned i = 0; i < operations; ++i) {
        for (const auto& step : setup.steps) {
            if (const auto* loop = std::get_if<HostLoop>(&step)) loop->run(host);
            if (const auto* swap = std::get_if<Swap>(&step))
                std::swap(host.data.find(swap->a)->second, host.data.find(swap->b)->second);
        }
    }
    Buffers buffers;
    buffers.poison_seed = seed;
    buffers.operations = operations;
    for (const auto& [name, bytes] : host.data) buffers.data[name] = bytes;
    return setup.check(buffers).value_or("");
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_loop_is_right_with_any_number_of_threads) {
    const Axes axes{{"width", "97"},  {"height", "1,7"}, {"pitch", "5.2"}, {"weights", "linear,published"},
                    {"left", "6,21"}, {"right", "22,53"}};
    for (const auto& cell : cells_of(family_of("pitch"), axes)) {
        for (const unsigned cores : {1u, 2u, 5u}) {
            auto device = small_device();
            device.compute_units = cores;
            for (const unsigned operations : {1u, 2u})
                BOOST_TEST(verdict_of(cell, device, operations) == "", cell.id << " " << cell.label);
            if (!cell.variant->native->every_core) break;
        }
    }
    for (const auto& e : registry()) BOOST_TEST((e.native.empty() || e.family == "pitch"), e.family);
}

BOOST_AUTO_TEST_CASE(operation_of_a_native_loop_launches_nothing) {
    for (const auto& e : registry()) {
        if (e.native.empty()) continue;
        for (const auto& cell : cells_of(e, {})) {
            const std::map<std::string, Loaded> no_files;
            const auto setup = set_up(e, {*cell.variant, cell.point, small_device(), 5, no_files});
            BOOST_TEST(std::holds_alternative<HostLoop>(setup.steps.front()));
            for (const auto& step : setup.steps) BOOST_TEST(!std::holds_alternative<Launch>(step));
            BOOST_TEST(setup.defines.empty());
            BOOST_TEST(cell.variant->native->instruction_set != "");
        }
    }
}

BOOST_AUTO_TEST_CASE(native_loop_is_compared_with_the_kernels_at_its_point) {
    auto selected = select(registry(), {"pitch"});
    const auto& family = family_of("pitch");
    for (const auto& loop : family.native) selected.push_back({&family, &loop, family.id(loop)});
    const auto plan = make_plan(selected, {{"width", "512,1024"}, {"options", "-cl-mad-enable"}});
    std::size_t groups = 0;
    for (const auto& group : make_plan(selected, {{"width", "512,1024"}})) {
        ++groups;
        std::set<std::string> ids;
        for (const auto& cell : group) ids.insert(cell.id);
        BOOST_TEST(group.size() == family.variants.size() + 2);
        BOOST_TEST(ids.count("pitch_native") + ids.count("pitch_native_all") == 2u);
    }
    BOOST_TEST(groups == 2u);
    for (const auto& group : plan)
        for (const auto& cell : group)
            BOOST_TEST(cell.point.has("options") == (cell.variant->native == nullptr), cell.id);
}

BOOST_AUTO_TEST_CASE(launch_axes_do_not_multiply_native_loops) {
    // Axes of some variants only, which change no result: neither do they multiply the rows of a loop.
    BOOST_TEST(cells_of(family_of("pitch"), {{"local", "32x1,64x1"}, {"element", "short,float"}}).size() == 2u);
}

BOOST_AUTO_TEST_CASE(only_the_native_option_selects_loops) {
    for (const auto& s : select(registry(), {"*"})) BOOST_TEST(s.variant->native == nullptr, s.id);
    BOOST_CHECK_THROW(select(registry(), {"pitch_native"}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
