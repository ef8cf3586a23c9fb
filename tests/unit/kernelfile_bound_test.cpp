// A kernel with values for its parameters: what fits, what is refused and where, and what a launch gets at a point.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "kernelfile/bound.hpp"
#include "model/work.hpp"
#include "unit/kernel_parameter.hpp"

BOOST_AUTO_TEST_SUITE(kernelfile_bound)

using namespace cllab;
using namespace cllab::kernelfile;
using test::parameter;
using Kind = model::Parameter::Kind;

namespace {

/// kernel void k(global const TYPE* src, global TYPE* dst, float f, int n)
model::KernelSignature signature(const std::string& type = "float") {
    return {"k",
            {parameter("src", Kind::global, type, true), parameter("dst", Kind::global, type),
             parameter("f", Kind::value, "float"), parameter("n", Kind::value, "int")}};
}

struct Made {
    std::vector<std::string> notes{};
    Bound bound;

    explicit Made(const std::string& lines, const model::KernelSignature& of = signature(), Wants wants = Wants::launch)
        : bound("k.cl", described(lines), of, {}, {}, {}, wants, notes) {}

    static Description described(const std::string& lines) {
        Description out;
        parse_statements(lines, "k.cl", 1, out);
        return out;
    }
    Shape shape(const model::Point& point = {}) const { return bound.shape(point, {}); }
    /// The value of the argument `name` at the point.
    template <typename T>
    T value(const std::string& name, const model::Point& point = {}) const {
        for (const auto& argument : bound.setup(point, shape(point), 1).args) {
            const auto* found = std::get_if<model::Value>(&argument);
            T out{};
            if (!found || found->name != name) continue;
            BOOST_REQUIRE(found->data.size() == sizeof out);
            std::memcpy(&out, found->data.data(), sizeof out);
            return out;
        }
        BOOST_FAIL("no value " + name);
        return {};
    }
};

model::Point point(const std::string& axis, const std::string& value) {
    model::Point out;
    out.set(axis, value);
    return out;
}

/// What making or shaping it is refused with.
std::string refusal(const std::string& lines, const model::KernelSignature& of = signature(),
                    const model::Point& at = {}) {
    try {
        Made(lines, of).shape(at);
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

const std::string rest = "arg dst = out:8\narg f = 1\narg n = 8\nglobal 8\n";  // but for src

}  // namespace

BOOST_AUTO_TEST_CASE(float_arguments_are_evaluated_in_floating_point) {
    const auto f = [](const std::string& text, const model::Point& at = {}) {
        return Made("arg src = rand:8\narg dst = out:8\narg n = 6 / 4\nglobal 8\narg f = " + text)
            .value<float>("f", at);
    };
    BOOST_TEST(f("1/64") == 0.015625f);
    BOOST_TEST(f("1.0/64") == 0.015625f);
    BOOST_TEST(f("-(3 + 1e-3) * 2") == static_cast<float>(-(3 + 1e-3) * 2));
    BOOST_TEST(f("0.5f") == 0.5f);
    BOOST_TEST(f(".25 * min(4, 2.5)") == 0.625f);
    BOOST_TEST(f("7 % 2.5 + ceil(1 / 4)") == 3.0f);
    BOOST_TEST(f("m / 4", point("m", "3")) == 0.75f);
    BOOST_TEST(f("m", point("m", "0.3")) == 0.3f);
    BOOST_TEST(f("n / 4") == 0.25f);  // n is an int, whose own quotient is rounded down
}

BOOST_AUTO_TEST_CASE(integer_arguments_reject_fractions) {
    BOOST_TEST(refusal("arg src = rand:8\narg dst = out:8\narg f = 1\narg n = 0.5 * 2\nglobal 8")
                   .find("k.cl:4:9: argument 'n' of kernel 'k' is of type int") == 0u);
    BOOST_TEST(refusal("arg src = rand:1.5\n" + rest).find("'1.5' is not a whole number") != std::string::npos);
    BOOST_TEST(refusal("arg src = rand:18446744073709551615\n" + rest).find("does not fit in 63 bits") !=
               std::string::npos);
    BOOST_TEST(Made("arg src = rand:1e3\n" + rest).shape().counts.at("src") == 1000u);
    BOOST_TEST(refusal("arg src = rand:f\narg dst = out:8\narg f = 1/2\narg n = 8\nglobal 8")
                   .find("k.cl:1:16: 'f' is 0.5, but this expression needs a whole number") == 0u);
    BOOST_TEST(Made("arg src = rand:f\narg dst = out:8\narg f = 16/2\narg n = 8\nglobal 8").shape().counts.at("src") ==
               8u);
}

BOOST_AUTO_TEST_CASE(value_that_a_float_cannot_hold_is_refused) {
    const std::string lines = "arg src = rand:8\narg dst = out:8\narg n = 8\nglobal 8\narg f = ";
    BOOST_TEST(refusal(lines + "1e300").find("does not fit the type float") != std::string::npos);
    BOOST_TEST(refusal(lines + "1e308 * 10").find("is not finite") != std::string::npos);
    BOOST_TEST(refusal(lines + "1 / 0").find("division by zero") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(values_too_large_at_a_point_are_refused) {
    auto bytes = signature("uchar");
    const auto at = point("m", "300");
    const std::string fits = "does not fit the type uchar";
    BOOST_TEST(refusal("arg src = const:m:8\n" + rest, bytes, at).find("the value 300 " + fits) != std::string::npos);
    BOOST_TEST(refusal("arg src = rand:8:0:m\n" + rest, bytes, at).find("the value 300 " + fits) != std::string::npos);
    BOOST_TEST(
        refusal("arg src = rand:8:m:0\n" + rest, bytes, point("m", "3")).find("the lower bound must come first") !=
        std::string::npos);
    BOOST_TEST(refusal("arg src = rand:8:0:m\n" + rest, bytes, point("m", "255")).empty());
    bytes.parameters.back().type = *model::builtin_type("uchar");
    BOOST_TEST(refusal("arg src = rand:8\narg dst = out:8\narg f = 1\narg n = m\nglobal 8", bytes, at)
                   .find("the value 300 " + fits) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(chained_names_are_each_evaluated_once) {
    std::string lines = "arg src = rand:8\narg dst = out:8\narg f = a63 / 4\narg n = a63\nglobal 8\narg a0 = 1\n";
    for (int i = 1; i < 64; ++i) {
        const auto before = "a" + std::to_string(i - 1);
        lines += "arg a" + std::to_string(i) + " = " + before + " + " + before + " - " + before + "\n";
    }
    BOOST_TEST(Made(lines).value<int>("n") == 1);
    BOOST_TEST(Made(lines).value<float>("f") == 0.25f);
    BOOST_TEST(refusal(lines + "arg b = c\narg c = b\nwork flops=b").find("depends on itself") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(unspecified_buffers_get_the_global_size_and_a_note) {
    const Made made("arg f = 1\narg n = 8\nglobal 4,2");
    const auto shape = made.shape();
    BOOST_TEST(shape.counts.at("src") == 8u);
    BOOST_TEST(shape.counts.at("dst") == 8u);
    BOOST_TEST(shape.work.bytes == 64);
    BOOST_TEST(shape.work.assumed);
    const std::vector<std::string> notes{"src = rand, as large as global", "dst = out, as large as global",
                                         "local size chosen by the driver", "work bytes = total size of all buffers"};
    BOOST_TEST(made.notes == notes, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(missing_lines_are_listed_when_nothing_is_guessed) {
    const auto said = refusal("arg src = rand:8");
    for (const char* name : {"dst", "f", "n", "global", "--write-block"})
        BOOST_TEST(said.find(name) != std::string::npos, name);
}

BOOST_AUTO_TEST_CASE(code_only_needs_no_values_and_ignores_sizes) {
    auto of = signature();
    of.parameters.push_back(parameter("t", Kind::local, "float4"));
    of.parameters.push_back(parameter("any", Kind::local, "void"));
    of.required_group = {64, 1, 1};
    const Made nothing("", of, Wants::code);
    BOOST_TEST(nothing.bound.setup({}, nothing.shape(), 1).args.empty());
    const Made some("arg t = local:m\narg any = local:4\narg src = rand:0.5\naxis m = 8\nglobal 100\nlocal 64", of,
                    Wants::code);
    const auto shape = some.shape(point("m", "8"));
    BOOST_TEST(shape.local.count() == 64u);
    BOOST_TEST(std::get<model::Local>(some.bound.setup({}, shape, 1).args.at(0)).size_bytes == 128u);
}

BOOST_AUTO_TEST_CASE(qualifier_and_value_make_arguments_inputs_outputs_or_both) {
    const auto setup = [](const std::string& lines) {
        const Made made(lines);
        return made.bound.setup({}, made.shape(), 1);
    };
    const auto first = setup("arg src = iota:8\n" + rest);
    BOOST_TEST(std::get<model::Input>(first.args[0]).data.size() == 32u);
    const auto& output = std::get<model::Output>(first.args[1]);
    BOOST_TEST(output.size_bytes == 32u);
    BOOST_TEST(output.given == "zero:8");  // what the user writes where the kernel reads it
    const auto second = setup("arg src = iota:8\narg dst = const:1/4:8\narg f = 1\narg n = 8\nglobal 8");
    const auto& both = std::get<model::InOut>(second.args[1]);
    float quarter = 0;
    std::memcpy(&quarter, both.data->data() + 28, sizeof quarter);
    BOOST_TEST(quarter == 0.25f);
}

BOOST_AUTO_TEST_CASE(two_arguments_may_share_one_buffer) {
    const std::string more = "arg f = 1\narg n = 8\nglobal 8\nrelation linear in src\n";
    const Made made("arg src = rand:8\narg dst = same:src\n" + more);
    const auto setup = made.bound.setup({}, made.shape(), 1);
    BOOST_TEST(setup.args.size() == 3u);
    const auto& both = std::get<model::InOut>(setup.args[0]);
    BOOST_TEST(both.name == "dst");  // by which it is written
    BOOST_TEST((setup.parameters == std::vector<std::string>{"dst", "dst", "f", "n"}));
    BOOST_TEST(setup.work.bytes == 32);
    const auto results = made.bound.results(setup);
    BOOST_REQUIRE(results.size() == 1u);
    BOOST_TEST((results[0].name == "dst" && results[0].given == both.data));
    const auto related = made.bound.related({}, setup, 1, true);
    BOOST_TEST(related.relations.size() == 1u);
    BOOST_TEST((std::get<model::Launch>(related.launches->steps[0]).args ==
                std::vector<std::string>{"dst.1", "dst.1", "f", "n"}));
    const auto shown = made.bound.shown(setup);
    BOOST_TEST((shown[0].name == "src" && !shown[0].comes_out && shown[1].name == "dst" && shown[1].comes_out));
    // The data is that of the argument with the data, so that a kernel apart gets the same.
    const Made apart("arg src = rand:8\n" + rest);
    BOOST_TEST((*std::get<model::Input>(apart.bound.setup({}, apart.shape(), 1).args[0]).data == *both.data));
}

BOOST_AUTO_TEST_CASE(same_must_refer_to_an_argument_with_data) {
    const std::string more = "arg f = 1\narg n = 8\nglobal 8\n", of = "argument 'dst' of kernel 'k' is ";
    BOOST_TEST(refusal("arg src = rand:8\narg dst = same:n\n" + more) ==
               "k.cl:2:11: " + of + "'same:n'; expected one of src");
    BOOST_TEST(refusal("arg src = rand:8\narg dst = same:dst\n" + more) ==
               "k.cl:2:11: " + of + "'same:dst'; expected one of src");
    BOOST_TEST(refusal("arg dst = same:src\narg src = same:dst\n" + more).find("no other buffer has data") !=
               std::string::npos);
    BOOST_TEST(refusal("arg src = rand:8\narg dst = same:3\n" + more) ==
               "k.cl:2:11: 'same' takes the name of another argument, as in same:src; found '3'");
    BOOST_TEST(refusal("arg src = rand:8\narg dst = out:8\narg f = 1\narg n = same:src\nglobal 8") ==
               "k.cl:4:9: argument 'n' of kernel 'k' is of type int; 'same:src' does not fit it; write e.g. 1024");
}

BOOST_AUTO_TEST_CASE(part_of_a_buffer_may_be_an_argument_and_follows_relations) {
    const auto made_at = [](const std::string& origin) {
        return Made("arg src = rand:64\narg dst = part:src:" + origin + ":8\narg f = 1\narg n = 8\nglobal 8\n" +
                    "relation linear in src\n");
    };
    const Made made = made_at("32");
    const auto setup = made.bound.setup({}, made.shape(), 1);
    BOOST_TEST(std::holds_alternative<model::InOut>(setup.args[0]));  // a part of it is written
    BOOST_TEST((setup.parameters == std::vector<std::string>{"src", "dst", "f", "n"}));
    BOOST_REQUIRE(setup.parts.size() == 1u);
    const auto& part = setup.parts[0];
    BOOST_TEST((part.of == "src" && part.origin_bytes == 128u && part.size_bytes == 32u));
    const auto launches = made.bound.related({}, setup, 1, true).launches;
    BOOST_TEST((launches->parts.at(1).name == "dst.2" && launches->parts.at(1).of == "src.2"));
    const Made first = made_at("0");
    BOOST_TEST(launch_identity(first.bound.setup({}, first.shape(), 1), model::Contents::left_out) !=
               launch_identity(setup, model::Contents::left_out));
}

BOOST_AUTO_TEST_CASE(shared_virtual_memory_buffers_are_listed_in_the_setup) {
    const Made made(
        "arg src = svm:rand:8\narg dst = svm:out:8\narg f = 1\narg n = 8\nglobal 8\nrelation linear in src\n");
    const auto setup = made.bound.setup({}, made.shape(), 1);
    BOOST_TEST((setup.svm == std::vector<std::string>{"src", "dst"}));
    BOOST_TEST(std::holds_alternative<model::Output>(setup.args[1]));
    BOOST_TEST((made.bound.related({}, setup, 1, true).launches->svm ==
                std::vector<std::string>{"src.1", "dst.1", "src.2", "dst.2", "src.3", "dst.3"}));
    BOOST_TEST(Made("arg src = rand:8\n" + rest).bound.setup({}, made.shape(), 1).svm.empty());
}

BOOST_AUTO_TEST_CASE(lengths_of_packed_data_count_numbers) {
    const auto bytes_of = [](const std::string& type, const std::string& value) {
        const Made made("arg src = " + value + "\narg dst = out:8\narg f = 1\narg n = 8\nglobal 8\n", signature(type));
        return model::bytes_of(made.bound.setup({}, made.shape(), 1).args[0]);
    };
    BOOST_TEST(bytes_of("uchar", "rand:nibble:64") == 32);
    BOOST_TEST(bytes_of("uint4", "rand:nibble:64:0:9") == 32);
    BOOST_TEST(bytes_of("ushort", "rand:bf16:64") == 128);
    BOOST_TEST(bytes_of("ushort4", "normal:bf16:64:0:2") == 128);
    BOOST_TEST(refusal("arg src = rand:nibble:12\n" + rest, signature("uint")) ==
               "k.cl:1:11: the length of 'src' is 12 nibbles; it must be a multiple of 8, the nibbles per element of "
               "the kernel's type");
    BOOST_TEST(refusal("arg src = rand:nibble:16:0:16\n" + rest, signature("uint"))
                   .find("the value 16 does not fit the type nibble") != std::string::npos);
    for (const auto& [type, own] : {std::pair("nibble", "float"), {"bf16", "uint"}, {"bf16", "half"}})
        BOOST_TEST(refusal(std::string("arg src = rand:") + type + ":64\n" + rest, signature(own))
                       .find("elements of type " + std::string(type) + " do not fit") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(struct_has_the_layout_of_c) {
    auto of = signature();
    of.parameters[3].type = {"Pair", model::ElementType::Kind::opaque, 0, 1, 16};
    const std::string lines = "arg src = rand:8\narg dst = out:8\narg f = 1\nglobal 8\narg n = ";
    struct Pair {
        char small;
        long large;
    };
    const auto pair = Made(lines + "{char:-3, long:9007199254740993}", of).value<Pair>("n");
    BOOST_TEST(static_cast<int>(pair.small) == -3);
    BOOST_TEST(pair.large == 9007199254740993);
    BOOST_TEST(refusal(lines + "{char:1}", of).find("16 bytes on the device; '{char:1}' has 1") != std::string::npos);
    BOOST_TEST(refusal(lines + "{char:300, long:1}", of).find("300 does not fit the type char") != std::string::npos);
    BOOST_TEST(refusal(lines + "{char:0.5, long:1}", of).find("takes whole numbers") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(group_must_divide_the_range_and_match_the_required_size) {
    auto of = signature();
    BOOST_TEST(refusal("arg src = rand:8\n" + rest + "local 3", of).find("write global e.g. as ceil(8 / 3) * 3") !=
               std::string::npos);
    of.required_group = {4, 1, 1};
    BOOST_TEST(refusal("arg src = rand:8\n" + rest + "local 8", of).find("requires 4x1x1") != std::string::npos);
    BOOST_TEST(Made("arg src = rand:8\n" + rest, of).shape().local.size[0] == 4u);
}

BOOST_AUTO_TEST_CASE(lines_of_one_kernel_override_those_of_all) {
    const Made made("arg src = rand:8\n" + rest +
                    "work flops=n\nkernel k\narg n = 5\nglobal 16\nkernel other\narg n = 6");
    BOOST_TEST(made.value<int>("n") == 5);
    BOOST_TEST(made.shape().global.size[0] == 16u);
    BOOST_TEST(made.shape().work.flops == 5);
}

BOOST_AUTO_TEST_CASE(relation_of_all_kernels_applies_once_to_a_specific_kernel) {
    auto said = Made::described("arg src = rand:8\n" + rest + "kernel k\nlocal 4");
    Description option;
    parse_option("relation", "linear in src", option);
    override_with(said, option);
    std::vector<std::string> notes;
    const Bound bound("k.cl", said, signature(), {}, {}, {}, Wants::launch, notes);
    const auto setup = bound.setup({}, bound.shape({}, {}), 1);
    BOOST_TEST(bound.related({}, setup, 1, true).relations.size() == 1u);
}

BOOST_AUTO_TEST_CASE(same_needs_two_or_more_names) {
    Description said;
    parse_statements("same one, two , three", "k.cl", 1, said);
    const std::vector<std::string> names{"one", "two", "three"};
    BOOST_TEST(said.same.front().names == names, boost::test_tools::per_element());
    BOOST_CHECK_THROW(parse_statements("same one", "k.cl", 1, said), Error);
    BOOST_CHECK_THROW(parse_statements("same one, 2nd", "k.cl", 1, said), Error);
    BOOST_CHECK_THROW(parse_statements("same", "k.cl", 1, said), Error);
}

BOOST_AUTO_TEST_SUITE_END()
