#include <boost/test/unit_test.hpp>
#include <map>
#include <sstream>

#include "app/commandline/command.hpp"

BOOST_AUTO_TEST_SUITE(option_groups_test)

namespace {

using namespace cllab::app;

Row row(const std::string& name, const std::string& about) { return {name, "X", about}; }

/// A page on one line, wherever it wraps.
std::string unwrapped(const std::string& page) {
    std::istringstream in(page);
    std::string out, word;
    while (in >> word) out += " " + word;
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_option_of_each_command_is_in_one_group) {
    std::map<std::string, int> groups;
    for (const auto& group : option_groups())
        for (const auto* names : {&group.often, &group.others})
            for (const auto& name : *names) ++groups[name];
    for (const auto& [name, count] : groups) BOOST_TEST(count == 1, name);
    for (const auto& command : commands())
        for (const auto& option : command.options)
            BOOST_TEST(groups.count(option.long_name()) == 1u, command.manual.name << " --" << option.long_name());
}

BOOST_AUTO_TEST_CASE(each_option_is_in_the_help_with_its_text_and_default) {
    for (const auto& command : commands()) {
        const auto page = unwrapped(help_of(command, Detail::all));
        for (const auto& option : command.options) {
            const auto what = command.manual.name + " --" + option.long_name();
            const std::string space = option.value.starts_with("[=") ? "" : " ";
            BOOST_TEST(page.find(unwrapped("--" + option.long_name() + space + option.value)) != std::string::npos,
                       what);
            BOOST_TEST(option.about.ends_with('.'), what);
            BOOST_TEST(page.find(unwrapped(option.about)) != std::string::npos, what);
            if (!option.otherwise.empty())
                BOOST_TEST(page.find("Default: " + option.otherwise + ".") != std::string::npos, what);
        }
    }
}

BOOST_AUTO_TEST_CASE(each_option_of_each_command_is_parsed_into_its_own_place) {
    for (const auto& command : commands())
        for (std::size_t i = 0; i < command.options.size(); ++i) {
            const auto& option = command.options[i];
            const std::string value = option.value.empty() ? "" : "given";
            const auto read = read_words(command.manual, command.options,
                                         {"--" + option.long_name() + (value.empty() ? "" : "=" + value)});
            for (std::size_t k = 0; k < command.options.size(); ++k)
                BOOST_TEST(read.values[k] == (k == i ? Strings{value} : Strings{}),
                           command.manual.name << " --" << option.long_name());
        }
}

BOOST_AUTO_TEST_CASE(a_first_sentence_ends_where_another_begins) {
    BOOST_TEST(first_sentence("One, e.g. this. Two.") == "One, e.g. this.");
    BOOST_TEST(first_sentence("See this. `cllab` helps.") == "See this.");
    BOOST_TEST(first_sentence("Alone") == "Alone");
}

BOOST_AUTO_TEST_CASE(short_help_has_the_common_options_with_one_sentence) {
    std::vector<Row> rows{row("kernel,k", "Kernels."), row("device,d", "Devices. Repeats.")};
    for (const auto* name : {"seed", "label", "force", "append", "width", "live"}) rows.push_back(row(name, "More."));
    const auto screen = options_text(rows, Detail::screen);
    BOOST_TEST(screen.find("-d, --device X") != std::string::npos);
    BOOST_TEST(screen.find("Repeats.") == std::string::npos);
    BOOST_TEST(screen.find("--kernel") == std::string::npos);
    const auto all = options_text(rows, Detail::all);
    BOOST_TEST(all.find("What to run:\n  -d, --device X") == 0u);
    BOOST_TEST(all.find("Devices. Repeats.") != std::string::npos);
    BOOST_TEST(all.find("\nMachine code:\n  --live X") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
