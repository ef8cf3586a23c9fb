#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <vector>

#include "core/hash.hpp"
#include "core/kernel_text.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/text.hpp"

BOOST_AUTO_TEST_SUITE(core_text)

using namespace cllab;
using Words = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(join_reverses_split_and_keeps_empty_parts) {
    BOOST_TEST(split("a,,b,", ',') == (Words{"a", "", "b", ""}), boost::test_tools::per_element());
    BOOST_TEST(split("", ',') == Words{""}, boost::test_tools::per_element());
    BOOST_TEST(join(split("x,y,,z", ','), ",") == "x,y,,z");
    BOOST_TEST(join({}, ",") == "");
}

BOOST_AUTO_TEST_CASE(trim_removes_white_space_at_both_ends_only) {
    BOOST_TEST(trim(" \t a b \r\n") == "a b");
    BOOST_TEST(trim(" \n ") == "");
}

BOOST_AUTO_TEST_CASE(one_line_is_the_first_text_line_without_terminal_codes) {
    BOOST_TEST(one_line("\n  \n\x1b[1;31merror:\x1b[0m bad\tthing\x07\r\nsecond") == "error: bad thing");
    BOOST_TEST(one_line("\n\r\n") == "");
}

BOOST_AUTO_TEST_CASE(printable_text_escapes_control_codes_and_keeps_letters) {
    BOOST_TEST(printable("\x1b[2J\x07 bell\r\n\t\x7f") == "\\x1b[2J\\x07 bell\\x0d\\x0a\\x09\\x7f");
    BOOST_TEST(printable("\xc2\x9b"
                         "31m C1") == "\\x9b31m C1");
    BOOST_TEST(printable("a\xe2\x80\xae"
                         "b\xe2\x81\xa6"
                         "c\xe2\x80\xa8") == "a\\u202eb\\u2066c\\u2028");
    BOOST_TEST(printable("µs ± 日本語 😀 ◄ \\") == "µs ± 日本語 😀 ◄ \\");
    // Not UTF-8: a lone continuation, an overlong slash, a surrogate, beyond the last plane, cut at the end.
    BOOST_TEST(printable("\x80") == "\\x80");
    BOOST_TEST(printable("\xc0\xaf") == "\\xc0\\xaf");
    BOOST_TEST(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");
    BOOST_TEST(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
    BOOST_TEST(printable("\xe2\x82") == "\\xe2\\x82");
    BOOST_TEST(printable("a\n\tb\x1b", "\n\t") == "a\n\tb\\x1b");
    BOOST_TEST(printable(printable("\x1b\xff")) == printable("\x1b\xff"));
}

BOOST_AUTO_TEST_CASE(a_long_value_is_quoted_by_its_two_ends) {
    BOOST_TEST(excerpt("short") == "short");
    const auto cut = excerpt(std::string(1000, 'a') + std::string(1000, 'b'));
    BOOST_TEST(cut == std::string(75, 'a') + "…" + std::string(74, 'b'));
    std::string wide;
    for (int i = 0; i < 300; ++i) wide += "µ";
    BOOST_TEST(excerpt(wide).size() == 149 * 2 + 3u);
    BOOST_TEST(excerpt(std::string(150, 'x')).size() == 150u);
}

BOOST_AUTO_TEST_CASE(sentence_is_one_line_and_shortens_quoted_values) {
    BOOST_TEST(sentence("no device matches 'H100'; there are  2: 'a', 'b'") ==
               "no device matches 'H100'; there are  2: 'a', 'b'");
    BOOST_TEST(sentence("file 'a\nb' is\x1b[0m bad") == "file 'a\\x0ab' is\\x1b[0m bad");
    for (const auto& value : {std::string(5000, 'x'), std::string("it's ") + std::string(5000, 'x'), [] {
                                  std::string words;
                                  for (int i = 0; i < 1000; ++i) words += "two words ";
                                  return words;
                              }()}) {
        for (const auto& text : {"option '--axis': expected 1 or 2, found '" + value + "'",
                                 "the argument ('" + value + "') is invalid", "file " + value + " is bad"}) {
            if (value.find(' ') != std::string::npos && text.find('\'') == std::string::npos)
                continue;  // nothing says where it ends
            BOOST_TEST(sentence(text).size() < 300u, sentence(text));
        }
    }
    // A sentence of many short values is not shortened.
    std::string many = "there are 100:";
    for (int i = 0; i < 100; ++i) many += " 'device " + std::to_string(i) + "',";
    BOOST_TEST(sentence(many) == many);
}

BOOST_AUTO_TEST_CASE(glob_matches_the_whole_text_like_a_shell) {
    BOOST_TEST(glob_match("pitch_*", "pitch_short8"));
    BOOST_TEST(glob_match("*8", "pitch_short8"));
    BOOST_TEST(glob_match("*_*t8*", "pitch_short8"));
    BOOST_TEST(glob_match("pitch_short[0-9]", "pitch_short8"));
    BOOST_TEST(glob_match("pitch_short[!0-7]", "pitch_short8"));
    BOOST_TEST(glob_match("p?tch*", "pitch"));
    BOOST_TEST(glob_match("a*b*c", "a_bb_b_c"));
    BOOST_TEST(glob_match("", ""));
    BOOST_TEST(!glob_match("pitch", "pitch_short8"));
    BOOST_TEST(!glob_match("short8", "pitch_short8"));
    BOOST_TEST(!glob_match("pitch_short[!0-9]", "pitch_short8"));
    BOOST_TEST(!glob_match("?", ""));
    BOOST_TEST(!glob_match("a*b*c", "a_bb_b_"));
}

BOOST_AUTO_TEST_CASE(glob_matches_an_unclosed_bracket_literally) {
    BOOST_TEST(glob_match("a[b", "a[b"));
    BOOST_TEST(!glob_match("a[b", "ab"));
    BOOST_TEST(glob_match("[]]", "]"));
}

BOOST_AUTO_TEST_CASE(glob_with_many_stars_does_not_take_exponential_time) {
    const std::string text(5000, 'a');
    std::string pattern;
    for (int i = 0; i < 30; ++i) pattern += "a*";
    BOOST_TEST(!glob_match(pattern + "b", text));
}

BOOST_AUTO_TEST_CASE(nearest_finds_typos_and_parts_but_not_other_words) {
    const Words names{"pitch_short8", "pitch_float", "latency_global", "bandwidth_copy"};
    BOOST_TEST(nearest("pitch_shrot8", names).at(0) == "pitch_short8");
    BOOST_TEST(nearest("widht", {"width", "height"}) == Words{"width"}, boost::test_tools::per_element());
    BOOST_TEST(nearest("rnu", {"run", "ncu"}).at(0) == "run");
    BOOST_TEST(nearest("Float", names) == Words{"pitch_float"}, boost::test_tools::per_element());
    BOOST_TEST(nearest("zzzzzz", names).empty());
    BOOST_TEST(nearest("pitch", names, 1).size() == 1u);
    BOOST_TEST(nearest("", names).empty());
}

BOOST_AUTO_TEST_CASE(folder_name_is_safe_for_any_device_name) {
    BOOST_TEST(folder_name("Intel(R) Xeon(R) CPU @ 2.20GHz") == "Intel-R-Xeon-R-CPU-2.20GHz");
    BOOST_TEST(folder_name("../../etc/passwd") == "etc-passwd");
    BOOST_TEST(folder_name("..") == "unnamed");
    BOOST_TEST(folder_name("") == "unnamed");
    BOOST_TEST(folder_name("NVIDIA H200") == "NVIDIA-H200");
}

BOOST_AUTO_TEST_CASE(sha256_matches_the_standard_digests) {
    BOOST_TEST(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    BOOST_TEST(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    BOOST_TEST(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    BOOST_TEST(sha256_hex(std::string(1'000'000, 'a')) ==
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

BOOST_AUTO_TEST_CASE(random_numbers_match_the_published_splitmix64) {
    const auto numbers = [](std::uint64_t seed) {
        std::vector<std::uint64_t> out;
        for (std::uint64_t i = 0; i < 3; ++i) out.push_back(mix64(seed + i * 0x9E3779B97F4A7C15ull));
        return out;
    };
    BOOST_TEST((numbers(0) == std::vector<std::uint64_t>{0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F}));
    BOOST_TEST((numbers(1234567) ==
                std::vector<std::uint64_t>{6457827717110365317u, 3203168211198807973u, 9817491932198370423u}));
    Random random(5), ahead(5);
    ahead.skip(1000);
    for (int i = 0; i < 1000; ++i) random();
    BOOST_TEST(random() == ahead());
}

BOOST_AUTO_TEST_CASE(digest_depends_on_every_bit_position_and_length) {
    std::vector<std::byte> data(3 * 8 * parallel_piece + 5);
    fill_random(data, 3);
    std::set<std::uint64_t> seen{digest(data)};
    BOOST_TEST(seen.count(digest(std::vector<std::byte>(data))) == 1u);
    for (std::size_t at = 0; at < data.size(); at += parallel_piece + 1) {
        data[at] ^= std::byte{1};
        seen.insert(digest(data));
        data[at] ^= std::byte{1};
    }
    const auto changed = data.size() / (parallel_piece + 1) + 1;
    data.back() ^= std::byte{128};
    seen.insert(digest(data));
    data.back() ^= std::byte{128};
    std::swap_ranges(data.begin(), data.begin() + 8, data.begin() + 16);
    seen.insert(digest(data));
    for (const std::size_t length : {0, 1, 7, 8, 9}) seen.insert(digest(std::vector<std::byte>(length)));
    BOOST_TEST(seen.size() == 1 + changed + 1 + 1 + 5);
}

BOOST_AUTO_TEST_CASE(random_bytes_depend_on_the_seed_and_extend_shorter_fills) {
    std::vector<std::byte> a(29), b(29), c(13);
    fill_random(a, 1);
    fill_random(b, 2);
    fill_random(c, 1);
    BOOST_TEST((a != b));
    BOOST_TEST(std::equal(c.begin(), c.end(), a.begin()));
    BOOST_TEST((a[27] != a[28] || a[26] != a[27]));  // the tail past the last whole word is filled too
    std::vector<int> seen(256);
    std::vector<std::byte> many(8 * 3 * parallel_piece + 3);
    fill_random(many, 3);
    Random words(3);
    for (std::size_t at = 0; at < many.size(); at += 8) {
        const auto word = words();
        for (std::size_t i = at; i < std::min(at + 8, many.size()); ++i)
            BOOST_REQUIRE(many[i] == static_cast<std::byte>(word >> (i - at) * 8));
    }
    for (const auto byte : many) ++seen[static_cast<std::size_t>(byte)];
    for (const int count : seen) BOOST_TEST((count > 5800 && count < 6500));  // 6144 each, sigma 78
}

namespace {

/// The text of "k.cl" with what it includes of `files`.
Closure whole(const std::string& text, const std::map<std::string, std::string>& files) {
    return closure_of("k.cl", text, [&](const std::string& name, const std::string&) -> std::optional<IncludedFile> {
        const auto found = files.find(name);
        return found == files.end() ? std::nullopt : std::optional(IncludedFile{found->first, found->second});
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(included_file_replaces_its_directive_and_keeps_line_numbers) {
    const auto all =
        whole("int a;\n#include \"h.h\"\nint b;\n", {{"h.h", "#include <i.h>\nint h;"}, {"i.h", "int i;\n"}});
    BOOST_TEST(all.text ==
               "int a;\n#line 1 \"h.h\"\n#line 1 \"i.h\"\nint i;\n#line 2 \"h.h\"\nint h;\n#line 3 \"k.cl\"\nint b;\n");
    BOOST_TEST(all.files == (Words{"h.h", "i.h"}), boost::test_tools::per_element());
    BOOST_TEST(includes_of(all.text).empty());
}

BOOST_AUTO_TEST_CASE(include_directives_are_found_only_where_a_compiler_would) {
    BOOST_TEST(includes_of("/* c */ # /* d */ include \"a.h\" // e\n#inclu\\\nde <b.h>\n%:include C\n") ==
                   (Words{"\"a.h\"", "<b.h>", "C"}),
               boost::test_tools::per_element());
    BOOST_TEST(
        includes_of("// #include \"a.h\"\n/*\n#include \"b.h\"\n*/\nchar* s = \"/*\"; int x = 1 ? 2 : 3;\n"
                    "const char* t = \"\\\n#include \\\"c.h\\\"\";\nint y; #include \"d.h\"\n// includes nothing\n")
            .empty());
}

BOOST_AUTO_TEST_CASE(guarded_include_is_inserted_once_and_conditional_each_time) {
    const std::map<std::string, std::string> files{
        {"g.h", "// why\n#ifndef G\n#define G\nint g;\n#endif\n"},
        {"p.h", "#pragma once\nint p;\n"},
        {"x.h", "X(1)\n"},
        {"self.h", "#ifndef S\n#define S\n#include \"self.h\"\nint s;\n#endif\n"}};
    const auto count = [&](const std::string& text, const std::string& part) {
        const auto all = whole(text, files).text;
        std::size_t out = 0;
        for (auto at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) ++out;
        return out;
    };
    BOOST_TEST(count("#include \"g.h\"\n#include \"g.h\"\n", "int g;") == 1u);
    BOOST_TEST(count("#if A\n#include \"g.h\"\n#endif\n#include \"g.h\"\n", "int g;") == 2u);
    BOOST_TEST(count("#include \"p.h\"\n#include \"p.h\"\n", "int p;") == 1u);
    BOOST_TEST(count("#include \"p.h\"\n", "#pragma once") == 0u);
    BOOST_TEST(count("#include \"x.h\"\n#include \"x.h\"\n", "X(1)") == 2u);
    BOOST_TEST(count("#include \"self.h\"\n", "int s;") == 1u);
}

BOOST_AUTO_TEST_CASE(missing_or_recursive_include_stays_a_directive) {
    const auto all =
        whole("#include <math.h>\n#include NAME\n#include \"loop.h\"\n", {{"loop.h", "int l;\n#include \"loop.h\"\n"}});
    BOOST_TEST(includes_of(all.text) == (Words{"<math.h>", "NAME", "\"loop.h\""}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
