// What is done only where a device has memory of its own and lets the host work beside it, seen on the device under
// test as if it were one: pinned pieces, poison made by the device, builds and disassembly in threads, waiting asleep.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <map>

#include "bench.hpp"
#include "device/program.hpp"
#include "device/staging.hpp"
#include "experiments/lib/setups.hpp"
#include "run/instruments.hpp"

using namespace cllab;
using cllab::model::Status;
using cllab::test::body;
using cllab::test::is_simulated;
using cllab::test::right;
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

const std::string staged_words = "2097152";  // 8 MiB: large enough to be staged and poisoned by the device

}  // namespace

BOOST_AUTO_TEST_SUITE(background_work)

BOOST_AUTO_TEST_CASE(staged_bytes_arrive_complete_and_device_poison_matches_host) {
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

BOOST_AUTO_TEST_CASE(shared_data_is_uploaded_once_while_it_exists_and_fits) {
    if (is_simulated()) return;
    auto& session = as_gpu();
    const std::size_t size = 1 << 20;
    const auto make = [&](std::uint64_t seed) {
        auto bytes = std::make_shared<model::Bytes>(size);
        fill_random(*bytes, seed);
        return model::SharedBytes(bytes);
    };
    device::Originals originals(session, 2.5 * static_cast<double>(size));
    const cl::Buffer buffer(session.context(), CL_MEM_READ_WRITE, size);
    unsigned uploads = 0;
    const auto arrives = [&](const model::SharedBytes& data) {
        const bool put = originals.put(buffer, data, [&](const cl::Buffer& to) {
            ++uploads;
            session.put(to, std::span<const std::byte>(*data));
        });
        model::Bytes back(size);
        session.get(buffer, back);
        return put && back == *data;
    };
    const auto a = make(1), b = make(2);
    for (const auto* data : {&a, &b, &a, &b}) BOOST_TEST(arrives(*data));
    BOOST_TEST(uploads == 2u);
    BOOST_TEST(arrives(model::SharedBytes(a)));
    BOOST_TEST(uploads == 2u, "a copy is the same data");
    {
        const auto c = make(3);  // no room beside the others: the oldest goes
        BOOST_TEST(arrives(c));
        BOOST_TEST(arrives(b));
        BOOST_TEST(uploads == 3u);
    }
    BOOST_TEST(arrives(a));
    BOOST_TEST(uploads == 4u);
    BOOST_TEST(arrives(b));
    BOOST_TEST(uploads == 4u, "what nobody has any more goes first");
    device::Originals small(session, static_cast<double>(size - 1));
    BOOST_TEST(!small.put(buffer, a, [&](const cl::Buffer&) { ++uploads; }));
    BOOST_TEST(uploads == 4u);
}

BOOST_AUTO_TEST_CASE(kernel_that_writes_its_input_does_not_affect_others) {
    if (is_simulated()) return;
    const auto text = body("vandal", "dst[i] = 2 * src[i] + 1; ((global uint*)src)[i] = 0;") + right;
    std::map<std::uint32_t, model::SharedBytes> known;  // by the first word, which is the seed
    const auto share_inputs = [&](const model::Variant&, model::Setup& setup) {
        auto& data = std::get<model::Input>(setup.args.front()).data;
        data = known.emplace(model::lib::view<std::uint32_t>(data)[0], data).first->second;
    };
    const auto records =
        run_scratch(text, {{"vandal", ""}, {"right", ""}}, {}, nullptr, staged_words, share_inputs, &as_gpu());
    BOOST_TEST(known.size() == 2u);
    BOOST_REQUIRE(records.size() == 2u);
    for (const auto& r : records)
        BOOST_TEST((r.status == (r.variant == "right" ? Status::ok : Status::wrong_result)),
                   r.variant << ": " << r.reason);
}

BOOST_AUTO_TEST_CASE(cells_started_together_are_each_verified) {
    if (is_simulated()) return;
    const auto text = right + body("hole", "if (i != 1000003) dst[i] = 2 * src[i] + 1;") +
                      body("seldom", "if (src[0] % 2 == 1) dst[i] = 2 * src[i] + 1;");
    const auto records = run_scratch(text, {{"right", ""}, {"hole", ""}, {"seldom", ""}, {"absent", ""}}, {}, nullptr,
                                     staged_words, {}, &as_gpu());
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

BOOST_AUTO_TEST_CASE(next_comparison_is_built_during_the_current_one) {
    const auto text = right + body("twin", "dst[i] = src[i] + src[i] + 1;") + body("wrong", "dst[i] = 0;") +
                      body("third", "dst[i] = 1 + 2 * src[i];");
    std::vector<device::Session*> sessions{&test::session()};
    if (!is_simulated()) sessions.push_back(&as_gpu());
    for (auto* session : sessions) {
        test::Recorder recorder;
        run_scratch(text, {{"right", ""}, {"wrong", ""}, {"twin", ""}, {"third", ""}}, {}, &recorder, "1000", {},
                    session, {}, true);
        const auto at = [&](const std::string& phase) {
            return std::find(recorder.phases.begin(), recorder.phases.end(), phase) - recorder.phases.begin();
        };
        const bool ahead = session->works_beside_host();
        BOOST_TEST((at("scratch_wrong build") < at("scratch_right verify")) == ahead);
        BOOST_TEST((at("scratch_third build") < at("scratch_twin sample")) == ahead);
        BOOST_TEST(at("scratch_third build") > at("scratch_right sample"), "no more than one is begun");
        BOOST_REQUIRE(recorder.records.size() == 4u);
        for (std::size_t i = 0; i < 4; ++i) {
            const auto& r = recorder.records[i];
            BOOST_TEST(r.variant == (std::array{"right", "wrong", "twin", "third"}[i]));
            BOOST_TEST((r.status == (r.variant == "wrong" ? Status::wrong_result : Status::ok)),
                       r.variant << ": " << r.reason);
        }
    }
}

BOOST_AUTO_TEST_CASE(code_of_each_launched_kernel_is_read_during_measurement) {
    if (is_simulated()) return;
    run::Kept results;
    const auto two_launches = [](const model::Variant&, model::Setup& setup) {
        setup.steps = {model::Launch{"scratch_extra", setup.global, {}, {}}, model::Launch{"", setup.global, {}, {}}};
    };
    const auto records = run_scratch(right + body("extra", "dst[i] = src[i];"), {{"right", ""}}, {}, nullptr, "1000",
                                     two_launches, &as_gpu(), {}, false, &results);
    BOOST_REQUIRE((records.size() == 1u && records[0].status == Status::ok));
    BOOST_TEST(!records[0].code.fingerprint.empty());
}

BOOST_AUTO_TEST_CASE(comparison_starting_after_the_end_of_the_run_is_skipped) {
    run::Settings settings;
    settings.measure = false;
    settings.ends = Clock::now();
    BOOST_TEST(run_scratch(right, {{"right", ""}}, settings).empty());
    *settings.ends += std::chrono::hours(1);
    BOOST_TEST(run_scratch(right, {{"right", ""}}, settings).size() == 1u);
}

BOOST_AUTO_TEST_CASE(equal_text_and_options_are_built_once) {
    std::vector<device::Session*> sessions{&test::session()};
    if (!is_simulated()) sessions.push_back(&as_gpu());
    for (auto* session : sessions) {
        run::Programs programs(*session, true);
        const auto first = programs.build(right, "-DA=1").get(), again = programs.build(right, "-DA=1").get(),
                   other = programs.build(right, "-DA=2").get();
        BOOST_TEST(first.ok);
        BOOST_TEST((first.program() == again.program()));
        BOOST_TEST((first.program() != other.program()));
    }
}

BOOST_AUTO_TEST_CASE(device_is_warmed_up_once_not_per_cell) {
    if (is_simulated()) return;
    device::Session own_session(test::found());
    const auto text = right + body("twin", "dst[i] = src[i] + src[i] + 1;");
    const auto records = run_scratch(text, {{"right", ""}, {"twin", ""}}, {}, nullptr, "1000", {}, &own_session);
    BOOST_REQUIRE((records.size() == 2u && records[0].status == Status::ok && records[1].status == Status::ok));
    BOOST_TEST(records[1].phases.at(Phase::warm_up) < records[0].phases.at(Phase::warm_up) / 2);
    BOOST_TEST(own_session.settled().has_value());
}

BOOST_AUTO_TEST_CASE(samples_record_their_round) {
    const auto records = run_scratch(right, {{"right", ""}});
    BOOST_REQUIRE((records.front().status == Status::ok));
    BOOST_TEST(records.front().rounds.size() == records.front().samples.size());
    BOOST_TEST(records.front().aside_rounds.size() == records.front().aside.size());
    BOOST_TEST(std::is_sorted(records.front().rounds.begin(), records.front().rounds.end()));
}

BOOST_AUTO_TEST_SUITE_END()
