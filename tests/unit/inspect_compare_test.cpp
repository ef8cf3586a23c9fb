// Occupancy arithmetic and the alignment of two instruction sequences.
#include <boost/test/unit_test.hpp>

#include "app/screen/results.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"

BOOST_AUTO_TEST_SUITE(inspect_compare)

using namespace cllab::inspect;

namespace {

std::vector<Instruction> code(std::initializer_list<const char*> lines) {
    std::vector<Instruction> out;
    for (const std::string line : lines) {
        Instruction i;
        i.text = line;
        i.mnemonic = line.substr(0, line.find(' '));
        out.push_back(i);
    }
    return out;
}

std::string marks(const std::vector<DiffLine>& lines) {
    std::string out;
    for (const auto& line : lines) out += line.mark;
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(gfx900_holds_ten_wavefronts_up_to_24_vgprs) {
    // LLVM's getNumWavesPerEUWithNumVGPRs: 24 -> 10, 28 -> 9, 64 -> 4, 128 -> 2, 129 -> 1.
    const auto waves = [](std::int64_t vgprs) { return isa::gcn.occupancy("gfx900", {vgprs, 10, 0, 64, 0})->waves; };
    BOOST_TEST(waves(24) == 10u);
    BOOST_TEST(waves(25) == 9u);
    BOOST_TEST(waves(64) == 4u);
    BOOST_TEST(waves(128) == 2u);
    BOOST_TEST(waves(129) == 1u);
    BOOST_TEST(isa::gcn.occupancy("gfx900", {25, 10, 0, 64, 0})->limited_by == "registers");
    BOOST_TEST(isa::gcn.occupancy("gfx900", {24, 10, 0, 64, 0})->limited_by == "hardware");
}

BOOST_AUTO_TEST_CASE(scalar_registers_and_local_memory_limit_occupancy) {
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 102, 0, 64, 0})->waves == 7u);
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 97, 0, 64, 0})->waves == 7u);  // they come in sixteens: 112 of 800
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 96, 0, 64, 0})->waves == 8u);
    // 32 KiB a group of 256 items: two groups of four wavefronts on four SIMDs.
    const auto lds = isa::gcn.occupancy("gfx900", {4, 10, 32768, 64, 256});
    BOOST_TEST(lds->waves == 2u);
    BOOST_TEST(lds->limited_by == "local memory");
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 10, 32768, 64, 0})->waves == 10u);  // group size unknown
    // Two groups of one wavefront leave two of the four SIMDs without any; of twice the local memory there is none.
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 10, 32768, 64, 64})->waves == 0.5);
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 10, 32768, 64, 64})->formula.ends_with("= 0.5 wavefronts per SIMD"));
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 10, 131072, 64, 64})
                   ->formula.ends_with("= 0 wavefronts per SIMD, no work-group fits"));
}

BOOST_AUTO_TEST_CASE(cdna2_and_rdna2_have_their_own_register_and_wave_limits) {
    BOOST_TEST(isa::gcn.occupancy("gfx90a", {64, 10, 0, 64, 0})->waves == 8u);
    BOOST_TEST(isa::gcn.occupancy("gfx90a", {65, 10, 0, 64, 0})->waves == 7u);
    BOOST_TEST(isa::gcn.occupancy("gfx1030", {64, 10, 0, 32, 0})->waves == 16u);
    BOOST_TEST(isa::gcn.occupancy("gfx1030", {65, 10, 0, 32, 0})->waves == 12u);
    BOOST_TEST(isa::gcn.occupancy("gfx1030", {64, 10, 0, 64, 0})->waves == 8u);
    BOOST_TEST(!isa::gcn.occupancy("gfx1030", {64, 10, 0, 0, 0}).has_value());  // a wave of unknown width
    BOOST_TEST(!isa::gcn.occupancy("gfx9999", {1, 1, 0, 64, 0}).has_value());
}

BOOST_AUTO_TEST_CASE(rdna_register_granules_depend_on_generation_and_wave_size) {
    // LLVM's getVGPRAllocGranule and getTotalNumVGPRs: each count here gives another answer with the granule of another
    // line.
    const auto waves = [](const char* processor, std::int64_t vgprs, std::int64_t lanes) {
        return isa::gcn.occupancy(processor, {vgprs, 10, 0, lanes, 0})->waves;
    };
    BOOST_TEST(waves("gfx1010", 57, 32) == 16u);  // 64 of 1024
    BOOST_TEST(waves("gfx1010", 65, 32) == 14u);  // 72
    BOOST_TEST(waves("gfx1010", 40, 32) == 20u);  // the most there are
    BOOST_TEST(waves("gfx1010", 33, 64) == 14u);  // 36 of 512
    BOOST_TEST(waves("gfx1030", 65, 32) == 12u);  // 80 of 1024
    BOOST_TEST(waves("gfx1030", 33, 64) == 12u);  // 40 of 512
    BOOST_TEST(waves("gfx1102", 65, 32) == 12u);
    BOOST_TEST(waves("gfx1100", 97, 32) == 12u);  // 120 of 1536
    BOOST_TEST(waves("gfx1100", 61, 64) == 10u);  // 72 of 768
    BOOST_TEST(waves("gfx1201", 97, 32) == 12u);
    // 128 KiB for the four SIMDs of a work-group processor, in waves of 32.
    BOOST_TEST(isa::gcn.occupancy("gfx1030", {16, 10, 32768, 32, 64})->waves == 2u);
}

