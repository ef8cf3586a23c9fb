#include "run/share.hpp"

#include <algorithm>

namespace cllab::run {

std::vector<Part> parts_of(const RunRequest& request, std::size_t most_cells) {
    std::vector<Part> out;
    for (std::size_t g = 0; g < request.comparisons.size(); ++g) {
        const auto cells = request.comparisons[g].size();
        for (std::size_t first = 0; first < cells; first += most_cells)
            out.push_back({g, first, std::min(first + most_cells, cells)});
    }
    return out;
}

}  // namespace cllab::run
