// Which rows of a table are compared with each other, and what may be called the fastest of them.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "model/warning.hpp"
#include "report/records/csv.hpp"
#include "report/records/json.hpp"
#include "report/table/ranking.hpp"
#include "report/table/verdict.hpp"
#include "unit/report_tables.hpp"

BOOST_AUTO_TEST_SUITE(report_ranking)

using namespace cllab;
using model::Record;
using test::at;
using test::table;

namespace {

/// Whether the page has the words, however its lines are wrapped.
bool has(const std::string& page, const std::string& words) {
    std::string flat;
    for (const char c : page)
        if (const char one = c == '\n' ? ' ' : c; one != ' ' || !flat.ends_with(' ')) flat += one;
    return flat.find(words) != std::string::npos || page.find(words) != std::string::npos;
}

std::vector<std::vector<std::string>> groups(const std::vector<Record>& records) {
    std::vector<const Record*> rows;
    for (const auto& r : records) rows.push_back(&r);
    const auto c = report::compare(rows);
    std::vector<std::vector<std::string>> out;
    for (std::size_t i = 0; i < c.rows.size(); ++i) {
        if (c.group[i] >= out.size()) out.resize(c.group[i] + 1);
        out[c.group[i]].push_back(c.rows[i]->variant + (c.ranks[i].fastest ? "!" : ""));
    }
    return out;
}

/// What each row is said to be, as "wide 1.56x", in the order of the rows.
std::vector<std::string> said(const std::vector<Record>& records) {
    const auto c = report::compare(model::rows_of(records));
    std::vector<std::string> out;
    for (std::size_t i = 0; i < c.rows.size(); ++i) {
        const auto& rank = c.ranks[i];
        out.push_back(c.rows[i]->variant + (rank.fastest      ? " fastest"
                                            : rank.indistinct ? " ~"
                                            : rank.compared   ? " slower"
                                                              : ""));
    }
    return out;
}

Record of_run(Record r, const std::string& run, std::uint64_t comparison = 0) {
    r.run.id = run;
    r.run.order.comparison = comparison;
    return r;
}

}  // namespace

BOOST_AUTO_TEST_CASE(axes_chosen_by_each_variant_do_not_split_a_group) {
    const auto cell = [](const char* variant, const char* width, const char* items, double s) {
        return at(test::cell("pitch", variant, s), {{"width", width}, {"items", items}});
    };
    // items = width for a, width / 8 for b: both are functions of the swept width.
    const auto g = groups({cell("a", "1024", "1024", 2), cell("b", "1024", "128", 1), cell("a", "2048", "2048", 3),
                           cell("b", "2048", "256", 4)});
    BOOST_REQUIRE(g.size() == 2u);
    BOOST_TEST(g[0] == (std::vector<std::string>{"b!", "a"}), boost::test_tools::per_element());
    BOOST_TEST(g[1] == (std::vector<std::string>{"a!", "b"}), boost::test_tools::per_element());
    // A sweep that both run splits.
    BOOST_TEST(groups({cell("a", "1024", "1", 2), cell("a", "1024", "2", 1), cell("b", "1024", "1", 2),
                       cell("b", "1024", "2", 3)})
                   .size() == 2u);
}

