#include "inspect/code/diff.hpp"

#include <algorithm>
#include <cstdint>

namespace cllab::inspect {
namespace {

constexpr std::size_t most = 3000;
constexpr std::uint32_t alone = 2;

/// Cost of putting two instructions on one line; more than two lines of their own when the mnemonics differ.
std::uint32_t together(const Instruction& a, const Instruction& b) {
    if (a.text == b.text) return 0;
    return a.mnemonic == b.mnemonic ? 1 : 2 * alone + 1;
}

}  // namespace

std::vector<DiffLine> align(const std::vector<Instruction>& left, const std::vector<Instruction>& right) {
    const std::size_t n = std::min(left.size(), most), m = std::min(right.size(), most);
    // cost[i][j]: the best alignment of left[i..] with right[j..].
    std::vector<std::uint32_t> cost((n + 1) * (m + 1));
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return cost[i * (m + 1) + j]; };
    for (std::size_t i = n + 1; i-- > 0;)
        for (std::size_t j = m + 1; j-- > 0;) {
            if (i == n || j == m) {
                at(i, j) = static_cast<std::uint32_t>((n - i) + (m - j)) * alone;
                continue;
            }
            at(i, j) =
                std::min({at(i + 1, j + 1) + together(left[i], right[j]), at(i + 1, j) + alone, at(i, j + 1) + alone});
        }
    std::vector<DiffLine> lines;
    std::size_t i = 0, j = 0;
    while (i < n || j < m) {
        if (i < n && j < m && at(i, j) == at(i + 1, j + 1) + together(left[i], right[j])) {
            lines.push_back({left[i].text == right[j].text ? ' ' : '~', left[i].text, right[j].text});
            ++i, ++j;
        } else if (i < n && at(i, j) == at(i + 1, j) + alone) {
            lines.push_back({'<', left[i++].text, {}});
        } else {
            lines.push_back({'>', {}, right[j++].text});
        }
    }
    if (left.size() > most || right.size() > most)
        lines.push_back({'~', "cut at 3000 instructions", "cut at 3000 instructions"});
    return lines;
}

}  // namespace cllab::inspect
