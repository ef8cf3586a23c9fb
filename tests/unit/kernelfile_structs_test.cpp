// Structs: the fields that a text gives them, where these lie, how each is drawn, and how results are compared by them.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "kernelfile/bound.hpp"
#include "kernelfile/data/structs.hpp"
#include "unit/kernel_parameter.hpp"

BOOST_AUTO_TEST_SUITE(kernelfile_structs)

using namespace cllab;
using namespace cllab::kernelfile;
using test::parameter;

namespace {

/// "a:int@0 b:float3@16"
std::string text_of(const std::vector<model::Member>& members) {
    std::string out;
    for (const auto& m : members)
        out += (out.empty() ? "" : " ") + m.name + ":" + m.type.name + "@" + std::to_string(m.begin);
    return out;
}

const std::string particle = "typedef struct { float3 x;\n float v[2], m; int id; } Particle;";

struct Particle {
    float x[4];  // with its padding
    float v[2], m;
    int id;
};

/// kernel void k(global const Particle* p, global Particle* q), as a driver says it.
model::KernelSignature signature(const std::string& text = particle, std::size_t bytes = sizeof(Particle)) {
    model::Introspection found;
    auto p = parameter("p", model::Parameter::Kind::global, "Particle", true);
    p.type = {"Particle", model::ElementType::Kind::opaque, bytes, 1, bytes};
    auto q = p;
    q.name = "q", q.is_const = false;
    found.kernels = {{"k", {p, q}, {}}};
    name_members(found, text);
    return found.kernels.front();
}

Bound bound(const std::string& value, const model::KernelSignature& of = signature()) {
    Description said;
    parse_statements("arg p = " + value + "\narg q = out:8\nglobal 8", "k.cl", 1, said);
    std::vector<std::string> notes;
    return Bound("k.cl", said, of, {}, {}, {}, Wants::launch, notes);
}

std::vector<Particle> drawn(const Bound& of, std::uint64_t seed = 1) {
    const auto setup = of.setup({}, of.shape({}, {}), seed);
    const auto& data = std::get<model::Input>(setup.args[0]).data;
    std::vector<Particle> out(data.size() / sizeof(Particle));
    std::memcpy(out.data(), data->data(), data.size());
    return out;
}

std::string refusal(const std::string& value, const model::KernelSignature& of = signature()) {
    try {
        const auto made = bound(value, of);
        made.shape({}, {});
    } catch (const Error& e) {
        return e.what();
    }
    return "nothing";
}

}  // namespace

BOOST_AUTO_TEST_CASE(fields_follow_the_text_and_have_opencl_offsets) {
    BOOST_TEST(text_of(members_of(particle, "Particle")) ==
               "x:float3@0 v[0]:float@16 v[1]:float@20 m:float@24 id:int@28");
    BOOST_TEST(text_of(members_of("struct P { char c; double3 d; unsigned int n; half4 h; };", "struct P")) ==
               "c:char@0 d:double3@32 n:unsigned int@64 h:half4@72");
    BOOST_TEST(bytes_of(members_of("struct P { char c; double3 d; unsigned int n; half4 h; };", "P")) == 96u);
    for (const char* other : {"struct P { int* p; };", "struct P { real x; };", "struct P { struct Q { int a; } q; };",
                              "struct P { int a : 3; };", "struct P { int a[N]; };", "struct Q { int a; };"})
        BOOST_TEST(members_of(other, "P").empty(), other);
}

BOOST_AUTO_TEST_CASE(struct_of_another_size_on_the_device_has_no_known_fields) {
    BOOST_TEST(signature().parameters[0].type.members.size() == 5u);
    BOOST_TEST(signature(particle, 48).parameters[0].type.members.empty());
}

BOOST_AUTO_TEST_CASE(each_field_is_drawn_by_its_own_rule) {
    const auto of = bound("fields:8:{x:rand:-1:1, v:0.5, id:iota}");
    const auto all = drawn(of), other = drawn(of, 2);
    for (int i = 0; i < 8; ++i) {
        const auto& one = all[static_cast<std::size_t>(i)];
        BOOST_TEST((one.x[0] >= -1 && one.x[0] < 1 && one.x[0] != one.x[1]));
        BOOST_TEST((one.v[0] == 0.5f && one.v[1] == 0.5f));
        BOOST_TEST((one.m >= 0 && one.m < 1));  // what no rule names is random
        BOOST_TEST(one.id == i);
        BOOST_TEST(one.m != other[static_cast<std::size_t>(i)].m);
    }
    BOOST_TEST(all[0].m != all[1].m);
    BOOST_TEST(of.random_inputs());
    BOOST_TEST(!bound("fields:8:{x:0, v:zero, m:const:2, id:iota}").random_inputs());
    const auto plain = drawn(bound("rand:8"));
    BOOST_TEST((plain[0].id >= 0 && plain[0].id < 256 && plain[0].x[0] < 1 && plain[0].x[0] != plain[1].x[0]));
}

BOOST_AUTO_TEST_CASE(one_line_declares_the_fields_of_all_arguments_of_a_struct) {
    const auto of =
        bound("fields:8:{float3 x:0, float v[2]:1, float m:2, int id:perm}", signature("#define REAL float"));
    BOOST_TEST(drawn(of)[3].v[1] == 1);
    const auto results = of.results(of.setup({}, of.shape({}, {}), 1));
    BOOST_TEST(results.front().type.members.size() == 5u);
}

