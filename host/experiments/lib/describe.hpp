// A family: its question, axes and variants from the last comment of its .cl, and the functions that make its cells.
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

/// Whether `names` contains `name`.
template <typename Names = std::initializer_list<std::string_view>>
bool is_one_of(std::string_view name, const Names& names) {
    return std::ranges::find(names, name) != names.end();
}

/// Question, axes and variants from their description in `text`; host/experiments/README.md lists its keys. Throws
/// Error(usage) for an unknown key.
Experiment described(const std::string& family, std::string_view text);

/// The results of a family besides the times of its cells.
struct Results {
    std::vector<Metric> metrics{};
    decltype(Experiment::conclude) conclude{};
};

/// The Experiment that cl/<name>.cl describes. `setup` makes its cells.
Experiment family(const std::string& name, Setup (*setup)(const Request&, Params&), Results results = {});
/// The same for a family whose axes may be auto, or invalid together. `shape` reads all of them, with the device and
/// the variant's name or with the whole request. `setup` makes a cell from the result.
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
