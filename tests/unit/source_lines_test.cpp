#include "inspect/tools/source_lines.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "unit/inspect_build.hpp"

BOOST_AUTO_TEST_SUITE(source_lines)

using namespace cllab;
using namespace cllab::inspect;

BOOST_AUTO_TEST_CASE(line_holds_from_its_address_to_the_next) {
    const auto places = decoded_lines(
        "Contents of the .debug_line section:\n\nCU: /tmp/my x/k.cl:\n"
        "File name                            Line number    Starting address    View    Stmt\n"
        "my x/k.cl                                    141              0x1000               x\n"
        "k.cl                                           9              0x1004               x\n"
        "k.cl                                          10              0x1004       1       x\n"
        "lab 2.h                                        0              0x1008        \n"
        "k.cl                                          12              0x100c\n"
        "k.cl                                           -              0x1010\n"
        "k.cl                                           7              0x1010               x\n"
        "k.cl                                           -              0x1020\n");
    BOOST_TEST(place_at(places, 0xfff) == "");
    BOOST_TEST(place_at(places, 0x1003) == "k.cl:141");
    BOOST_TEST(place_at(places, 0x1004) == "k.cl:10");  // the last of two at one address
    BOOST_TEST(place_at(places, 0x1008) == "");
    BOOST_TEST(place_at(places, 0x100f) == "k.cl:12");
    BOOST_TEST(place_at(places, 0x1010) == "k.cl:7");  // where one function ends another begins
    BOOST_TEST(place_at(places, 0x1020) == "");
    BOOST_TEST((lines_in(lines_text(places)) == places));
    for (const auto* other : {"", "k.cl 0x", "k.cl - 0xz", " 0x10", "7 0x10\n", "k.cl x 0x10", "CU: 0x4.cl:"})
        for (const auto& [address, place] : decoded_lines(other)) BOOST_TEST(place.find(":7") != place.npos, other);
}

BOOST_AUTO_TEST_CASE(each_line_gets_its_place_from_the_line_directives) {
    const auto lines = lines_with_places("#line 1 \"lab.h\"\nfirst\n#line 10 \"sub/pitch.cl\"\nten\neleven\n");
    BOOST_TEST_REQUIRE(lines.size() >= 5u);
    BOOST_TEST((lines[1].first + " " + lines[1].second) == "lab.h:1 first");
    BOOST_TEST((lines[2].first + " " + lines[2].second) == " #line 10 \"sub/pitch.cl\"");
    BOOST_TEST((lines[4].first + " " + lines[4].second) == "pitch.cl:11 eleven");
}

BOOST_AUTO_TEST_CASE(lines_are_used_only_for_functions_with_equal_bytes) {
    const auto same = [](const std::string& object, const std::string& ran, const std::string& function = "k") {
        const auto lined = build::x86_object({{"before", "\x90"}, {"k", object}});
        const auto there = build::x86_object({{"k", ran}});
        return places_of_same_code(build::span(lined), build::span(there), function).has_value();
    };
    BOOST_TEST(same("\x90\x90\xc3", "\x90\x90\xc3"));
    BOOST_TEST(!same("\x90\x90\xc3", "\x90\x91\xc3"));
    BOOST_TEST(!same("\x90\x90\xc3", "\x90\x90\xc3\x90"));
    BOOST_TEST(!same("\x90\x90\xc3", "\x90\x90\xc3", "before"));  // not in the code that ran
    BOOST_TEST(!places_of_same_code(build::span("\177ELF"), build::span("\177ELF"), "k"));
}

BOOST_AUTO_TEST_SUITE_END()
