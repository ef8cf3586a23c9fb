// A device that lists an extension, or defines its macro, and lacks what it adds.
#include <boost/test/unit_test.hpp>

#include "bench.hpp"
#include "device/program.hpp"

using namespace cllab;
using cllab::test::body;
using cllab::test::run_scratch;
using model::Status;

namespace {

constexpr auto extension = "cl_intel_subgroups";  // no CPU runtime but Intel's has its functions

/// The device under test, which lists the extension besides.
device::Found boaster() {
    auto found = cllab::test::found();
    found.facts.extensions.insert(extension);
    return found;
}

void uses_it(const model::Variant& variant, model::Setup& setup) {
    if (variant.name == "shuffled") setup.extensions = {extension};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(promises)

BOOST_AUTO_TEST_CASE(kernel_using_a_falsely_listed_extension_is_unsupported) {
    device::Session session(boaster());
    if (device::keeps_promise(session, extension)) return;
    const auto records =
        run_scratch(body("shuffled", "dst[i] = intel_sub_group_shuffle(2 * src[i] + 1, 0);") + cllab::test::right +
                        body("typo", "dst[i] = no_such_function(src[i]);"),
                    {{"shuffled", ""}, {"right", ""}, {"typo", ""}}, {}, nullptr, "64", uses_it, &session);
    BOOST_REQUIRE_EQUAL(records.size(), 3u);
    const std::map<std::string, const model::Record*> by_variant{
        {records[0].variant, &records[0]}, {records[1].variant, &records[1]}, {records[2].variant, &records[2]}};
    BOOST_TEST((by_variant.at("shuffled")->status == Status::unsupported));
    BOOST_TEST(by_variant.at("shuffled")->reason ==
               "the device lists cl_intel_subgroups, but its compiler does not build a kernel that uses it");
    BOOST_TEST((by_variant.at("typo")->status == Status::build_failed));
}

BOOST_AUTO_TEST_CASE(extension_without_a_test_is_trusted) {
    BOOST_TEST(device::keeps_promise(cllab::test::session(), "cl_no_such_extension"));
}

BOOST_AUTO_TEST_CASE(extension_is_tested_once) {
    device::Session session(boaster());
    unsigned asked = 0;
    const auto ask = [&] { return ++asked > 0; };
    BOOST_TEST(session.remembered("question", ask));
    BOOST_TEST(session.remembered("question", ask));
    BOOST_TEST(asked == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
