// What the standard library throws, as a user reads it.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "app/program.hpp"

BOOST_AUTO_TEST_SUITE(app_errors)

using namespace cllab;

namespace {

/// Blame and sentence of `thrown`.
std::pair<Blame, std::string> said(const std::exception& thrown) {
    const auto error = app::as_error(thrown);
    return {error.blame(), error.what()};
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(an_error_keeps_its_blame_and_sentence) {
    const auto [blame, text] = said(Error(Blame::usage, "a sentence"));
    BOOST_TEST((blame == Blame::usage));
    BOOST_TEST(text == "a sentence");
}

BOOST_AUTO_TEST_CASE(system_failures_are_environment_errors_in_our_words) {
    for (const auto& [blame, text] : {said(std::bad_alloc()), said(std::length_error("vector::_M_default_append")),
                                      said(std::system_error(EAGAIN, std::generic_category())),
                                      said(std::filesystem::filesystem_error(
                                          "status", "a/b", std::make_error_code(std::errc::permission_denied)))}) {
        BOOST_TEST((blame == Blame::environment), text);
        BOOST_TEST(!has(text, "std::"), text);
        BOOST_TEST(!has(text, "vector"), text);
        BOOST_TEST(!has(text, "temporarily"), text);
    }
    BOOST_TEST(has(said(std::system_error(EAGAIN, std::generic_category())).second, "ulimit -u"));
    BOOST_TEST(has(said(std::bad_alloc()).second, "ulimit -v"));
}

BOOST_AUTO_TEST_CASE(other_exceptions_are_internal_faults) {
    BOOST_TEST((said(std::logic_error("x")).first == Blame::result));
}

BOOST_AUTO_TEST_SUITE_END()