BOOST_AUTO_TEST_CASE(results_are_compared_by_field_without_padding) {
    const auto type = signature().parameters[1].type;
    std::vector<Particle> a(4), b(4);
    const auto compare = [&](const Tolerance& tolerance) {
        model::Errors errors(tolerance);
        return difference("q", *model::share(a), *model::share(b), type, errors, "expected").value_or("none");
    };
    a[2].x[3] = 7;
    BOOST_TEST(compare({}) == "none");
    a[1].v[1] = 1, b[1].v[1] = 1.0001f;
    BOOST_TEST(compare({}).find("q[1].v[1] is 1, expected 1.00010002") == 0u);
    BOOST_TEST(compare({0, 1e-3, 0}) == "none");
    a[3].x[1] = 2, b[3].x[1] = 5;
    BOOST_TEST(compare({0, 1e-3, 0}).find("q[3].x.s1 is 2, expected 5") == 0u);
    a[3].x[1] = 5, a[0].id = 4;
    BOOST_TEST(compare({0, 1e-3, 0}) == "q[0].id is 4, expected 0");
}

BOOST_AUTO_TEST_CASE(fields_of_large_arrays_are_compared_one_after_the_other) {
    const auto type = signature().parameters[1].type;
    std::vector<Particle> a(150'001), b(a.size());
    for (auto& one : b) one.v[1] = 1;
    for (auto& one : a) one.v[1] = 1.0001f, one.x[3] = 9;
    const auto compare = [&](const Tolerance& tolerance) {
        model::Errors errors(tolerance);
        return difference("q", *model::share(a), *model::share(b), type, errors, "expected").value_or("none");
    };
    BOOST_TEST(compare({0, 1e-3, 0}) == "none");
    BOOST_TEST(compare({}).find("q[0].v[1] is 1.00010002, expected 1 (the largest errors are ") == 0u,
               compare({}));
    for (const std::size_t last : {150'000, 131'072, 70'001, 65'535, 33}) {
        a[last].id = 4;
        BOOST_TEST(compare({0, 1e-3, 0}) == "q[" + std::to_string(last) + "].id is 4, expected 0");
    }
    a[140'000].v[0] = 3;
    BOOST_TEST(compare({0, 1e-3, 0}).find("q[140000].v[0] is 3, expected 0") == 0u, compare({0, 1e-3, 0}));
}

BOOST_AUTO_TEST_CASE(unwritten_padding_is_not_a_missing_result) {
    auto type = *model::builtin_type("double3");
    BOOST_TEST((type.holds(23) && !type.holds(24) && !type.holds(31)));
    BOOST_TEST(!signature().parameters[0].type.holds(13));
    BOOST_TEST(signature().parameters[0].type.holds(16));
}

BOOST_AUTO_TEST_CASE(invalid_rules_are_refused_in_one_sentence) {
    const std::string takes =
        "k.cl:1:9: 'fields' takes a length and rules, as in fields:n:{position:rand:-1:1, mass:1}; found ";
    for (const auto& [value, sentence] : std::vector<std::pair<std::string, std::string>>{
             {"fields:8", takes + "'fields:8'"},
             {"fields:{x:rand}", takes + "'fields:{x:rand}'"},
             {"fields:8:{x:rand, y:0}",
              "k.cl:1:9: argument 'p' of kernel 'k' has no field 'y'; its fields are x, v[0], v[1], m, id"},
             {"fields:8:{x:rand, x:0}", "k.cl:1:27: the field 'x' is given twice"},
             {"fields:8:{x:rnd:0:1}", "k.cl:1:21: unknown rule 'rnd'; did you mean rand?"},
             {"fields:8:{x:rand:0}",
              "k.cl:1:26: 'rand' takes no bounds or two, as in rand:n:0:1; a field takes no length"},
             {"fields:8:{x}", "k.cl:1:19: a field is NAME:RULE, as in position:rand:-1:1 or id:iota; found 'x'"},
             {"fields:8:{x:rand, int id:0}", "k.cl:1:27: give the types of all fields or of none; found 'int id:0'"},
             {"fields:8:{real x:0}",
              "k.cl:1:19: 'real x' is not a field with a type of OpenCL C, as in float3 position"},
             {"fields:8:{id:normal}",
              "k.cl:1:22: 'id:normal' does not fit 'p.id', whose elements of type int are not floating-point numbers"},
             {"fields:8:{id:3000000000}", "k.cl:1:22: the value 3000000000 does not fit the type int"},
             {"fields:8:{float x:0, int id:0}",
              "k.cl:1:9: argument 'p' of kernel 'k' is a __global const Particle*, which has 32 bytes on the device; "
              "'fields:8:{float x:0, int id:0}' has 8; name every field of the struct, in order"}})
        BOOST_TEST(refusal(value) == sentence);
}

BOOST_AUTO_TEST_CASE(unknown_fields_are_asked_for_or_refused) {
    BOOST_TEST(refusal("fields:8:{x:rand}", signature("")) ==
               "k.cl:1:9: argument 'p' of kernel 'k' is a __global const Particle*; its fields are not in the source; "
               "give their types, as in fields:n:{float3 position:rand, int id:iota}");
    auto of = signature();
    for (auto& p : of.parameters) p.type = *model::builtin_type("float");
    BOOST_TEST(
        refusal("fields:8:{x:rand}", of) ==
        "k.cl:1:9: argument 'p' of kernel 'k' is a __global const float*, which has no fields; write e.g. rand:1024");
}

BOOST_AUTO_TEST_SUITE_END()