BOOST_AUTO_TEST_CASE(axis_of_some_variants_does_not_split_the_comparison) {
    const std::vector<Record> records{at(test::cell("pad", "runtime", 3e-3), {{"side", "7"}, {"k", "1"}}),
                                      at(test::cell("pad", "runtime", 2e-3), {{"side", "7"}, {"k", "4"}}),
                                      at(test::cell("pad", "flat", 1e-3), {{"side", "7"}})};
    const auto comparison = report::compare({&records[0], &records[1], &records[2]});
    BOOST_TEST(comparison.ranks[0].fastest);
    BOOST_TEST(comparison.ranks[1].ratio == 2, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(comparison.ranks[2].ratio == 3, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(comparison.rows[0] == &records[2]);
}

BOOST_AUTO_TEST_CASE(fastest_is_by_rate_if_the_work_differs) {
    // The copy takes longer but moves twice the bytes.
    const auto g = groups({test::moving(test::cell("bandwidth", "read", 1e-3), 1e9, 1e12),
                           test::moving(test::cell("bandwidth", "copy", 1.5e-3), 2e9, 1e12)});
    BOOST_TEST(g.at(0).at(0) == "copy!");
}

BOOST_AUTO_TEST_CASE(difference_within_placement_effects_has_no_fastest) {
    const auto ranks_of = [](const char* type, double second, double third) {
        std::vector<Record> records{test::cell("f", "a", 1e-3), test::cell("f", "b", second),
                                    test::cell("f", "c", third)};  // each +-0.5 %
        for (auto& record : records) record.device.type = type;
        return report::compare({&records[0], &records[1], &records[2]}).ranks;
    };
    // One process differs by up to 15 % between placements on a CPU: b may be as fast as a, c is not.
    auto ranks = ranks_of("cpu", 1.11e-3, 1.20e-3);
    BOOST_TEST(!ranks[0].fastest);
    BOOST_TEST(ranks[0].indistinct);
    BOOST_TEST(ranks[1].indistinct);
    BOOST_TEST(!ranks[2].indistinct);
    BOOST_TEST(ranks[2].ratio == 1.20, boost::test_tools::tolerance(1e-9));
    ranks = ranks_of("gpu", 1.11e-3, 1.20e-3);
    BOOST_TEST(ranks[0].fastest);
    BOOST_TEST(!ranks[1].indistinct);
    ranks = ranks_of("gpu", 1.015e-3, 1.20e-3);
    BOOST_TEST(!ranks[0].fastest);
    BOOST_TEST(ranks[1].indistinct);
}

BOOST_AUTO_TEST_CASE(overlapping_intervals_are_indistinct_for_any_medians) {
    auto a = test::cell("f", "a", 1e-3), b = test::cell("f", "b", 2e-3);
    a.device.type = b.device.type = "gpu";
    b.time->low = 0.9e-3;
    const auto ranks = report::compare({&a, &b}).ranks;
    BOOST_TEST(!ranks[0].fastest);
    BOOST_TEST(ranks[1].indistinct);
}

BOOST_AUTO_TEST_CASE(rows_with_overlapping_samples_are_indistinct) {
    auto a = test::cell("f", "a", 7.72e-6),
         b = test::cell("f", "b", 8.39e-6);  // on an H100; --vs: the same within 0.4 %
    a.device.type = b.device.type = "gpu";
    a.time->low = 7.67e-6, a.time->high = 7.77e-6, b.time->low = 7.96e-6, b.time->high = 8.68e-6;
    a.time->q1 = 7.54e-6, a.time->q3 = 7.99e-6, b.time->q1 = 7.83e-6, b.time->q3 = 8.74e-6;
    BOOST_TEST(report::compare({&a, &b}).ranks[1].indistinct);
    b.time->low = 8.05e-6, b.time->q1 = 8.1e-6;
    BOOST_TEST(report::compare({&a, &b}).ranks[1].indistinct);
    b.time->min = 8e-6;  // 0.1 % longer than three quarters of a's samples: placement can change 4 %
    BOOST_TEST(report::compare({&a, &b}).ranks[1].indistinct);
    a.time->q3 = 7.6e-6, a.time->high = 7.65e-6;
    BOOST_TEST(!report::compare({&a, &b}).ranks[1].indistinct);
}

BOOST_AUTO_TEST_CASE(kernel_whose_times_vary_from_process_to_process_is_not_the_slower_one) {
    // Two cores of an EPYC VM. --vs: 2.6 % faster than the other.
    auto a = test::cell("f", "a", 73.7e-6), b = test::cell("f", "b", 210e-6);
    a.time->low = 71e-6, a.time->high = 92e-6, a.time->q1 = 69e-6, a.time->q3 = 105e-6, a.time->min = 65e-6;
    b.time->low = 161e-6, b.time->high = 230e-6, b.time->q1 = 130e-6, b.time->q3 = 261e-6, b.time->min = 77e-6;
    BOOST_TEST(report::compare({&a, &b}).ranks[1].indistinct);
}

BOOST_AUTO_TEST_CASE(failed_or_single_cell_is_not_compared) {
    const auto a = test::cell("f", "a", 1e-3),
               b = test::failed(test::cell("f", "b", 1), model::Status::timed_out, "60 s");
    const auto ranks = report::compare({&a, &b}).ranks;
    BOOST_TEST(!ranks[0].compared);
    BOOST_TEST(!ranks[1].compared);
}

BOOST_AUTO_TEST_CASE(row_with_under_six_samples_states_them_and_is_not_ranked) {
    std::vector<Record> records{test::cell("pitch", "wide", 1e-3), test::cell("pitch", "short8", 2e-3),
                                test::cell("pitch", "struct", 3e-3)};
    records[0].time->n = 5;
    const auto page = table(records);
    std::map<std::string, std::string> rows;
    for (const auto& line : split(page, '\n'))
        for (const auto& record : records)
            if (line.starts_with("  " + record.id)) rows[record.variant] = line;
    BOOST_TEST(rows["wide"].find("n = 5") != std::string::npos, page);
    BOOST_TEST(rows["wide"].find("fastest") == std::string::npos, page);
    BOOST_TEST(rows["wide"].find('%') == std::string::npos, page);
    BOOST_TEST(rows["short8"].find("fastest") != std::string::npos, page);
    BOOST_TEST(rows["struct"].find("1.50x") != std::string::npos, page);
    records[1].time->n = 5;
    records[2].time->n = 5;
    BOOST_TEST(table(records).find(" vs best") == std::string::npos);
    BOOST_TEST(report::to_json_line(records[0]).find("\"low\"") == std::string::npos);
    BOOST_TEST(split(report::to_csv_line(records[0]), ',')[11] == "");  // low_s
}

BOOST_AUTO_TEST_CASE(only_interleaved_cells_are_ranked) {
    using Lines = std::vector<std::string>;
    const auto wide = test::cell("pitch", "wide", 547e-6), loop = test::cell("pitch", "loop", 853e-6),
               other = test::cell("pitch", "short8", 1400e-6);
    BOOST_TEST(said({of_run(wide, "a"), of_run(loop, "a")}) == (Lines{"wide fastest", "loop slower"}));
    BOOST_TEST(said({of_run(wide, "a"), of_run(loop, "b")}) == (Lines{"wide", "loop"}));
    BOOST_TEST(said({of_run(wide, "a", 0), of_run(loop, "a", 1)}) == (Lines{"wide", "loop"}));
    auto late = of_run(loop, "a");
    late.time->batch = 2;
    BOOST_TEST(said({of_run(wide, "a"), late}) == (Lines{"wide", "loop"}));
    auto old = wide, older = loop;
    old.schema = older.schema = 1;
    BOOST_TEST(said({old, older}) == (Lines{"wide", "loop"}));
    // Each run has its own ranks, and the table says so.
    const std::vector<Record> two{of_run(wide, "b"), of_run(other, "b"), of_run(loop, "a"), of_run(other, "a")};
    BOOST_TEST(said(two) == (Lines{"wide fastest", "short8 slower", "loop fastest", "short8 slower"}));
    BOOST_TEST(table(two).find("took turns in one run") != std::string::npos);
    BOOST_TEST(table({two[0], two[1]}).find("took turns in one run") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(rows_that_lacked_cores_need_a_larger_difference) {
    auto wide = test::cell("pitch", "wide", 1e-3, test::pocl()), loop = test::cell("pitch", "loop", 3e-3, test::pocl()),
         other = test::cell("pitch", "short8", 1.7, test::pocl());
    BOOST_TEST(said({wide, loop, other}).front() == "wide fastest");
    // With half of its cores each may take twice as long, and by tests/trial/beside_load.py half as long again.
    for (auto* r : {&wide, &loop, &other}) {
        r->time->cores = 1.06;
        r->time->waited = 0.9;
    }
    BOOST_TEST(said({wide, loop, other}) == (std::vector<std::string>{"wide ~", "loop ~", "short8 slower"}));
    const auto page = table({wide, loop, other});
    BOOST_TEST(has(page,
                   "No variant is clearly the fastest: pitch_wide, pitch_loop are not told apart, the best takes "
                   "1.00 ms ±0.5 % (pitch_short8 takes 1700 times as long)"),
               page);
    BOOST_TEST(has(page, "other processes took 46 % of the cores, which can change a ratio of times by a factor of 3.2"), page);
    BOOST_TEST(has(page, "`cllab run pitch_loop --vs pitch_wide --device 1:0` decides."), page);
    BOOST_TEST(said({wide, other}) == (std::vector<std::string>{"wide fastest", "short8 slower"}));
    // At another size another one may win.
    for (auto* r : {&wide, &loop, &other}) {
        r->point = {{"width", "64"}, {"pitch", "2"}};
        r->argv = {"cllab", "run", "pitch_*", "-a", "width=64"};
    }
    BOOST_TEST(has(table({wide, loop, other}), "`cllab run pitch_loop --vs pitch_wide --axis width=64 --device 1:0`"));
    // A shell takes the words apart as they stand.
    for (auto* r : {&wide, &loop, &other}) {
        r->build.source = "my files/k.cl";
        r->argv = {"cllab", "run", "my files/k.cl", "-a", "width=64"};
    }
    BOOST_TEST(has(table({wide, loop, other}),
                   "`cllab run 'my files/k.cl:loop' --vs 'my files/k.cl:wide' --axis width=64 --device 1:0`"));
    BOOST_TEST(report::shell_word("a=it's") == "'a=it'\\''s'");
    BOOST_TEST(report::shell_word("size=1Ki:4Ki:*2") == "'size=1Ki:4Ki:*2'");
    BOOST_TEST(report::shell_word("") == "''");
}

BOOST_AUTO_TEST_CASE(rows_of_different_guessed_sizes_are_not_ranked) {
    auto a = test::cell("k", "a", 1e-3, test::pocl()), b = test::cell("k", "b", 2e-3, test::pocl()),
         c = test::cell("k", "c", 9e-3, test::pocl());
    const auto unlike = [](const char* here) {
        return model::warning(model::Warning::unlike_sizes,
                              std::string("the guessed sizes differ (here ") + here + "); --axis n=8 sets one size");
    };
    a.warnings = b.warnings = {unlike("n=16")};
    c.warnings = {unlike("n_c=8")};
    BOOST_TEST(said({a, b, c}) == (std::vector<std::string>{"a fastest", "b slower", "c"}));
    BOOST_TEST(has(table({a, b, c}), "next is k_b, 2.00 times as long. 1 of 3 is not ranked."), table({a, b, c}));
    BOOST_TEST(has(table({a, c}),
                   "None of 2 variants is ranked, because their guessed sizes differ; --axis n=8 sets one size."),
               table({a, c}));
}

BOOST_AUTO_TEST_CASE(kernels_with_other_buffers_are_not_ranked_unless_a_reference_ties_them) {
    const auto assuming = [](const char* variant, double seconds, double bytes) {
        auto r = test::moving(test::cell("k", variant, seconds, test::pocl()), bytes, 1e12);
        r.work.assumed = true;
        r.work.bytes = bytes;
        return r;
    };
    auto fill = assuming("fill", 1e-3, 4e6), add = assuming("add", 2e-3, 12e6);
    BOOST_TEST(said({fill, add}) == (std::vector<std::string>{"fill", "add"}));
    BOOST_TEST(has(table({fill, add}),
                   "None of 2 variants is ranked, because they may do unlike work: the buffers of k_fill have 4.00 MB, "
                   "those of k_add 12.0 MB; 'reference KERNEL' ranks kernels of one problem by time, 'work bytes=N' "
                   "ranks others per byte; `cllab run k_add --vs k_fill --device 1:0` compares their times."),
               table({fill, add}));
    // Kernels of each problem are ranked.
    const auto copy = assuming("copy", 1e-3, 8e6), other = assuming("other", 3e-3, 8.2e6);
    BOOST_TEST(said({fill, copy, other}) == (std::vector<std::string>{"copy fastest", "other slower", "fill"}));
    BOOST_TEST(has(table({fill, copy, other}), "Kernels with 8.00 MB of buffers: k_copy is fastest: 1.00 ms ±0.5 %; "
                                               "next is k_other, 3.00 times as long. 1 of 3 is not ranked"),
               table({fill, copy, other}));
    // Another size of the work-groups leaves the problem as it is.
    auto tuned = at(fill, {{"items", "4"}});
    tuned.time = assuming("fill", 3e-3, 1).time;
    tuned.work.bytes = 40e6;
    BOOST_TEST(said({at(fill, {{"items", "1"}}), tuned, at(copy, {})}).front() == "fill fastest");
    // A reference shows that both solve one problem: the time decides, not the rate of the assumed bytes.
    fill.checked_by = "is the reference", add.checked_by = "reference fill, relation sum of y is n";
    BOOST_TEST(said({add, fill}) == (std::vector<std::string>{"fill fastest", "add slower"}));
    BOOST_TEST(has(table({fill, add}), "next is k_add, 2.00 times as long."), table({fill, add}));
    add.checked_by = "reference other";
    BOOST_TEST(said({fill, add}) == (std::vector<std::string>{"fill", "add"}));
    // Of declared bytes the rate decides, and each cell says so.
    fill.work.assumed = add.work.assumed = false;
    BOOST_TEST(said({fill, add}) == (std::vector<std::string>{"add fastest", "fill slower"}));
    BOOST_TEST(has(table({fill, add}), " fastest/B "), table({fill, add}));
    BOOST_TEST(has(table({fill, add}), " 1.50x/B "), table({fill, add}));
}

BOOST_AUTO_TEST_CASE(commands_keep_the_options_that_describe_the_kernel) {
    auto r = test::cell("k", "a", 1e-3, test::pocl());
    r.build.source = "k.cl";
    r.point = {{"n", "64"}};
    r.argv = {"cllab",      "run",  "k.cl", "-a",     "n=64",     "--arg",   "m=2 + 1",   "--build-options=-DX",
              "--max-time", "1",    "-I",   "inc",    "--expect", "y=g.bin", "--variant", "fast=-O1",
              "--json",     "r.js", "--vs", "k.cl:b", "--dumps",  "d"};
    BOOST_TEST(report::command_text(r, "run k.cl:a") ==
               "`cllab run k.cl:a --axis n=64 --arg 'm=2 + 1' --build-options=-DX -I inc --expect y=g.bin --variant "
               "fast=-O1 --dumps d --device 1:0`");
    BOOST_TEST(report::command_text(r, "profile") == "`cllab profile --dumps d --device 1:0`");
    BOOST_TEST(report::command_text(r, "isa k.cl:a --hot") ==
               "`cllab isa k.cl:a --hot --axis n=64 --arg 'm=2 + 1' --build-options=-DX -I inc --variant fast=-O1 "
               "--dumps d --device 1:0`");
}

BOOST_AUTO_TEST_CASE(one_command_decides_all_undecided_variants) {
    std::vector<Record> rows;
    for (const auto* variant : {"wide", "loop", "roi"})
        rows.push_back(test::cell("pitch", variant, 1e-3, test::pocl()));
    BOOST_TEST(has(table(rows), "`cllab run pitch_wide pitch_loop pitch_roi --vs best --device 1:0` decides."));
    // If the command line selected no others, by the words that selected them.
    for (auto& r : rows) r.argv = {"cllab", "run", "pitch_*"};
    BOOST_TEST(has(table(rows), "`cllab run 'pitch_*' --vs best --device 1:0` decides."));
    auto slow = test::cell("pitch", "slow", 1, test::pocl());
    slow.argv = rows.front().argv;
    BOOST_TEST(has(table({rows[0], rows[1], rows[2], slow}), "`cllab run pitch_wide pitch_loop pitch_roi --vs best"));
    for (auto& r : rows) r.argv = {"cllab", "run", r.build.source = "k.cl"};
    BOOST_TEST(has(table(rows), "`cllab run k.cl --vs best --device 1:0` decides."));
    // Of different runs. One variant needs no command.
    for (auto& r : rows) r = of_run(r, r.variant);
    BOOST_TEST(has(table(rows), "`cllab run k.cl:wide k.cl:loop k.cl:roi --vs best --device 1:0` decides."));
    BOOST_TEST(has(table({rows[0], of_run(rows[0], "again")}),
                   "None of 2 rows is ranked, because they were timed in different runs; pitch_wide has the shortest "
                   "time, 1.00 ms ±0.5 %."));
}

BOOST_AUTO_TEST_CASE(table_ends_with_fastest_next_and_main_difference) {
    auto tile = test::cell("nn", "tile8", 413e-6, test::pocl()), loop = test::cell("nn", "loop", 553e-6, test::pocl());
    const auto sentence = [&] {
        const auto page = table({loop, tile});
        return page.substr(page.find("nn_tile8 is fastest"));
    };
    BOOST_TEST(sentence().starts_with("nn_tile8 is fastest: 413 us ±0.5 %; next is nn_loop, 1.34 times as long.\n"),
               sentence());
    const auto executes = [](Record& r, double number) {
        r.metrics.emplace_back("hot_code", model::MetricValue{number, "instr/pixel", model::Better::neither});
    };
    executes(tile, 26);
    executes(loop, 60);
    tile.code.spills = 4, loop.code.spills = 0;
    BOOST_TEST(has(sentence(), "; nn_tile8 executes 26 instructions per pixel, nn_loop 60."), sentence());
    // Fewer in the slower one explain nothing.
    loop.metrics.pop_back();
    executes(loop, 20);
    BOOST_TEST(has(sentence(), "1.34 times as long.\n"), sentence());
}

BOOST_AUTO_TEST_CASE(hot_code_difference_has_the_sign_of_the_times) {
    const auto running = [](const char* variant, double seconds, unsigned instructions, const char* width,
                            double vectors) {
        auto r = test::cell("nn", variant, seconds, test::pocl());
        r.work.bytes = 1e6;
        r.hot = model::Hot{.evidence = model::Hot::sampled, .samples = 400, .in_kernel = 400};
        model::HotBlock block{.function = "nn", .share = 0.9, .instructions = instructions, .loops = {64}};
        block.classes = vectors > 0 ? std::map<std::string, unsigned>{{std::string("vector_") + width, instructions}}
                                    : std::map<std::string, unsigned>{{"scalar_integer", instructions}};
        block.memory = {{std::string("store_") + width, 1}};
        block.elements = {{model::HotBlock::vector, vectors}};
        r.hot->blocks = {block};
        r.hot->loops = {{.function = "nn", .header = 64, .instructions = instructions}};
        return r;
    };
    const auto fast = running("fast", 40e-6, 22, "256", 19);
    auto slow = running("slow", 170e-6, 25, "64", 0);
    BOOST_TEST(report::difference(fast, slow).text ==
               "nn_fast executes 0.688 instructions per stored byte in vectors of up to "
               "256 bits, nn_slow 3.12 without vectors");
    // Stores in part: there are more for a byte of an output. That is no smaller number where it is the faster one's.
    slow.hot->blocks.front().elements[model::HotBlock::part_store] = 1;
    BOOST_TEST(report::difference(fast, slow).text.find("nn_slow at least 3.12 without") != std::string::npos);
    auto in_part = fast;
    in_part.hot->blocks.front().elements[model::HotBlock::part_store] = 1;
    const std::string forms = "nn_fast computes in vectors of up to 256 bits, nn_slow without vectors";
    BOOST_TEST(report::difference(in_part, slow).text == forms);
    // Loop control is scalar in both.
    auto mixed = in_part;
    mixed.hot->blocks.front().share = 0.3;
    mixed.hot->blocks.front().elements["product"] = 8;
    mixed.hot->blocks.push_back(slow.hot->blocks.front());
    mixed.hot->blocks.back().share = 0.6;
    mixed.work.groups = 64, slow.work.groups = 256;
    BOOST_TEST(report::difference(mixed, slow).text == forms);
    mixed.work.groups = slow.work.groups = 0;
    // Other code runs in each pass of the loop.
    slow.hot->loops.front().instructions = 40;
    BOOST_TEST(report::difference(fast, slow).text == forms);
    slow.hot->loops.front().instructions = 25;
    slow.code.local_bytes = 64;  // its stores look like any other
    BOOST_TEST(report::difference(fast, slow).text == forms);
    slow.code.local_bytes.reset();
    slow.work.bytes = 4e6;  // another amount of work comes first only where it explains more
    BOOST_TEST(report::difference(fast, slow).text == "nn_fast moves 1.00 MB, nn_slow 4.00 MB");
    // Of the faster one that has no vectors nothing is said, and of what was not read.
    BOOST_TEST(report::difference(running("a", 40e-6, 9, "64", 0), running("b", 80e-6, 22, "256", 19)).text == "");
    auto older = fast;
    older.hot->blocks.front().elements.clear();
    older.work.bytes = 0;
    BOOST_TEST(report::difference(older, running("slow", 170e-6, 25, "64", 0)).text == "");
}

BOOST_AUTO_TEST_CASE(table_of_many_points_ends_with_wins_per_variant) {
    std::vector<Record> records;
    for (const char* n : {"1", "2", "4", "8"})
        for (const char* variant : {"a", "b"})
            records.push_back(at(test::cell("f", variant, *variant == 'a' || *n == '8' ? 1e-3 : 2e-3), {{"n", n}}));
    BOOST_TEST(
        has(table(records), "Fastest of 4 points: f_a at 3; at 1 none is clearly. At n=8: No variant is clearly"),
        table(records));
    std::erase_if(records, [](const Record& r) { return r.variant == "b"; });
    records.back().time->median = 4e-3;
    BOOST_TEST(has(table(records), "f_a takes 1.00 ms ±0.5 % at n=1 and 4.00 ms at n=8."), table(records));
}

BOOST_AUTO_TEST_CASE(difference_within_machine_variation_has_no_fastest) {
    const auto rows = [](double reference, double cores) {
        auto a = test::cell("pitch", "wide", 1e-3, test::pocl()),
             b = test::cell("pitch", "loop", 1.19e-3, test::pocl());
        for (auto* r : {&a, &b}) {
            r->time->reference_spread = reference;
            r->time->cores = cores;
            r->time->waited = 2 - cores;
            r->host.threads = 2;
        }
        return std::vector<Record>{a, b};
    };
    BOOST_TEST(said(rows(0.01, 2)).front() == "wide fastest");
    BOOST_TEST(said(rows(0.08, 2)).front() == "wide ~");
    BOOST_TEST(said(rows(0.01, 1.84)).front() == "wide ~");
    BOOST_TEST(table(rows(0.08, 2)).find("by no more than the 24 %") != std::string::npos, table(rows(0.08, 2)));
}

BOOST_AUTO_TEST_SUITE_END()
