// What a family's .cl says at its end.
#include "experiments/lib/describe.hpp"

#include <boost/test/unit_test.hpp>

#include "core/kernel_text.hpp"

using namespace cllab;
using namespace cllab::model;

BOOST_AUTO_TEST_SUITE(family_descriptions)

BOOST_AUTO_TEST_CASE(each_description_word_sets_its_field) {
    const auto e = lib::described("wave", R"(# a comment
question: How
    long?
over: n

axis n: elements: all
  unit: element
  whole: 4 to 4Ki, multiples of 4, powers of two
  usual: 64, auto
  tune: auto, 8:64:*2
  only: a
axis kind: of them
  choice: x, y
variant a: Its one trick.
  defines: LANES=4, WIDE
  needs: cpu
  with n: 1,2,4
  over: kind
  header: wgmma.h
)");
    BOOST_TEST(e.question == "How long?");
    BOOST_TEST(e.curve_over == "n");
    const auto& n = e.axes.at(0);
    BOOST_TEST(n.meaning == "elements: all");
    BOOST_TEST(n.unit == "element");
    BOOST_TEST((n.least == 4 && n.most == 4096 && n.multiple_of == 4 && n.power_of_two && n.may_be_auto));
    BOOST_TEST(n.values == (lib::Texts{"64", "auto"}));
    BOOST_TEST(n.tune == (lib::Texts{"auto", "8:64:*2"}));
    BOOST_TEST(n.only == lib::Texts{"a"});
    BOOST_TEST((e.axes.at(1).values == lib::Texts{"x"} && !e.axes.at(1).may_be_auto));
    const auto& a = e.variants.at(0);
    BOOST_TEST(a.meaning == "Its one trick.");
    BOOST_TEST(a.defines == (lib::Texts{"LANES=4", "WIDE"}));
    BOOST_TEST((a.needs == lib::Texts{"cpu"} && a.curve_over == "kind" && a.header == "wgmma.h"));
    BOOST_TEST((a.axes.at(0) == std::pair<std::string, std::string>("n", "1,2,4")));
}

BOOST_AUTO_TEST_CASE(description_is_the_last_comment_and_kernels_keep_their_lines) {
    const auto [kernels, said] = family_parts("kernel void f() {}\n\n/* family\nquestion: Why?\n*/\n");
    BOOST_TEST(kernels == "kernel void f() {}\n");
    BOOST_TEST(said == "question: Why?\n");
    BOOST_TEST(family_parts("kernel void f() {}\n").second.empty());
    // Who adds to the end of a file has added to the kernels, on the same line.
    BOOST_TEST(family_parts("a\n\n/* family\nquestion: Why?\n*/\nb\n").first == "a\n\n\n\n\nb\n");
}

BOOST_AUTO_TEST_CASE(unknown_words_are_refused) {
    BOOST_CHECK_THROW(lib::described("wave", "variant a: x\n"), Error);  // no question
    for (const char* text : {"axes n: x\n", "  unit: byte\n", "axis n: x\n  wide: 1\n", "axis n: x\n  whole: 1 to x\n",
                             "axis n: x\n  whole: few\n", "variant a: x\n  unit: byte\n"})
        BOOST_CHECK_THROW(lib::described("wave", std::string("question: Why?\n") + text), Error);
}

BOOST_AUTO_TEST_SUITE_END()
