// Which code runs on an NVIDIA device: instructions as Nsight Compute counted them become blocks and loops with shares.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/text.hpp"
#include "inspect/cuda/ncu_counters.hpp"
#include "inspect/cuda/replay.hpp"
#include "model/result.hpp"

BOOST_AUTO_TEST_SUITE(executed)

using namespace cllab;

namespace {

// As ncu 2025.3 prints `--page source --csv --print-source sass`: a loop of four instructions that runs 100 times, an
// edge that never does, and one instruction that half of the work-items skip.
const std::string printed = R"(==PROF== Connected to process 4242 (/usr/bin/cllab)
"Kernel Name","k",
"Address","Source","inst_executed","thread_inst_executed"
"0x7f32cd7ac200","      LDC R1, c[0x0][0x28]","10","320"
"0x7f32cd7ac210","      ISETP.GE.AND P0, PT, R1, 0x10, PT","10","320"
"0x7f32cd7ac220","@P0   BRA 0x7f32cd7ac270","10","320"
"0x7f32cd7ac230","      LDG.E.128 R4, desc[UR4][R2.64]","1,000","32,000"
"0x7f32cd7ac240","      FFMA R8, R4, R5, R8","1,000","32,000"
"0x7f32cd7ac250","@!P1  IADD3 R2, R2, 0x10, RZ","1,000","16,000"
"0x7f32cd7ac260","@!P2  BRA 0x7f32cd7ac230","1,000","32,000"
"0x7f32cd7ac270","      EXIT","10","320"
"0x7f32cd7ac280","      STG.E desc[UR4][R2.64], R8","0","0"
"0x7f32cd7ac290","      BRA 0x7f32cd7ac290","0","0"
)";

}  // namespace

BOOST_AUTO_TEST_CASE(executed_listing_starts_at_address_0) {
    const auto code = inspect::parse_ncu_source(printed).value();
    BOOST_TEST(code.instructions.size() == 10u);
    BOOST_TEST(code.instructions[3].first == 0x30u);
    BOOST_TEST(code.instructions[3].second == 1000u);
    BOOST_TEST(code.by_items == 4 * 320 + 3 * 32000 + 16000);
    BOOST_TEST(code.listing.find("/*0060*/  @!P2  BRA 0x30 ;") != std::string::npos, code.listing);
    BOOST_TEST(code.listing.find("c[0x0][0x28]") != std::string::npos, "a constant's place is no address of the code");
    BOOST_TEST(!inspect::parse_ncu_source("==ERROR== no kernel was profiled\n").has_value());
}

BOOST_AUTO_TEST_CASE(block_with_most_executed_instructions_is_hot) {
    const auto hot = inspect::hot_code(inspect::parse_ncu_source(printed).value());
    BOOST_REQUIRE(hot.evidence == model::Hot::counted);
    BOOST_TEST(hot.executed == 4040u);
    BOOST_TEST(model::statement(hot) == "counted, 4040 instructions of warps");
    const auto& block = *hot.hottest();
    BOOST_TEST(block.begin == 0x30u);
    BOOST_TEST(block.end == 0x70u);
    BOOST_TEST(block.executed == 4000u);
    BOOST_TEST(block.share == 4000.0 / 4040, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(block.instructions == 4u);
    BOOST_TEST(block.memory.at("global_load_128") == 1u);
    BOOST_TEST(block.loops == std::vector<std::uint64_t>{0x30}, boost::test_tools::per_element());
    BOOST_TEST(model::place(model::hot_regions(hot).front()) == "loop at 0x30, 99.0 % of the executed instructions");
    for (const auto& other : hot.blocks) BOOST_TEST(other.begin < 0x80u, "what was never executed is not named");
}

BOOST_AUTO_TEST_CASE(unexecuted_code_is_unknown) {
    auto code = inspect::parse_ncu_source(printed).value();
    for (auto& [address, times] : code.instructions) times = 0;
    BOOST_TEST(!inspect::hot_code(code).known());
    code.instructions.clear();
    BOOST_TEST(!inspect::hot_code(code).known());
}

// A stand-in for ncu: it writes a report where it is asked to count, and the page that it is asked for.
BOOST_AUTO_TEST_CASE(counters_and_executions_come_from_one_profile) {
    const inspect::TempFolder folder;
    const auto fake = folder.path() / "ncu", page = folder.path() / "page";
    cllab::write_file(page, inspect::as_bytes(printed));
    const std::string script = R"(#!/bin/sh
case "$*" in
*--import*source*) cat )" + page.string() +
                               R"( ;;
*--import*raw*) printf '"ID","Kernel Name","dram__bytes_read.sum"\n"","","byte"\n"0","k","4096"\n' ;;
*) echo "$*" >> )" + folder.path().string() +
                               R"(/asked ;;
esac
)";
    cllab::write_file(fake, inspect::as_bytes(script));
    std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
    const inspect::Replay replay{{}, "k", "// PTX"};
    const auto all =
        inspect::profile_replay(fake, replay, folder.path(), inspect::Count::everything, std::chrono::seconds(20));
    BOOST_TEST(all.trouble == "");
    BOOST_TEST(inspect::counter(all.counters, "dram__bytes_read.sum").value() == 4096);
    BOOST_TEST(all.executed.value().instructions.size() == 10u);
    const auto only =
        inspect::profile_replay(fake, replay, folder.path(), inspect::Count::executions, std::chrono::seconds(20));
    BOOST_TEST(only.counters.empty());
    BOOST_TEST(only.executed.has_value());
    const auto asked = split(cllab::read_file(folder.path() / "asked").value(), '\n');
    BOOST_TEST(asked.at(0).find("--section WarpStateStats") != std::string::npos, asked.at(0));
    BOOST_TEST(asked.at(1).find("--section") == std::string::npos, asked.at(1));
    BOOST_TEST(asked.at(1).find("--kernel-name k") != std::string::npos, asked.at(1));

    cllab::write_file(fake,
                      inspect::as_bytes(std::string("#!/bin/sh\necho '==ERROR== ERR_NVGPUCTRPERM - no permission'\n")));
    std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
    const auto refused =
        inspect::profile_replay(fake, replay, folder.path(), inspect::Count::executions, std::chrono::seconds(20));
    BOOST_TEST(refused.trouble.find("an administrator") != std::string::npos, refused.trouble);
}

BOOST_AUTO_TEST_SUITE_END()
