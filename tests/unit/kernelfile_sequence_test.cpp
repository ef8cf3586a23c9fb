// Kernels in sequence: what their lines say, what is refused, and the steps and arguments of an operation.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "kernelfile/sequence/sequences.hpp"
#include "model/work.hpp"
#include "unit/kernel_parameter.hpp"

BOOST_AUTO_TEST_SUITE(kernelfile_sequence)

using namespace cllab;
using namespace cllab::kernelfile;
using test::parameter;
using Kind = model::Parameter::Kind;

namespace {

const std::vector<model::KernelSignature> kernels{
    {"count", {parameter("keys", Kind::global, "uint", true), parameter("bins", Kind::global, "uint")}},
    {"scan", {parameter("bins", Kind::global, "uint"), parameter("n", Kind::value, "int")}},
    {"scatter",
     {parameter("keys", Kind::global, "uint", true), parameter("bins", Kind::constant, "uint", true),
      parameter("sorted", Kind::global, "uint"), parameter("part", Kind::local, "uint"),
      parameter("n", Kind::value, "int")}},
    {"other", {parameter("bins", Kind::global, "float")}}};

const std::string buffers = "arg keys = rand:64\narg bins = zero:16\narg sorted = out:64\narg part = local:4\n";
const std::string sort = buffers + "arg n = 64\nglobal 64\nsequence sort = count, scan, scatter\n";

Description described(const std::string& lines) {
    Description out;
    parse_statements(lines, "k.cl", 1, out);
    return out;
}

struct Made {
    Description description;
    std::vector<std::string> notes{};
    BoundSequence bound;

    explicit Made(const std::string& lines)
        : description(described(lines)),
          bound({"k.cl", description, description.sequences.front(), kernels, {}, {}}, {}, notes) {}
    model::Setup setup() const { return bound.setup({}, {}, 1); }
};

std::string refusal(const std::string& lines) {
    try {
        const Made made(lines);
        check_sequences(made.description, "k.cl", {"count", "scan", "scatter", "other"});
        made.bound.check({}, {});
    } catch (const Error& e) {
        return e.what();
    }
    return "nothing";
}

/// "count(keys bins) scan(bins n) <bins sorted>": launches with their arguments, and swaps.
std::string steps(const model::Setup& setup) {
    std::string out;
    for (const auto& step : setup.steps) {
        if (const auto* launch = std::get_if<model::Launch>(&step)) {
            out += launch->part + "(";
            for (const auto& name : launch->args) out += name + " ";
            out.back() = ')';
        }
        if (const auto* reset = std::get_if<model::Reset>(&step)) out += reset->buffer + "=" + reset->data;
        if (const auto* swap = std::get_if<model::Swap>(&step)) out += "<" + swap->a + " " + swap->b + ">";
        out += " ";
    }
    return out.substr(0, out.size() - 1);
}

int number(const model::Setup& setup, const std::string& name) {
    for (const auto& argument : setup.args)
        if (const auto* value = std::get_if<model::Value>(&argument); value && value->name == name) {
            int out = 0;
            std::memcpy(&out, value->data.data(), sizeof out);
            return out;
        }
    return -1;
}

}  // namespace

BOOST_AUTO_TEST_CASE(kernels_share_buffers_by_name_and_writes_become_outputs) {
    const auto setup = Made(sort).setup();
    BOOST_TEST(steps(setup) == "count(keys bins) scan(bins n) scatter(keys bins sorted part n)");
    std::string kinds;
    for (const auto& argument : setup.args)
        kinds += model::name_of(argument) + "=" + std::to_string(argument.index()) + " ";
    BOOST_TEST(kinds ==
               "keys=0 bins=2 sorted=1 n=5 part=4 ");  // an input, in and out, an output, a value, local memory
    // Also where the first of them only reads it.
    const auto later = Made(buffers + "arg n = 64\nglobal 64\nsequence s = scatter, count\n").setup();
    BOOST_TEST(model::name_of(later.args[1]) == "bins");
    BOOST_TEST(std::holds_alternative<model::InOut>(later.args[1]));
    BOOST_TEST(setup.work.bytes == 4 * ((64 + 16) + 16 + (64 + 16 + 64)));
}

