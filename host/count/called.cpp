#include "count/called.hpp"

#include <cctype>
#include <set>
#include <utility>

namespace cllab::count {
namespace {

using model::Operation;
using Names = std::set<std::string, std::less<>>;

const std::pair<Names, Operation> float_kinds[]{
    {{"fma", "mad", "mix"}, Operation::float_fma},
    {{"native_divide", "half_divide", "native_recip", "half_recip"}, Operation::float_divide},
    {{"degrees", "radians"}, Operation::float_multiply},
    {{"fdim"}, Operation::float_add},
    {{"fabs",           "fmin",      "fmax",        "min",           "max",      "clamp",      "step",
      "sign",           "copysign",  "ceil",        "floor",         "rint",     "round",      "trunc",
      "fract",          "maxmag",    "minmag",      "nan",           "isequal",  "isnotequal", "isgreater",
      "isgreaterequal", "isless",    "islessequal", "islessgreater", "isfinite", "isinf",      "isnan",
      "isnormal",       "isordered", "isunordered", "signbit",       "nextafter"},
     Operation::float_compare}};
const Names integer_multiplications{"mul24", "mad24", "mul_hi", "mad_hi", "mad_sat"};
const Names free_of_cost{"shuffle", "shuffle2", "upsample"};

Called of_floats(const std::string& name) {
    if (name == "dot") return {Called::Is::dot};
    if (name == "select" || name == "bitselect" || name == "any" || name == "all")
        return {Called::Is::operation, Operation::integer_add};
    for (const auto& [names, kind] : float_kinds)
        if (names.count(name)) return {Called::Is::operation, kind};
    return {Called::Is::operation, Operation::float_function, name};
}

Called intrinsic(const std::string& name, bool floats) {
    if (name.starts_with("llvm.fmuladd")) return {Called::Is::operation, Operation::float_fma};
    if (name.starts_with("llvm.fabs")) return {Called::Is::operation, Operation::float_compare};
    if (name.starts_with("llvm.mem")) return {Called::Is::other};
    for (const char* none : {"llvm.dbg", "llvm.lifetime", "llvm.assume", "llvm.experimental.noalias"})
        if (name.starts_with(none)) return {Called::Is::nothing};
    return {floats ? Called::Is::other : Called::Is::operation, Operation::integer_add};
}

}  // namespace

std::string plain_name(const std::string& mangled) {
    if (!mangled.starts_with("_Z")) return mangled;
    std::size_t at = 2, length = 0;
    while (at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])))
        length = 10 * length + static_cast<std::size_t>(mangled[at++] - '0');
    return mangled.substr(at, length);
}

Called called(const std::string& mangled, bool floats) {
    if (mangled.starts_with("llvm.")) return intrinsic(mangled, floats);
    const auto name = plain_name(mangled);
    for (const char* barrier : {"barrier", "work_group_barrier", "wait_group_events"})
        if (name == barrier) return {Called::Is::barrier};
    if (name.starts_with("read_image") || name.starts_with("write_image")) return {Called::Is::image};
    if (name.starts_with("v") && name.find("_half") != name.npos) return {Called::Is::operation, Operation::conversion};
    for (const char* other : {"get_", "vload", "vstore", "atom_", "atomic_", "async_work_group", "prefetch",
                              "mem_fence", "read_mem_fence", "write_mem_fence", "printf"})
        if (name.starts_with(other)) return {Called::Is::other};
    if (name.starts_with("as_") || free_of_cost.count(name) || name.starts_with("__")) return {Called::Is::nothing};
    if (name.starts_with("convert_"))
        return floats ? Called{Called::Is::operation, Operation::conversion} : Called{Called::Is::other};
    if (floats) return of_floats(name);
    const bool multiplies = integer_multiplications.count(name) > 0;
    return {Called::Is::operation, multiplies ? Operation::integer_multiply : Operation::integer_add};
}

}  // namespace cllab::count