BOOST_AUTO_TEST_CASE(intel_execution_unit_has_the_threads_set_by_the_compiler) {
    const auto o = isa::xe.occupancy("pvc", {256, 0, 0, 4, 0});
    BOOST_TEST_REQUIRE(o.has_value());
    BOOST_TEST(o->waves == 4u);
    BOOST_TEST(o->unit == "threads per execution unit");
    BOOST_TEST(!isa::xe.occupancy("pvc", {0, 0, 0, 0, 0}).has_value());
    // 32 KiB a group of 64 items in SIMD16: four groups of four threads on 16 execution units.
    const auto local = isa::xe.occupancy("tgllp", {128, 0, 32768, 7, 64, 16});
    BOOST_TEST_REQUIRE(local.has_value());
    BOOST_TEST(local->waves == 1u);
    BOOST_TEST(local->limited_by == "local memory");
    BOOST_TEST(isa::xe.occupancy("tgllp", {128, 0, 65536, 7, 64, 16})->waves == 0.5);
}

BOOST_AUTO_TEST_CASE(nvidia_warps_match_the_occupancy_calculator) {
    // CUDA's occupancy calculator for compute capability 9.0, 256 threads a block.
    const auto warps = [](std::int64_t registers, std::int64_t shared, std::size_t items) {
        return isa::sass.occupancy("sm_90", {registers, 0, shared, 32, items})->waves;
    };
    BOOST_TEST(warps(32, 0, 256) == 64u);
    BOOST_TEST(warps(33, 0, 256) == 48u);
    BOOST_TEST(warps(64, 0, 256) == 32u);
    BOOST_TEST(warps(255, 0, 256) == 8u);
    BOOST_TEST(warps(32, 49152, 256) == 32u);  // 228 KiB / (48 KiB + 1 KiB) = 4 groups of 8 warps
    BOOST_TEST(warps(32, 0, 32) == 32u);       // 32 groups of one warp
    BOOST_TEST(warps(40, 0, 0) == 48u);
    BOOST_TEST(!isa::sass.occupancy("sm_30", {32, 0, 0, 32, 256}).has_value());
}

BOOST_AUTO_TEST_CASE(occupancy_counts_only_whole_groups_of_legal_size) {
    // 768 items: twelve wavefronts of 64, of which three groups fit the 40 of a compute unit; 24 of 32, two groups
    // of 64.
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 10, 0, 64, 768})->waves == 9u);
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 10, 0, 64, 768})->limited_by == "work-group size");
    BOOST_TEST(isa::gcn.occupancy("gfx1030", {4, 10, 0, 32, 768})->waves == 12u);
    BOOST_TEST(isa::sass.occupancy("sm_90", {8, 0, 0, 32, 768})->waves == 48u);
    // LLVM's getMaxWorkGroupsPerCU: 16 barriers, which a group of one wavefront does not need.
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 10, 0, 64, 128})->waves == 8u);
    BOOST_TEST(isa::gcn.occupancy("gfx900", {4, 10, 0, 64, 64})->waves == 10u);
    // 48 threads of 16 items on 16 units of seven threads: two groups.
    BOOST_TEST(isa::xe.occupancy("tgllp", {128, 0, 0, 7, 768, 16})->waves == 6u);
    for (const auto& found :
         {isa::gcn.occupancy("gfx900", {4, 10, 0, 64, 2048}), isa::sass.occupancy("sm_90", {8, 0, 0, 32, 2048}),
          isa::xe.occupancy("tgllp", {128, 0, 0, 7, 2048, 16})}) {
        BOOST_TEST(found->waves == 0u);
        BOOST_TEST(found->formula.starts_with("none: no such device launches a work-group of 2048 work-items"));
    }
}

BOOST_AUTO_TEST_CASE(formula_ends_with_its_result) {
    const auto o = isa::gcn.occupancy("gfx900", {30, 10, 0, 64, 0});
    BOOST_TEST(o->formula ==
               "min(10, floor(256 VGPRs / roundup(30, 4)) = 8, floor(800 SGPRs / roundup(10, 16)) = 50) = 8 wavefronts "
               "per SIMD");
}

