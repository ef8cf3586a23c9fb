#include <atomic>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "model/registry.hpp"
#include "model/result.hpp"
#include "model/warning.hpp"

BOOST_AUTO_TEST_SUITE(experiments)

using namespace cllab;
using namespace cllab::model;

namespace {

std::vector<Experiment> two_families() {
    Experiment pitch, latency;
    pitch.family = "pitch";
    pitch.variants = {{.name = "float"}, {.name = "short8"}};
    latency.family = "latency";
    latency.variants = {{.name = "global"}, {.name = "pitch"}};
    return {latency, pitch};
}

std::string ids(const std::vector<Experiment>& experiments, const std::vector<std::string>& patterns) {
    std::string out;
    for (const auto& s : select(experiments, patterns)) out += s.id + " ";
    return out;
}

std::string refusal(const std::vector<std::string>& patterns) {
    try {
        select(two_families(), patterns);
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_experiment)

BOOST_AUTO_TEST_CASE(a_pattern_is_a_glob_over_ids_or_a_bare_family_name) {
    const auto all = two_families();
    BOOST_TEST(ids(all, {"pitch_short8"}) == "pitch_short8 ");
    BOOST_TEST(ids(all, {"pitch"}) == "pitch_float pitch_short8 ");  // and not latency_pitch
    BOOST_TEST(ids(all, {"*t*8", "latency_g*"}) == "latency_global pitch_short8 ");
    BOOST_TEST(ids(all, {"*", "pitch", "pitch_float"}) == "latency_global latency_pitch pitch_float pitch_short8 ");
}

BOOST_AUTO_TEST_CASE(selection_refers_to_its_experiment_and_variant) {
    const auto all = two_families();
    const auto chosen = select(all, {"pitch_short8"});
    BOOST_TEST(chosen.at(0).experiment == &all[1]);
    BOOST_TEST(chosen.at(0).variant == &all[1].variants[1]);
}

BOOST_AUTO_TEST_CASE(unmatched_pattern_is_an_error_with_the_nearest_names) {
    BOOST_TEST(refusal({"pitch", "pitch_shrot8"}) ==
               "no kernel matches 'pitch_shrot8'; did you mean pitch_short8, pitch?");
    BOOST_TEST(refusal({"zzzzzzzz"}) == "no kernel matches 'zzzzzzzz'; the 2 families are in `cllab list`");
}

BOOST_AUTO_TEST_CASE(poison_fills_every_byte_and_is_recognised_per_byte) {
    std::vector<std::byte> bytes(37);
    poison(bytes, 5);
    Buffers buffers;
    buffers.poison_seed = 5;
    buffers.data["dst"] = bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        BOOST_TEST((bytes[i] == poison_byte(5, i)));
        BOOST_TEST(buffers.untouched("dst", i));
    }
    bytes[36] ^= std::byte{1};
    BOOST_TEST(!buffers.untouched("dst", 36));
    BOOST_CHECK_THROW(buffers.untouched("dst", 37), Error);
    BOOST_CHECK_THROW(buffers.untouched("src", 0), Error);
}

BOOST_AUTO_TEST_CASE(constants_shifted_copies_and_other_seeds_are_not_poison) {
    std::vector<std::byte> bytes(4096), other(4096);
    poison(bytes, 1);
    poison(other, 2);
    for (const std::size_t shift : {1, 4, 8, 64, 1024}) {
        std::size_t equal = 0;
        for (std::size_t i = shift; i < bytes.size(); ++i) equal += bytes[i] == bytes[i - shift];
        BOOST_TEST(equal < bytes.size() / 100);  // 1 in 256 by chance
    }
    std::size_t equal = 0, zeros = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) equal += bytes[i] == other[i], zeros += bytes[i] == std::byte{0};
    BOOST_TEST(equal < bytes.size() / 100);
    BOOST_TEST(zeros < bytes.size() / 100);
}

