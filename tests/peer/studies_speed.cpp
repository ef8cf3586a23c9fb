// The best variant of each kernel study against a straightforward C++ loop on the first CPU device, round by round in
// one process, so that whatever else the machine does hits both. Prints a line each and fails when a kernel takes more
// than 1.5 times as long as its loop.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#define BOOST_TEST_MODULE studies_speed
#include <time.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/units.hpp"
#include "device/platforms.hpp"
#include "device/program.hpp"
#include "device/quirks.hpp"
#include "device/session.hpp"
#include "experiments/lib/native.hpp"
#include "model/params.hpp"
#include "model/plan.hpp"
#include "peer/studies_peer.hpp"
#include "run/cell/operation.hpp"
#include "run/kernel_source.hpp"

using namespace cllab;

namespace {

struct Cost {
    double wall = 1e9, cpu = 1e9;  ///< seconds of the best round; cpu is the sum over the process's threads
};

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void measure(Cost& cost, const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    work();
    cost.wall = std::min(cost.wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    cost.cpu = std::min(cost.cpu, cpu_seconds() - cpu);
}

/// What a peer works on: copies of the cell's arguments in ordinary memory of the process.
class Memory {
public:
    explicit Memory(const model::Setup& setup) {
        for (const auto& a : setup.args) {
            if (const auto* i = std::get_if<model::Input>(&a)) bytes_[i->name] = *i->data;
            if (const auto* i = std::get_if<model::InOut>(&a)) bytes_[i->name] = *i->data;
            if (const auto* o = std::get_if<model::Output>(&a)) bytes_[o->name].resize(o->size_bytes);
        }
    }
    template <typename T>
    T* as(const std::string& name) {
        return reinterpret_cast<T*>(bytes_.at(name).data());
    }
    std::size_t size(const std::string& name) const { return bytes_.at(name).size(); }

private:
    std::map<std::string, model::Bytes> bytes_;
};

using Peer = std::function<void(Memory&, unsigned threads)>;

void compare(const std::string& family_name, const std::string& variant_name,
             const std::map<std::string, std::string>& axes, const Peer& peer) {
    static const auto found = device::discover();
    const auto cpu = std::find_if(found.begin(), found.end(), [](const auto& f) {
        return f.facts.implementation == model::Implementation::pocl && f.facts.is_cpu();
    });
    BOOST_REQUIRE_MESSAGE(cpu != found.end(), "no PoCL CPU device");
    device::Session session(*cpu);
    const auto& families = model::registry();
    const auto family =
        std::find_if(families.begin(), families.end(), [&](const auto& e) { return e.family == family_name; });
    BOOST_REQUIRE(family != families.end());
    const auto variant = std::find_if(family->variants.begin(), family->variants.end(),
                                      [&](const auto& v) { return v.name == variant_name; });
    BOOST_REQUIRE(variant != family->variants.end());
    model::Point point;
    for (const auto& axis : model::axes_of(*family, *variant)) {
        const auto asked = axes.find(axis.name);
        point.set(axis.name, asked == axes.end() ? axis.values.back() : asked->second);
    }
    const std::map<std::string, model::Loaded> no_files;
    const auto id = family->id(*variant);
    const auto setup = model::set_up(*family, {*variant, point, session.facts(), 1, no_files});
    const model::Cell cell{&*family, &*variant, id, point, {}};
    const auto built = device::build(session, run::kernel_source(family_name, {}).text,
                                     run::build_options(cell, setup, session.facts(), ""));
    BOOST_REQUIRE_MESSAGE(built.ok, built.log);
    run::Operation operation(session, built, setup, id);
    operation.load(setup, 1);
    operation.enqueue();
    session.queue().finish();
    model::Buffers buffers;
    auto wrong = operation.read_back(buffers);
    if (!wrong) wrong = setup.check(buffers);
    BOOST_REQUIRE_MESSAGE(!wrong, *wrong);

    const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    Memory memory(setup);
    peer(memory, threads);
    Cost kernel, loop;
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < 40 && std::chrono::steady_clock::now() - start < std::chrono::seconds(4); ++round) {
        measure(loop, [&] { peer(memory, threads); });
        measure(kernel, [&] {
            operation.enqueue();
            session.queue().finish();
        });
    }
    // Waiting for a core counts as wall time. When others take the cores, compare processor time, which is this
    // process's.
    const bool busy = loop.wall * threads > 1.25 * loop.cpu;
    const double ratio = busy ? kernel.cpu / loop.cpu : kernel.wall / loop.wall;
    std::cout << id << ": " << format_seconds(kernel.wall) << ", C++ loop " << format_seconds(loop.wall)
              << " (processor time " << format_seconds(kernel.cpu) << " and " << format_seconds(loop.cpu) << "), ratio "
              << format_significant(ratio, 3) << (busy ? " of processor time, for others keep the cores busy" : "")
              << std::endl;
    BOOST_TEST(ratio <= 1.5);
}

}  // namespace

BOOST_AUTO_TEST_CASE(saxpy_keeps_up_with_the_loop) {
    compare("saxpy", "w512", {{"size", "67108864"}}, [](Memory& m, unsigned threads) {
        model::native::saxpy(m.as<float>("x"), m.as<float>("y"), 0.875f, m.size("x") / 4, 1, threads);
    });
}

BOOST_AUTO_TEST_CASE(reduce_keeps_up_with_the_loop) {
    compare("reduce", "onepass", {{"size", "67108864"}}, [](Memory& m, unsigned threads) {
        *m.as<std::uint32_t>("state") = model::native::sum(m.as<std::uint32_t>("src"), m.size("src") / 4, threads);
    });
}

BOOST_AUTO_TEST_CASE(gemm_keeps_up_with_the_loop) {
    compare("gemm", "vector", {{"m", "512"}, {"n", "512"}, {"k", "512"}, {"tile_k", "8"}},
            [](Memory& m, unsigned threads) {
                model::native::gemm(m.as<float>("a"), m.as<float>("b"), m.as<float>("c"), 512, 512, 512, threads);
            });
}

BOOST_AUTO_TEST_CASE(address_keeps_up_with_the_loop) {
    compare("address", "row", {{"width", "8192"}, {"height", "4096"}},
            [](Memory& m, unsigned threads) { peer::invert(m.as<std::uint8_t>("p"), 8192, 4096, 8192, threads); });
}

BOOST_AUTO_TEST_CASE(nchw_keeps_up_with_the_loop) {
    compare("nchw", "rows", {{"images", "64"}},
            [](Memory& m, unsigned threads) { peer::nchw(m.as<std::uint32_t>("out"), 64, 64, 56, 56, threads); });
}

BOOST_AUTO_TEST_CASE(pad_keeps_up_with_the_loop) {
    compare("pad", "wide", {{"images", "128"}, {"channels", "512"}}, [](Memory& m, unsigned threads) {
        peer::pad(m.as<std::uint32_t>("in"), m.as<std::uint32_t>("out"), 128 * 512, 7, 3, threads);
    });
}

BOOST_AUTO_TEST_CASE(batchnorm_keeps_up_with_the_loop) {
    compare("batchnorm", "channel_wide", {{"images", "32"}, {"channels", "64"}}, [](Memory& m, unsigned threads) {
        peer::batchnorm(m.as<float>("x"), m.as<float>("y"), m.as<float>("means"), m.as<float>("scales"),
                        m.as<float>("gamma"), m.as<float>("beta"), 32, 64, 56 * 56, threads);
    });
}
