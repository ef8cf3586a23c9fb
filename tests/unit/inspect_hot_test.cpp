// Sampled addresses to blocks and loops: made-up memory, made-up samples, the listing of a function with two loops.
#include <boost/test/unit_test.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "inspect/binary/cpu_code.hpp"
#include "inspect/code/hot_code.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/disassemble.hpp"
#include "model/result.hpp"
#include "unit/inspect_build.hpp"

BOOST_AUTO_TEST_SUITE(inspect_hot)

using namespace cllab;
using namespace cllab::inspect;
using namespace std::string_literals;

namespace {

const std::string listing_text = R"(
0000000000000000 <k>:
       0:	xor    eax,eax
       2:	mov    ecx,DWORD PTR [rdi]
       4:	add    eax,ecx
       6:	dec    rdx
       9:	jne    2 <k+0x2>
       b:	vaddps ymm0,ymm0,YMMWORD PTR [rdi]
       f:	dec    rsi
      12:	jne    b <k+0xb>
      14:	ret
)";
constexpr std::uint64_t scalar_loop = 2, vector_loop = 0xb, size = 21;

/// 21 bytes that stand nowhere else; what they mean is in the listing.
const std::string machine_code =
    "\x31\xc0\x8b\x0f\x01\xc8\x48\xff\xca\x75\xf7\xc5\xfc\x58\x07\x48\xff\xce\x75\xf7\xc3"s;

Analysis analysis(const std::string& object) {
    Analysis out;
    out.kind = Kind::host_elf;
    out.disassembly.listings.push_back({"machine code", &isa::x86, listing_text, {}, "k"});
    out.disassembly.parts.push_back({"program.o", object});
    out.counts.push_back(count_function(&isa::x86, listing_text, "k"));
    out.stats = "{\"summary\": \"k\\n\"}";
    return out;
}

Analysis analysis() { return analysis(build::x86_object({{"k", machine_code}, {"hidden", "\x90\x90\xc3"s}})); }

/// Memory at a made-up address.
struct Memory {
    std::vector<std::pair<std::uint64_t, std::string>> pieces;
    std::vector<std::string> paths{};
    AddressSamples samples{};

    AddressSamples& with(std::uint64_t address, unsigned count) {
        samples.addresses.insert(samples.addresses.end(), count, address);
        return samples;
    }
    AddressSamples done() {
        samples.method = "made up";
        for (std::size_t i = 0; i < pieces.size(); ++i)
            samples.regions.push_back({pieces[i].first, as_bytes(pieces[i].second), i < paths.size() ? paths[i] : ""});
        return samples;
    }
};

const std::string before = "some other code here";

}  // namespace

BOOST_AUTO_TEST_CASE(the_block_with_the_most_samples_is_hot_whatever_its_shape) {
    Memory memory{{{0x1000, before + machine_code}}};
    const auto base = 0x1000 + before.size();
    memory.with(base + scalar_loop, 120);
    memory.with(base + 6, 30);
    memory.with(base + vector_loop + 4, 40);
    memory.with(base + 0x14, 10);
    const auto hot = hot_code(analysis(), memory.done());
    BOOST_TEST(hot.reason == "");
    BOOST_REQUIRE(hot.evidence == "sampled");
    BOOST_TEST(hot.in_kernel == 200u);
    BOOST_TEST_REQUIRE(hot.blocks.size() == 3u);
    const auto& first = *hot.hottest();
    BOOST_TEST(first.function == "k");
    BOOST_TEST(first.begin == scalar_loop);
    BOOST_TEST(first.end == vector_loop);
    BOOST_TEST(first.samples == 150u);
    BOOST_TEST(first.share == 0.75);
    BOOST_TEST(first.instructions == 4u);
    BOOST_TEST(first.memory.at("load_32") == 1u);
    BOOST_TEST_REQUIRE(first.loops.size() == 1u);
    BOOST_TEST(first.loops.front() == scalar_loop);
    BOOST_TEST(hot.blocks[2].loops.empty());
    BOOST_TEST_REQUIRE(hot.loops.size() == 2u);
    BOOST_TEST(hot.loops[0].header == scalar_loop);
    BOOST_TEST(hot.loops[0].own == 0.75);
    BOOST_TEST(hot.loops[1].share == 0.2);
    BOOST_TEST(model::statement(hot) == "sampled, 200 samples in the kernel of 200");
    // A vector function that the kernel calls runs in a library.
    auto calls = hot;
    calls.samples = 900, calls.elsewhere = {{"libc.so.6", 100}, {"libmvec.so.1", 600}};
    BOOST_TEST(model::statement(calls) == "sampled, 200 samples in the kernel of 900, 600 in libmvec.so.1");
}

