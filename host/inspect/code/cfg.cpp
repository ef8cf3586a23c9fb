#include <algorithm>
#include <map>
#include <set>

#include "inspect/code/code.hpp"

namespace cllab::inspect {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);
constexpr std::size_t most_loops = 4096;  // a damaged listing must not cost minutes

std::vector<Block> make_blocks(const Function& function) {
    const auto& code = function.instructions;
    std::map<std::uint64_t, std::size_t> at;
    for (std::size_t i = 0; i < code.size(); ++i) at.emplace(code[i].address, i);
    std::set<std::size_t> leaders{0};
    for (std::size_t i = 0; i < code.size(); ++i) {
        if (code[i].flow == Flow::next) continue;
        if (i + 1 < code.size()) leaders.insert(i + 1);
        for (const auto target : code[i].targets)
            if (const auto found = at.find(target); found != at.end()) leaders.insert(found->second);
    }
    std::vector<Block> blocks;
    std::map<std::size_t, std::size_t> block_of;
    for (auto leader = leaders.begin(); leader != leaders.end(); ++leader) {
        block_of[*leader] = blocks.size();
        blocks.push_back({*leader, std::next(leader) == leaders.end() ? code.size() : *std::next(leader), {}});
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const Instruction& last = code[blocks[b].end - 1];
        const bool falls = last.flow == Flow::next || last.flow == Flow::branch;
        if (falls && b + 1 < blocks.size()) blocks[b].successors.push_back(b + 1);
        if (last.flow == Flow::next) continue;
        for (const auto target : last.targets)
            if (const auto found = at.find(target); found != at.end())
                blocks[b].successors.push_back(block_of[found->second]);
    }
    return blocks;
}

struct Order {
    std::vector<std::size_t> reverse_post;                        ///< reachable blocks
    std::vector<std::size_t> number;                              ///< position in it; `none` if unreachable
    std::vector<std::pair<std::size_t, std::size_t>> retreating;  ///< edges to a block still on the depth-first path
};

Order depth_first(const std::vector<Block>& blocks) {
    Order order;
    order.number.assign(blocks.size(), none);
    enum : unsigned char { unvisited, open, done };
    std::vector<unsigned char> state(blocks.size(), unvisited);
    std::vector<std::pair<std::size_t, std::size_t>> path{{0, 0}};
    state[0] = open;
    while (!path.empty()) {
        auto& [block, next] = path.back();
        if (next == blocks[block].successors.size()) {
            state[block] = done;
            order.reverse_post.push_back(block);
            path.pop_back();
            continue;
        }
        const std::size_t from = block, to = blocks[block].successors[next++];
        if (state[to] == open) order.retreating.emplace_back(from, to);
        if (state[to] == unvisited) state[to] = open, path.emplace_back(to, 0);
    }
    std::ranges::reverse(order.reverse_post);
    for (std::size_t i = 0; i < order.reverse_post.size(); ++i) order.number[order.reverse_post[i]] = i;
    return order;
}

std::vector<std::vector<std::size_t>> predecessors_of(const std::vector<Block>& blocks, const Order& order) {
    std::vector<std::vector<std::size_t>> predecessors(blocks.size());
    for (const auto b : order.reverse_post)
        for (const auto s : blocks[b].successors) predecessors[s].push_back(b);
    return predecessors;
}

/// Immediate dominators. The entry's is itself; an unreachable block has none.
std::vector<std::size_t> dominators(const std::vector<std::vector<std::size_t>>& predecessors, const Order& order) {
    std::vector<std::size_t> idom(predecessors.size(), none);
    idom[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto b : order.reverse_post) {
            if (b == 0) continue;
            std::size_t best = none;
            for (auto p : predecessors[b]) {
                if (idom[p] == none) continue;
                if (best == none) {
                    best = p;
                    continue;
                }
                while (p != best) {
                    while (order.number[p] > order.number[best]) p = idom[p];
                    while (order.number[best] > order.number[p]) best = idom[best];
                }
            }
            if (idom[b] != best) idom[b] = best, changed = true;
        }
    }
    return idom;
}

bool dominates(std::size_t a, std::size_t b, const std::vector<std::size_t>& idom, const Order& order) {
    while (order.number[b] > order.number[a]) b = idom[b];
    return a == b;
}

/// Adds all blocks that reach `tail` without passing `header`.
void add_body(std::set<std::size_t>& body, std::size_t header, std::size_t tail,
              const std::vector<std::vector<std::size_t>>& predecessors) {
    std::vector<std::size_t> todo;
    body.insert(header);
    if (body.insert(tail).second) todo.push_back(tail);
    while (!todo.empty()) {
        const auto b = todo.back();
        todo.pop_back();
        for (const auto p : predecessors[b])
            if (body.insert(p).second) todo.push_back(p);
    }
}

void nest(std::vector<Loop>& loops) {
    // The parent is the smallest other loop that contains the header: natural loops of different headers are nested or
    // disjoint.
    for (std::size_t i = 0; i < loops.size(); ++i)
        for (std::size_t j = 0; j < loops.size(); ++j) {
            if (i == j || loops[j].blocks.size() <= loops[i].blocks.size()) continue;
            if (!std::ranges::binary_search(loops[j].blocks, loops[i].header)) continue;
            const int parent = loops[i].parent;
            if (parent < 0 || loops[j].blocks.size() < loops[static_cast<std::size_t>(parent)].blocks.size())
                loops[i].parent = static_cast<int>(j);
        }
    for (auto& loop : loops)
        for (int up = loop.parent; up >= 0; up = loops[static_cast<std::size_t>(up)].parent) ++loop.depth;
}

}  // namespace

FlowGraph analyse_flow(const Function& function) {
    FlowGraph graph;
    if (function.instructions.empty()) return graph;
    graph.blocks = make_blocks(function);
    const Order order = depth_first(graph.blocks);
    graph.reached = order.reverse_post;
    std::ranges::sort(graph.reached);
    const auto predecessors = predecessors_of(graph.blocks, order);
    const auto idom = dominators(predecessors, order);

    std::map<std::size_t, std::set<std::size_t>> bodies;
    for (const auto& [from, to] : order.retreating) {
        if (!dominates(to, from, idom, order))
            ++graph.irreducible_edges;
        else if (bodies.contains(to) || bodies.size() < most_loops)
            add_body(bodies[to], to, from, predecessors);
    }
    for (const auto& [header, body] : bodies) graph.loops.push_back({header, {body.begin(), body.end()}});
    // Rotated loops can have an inner header at a lower address than the outer one; readers expect outer first.
    std::ranges::stable_sort(graph.loops, [](const Loop& a, const Loop& b) {
        return a.blocks.front() != b.blocks.front() ? a.blocks.front() < b.blocks.front()
                                                    : a.blocks.size() > b.blocks.size();
    });
    nest(graph.loops);
    for (std::size_t k = 0; k < graph.loops.size(); ++k)
        for (const auto b : graph.loops[k].blocks) graph.blocks[b].loops.push_back(k);
    return graph;
}

}  // namespace cllab::inspect
