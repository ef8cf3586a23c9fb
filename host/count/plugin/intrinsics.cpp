// Functions of LLVM that clang makes of ordinary text, as a rotation of shifts. Oclgrind 21.10 does not know them, and
// refuses a kernel that has one.
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <cstdint>

#include "count/plugin/oclgrind.hpp"

namespace cllab::count {
namespace {

/// The operands of one element, zero above their `bits`.
struct Operands {
    std::uint64_t a = 0, b = 0, c = 0;
    unsigned bits = 0;

    std::int64_t signed_a() const { return llvm::SignExtend64(a, bits); }
    std::int64_t signed_b() const { return llvm::SignExtend64(b, bits); }
    std::int64_t most() const { return llvm::maxIntN(bits); }
    std::int64_t least() const { return llvm::minIntN(bits); }
};

template <std::uint64_t Of(const Operands&)>
void each_element(oclgrind::WorkItem* item, const llvm::CallInst* call, const std::string&, const std::string&,
                  oclgrind::TypedValue& result, void*) {
    oclgrind::TypedValue given[3];
    const unsigned number = std::min(call->arg_size(), 3u);
    for (unsigned i = 0; i < number; ++i) given[i] = item->getOperand(call->getArgOperand(i));
    const auto at = [&](unsigned operand, unsigned element) -> std::uint64_t {
        if (operand >= number) return 0;
        return given[operand].getUInt(given[operand].num > 1 ? element : 0);  // a flag is one for all
    };
    const unsigned bits = call->getType()->getScalarSizeInBits();
    for (unsigned i = 0; i < result.num; ++i) result.setUInt(Of({at(0, i), at(1, i), at(2, i), bits}), i);
}

/// The upper half of a:b shifted left by c.
std::uint64_t funnel_left(const Operands& o) {
    const auto by = o.c % o.bits;
    return by == 0 ? o.a : o.a << by | o.b >> (o.bits - by);
}
/// The lower half of a:b shifted right by c.
std::uint64_t funnel_right(const Operands& o) {
    const auto by = o.c % o.bits;
    return by == 0 ? o.b : o.b >> by | o.a << (o.bits - by);
}
std::uint64_t absolute(const Operands& o) { return o.signed_a() < 0 ? -o.a : o.a; }
std::uint64_t ones(const Operands& o) { return llvm::countPopulation(o.a); }
std::uint64_t leading_zeros(const Operands& o) { return llvm::countLeadingZeros(o.a) - (64 - o.bits); }
std::uint64_t trailing_zeros(const Operands& o) { return std::min(llvm::countTrailingZeros(o.a), o.bits); }
std::uint64_t reversed(const Operands& o) { return llvm::reverseBits(o.a) >> (64 - o.bits); }
std::uint64_t add_unsigned(const Operands& o) {
    const auto most = llvm::maxUIntN(o.bits);
    return o.a > most - o.b ? most : o.a + o.b;
}
std::uint64_t subtract_unsigned(const Operands& o) { return o.a < o.b ? 0 : o.a - o.b; }
std::uint64_t add_signed(const Operands& o) {
    const auto a = o.signed_a(), b = o.signed_b();
    if (b > 0 && a > o.most() - b) return static_cast<std::uint64_t>(o.most());
    if (b < 0 && a < o.least() - b) return static_cast<std::uint64_t>(o.least());
    return static_cast<std::uint64_t>(a + b);
}
std::uint64_t subtract_signed(const Operands& o) {
    const auto a = o.signed_a(), b = o.signed_b();
    if (b < 0 && a > o.most() + b) return static_cast<std::uint64_t>(o.most());
    if (b > 0 && a < o.least() + b) return static_cast<std::uint64_t>(o.least());
    return static_cast<std::uint64_t>(a - b);
}

void nothing(oclgrind::WorkItem*, const llvm::CallInst*, const std::string&, const std::string&, oclgrind::TypedValue&,
             void*) {}

}  // namespace

void teach_intrinsics() {
    using Does = decltype(oclgrind::BuiltinFunction::func);
    static constexpr std::pair<const char*, Does> all[]{{"llvm.fshl.", each_element<funnel_left>},
                                                        {"llvm.fshr.", each_element<funnel_right>},
                                                        {"llvm.abs.", each_element<absolute>},
                                                        {"llvm.ctpop.", each_element<ones>},
                                                        {"llvm.ctlz.", each_element<leading_zeros>},
                                                        {"llvm.cttz.", each_element<trailing_zeros>},
                                                        {"llvm.bitreverse.", each_element<reversed>},
                                                        {"llvm.uadd.sat.", each_element<add_unsigned>},
                                                        {"llvm.usub.sat.", each_element<subtract_unsigned>},
                                                        {"llvm.sadd.sat.", each_element<add_signed>},
                                                        {"llvm.ssub.sat.", each_element<subtract_signed>},
                                                        {"llvm.experimental.noalias.scope.decl", nothing}};
    auto& known = oclgrind::workItemPrefixBuiltins;
    for (const auto& [name, does] : all)
        if (std::ranges::find(known, name, [](const auto& entry) { return entry.first; }) == known.end())
            known.emplace_back(name, oclgrind::BuiltinFunction(does, nullptr));
}

}  // namespace cllab::count