BOOST_AUTO_TEST_CASE(code_loaded_twice_counts_in_both_places) {
    Memory memory{{{0x1000, before + machine_code}, {0x9000, machine_code}}};
    memory.with(0x1000 + before.size() + scalar_loop, 60);
    memory.with(0x9000 + scalar_loop, 60);
    const auto hot = hot_code(analysis(), memory.done());
    BOOST_TEST(hot.in_kernel == 120u);
    BOOST_TEST(hot.blocks.size() == 1u);
}

BOOST_AUTO_TEST_CASE(samples_outside_the_kernel_are_named_by_their_location) {
    Memory memory{
        {{0x1000, machine_code + "\x90\x90\xc3"s}, {0x5000, std::string(64, 'x')}, {0x7000, std::string(64, 'y')}},
        {"/cache/k.so", "/usr/lib/libdriver.so.2"}};
    memory.with(0x1000 + vector_loop, 300);
    memory.with(0x1000 + size + 1, 7);
    memory.with(0x5010, 5);
    memory.with(0x7010, 3);
    memory.with(0xf0000, 2);
    const auto hot = hot_code(analysis(), memory.done());
    BOOST_TEST(hot.samples == 317u);
    BOOST_TEST(hot.in_kernel == 300u);
    const std::map<std::string, unsigned> expected{
        {"hidden", 7}, {"libdriver.so.2", 5}, {"generated code", 3}, {"memory that is not mapped any more", 2}};
    BOOST_TEST((hot.elsewhere == expected));
}

BOOST_AUTO_TEST_CASE(relocated_bytes_do_not_hide_the_function) {
    std::string symbols(24, '\0'), relocations;
    build::put(symbols, std::uint32_t{1});
    symbols += "\x12\0"s;
    build::put(symbols, std::uint16_t{1}), build::put(symbols, std::uint64_t{0}), build::put(symbols, size);
    build::put(relocations, std::uint64_t{2}), build::put(relocations, std::uint64_t{2}),
        build::put(relocations, std::uint64_t{0});
    const auto object = build::ElfFile{
        .sections = {{".text", 1, machine_code, 0, 0, 6},
                     {".symtab", 2, symbols, 3, 1},
                     {".strtab", 3, "\0k\0"s},
                     {".rela.text", 4, relocations, 2,
                      1}}}.bytes();
    auto linked = machine_code;
    linked.replace(2, 4, "ABCD");
    Memory memory{{{0x1000, linked}}};
    memory.with(0x1000 + vector_loop, 200);
    BOOST_TEST(hot_code(analysis(object), memory.done()).in_kernel == 200u);

    linked[8] = 'E';
    Memory other{{{0x1000, linked}}};
    other.with(0x1000 + vector_loop, 200);
    const auto hot = hot_code(analysis(object), other.done());
    BOOST_TEST(hot.evidence == "unknown");
    BOOST_TEST(hot.reason == "none of the 200 samples lies in code that is equal to the disassembled function");
}

BOOST_AUTO_TEST_CASE(too_few_samples_are_inconclusive) {
    Memory memory{{{0x1000, machine_code}, {0x5000, std::string(64, 'x')}}};
    memory.with(0x1000 + scalar_loop, 99);
    memory.with(0x5000, 400);
    const auto hot = hot_code(analysis(), memory.done());
    BOOST_TEST(!hot.known());
    BOOST_TEST(!hot.hottest());
    BOOST_TEST(model::statement(hot) == "unknown: 99 of 499 samples lie in the kernel; fewer than 100 say nothing");
}

BOOST_AUTO_TEST_CASE(missing_samples_or_disassembly_are_unknown_with_a_reason) {
    AddressSamples refused;
    refused.refused = "perf_event_open is refused: Permission denied";
    BOOST_TEST(model::statement(hot_code(analysis(), refused)) ==
               "unknown: perf_event_open is refused: Permission denied");
    Memory memory{{{0x1000, machine_code}}};
    memory.with(0x1000, 200);
    BOOST_TEST(hot_code({}, memory.done()).reason == "there is no disassembly to match the sampled addresses with");
}

