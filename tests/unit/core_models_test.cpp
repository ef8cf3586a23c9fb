// What llvm-mca is asked of a hot block, how its answer is read, and the time that comes of it.
#include "inspect/tools/core_models.hpp"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "inspect/isa/isa.hpp"
#include "unit/why_counted.hpp"

BOOST_AUTO_TEST_SUITE(core_models_test)

using namespace cllab;
using namespace test::why;

namespace {

std::string listing(const std::string& inside) {
    return "0000000000001000 <k>:\n" + inside + "  1080:\tdec eax\n  1082:\tjne 1000 <k>\n";
}

std::optional<std::string> assembly(const std::string& inside) {
    const auto function = inspect::isa::x86.parse(listing(inside)).front();
    return inspect::assembly_of(function.instructions);
}

std::string answer(double iterations, double ports, double cycles, const std::string& resources = "Port0") {
    return nlohmann::json{
        {"CodeRegions",
         {{{"SummaryView", {{"Iterations", iterations}, {"BlockRThroughput", ports}, {"TotalCycles", cycles}}}}}},
        {"TargetInfo", {{"Resources", {resources}}}}}
        .dump();
}

/// 20 million instructions of a block of 10, on the two cores of `profile()`.
model::Record modelled(std::vector<model::CoreModel> processors, const std::string& reason = "") {
    auto r = record(1e-3, {.launches = 1, .groups = 4});
    r.work.instructions = 20e6;
    r.hot = model::Hot{.evidence = model::Hot::sampled, .blocks = {{.function = "k", .share = 1, .instructions = 10}}};
    r.hot->models = model::CoreModels{processors.empty() ? "" : "llvm-mca-15", std::move(processors), reason};
    return r;
}

model::Limits with_clock() {
    auto out = profile();
    out.figures.push_back(figure("fma.clock", "clock", "Hz", 2e9));
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_block_is_a_loop_of_its_own_without_addresses_and_padding) {
    BOOST_TEST(assembly("  1000:\tvmovaps ymm0,YMMWORD PTR [rip+0x10]        # 2000 <c>\n  1010:\tnop WORD PTR "
                        "cs:[rax+rax*1+0x0]\n")
                   .value_or("") ==
               ".intel_syntax noprefix\n.Lblock:\nvmovaps ymm0,YMMWORD PTR [rip+0x10]\ndec eax\njne .Lblock\n");
    BOOST_TEST(
        assembly("  1000:\tlock xadd DWORD PTR [rdi],eax\n").value_or("").find("\nlock xadd DWORD PTR [rdi],eax\n") !=
        std::string::npos);
    BOOST_TEST(!assembly("  1000:\tcall 3000 <expf@plt>\n"));
    BOOST_TEST(!assembly("  1000:\trep stos DWORD PTR es:[rdi],eax\n"));
}

BOOST_AUTO_TEST_CASE(an_answer_is_cycles_of_one_pass_or_none) {
    const auto said = inspect::read_model("znver3", answer(500, 3.5, 2000));
    BOOST_TEST_REQUIRE(said.has_value());
    BOOST_TEST(said->model.processor == "znver3");
    BOOST_TEST(said->model.ports == 3.5);
    BOOST_TEST(said->model.cycles == 4);
    BOOST_TEST(said->resources != inspect::read_model("znver3", answer(500, 3.5, 2000, "Port1"))->resources);
    for (const std::string text : {"", "{}", "[]", "killed", "{\"CodeRegions\":[]}"})
        BOOST_TEST(!inspect::read_model("znver3", text), text);
    BOOST_TEST(!inspect::read_model("znver3", answer(0, 3.5, 2000)));
}

BOOST_AUTO_TEST_CASE(what_was_not_seen_running_is_asked_of_no_model) {
    BOOST_TEST(inspect::core_models({}, {}).reason == "which code runs is not known");
    const model::Hot elsewhere{.evidence = model::Hot::sampled,
                               .blocks = {{.function = "k", .share = 1, .instructions = 10}}};
    BOOST_TEST(inspect::core_models({}, elsewhere).reason == "it is not x86 code");
}

BOOST_AUTO_TEST_CASE(models_are_a_range_beside_the_bounds_and_name_nothing) {
    const auto r = modelled({{"skylake", 1.5, 1.8}, {"znver3", 2, 1.6}});
    const auto e = explain::explain(r, with_clock());
    BOOST_TEST_REQUIRE(e.modelled.has_value());
    // Two million passes, half of them on each core, at 2 GHz: half a millisecond a cycle.
    BOOST_TEST(e.modelled->ports_low == 0.75e-3, is_close);
    BOOST_TEST(e.modelled->ports_high == 1e-3, is_close);
    BOOST_TEST(e.modelled->cycles_low == 0.8e-3, is_close);
    BOOST_TEST(e.modelled->cycles_high == 0.9e-3, is_close);
    BOOST_CHECK(e.limit == Limit::unexplained);
    const auto text = report::explanation_text(r, e, {});
    BOOST_TEST(text.find("~   75 %  port throughput (llvm-mca)") != std::string::npos, text);
    BOOST_TEST(text.find("llvm-mca-15 of skylake, znver3: 10 instructions of the hot block in 1.50 to 2.00 cycles by "
                         "issue and ports") != std::string::npos,
               text);
    const auto json = nlohmann::json::parse(report::explanation_json(r, e));
    BOOST_TEST(json["modelled"]["ports"]["high"] == 1e-3);
}

BOOST_AUTO_TEST_CASE(models_say_of_counted_kernels_too_what_a_block_takes_that_computes_what_was_counted) {
    auto counts = launch(1000);
    compute(counts, Operation::float_fma, 10);
    auto r = on_cpu(counts, {{.share = 0.95, .instructions = 20}});
    r.hot->models = model::CoreModels{"llvm-mca-15", {{"znver3", 5, 8}}, ""};
    BOOST_TEST(explain::explain(r, with_clock()).unmodelled == "how often the hot block runs is not known");
    // 2.56 million operations, eight a pass, on two cores at 2 GHz.
    r.hot->blocks.front().elements["float"] = 8;
    const auto e = explain::explain(r, with_clock());
    BOOST_TEST_REQUIRE(e.modelled.has_value());
    BOOST_TEST(e.modelled->ports_low == 5 * 2.56e6 / 8 / 2 / 2e9, is_close);
}

BOOST_AUTO_TEST_CASE(on_the_cores_that_others_left_the_models_take_longer) {
    auto r = modelled({{"skylake", 1.5, 1.8}});
    r.time->cores = r.time->waited = 1;
    BOOST_TEST(explain::explain(r, with_clock()).modelled->ports_low == 1.5e-3, boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(models_that_say_nothing_say_why) {
    const auto why = [](const model::Record& r, const model::Limits& limits) {
        const auto e = explain::explain(r, limits);
        BOOST_TEST(!e.modelled.has_value());
        return e.unmodelled;
    };
    auto r = modelled({}, "llvm-mca is not installed; Debian's package llvm has it");
    BOOST_TEST(why(r, with_clock()) == "llvm-mca is not installed; Debian's package llvm has it");
    const auto text = report::explanation_text(r, explain::explain(r, with_clock()), {});
    BOOST_TEST(text.find("(llvm-mca is not installed") != std::string::npos, text);
    r = modelled({{"skylake", 1.5, 1.8}});
    BOOST_TEST(why(r, profile()) == "the profile has no clock");
    r.work.instructions = 0;
    BOOST_TEST(why(r, with_clock()) == "how often the hot block runs is not known");
    r.hot->models.reset();
    BOOST_TEST(why(r, with_clock()) == "");
}

BOOST_AUTO_TEST_SUITE_END()
