// Combines lambdas into one visitor of a std::variant.
#pragma once

namespace cllab {

template <typename... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace cllab