BOOST_AUTO_TEST_CASE(status_names_round_trip_and_ok_and_unsupported_do_not_fail) {
    for (const auto status : {Status::ok, Status::unsupported, Status::build_failed, Status::launch_failed,
                              Status::wrong_result, Status::timed_out, Status::disagree}) {
        BOOST_TEST((status_from(name(status)) == status));
        BOOST_TEST(is_failure(status) == (status != Status::ok && status != Status::unsupported));
    }
    BOOST_TEST(!status_from("OK").has_value());
    BOOST_TEST(name(Status::wrong_result) == std::string("wrong_result"));
}

BOOST_AUTO_TEST_CASE(enum_names_match_the_command_line) {
    BOOST_TEST(name(DeviceType::accelerator) == std::string("accelerator"));
    BOOST_TEST(name(Implementation::intel_cpu) == std::string("intel-cpu"));
    BOOST_TEST(name(Better::neither) == std::string("neither"));
}

BOOST_AUTO_TEST_CASE(check_of_an_unknown_buffer_reports_its_name) {
    Buffers buffers;
    BOOST_CHECK_EXCEPTION(buffers.as<int>("dst"), Error,
                          [](const Error& e) { return std::string(e.what()).find("'dst'") != std::string::npos; });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(shared_bytes)

BOOST_AUTO_TEST_CASE(data_is_made_once_on_first_use_and_its_size_is_known_before) {
    std::atomic<int> made{0};
    const SharedBytes data(3, [&] {
        ++made;
        return Bytes(3, std::byte{7});
    });
    const SharedBytes copy = data;
    BOOST_TEST(data.size() == 3u);
    BOOST_TEST((data == copy));
    BOOST_TEST(made == 0);
    each_in_parallel(100, [&](std::size_t) {
        if (copy->back() != std::byte{7}) throw std::runtime_error("other data");
    });
    BOOST_TEST(made == 1);
    BOOST_TEST(&*data == &*copy);
}

BOOST_AUTO_TEST_CASE(generator_of_the_data_is_released) {
    const auto held = std::make_shared<int>(1);
    const SharedBytes data(1, [held] { return Bytes(1); });
    BOOST_TEST(held.use_count() == 2);
    BOOST_TEST(data->size() == 1u);
    BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(failed_data_is_made_again_on_the_next_access) {
    int tries = 0;
    const SharedBytes data(1, [&] { return ++tries == 1 ? throw std::bad_alloc() : Bytes(1); });
    BOOST_CHECK_THROW(*data, std::bad_alloc);
    BOOST_TEST(data->size() == 1u);
}

BOOST_AUTO_TEST_CASE(no_data_is_false_and_has_no_size) {
    const SharedBytes nothing, null = nullptr, empty = std::make_shared<Bytes>();
    BOOST_TEST(!nothing);
    BOOST_TEST(!null);
    BOOST_TEST((nothing == null));
    BOOST_TEST(nothing.size() == 0u);
    BOOST_TEST(!!empty);
    BOOST_TEST(empty->empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(warning_is_identified_by_its_complete_code) {
    using model::Warning;
    model::Record record;
    record.warnings = {model::warning(Warning::no_cost, "as cheap as nothing"), "no-cost-at-all: of a later version"};
    BOOST_TEST(record.warnings.front() == "no-cost: as cheap as nothing");
    BOOST_TEST(model::warns(record, Warning::no_cost));
    BOOST_TEST(!model::warns(record, Warning::throttled));
    BOOST_TEST(!model::is(record.warnings.back(), Warning::no_cost));
    std::set<std::string_view> codes(model::warning_codes.begin(), model::warning_codes.end());
    BOOST_TEST(codes.size() == model::warning_codes.size());
    BOOST_TEST(model::code_of(Warning::throttled) == "throttled");
    BOOST_TEST(model::code_of(Warning::below_floor) == "below-floor");
    BOOST_TEST(model::code_of(Warning::fresh_data) == "fresh-data");
}

BOOST_AUTO_TEST_SUITE_END()