BOOST_AUTO_TEST_CASE(sampled_pocl_function_is_the_one_that_ran) {
    const auto object = [](char which) { return std::string(32, which); };
    const auto binary = build::PoclFile{.kernels = {{"k",
                                                     {{"/k/0-0-0/k.so", object('g')},
                                                      {"/k/64-1-1-goffs0/k.so", object('s')},
                                                      {"/k/64-1-1-goffs0-smallgrid/k.so", object('t')}}}}}
                            .bytes();
    Memory memory{
        {{0x1000, object('g')}, {0x3000, object('t')}, {0x5000, object('x')}},
        {"/kcache/AB/CDE/k/0-0-0/k.so", "/kcache/AB/CDE/k/64-1-1-goffs0-smallgrid/k.so", "/usr/lib/libpocl.so.2"}};
    memory.with(0x1004, 3);
    memory.with(0x3004, 90);
    memory.with(0x5004, 500);
    const auto [ran, samples] = sampled_pocl_code(build::span(binary), "k", memory.done());
    BOOST_TEST(samples == 90u);
    BOOST_TEST(ran == "/k/64-1-1-goffs0-smallgrid/k.so");
    BOOST_TEST(sampled_pocl_code(build::span(binary), "other", memory.samples).path == "");
    // The launch would have made one expect another.
    const auto code =
        choose_pocl_code(read_poclbin(build::span(binary)), "k", {model::Extent(64), model::Extent(1 << 20)}, {}, ran);
    BOOST_TEST(as_text(code.content) == object('t'));
    const auto generic = choose_pocl_code(read_poclbin(build::span(binary)), "k",
                                          {model::Extent(64), model::Extent(1 << 20)}, {}, "/k/0-0-0/k.so");
    BOOST_TEST(as_text(generic.content) == object('g'));
}

BOOST_AUTO_TEST_CASE(isa_text_and_stats_contain_the_shares) {
    Memory memory{{{0x1000, machine_code}}};
    memory.with(0x1000 + scalar_loop, 300);
    memory.with(0x1000 + vector_loop, 100);
    const auto a = analysis();
    const auto hot = hot_code(a, memory.done());
    const auto text = marked_isa_text(a, hot);
    BOOST_TEST(text.find("// hot: 75.0 % of the kernel's samples, 0x2..0xb, in the loop at 0x2\n       2:\tmov") !=
               std::string::npos);
    BOOST_TEST(text.find("// hot: sampled, 400 samples in the kernel of 400 by made up\n") != std::string::npos);
    // The marks are no instructions.
    BOOST_TEST(count_function(&isa::x86, text, "k").total.instructions == a.counts.front().total.instructions);
    const auto stats = nlohmann::json::parse(marked_stats(a, hot));
    BOOST_TEST(stats.at("hot").at("blocks").at(0).at("share") == 0.75);
    BOOST_TEST(stats.at("hot").at("evidence") == "sampled");
}

BOOST_AUTO_TEST_CASE(blocks_of_one_loop_are_one_region) {
    model::Hot hot{.evidence = "sampled"};
    hot.blocks = {{"k", 0x40, 0x50, 50, 0.5, 4, {}, {}, {}},
                  {"k", 0x20, 0x30, 30, 0.3, 3, {}, {}, {0x10, 0x20}},
                  {"k", 0x30, 0x40, 25, 0.25, 2, {}, {}, {0x10, 0x20}}};
    const auto regions = model::hot_regions(hot);
    BOOST_TEST_REQUIRE(regions.size() == 2u);
    BOOST_TEST(model::place(regions[0]) == "loop at 0x20, 55.0 % of the kernel's samples");
    BOOST_TEST(regions[0].blocks.size() == 2u);
    BOOST_TEST(regions[0].instructions == 5u);
    BOOST_TEST(model::place(regions[1]) == "straight-line code from 0x40, 50.0 % of the kernel's samples");
    hot.evidence = "unknown";
    BOOST_TEST(model::hot_regions(hot).empty());
}

BOOST_AUTO_TEST_SUITE_END()