BOOST_AUTO_TEST_CASE(each_kernel_has_its_own_sizes_and_scalars) {
    const auto setup = Made(sort + "kernel scan\nglobal 1\nlocal 1\narg n = 16\n").setup();
    BOOST_TEST(steps(setup) == "count(keys bins) scan(bins n) scatter(keys bins sorted part scatter.n)");
    BOOST_TEST(number(setup, "n") == 16);
    BOOST_TEST(number(setup, "scatter.n") == 64);
    const auto& scan = std::get<model::Launch>(setup.steps[1]);
    BOOST_TEST(scan.global.text() == "1");
    BOOST_TEST(scan.local.text() == "1");
    BOOST_TEST(std::get<model::Launch>(setup.steps[2]).local.dims == 0u);
    // What the sequence says wins over what a kernel says.
    BOOST_TEST(number(Made(sort + "arg n = 7\nkernel scan\narg n = 16\n").setup(), "n") == 7);
}

BOOST_AUTO_TEST_CASE(kernel_used_twice_may_use_other_buffers) {
    const auto setup = Made(buffers +
                            "arg n = 3\narg sums = out:16\nkernel again = scan\narg bins = sums\narg n = 4\n"
                            "kernel scan\nglobal 1\nsequence twice = scan, again\nglobal 8\n")
                           .setup();
    BOOST_TEST(steps(setup) == "scan(bins n) again(sums again.n)");
    const auto& again = std::get<model::Launch>(setup.steps[1]);
    BOOST_TEST(again.entry == "scan");
    BOOST_TEST(again.global.text() == "8");
}

BOOST_AUTO_TEST_CASE(two_arguments_of_one_kernel_may_share_a_buffer) {
    const auto setup =
        Made(buffers + "arg n = 3\nglobal 8\nkernel scatter\narg sorted = same:keys\nsequence s = scatter\n").setup();
    BOOST_TEST(steps(setup) == "scatter(keys bins keys part n)");
    BOOST_TEST(std::holds_alternative<model::InOut>(setup.args[0]));
}

BOOST_AUTO_TEST_CASE(repetitions_are_numbered_and_swaps_are_undone_at_the_end) {
    const std::string pair = "arg keys = iota:8\narg bins = out:8\nglobal 8\nsequence s = count\nswap keys bins\n";
    BOOST_TEST(steps(Made(pair + "repeat 2\n").setup()) == "count(keys bins) count(bins keys)");
    BOOST_TEST(steps(Made(pair + "repeat 3\n").setup()) ==
               "count(keys bins) count(bins keys) count(keys bins) <bins keys>");
    const auto doubled = Made(buffers + "sequence s = scan\narg n = 1 << rep\nglobal 16 >> rep\nrepeat 3\n").setup();
    BOOST_TEST(steps(doubled) == "scan(bins n) scan(bins scan.n) scan(bins scan.n.2)");
    BOOST_TEST(number(doubled, "scan.n.2") == 4);
    BOOST_TEST(std::get<model::Launch>(doubled.steps[2]).global.text() == "4");
}

BOOST_AUTO_TEST_CASE(three_buffers_may_rotate) {
    const std::string lines =
        "arg keys = zero:8\narg bins = zero:8\narg sorted = zero:8\narg part = local:4\narg n = 1\nglobal 8\n"
        "sequence s = scatter\nswap keys bins\nswap bins sorted\n";
    BOOST_TEST(steps(Made(lines + "repeat 3\n").setup()) ==
               "scatter(keys bins sorted part n) scatter(bins sorted keys part n) scatter(sorted keys bins part n)");
    const auto once = Made(lines).setup();
    std::map<std::string, std::string> now{{"keys", "keys"}, {"bins", "bins"}, {"sorted", "sorted"}};
    for (const auto& step : once.steps)
        if (const auto* swap = std::get_if<model::Swap>(&step)) std::swap(now[swap->a], now[swap->b]);
    BOOST_TEST((now == std::map<std::string, std::string>{{"keys", "bins"}, {"bins", "sorted"}, {"sorted", "keys"}}));
}

BOOST_AUTO_TEST_CASE(reset_buffers_are_listed_in_the_setup) {
    BOOST_TEST((Made(sort + "reset bins\n").setup().reset == std::vector<std::string>{"bins"}));
    BOOST_TEST(Made(sort).setup().reset.empty());
}

BOOST_AUTO_TEST_CASE(reset_before_each_repetition_is_a_step) {
    const std::string lines = "arg keys = iota:8\narg bins = zero:8\nglobal 8\nsequence s = count\nrepeat 2\n";
    const auto setup = Made(lines + "reset each bins\n").setup();
    BOOST_TEST(steps(setup) == "bins=bins count(keys bins) bins=bins count(keys bins)");
    BOOST_TEST(setup.reset.empty());
    BOOST_TEST(setup.global.text() == "8");
    // What has changed places is put back by its name, wherever that is now.
    BOOST_TEST(steps(Made(lines + "reset each bins\nswap keys bins\n").setup()) ==
               "bins=bins count(keys bins) keys=bins count(bins keys)");
}

