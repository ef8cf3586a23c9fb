// What is done only where a device has memory of its own and lets the host work beside it, seen on the device under test as if it
// were one: pinned pieces, poison made by the device, builds and disassembly in threads, waiting asleep.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "bench.hpp"
#include "device/program.hpp"
#include "run/programs.hpp"

using namespace cllab;
using cllab::model::Status;
using cllab::test::run_scratch;

namespace {

/// The device under test, said to be a GPU.
device::Session& as_gpu() {
    static const auto found = [] {
        auto out = test::found();
        out.facts.type = model::DeviceType::gpu;
        out.facts.implementation = model::Implementation::intel_gpu;  // no build options of its own
        out.facts.unified_memory = false;
        return out;
    }();
    static device::Session one(found);
    return one;
}

bool is_simulated() { return test::session().facts().implementation == model::Implementation::oclgrind; }

std::string body(const std::string& name, const std::string& text) {
    return "kernel void scratch_" + name + "(global const uint* src, global uint* dst, int n) { int i = get_global_id(0); " + text + " }\n";
}

const std::string words = "2097152";  // 8 MiB: large enough to be staged and poisoned by the device
const std::string right = body("right", "dst[i] = 2 * src[i] + 1;");

}  // namespace

BOOST_AUTO_TEST_SUITE(beside)

BOOST_AUTO_TEST_CASE(staged_bytes_arrive_whole_and_the_poison_of_the_device_is_that_of_the_host) {
    if (is_simulated()) return;
    auto& session = as_gpu();
    const std::size_t size = (70 << 20) + 8;  // three pieces, the last a short one
    const cl::Buffer buffer(session.context(), CL_MEM_READ_WRITE, size);
    model::Bytes sent(size), back(size);
    fill_random(sent, 5);
    session.put(buffer, sent);
    session.get(buffer, back);
    BOOST_TEST((sent == back));
    BOOST_REQUIRE(session.poison(buffer, size, 9));
    session.get(buffer, back);
    model::poison(sent, 9);
    BOOST_TEST((sent == back));
}

BOOST_AUTO_TEST_CASE(cells_begun_together_are_each_proved_and_a_hole_is_seen) {
    if (is_simulated()) return;
    const auto text = right + body("hole", "if (i != 1000003) dst[i] = 2 * src[i] + 1;") +
                      body("seldom", "if (src[0] % 2 == 1) dst[i] = 2 * src[i] + 1;");
    const auto records = run_scratch(text, {{"right", ""}, {"hole", ""}, {"seldom", ""}, {"absent", ""}}, {}, nullptr, words, {}, &as_gpu());
    BOOST_REQUIRE(records.size() == 4u);
    for (const auto& r : records) {
        if (r.variant == "right") {
            BOOST_TEST((r.status == Status::ok), r.reason);
            BOOST_TEST(!r.code.kind.empty());
        } else {
            BOOST_TEST((r.status == (r.variant == "absent" ? Status::launch_failed : Status::wrong_result)), r.variant);
        }
    }
}

BOOST_AUTO_TEST_CASE(one_text_with_the_same_options_is_built_once) {
    std::vector<device::Session*> sessions{&test::session()};
    if (!is_simulated()) sessions.push_back(&as_gpu());
    for (auto* session : sessions) {
        run::Programs programs(*session, true);
        const auto first = programs.build(right, "-DA=1").get(), again = programs.build(right, "-DA=1").get(),
                   other = programs.build(right, "-DA=2").get();
        BOOST_TEST(first.ok);
        BOOST_TEST((first.program() == again.program()));
        BOOST_TEST((first.program() != other.program()));
        BOOST_TEST(programs.shared() == 1u);
    }
}

BOOST_AUTO_TEST_CASE(a_device_is_warmed_up_once_and_not_for_each_cell) {
    if (is_simulated()) return;
    device::Session fresh(test::found());
    const auto text = right + body("twin", "dst[i] = src[i] + src[i] + 1;");
    const auto records = run_scratch(text, {{"right", ""}, {"twin", ""}}, {}, nullptr, "1000", {}, &fresh);
    BOOST_REQUIRE((records.size() == 2u && records[0].status == Status::ok && records[1].status == Status::ok));
    BOOST_TEST(records[1].phases.at(Phase::warm_up) < records[0].phases.at(Phase::warm_up) / 2);
    BOOST_TEST(fresh.settled().has_value());
}

BOOST_AUTO_TEST_CASE(samples_carry_their_round) {
    const auto records = run_scratch(right, {{"right", ""}});
    BOOST_REQUIRE((records.front().status == Status::ok));
    BOOST_TEST(records.front().rounds.size() == records.front().samples.size());
    BOOST_TEST(records.front().aside_rounds.size() == records.front().aside.size());
    BOOST_TEST(std::is_sorted(records.front().rounds.begin(), records.front().rounds.end()));
}

BOOST_AUTO_TEST_SUITE_END()