BOOST_AUTO_TEST_CASE(equal_code_aligns_line_by_line) {
    BOOST_TEST(marks(align(code({"a 1", "b 2"}), code({"a 1", "b 2"}))) == "  ");
    BOOST_TEST(align({}, {}).empty());
}

BOOST_AUTO_TEST_CASE(only_equal_mnemonics_share_a_line) {
    BOOST_TEST(marks(align(code({"a 1"}), code({"a 2"}))) == "~");
    BOOST_TEST(marks(align(code({"a 1"}), code({"b 1"}))) == "<>");
}

BOOST_AUTO_TEST_CASE(insertion_does_not_shift_later_lines) {
    const auto lines = align(code({"a 1", "b 2", "c 3"}), code({"a 1", "x 0", "b 2", "c 4"}));
    BOOST_TEST(marks(lines) == " > ~");
    BOOST_TEST(lines[1].right == "x 0");
    BOOST_TEST(lines[3].left == "c 3");
}

BOOST_AUTO_TEST_CASE(equal_code_shows_the_same_part_on_both_sides) {
    using cllab::app::CellCode;
    const auto side = [](std::size_t sampled, const std::string& fingerprint) {
        CellCode out{"k", "cpu"};
        std::string listing = "0000000000000000 <k>:\n";
        for (const char address : std::string("0123456789ab"))
            listing += "  " + std::string(1, address) + ":\tvaddps ymm0,ymm0,ymm0\n";
        out.isa = listing;
        out.counts = count_function(&isa::x86, out.isa, "k");
        out.info.fingerprint = fingerprint;
        out.hot.emplace();
        out.hot->evidence = cllab::model::Hot::sampled;
        cllab::model::HotBlock block;
        block.function = out.counts.code.name;
        block.end = sampled;
        block.share = 1;
        block.instructions = static_cast<unsigned>(sampled);
        out.hot->blocks = {block};
        return out;
    };
    BOOST_TEST_REQUIRE(side(1, "").counts.code.instructions.size() == 12u);
    const auto instructions = [](const CellCode& left, const CellCode& right) {
        const auto text = cllab::app::comparison_text(left, right, false);
        const auto at = text.find("instructions ");
        return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
    };
    BOOST_TEST(instructions(side(5, "a"), side(7, "b")).ends_with("  7"), instructions(side(5, "a"), side(7, "b")));
    BOOST_TEST(instructions(side(5, "a"), side(7, "a")).ends_with("  5"), instructions(side(5, "a"), side(7, "a")));
    auto unsampled = side(5, "a");
    unsampled.hot.reset();
    BOOST_TEST(instructions(unsampled, side(7, "a")).ends_with("  7"));
}

BOOST_AUTO_TEST_CASE(samples_of_the_copies_of_a_loop_are_added) {
    cllab::app::CellCode code{"k", "cpu"};
    code.isa =
        "0000000000001000 <k>:\n  1002:\tvaddss xmm0,xmm0,DWORD PTR [rdi]\n  1006:\tjne 1002 <k+0x2>\n"
        "  1008:\tvmaxss xmm1,xmm1,DWORD PTR [rdi]\n  100c:\tjne 1008 <k+0x8>\n"
        "  100e:\tvaddss xmm1,xmm1,DWORD PTR [rsi]\n  1012:\tjne 100e <k+0xe>\n  1014:\tret\n";
    code.counts = count_function(&isa::x86, code.isa, "k");
    auto& hot = code.hot.emplace(cllab::model::Hot{.evidence = "sampled"});
    hot.blocks = {{"k", 0x1008, 0x100e, 40, 0.4, 2, {}, {}, {0x1008}},
                  {"k", 0x100e, 0x1014, 35, 0.35, 2, {}, {}, {0x100e}},
                  {"k", 0x1002, 0x1008, 25, 0.25, 2, {}, {}, {0x1002}}};
    const auto bodies = cllab::app::hot_bodies(code);
    BOOST_TEST_REQUIRE(bodies.size() == 2u);
    BOOST_TEST(cllab::model::place(bodies[0].region) == "loop at 0x100e and 1 like it, 60.0 % of the kernel's samples");
    BOOST_TEST(bodies[0].region.like == std::vector<std::uint64_t>{0x1002}, boost::test_tools::per_element());
    BOOST_TEST(bodies[0].instructions.size() == 2u);
    BOOST_TEST(cllab::model::place(bodies[1].region) == "loop at 0x1008, 40.0 % of the kernel's samples");
}

BOOST_AUTO_TEST_SUITE_END()
