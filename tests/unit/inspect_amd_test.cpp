// The metadata note of AMDGPU code objects, and the MessagePack in it.
#include <boost/test/unit_test.hpp>

#include "inspect/binary/amd_metadata.hpp"
#include "json/read.hpp"
#include "unit/inspect_build.hpp"

BOOST_AUTO_TEST_SUITE(inspect_amd)

using namespace cllab::inspect;
using cllab::parse_msgpack;
using namespace std::string_literals;
using nlohmann::json;

namespace {

std::string packed(const json& document) {
    const auto bytes = json::to_msgpack(document);
    return {bytes.begin(), bytes.end()};
}

std::string code_object(const std::string& metadata) {
    std::string note;
    // A foreign note first: its name and content are padded to four bytes.
    for (const auto& [name, type, content] :
         {std::tuple{"GNU\0"s, 1u, "abcde"s}, std::tuple{"AMDGPU\0"s, 32u, metadata}}) {
        build::put(note, std::uint32_t(name.size())), build::put(note, std::uint32_t(content.size())),
            build::put(note, std::uint32_t(type));
        note += name;
        note.resize((note.size() + 3) / 4 * 4);
        note += content;
        note.resize((note.size() + 3) / 4 * 4);
    }
    return build::ElfFile{.osabi = 0x40, .type = 3, .machine = 0xE0, .flags = 0x2c, .sections = {{".note", 7, note}}}
        .bytes();
}

const json document = {{"amdhsa.version", {1, 1}},
                       {"amdhsa.target", "amdgcn-amd-amdhsa--gfx90a:sramecc+"},
                       {"amdhsa.kernels",
                        {{{".name", "other"}, {".vgpr_count", 99}},
                         {{".name", "k"},
                          {".vgpr_count", 300},
                          {".sgpr_count", 11},
                          {".vgpr_spill_count", 5},
                          {".private_segment_fixed_size", 70000},
                          {".group_segment_fixed_size", 0},
                          {".wavefront_size", 64}}}}};

}  // namespace

BOOST_AUTO_TEST_CASE(messagepack_of_every_type_equals_its_json) {
    const json value = {{"nil", nullptr},
                        {"yes", true},
                        {"small", 5},
                        {"negative", -3},
                        {"byte", 200},
                        {"word", 60000},
                        {"long", 4000000000u},
                        {"wide", 1ull << 60},
                        {"minus", -70000},
                        {"least", -(1ll << 60)},
                        {"real", 0.1},
                        {"text", std::string(300, 'x')},
                        {"list", json::array({1, "two", json::array()})},
                        {"many", std::vector<int>(70000, 7)}};
    BOOST_TEST((parse_msgpack(build::span(packed(value))) == value));
}

BOOST_AUTO_TEST_CASE(damaged_messagepack_is_rejected) {
    const std::string whole = packed(document);
    for (std::size_t size = 0; size < whole.size(); ++size)
        BOOST_TEST(!parse_msgpack(build::span(whole.substr(0, size))).has_value());
    BOOST_TEST(!parse_msgpack(build::span("\xc1"s)).has_value());                  // the one tag that is never used
    BOOST_TEST(!parse_msgpack(build::span("\xdf\xff\xff\xff\xff"s)).has_value());  // a map of four thousand million
    BOOST_TEST(!parse_msgpack(build::span("\x81\x01\x02"s)).has_value());          // a key that is no text
}

BOOST_AUTO_TEST_CASE(deeply_nested_messagepack_does_not_overflow_the_stack) {
    BOOST_TEST(!parse_msgpack(build::span(std::string(10'000'000, '\x91'))).has_value());
}

BOOST_AUTO_TEST_CASE(kernel_facts_come_from_its_own_metadata) {
    const std::string object = code_object(packed(document));
    const auto metadata = read_amd_metadata(build::span(object));
    BOOST_TEST_REQUIRE(metadata.has_value());
    const auto* kernel = amd_kernel(*metadata, "k");
    BOOST_TEST_REQUIRE(kernel != nullptr);
    BOOST_TEST(amd_number(*kernel, ".vgpr_count").value() == 300);
    BOOST_TEST(amd_number(*kernel, ".private_segment_fixed_size").value() == 70000);
    BOOST_TEST(!amd_number(*kernel, ".agpr_count").has_value());
    BOOST_TEST(!amd_number(*kernel, ".name").has_value());
    BOOST_TEST(amd_kernel(*metadata, "missing") == nullptr);
}

BOOST_AUTO_TEST_CASE(processor_comes_from_metadata_else_from_elf_flags) {
    BOOST_TEST(amd_processor(build::span(code_object(packed(document)))) == "gfx90a");
    BOOST_TEST(amd_processor(build::span(code_object("\xc1"))) == "gfx900");
    BOOST_TEST(amd_processor(build::span("x")).empty());
}

BOOST_AUTO_TEST_CASE(malformed_metadata_has_no_kernels) {
    for (const json& odd : {json{{"amdhsa.kernels", 3}}, json{{"amdhsa.kernels", {1, "k"}}},
                            json{{"amdhsa.kernels", {{{".name", 7}}}}}, json::object()})
        BOOST_TEST(amd_kernel(odd, "k") == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