BOOST_AUTO_TEST_CASE(invalid_lines_are_refused_in_one_sentence) {
    for (const auto& [lines, sentence] : std::vector<std::pair<std::string, std::string>>{
             {"sequence s =\n",
              "k.cl:1:10: 'sequence' takes NAME = VALUE, as in 'sequence sort = count, scan, scatter'; "
              "found 's ='"},
             {"sequence s = a,,b\n",
              "k.cl:1:16: a sequence lists kernels, as in 'sequence sort = count, scan, scatter'; found ''"},
             {"repeat 3\n", "k.cl:1:8: 'repeat' must follow the line 'sequence NAME = KERNEL, …' of its sequence"},
             {sort + "sequence sort = count\n", "k.cl:8:10: sequence 'sort' is given twice"},
             {sort + "swap keys\n", "k.cl:8:6: 'swap' takes two buffers, as in 'swap front back'; found 'keys'"},
             {sort + "swap bins bins\n",
              "k.cl:8:6: 'swap' takes two buffers, as in 'swap front back'; found 'bins bins'"},
             {sort + "swap keys n\n",
              "k.cl:8:6: 'swap' names 'n', which is not a buffer of sequence 'sort'; its shared arguments are "
              "keys, bins, sorted"},
             {sort + "swap keys bins\n",
              "k.cl:8:6: 'keys' has 64 elements and 'bins' has 16; only buffers of the same length can be swapped"},
             {sort + "reset sorted\n",
              "k.cl:8:7: 'reset' names 'sorted', which has no initial data; write e.g. 'arg sorted = zero:64'"},
             {sort + "reset keys\n", "k.cl:8:7: 'reset' names 'keys', which no kernel of the sequence writes"},
             {sort + "reset each keys\n", "k.cl:8:12: 'reset' names 'keys', which no kernel of the sequence writes"},
             {sort + "reset each \n",
              "k.cl:8:7: 'reset' names 'each', which is not a buffer of sequence 'sort'; its shared arguments are "
              "keys, bins, sorted"},
             {sort + "repeat 0\n",
              "k.cl:8:8: the sequence repeats 0 times; expected 1 to 1365, because an operation has "
              "at most 4096 launches"},
             {sort + "arg bins = zero:rep\n",
              "k.cl:8:17: 'rep' is not defined; known names are n, or add a line 'axis rep = 1024'"},
             {sort + "axis rep = 3\n",
              "k.cl:8:6: axis 'rep' is reserved for the number of the repetition in a file with "
              "sequences; rename it"},
             {sort + "kernel scan\narg bins = zero:32\n",
              "k.cl:7:10: in sequence 'sort', 'bins' is zero:16 for 'count' and zero:32 for 'scan'; a line 'arg bins = "
              "…' after 'sequence sort' sets it for all"},
             {buffers + "arg n = 1\nglobal 16\nsequence s = scan, other\n",
              "k.cl:7:10: in sequence 's', 'bins' is uint* for 'scan' and float* for 'other'; kernels can share "
              "only a buffer of one type"},
             {sort + "kernel more = nothing\n",
              "k.cl:8:8: 'k.cl' has no kernel 'nothing'; its kernels are count, other, "
              "scan, scatter"},
             {sort + "kernel more = scan\n",
              "k.cl:8:8: no sequence lists 'more', but aliases of kernels run in sequences only"},
             {"arg keys = rand:4\nglobal 4\nsequence s = count\n",
              "k.cl:3:10: sequence 's' lacks the data or the length of bins; write e.g. 'arg bins = zero:1024'"},
             {"arg keys = rand:4\narg bins = out\nglobal 4\nsequence s = count\n",
              "k.cl:4:10: sequence 's' lacks the data or the length of bins; write e.g. 'arg bins = zero:1024'"}})
        BOOST_TEST(refusal(lines) == sentence);
}

BOOST_AUTO_TEST_CASE(missing_kernel_is_refused_first) {
    const auto description = described("sequence s = count, skan\n");
    try {
        check_sequences(description, "k.cl", {"count", "scan"});
        BOOST_FAIL("it is taken");
    } catch (const Error& e) {
        BOOST_TEST(
            e.what() ==
            std::string(
                "k.cl:1:21: sequence 's' lists 'skan', which is not a kernel of 'k.cl'; its kernels are count, scan"));
    }
}

BOOST_AUTO_TEST_SUITE_END()
