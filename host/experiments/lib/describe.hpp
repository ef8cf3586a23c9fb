// What a family is: its question, axes and variants from the last comment of its .cl, and what makes its cells.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/params.hpp"

namespace cllab::model::lib {

using Texts = std::vector<std::string>;

/// A name among several.
template <typename Names = std::initializer_list<std::string_view>>
bool is_one_of(std::string_view name, const Names& names) {
    return std::ranges::find(names, name) != names.end();
}

/// Question, axes and variants as a text says them; host/experiments/README.md has its words. Throws Error(usage) for
/// another word.
Experiment described(const std::string& family, std::string_view text);

/// What a family's cells say beside their times.
struct Results {
    std::vector<Metric> metrics{};
    decltype(Experiment::conclude) conclude{};
};

/// The Experiment that cl/<name>.cl describes, of cells that `setup` makes.
Experiment family(const std::string& name, Setup (*setup)(const Request&, Params&), Results results = {});
/// The same of a family whose axes may be auto, or make no sense together: `shape` reads all of them, by the device and
/// the variant's name or by the whole request; `setup` makes a cell of what they are.
template <typename Shape>
Experiment family(const std::string& name, const std::function<Shape(const Request&, Params&)>& shape,
                  Setup (*setup)(const Request&, const Shape&), Results results = {}) {
    auto out = family(name, nullptr, std::move(results));
    out.resolve = [shape](const Request& request, Params& params) { shape(request, params); };
    out.setup = [shape, setup](const Request& request, Params& params) {
        return setup(request, shape(request, params));
    };
    return out;
}
template <typename Shape>
Experiment family(const std::string& name, Shape (*shape)(const Device&, const std::string& variant, Params&),
                  Setup (*setup)(const Request&, const Shape&), Results results = {}) {
    return family<Shape>(
        name,
        [shape](const Request& request, Params& params) { return shape(request.device, request.variant.name, params); },
        setup, std::move(results));
}

}  // namespace cllab::model::lib
