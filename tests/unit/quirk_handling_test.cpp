// Whether the host code deals with a driver's quirk where the table of quirks says that it does.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "device/quirks.hpp"
#include "unit/source_tree.hpp"

BOOST_AUTO_TEST_SUITE(quirk_handling)

using namespace cllab;

namespace {

/// The functions that quirks.hpp declares.
std::set<std::string> functions_of_quirks() {
    static const std::regex declaration(R"re(^(?!//)\S.*?(\w+)\([^()]*\);$)re");
    std::set<std::string> out;
    std::istringstream in(test::text_of(test::source_tree() / "host/device/quirks.hpp"));
    std::smatch found;
    for (std::string line; std::getline(in, line);)
        if (std::regex_match(line, found, declaration)) out.insert(found[1]);
    return out;
}

/// Names of drivers' quirks that host code outside the table asks has_quirk() for.
std::set<std::string> names_asked_for() {
    static const std::regex call(R"re(has_quirk\([^"]*"([^"]+)"\))re");
    std::set<std::string> out;
    for (const auto& file : test::files_of("host", {".cpp"})) {
        if (file.filename() == "quirks.cpp") continue;
        const auto text = test::text_of(file);
        if (text.find("has_quirk(") == std::string::npos) continue;
        for (std::sregex_iterator i(text.begin(), text.end(), call), end; i != end; ++i) out.insert((*i)[1]);
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(quirk_is_handled_in_the_stated_place) {
    const auto functions = functions_of_quirks();
    BOOST_TEST(functions.contains("extra_build_options"));
    std::set<std::string> said;
    for (const auto& q : device::quirks()) {
        static const std::regex file(R"(\(([a-z_/]+\.cpp)\))");
        const std::sregex_iterator first(q.handling.begin(), q.handling.end(), file), end;
        for (auto i = first; i != end; ++i)
            BOOST_TEST(std::filesystem::exists(test::source_tree() / "host" / (*i)[1].str()),
                       q.name + ": " + (*i)[1].str());
        BOOST_TEST(std::set<std::string>({"where_asked", "everywhere", "here", "nowhere"}).contains(q.dealt), q.name);
        if (q.dealt == "where_asked") said.insert(q.name);
        if (q.dealt == "everywhere") BOOST_TEST((first != end), q.name + " names no file");
        if (q.dealt == "here") {
            const auto named = [&](const std::string& function) {
                return q.handling.find(function) != std::string::npos;
            };
            BOOST_TEST(std::ranges::any_of(functions, named), q.name + " names no function of quirks.hpp");
        }
    }
    BOOST_TEST(said == names_asked_for(), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
