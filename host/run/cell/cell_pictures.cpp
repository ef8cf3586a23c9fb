// What a cell's outputs show: the numbers that its family reads from them, and the bright pixels of its pictures.
#include <cmath>

#include "run/cell/cell_finish.hpp"

namespace cllab::run {

using namespace model;

void observe(CellState& state) {
    if (!state.setup.observe) return;
    if (!state.proved(state.subject->read_back())) return;
    for (const auto& [name, value] :
         state.setup.observe(state.subject->buffers(), state.subject->buffers().operations)) {
        if (std::isfinite(value)) state.record.metrics.push_back({name, {value, "", Better::neither}});
    }
}

void count_above(CellState& state) {
    const auto level = state.settings.count_above;
    for (const auto& [name, picture] : state.setup.pictures) {
        const auto data = state.subject->buffers().data.find(name);
        if (!level || data == state.subject->buffers().data.end()) continue;
        auto& above = state.record.above.emplace();
        above.level = *level;
        const auto grey = picture.grey(data->second);
        for (std::size_t i = 0; i < grey.size(); ++i) {
            const auto value = std::to_integer<unsigned>(grey[i]);
            if (value <= *level) continue;
            if (++above.pixels <= Above::most_listed)
                above.first.push_back(
                    {static_cast<unsigned>(i % picture.width), static_cast<unsigned>(i / picture.width), value});
        }
        state.record.metrics.push_back(
            {"above_" + std::to_string(*level), {static_cast<double>(above.pixels), "", Better::neither}});
    }
}

}  // namespace cllab::run
