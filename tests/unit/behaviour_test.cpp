// How answers of devices are told, without a device.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>
#include <stdexcept>

#include "behaviour/rows.hpp"
#include "core/embedded.hpp"
#include "core/entries.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "experiments/lib/math_functions.hpp"

BOOST_AUTO_TEST_SUITE(behaviour_test)

using namespace cllab;
using namespace cllab::behaviour;

namespace {

const Sizes sizes{{"items", 4096}, {"side", 16}, {"max_group", 512}, {"local_bytes", 1000}};

Answer said_so(const std::string& text) { return {Answer::Status::answered, text}; }

}  // namespace

BOOST_AUTO_TEST_CASE(fields_of_a_list_entry_continue_on_indented_lines) {
    const auto entries = text_entries("first\na: one\n  two\nb: three: four\n\nsecond\na: 5\n");
    BOOST_REQUIRE(entries.size() == 2);
    BOOST_TEST(entries[0].name == "first");
    BOOST_TEST(entries[0].field("a") == "one two");
    BOOST_TEST(entries[0].field("b") == "three: four");
    BOOST_TEST(entries[0].field("c") == "");
    BOOST_TEST(entries[1].name == "second");
    BOOST_TEST(entries[1].fields.size() == 1);
}

BOOST_AUTO_TEST_CASE(each_word_of_a_row_becomes_a_question) {
    const auto rows = read_rows(
        "a.b\neach: x y:2\nask: what of $ and %?\nvalue: k options=-D$\nso = 1: one\nso: other\n\nc\nask: w\ntime: "
        "k\n");
    BOOST_REQUIRE(rows.size() == 3);
    BOOST_TEST(rows[0].name == "a.b.x");
    BOOST_TEST(rows[1].name == "a.b.y");
    BOOST_TEST(rows[1].field("ask") == "what of y and 2?");
    BOOST_TEST(rows[1].field("value") == "k options=-Dy");
    BOOST_TEST(rows[1].file() == "a");
    BOOST_TEST(rows[2].kind == "time");
}

BOOST_AUTO_TEST_CASE(every_row_is_complete_and_its_kernels_exist) {
    const std::set<std::string> known{"each", "ask", "claim", "needs", "say", "so", "note"};
    std::set<std::string> names;
    for (const auto& row : questions({})) {
        BOOST_TEST_CONTEXT(row.name) {
            BOOST_TEST(names.insert(row.name).second);
            BOOST_TEST(!row.field("ask").empty());
            BOOST_TEST(std::ranges::any_of(row.fields, [](const auto& one) { return one.first.starts_with("so"); }));
            BOOST_TEST(row.field("ask").find_first_of("$%") == std::string::npos);
            for (const auto& [field, text] : row.fields)
                BOOST_TEST((field == row.kind || known.contains(split(field, ' ').front())), "field '" << field << "'");
            const std::string text{embedded(row.file() + ".cl")};
            BOOST_TEST(!text.empty());
            const Sizes all{{"items", 1}, {"small", 1}, {"side", 1}, {"few", 1}, {"max_group", 1}};
            for (const auto& one : split(row.field(row.kind), '|'))
                BOOST_TEST(text.find(" " + launch_of(one, all).kernel + "(") != std::string::npos);
            if (row.kind == "ulp") BOOST_TEST(model::math::find(row.name.substr(row.name.find_last_of("._") + 1)));
        }
    }
    BOOST_TEST(names.size() >= 40);
}

BOOST_AUTO_TEST_CASE(questions_are_selected_by_name_or_prefix) {
    const auto chosen = questions({"special.shift", "launch.enqueue"});
    BOOST_REQUIRE(chosen.size() == 3);
    BOOST_TEST(chosen[0].name == "launch.enqueue.plain");
    BOOST_TEST(questions({}).size() == questions({"*"}).size());
    BOOST_CHECK_EXCEPTION(questions({"special.shaft"}), Error, [](const Error& e) {
        return std::string(e.what()).find("did you mean special.shift") != std::string::npos;
    });
}

BOOST_AUTO_TEST_CASE(launch_is_parsed_with_the_sizes_of_the_device) {
    const auto launch =
        launch_of(" copy global=items*3/16,side local=max_group,4 options=-DA=1;-DB input=zeros", sizes);
    BOOST_TEST(launch.kernel == "copy");
    BOOST_TEST(launch.global.text() == "768x16");
    BOOST_TEST(launch.local.text() == "512x4");
    BOOST_TEST(launch.settings.at("options") == "-DA=1 -DB");
    BOOST_TEST(launch.settings.at("input") == "zeros");
    BOOST_TEST(launch_of("plain global=1 options=none", sizes).settings.at("options") == "");
    BOOST_TEST(launch_of("plain comment", sizes).change == "comment");
    BOOST_CHECK_THROW(launch_of("k global=itmes", sizes), std::out_of_range);
    BOOST_CHECK_THROW(launch_of("k globe=1", sizes), std::out_of_range);
}

BOOST_AUTO_TEST_CASE(kernel_output_is_translated_into_words) {
    const std::vector<std::uint32_t> words{1, 256, 0x80000000u, 0};
    const auto row_says = [&](const std::string& lines) { return said(read_rows("a\n" + lines).front(), words); };
    BOOST_TEST(row_says("") == "1");
    BOOST_TEST(row_says("say 0: no\nsay 1: yes\n") == "yes");
    BOOST_TEST(row_says("say 2: two\n") == "1");
    BOOST_TEST(row_says("say 2: two\nsay: last {1}x{0}; {2}\n") == "last 256x1; 2147483648");
}

BOOST_AUTO_TEST_CASE(wide_interval_is_undecided) {
    const auto sure = measured("", {2.6, 2.5, 2.7});
    BOOST_TEST(sure.text == "2.60 (2.50 to 2.70)");
    BOOST_CHECK(sure.status == Answer::Status::answered);
    BOOST_CHECK(measured("", {1, 0.8, 1.3}).status == Answer::Status::undecided);
    BOOST_TEST(measured("", {1, 0.8, 1.3}).text == "not decided: 1.00 (0.800 to 1.30)");
    BOOST_CHECK(measured("s", {1, 0, 0}).status == Answer::Status::undecided);
    BOOST_TEST(measured("s", {1e-3, 1e-3, 1e-3}).text == "1.00 ms");
}

BOOST_AUTO_TEST_CASE(first_matching_consequence_applies) {
    const auto row =
        read_rows("a\nask: w\nvalue: k\nso < 16: small\nso = 1x: never\nso = CL: refused\nso: large\n").front();
    BOOST_TEST(consequence(row, said_so("1x1009")) == "small");
    BOOST_TEST(consequence(row, said_so("64x1")) == "large");
    BOOST_TEST(consequence(row, measured("", {2, 1.9, 2.1})) == "small");
    BOOST_TEST(consequence(row, Answer{Answer::Status::undecided, "2"}) == "");
    BOOST_TEST(consequence(read_rows("a\nso = CL: refused\nso: runs\n").front(), said_so("CL_X")) == "refused");
    const auto noted = read_rows("a\nso: runs\nnote < 1: slow by {}\n").front();
    BOOST_TEST(consequence(noted, measured("", {0.5, 0.49, 0.51}), "note") == "slow by {}");
    BOOST_TEST(consequence(noted, measured("", {2, 1.9, 2.1}), "note") == "");
}

BOOST_AUTO_TEST_CASE(devices_differ_only_beyond_their_intervals) {
    BOOST_TEST(differ(said_so("a"), said_so("b")));
    BOOST_TEST(!differ(said_so("a"), said_so("a")));
    BOOST_TEST(differ(said_so("a"), Answer{Answer::Status::failed, "a"}));
    BOOST_TEST(!differ(measured("", {1, 0.9, 1.1}), measured("", {1.05, 1.0, 1.1})));
    BOOST_TEST(!differ(measured("", {1, 0.9, 1.2}), measured("", {1.3, 1.15, 1.4})));
    BOOST_TEST(differ(measured("", {1, 0.9, 1.1}), measured("", {1.3, 1.2, 1.4})));
    BOOST_TEST(!differ(measured("", {1, 0.999, 1.001}), measured("", {1.05, 1.049, 1.051})));
}

BOOST_AUTO_TEST_SUITE_END()
