#include "experiments/lib/family.hpp"
#include "experiments/lib/himeno.hpp"

namespace cllab::model::himeno {
namespace {

std::span<const float> floats(const SharedBytes& bytes) { return lib::view<float>(bytes); }

/// A field of `count` floats: `value(index)` at each index.
template <typename F>
SharedBytes make_field(std::size_t count, F value) {
    return lib::filled<float>(count, [value](std::span<float> out) { lib::fill_each(out, value); });
}

SharedBytes random_field(std::size_t count, std::uint64_t seed, float low, float high) {
    return lib::filled<float>(count, [seed, low, high](std::span<float> out) {
        in_parallel(out.size(), parallel_piece, [&](std::size_t begin, std::size_t end) {
            Random random(seed);
            random.skip(begin);
            for (auto x = begin; x < end; ++x) out[x] = random.real(low, high);
        });
    });
}

SharedBytes prescribed_p(const Grid& grid) {
    const std::size_t plane = grid.j * grid.k;
    const auto last = static_cast<float>((grid.i - 1) * (grid.i - 1));
    return make_field(grid.points(), [plane, last](std::size_t x) {
        const std::size_t i = x / plane;
        return static_cast<float>(i * i) / last;
    });
}

/// Planes [first, last) of a sweep. sums[i] becomes the residual of plane i.
void sweep_planes(const Problem& problem, const float* p, float* to, std::size_t first, std::size_t last,
                  double* sums) {
    const auto& grid = problem.grid();
    const std::size_t row = grid.k, plane = grid.j * grid.k;
    std::array<const float*, arrays> f{};
    for (int n = 0; n < arrays; ++n) f[n] = floats(problem.coefficient(static_cast<Array>(n))).data();
    for (std::size_t i = first; i < last; ++i) {
        double gosa = 0;
        for (std::size_t j = 1; j + 1 < grid.j; ++j) {
            for (std::size_t k = 1; k + 1 < grid.k; ++k) {
                const std::size_t x = i * plane + j * row + k;
                const float s0 =
                    f[a0][x] * p[x + plane] + f[a1][x] * p[x + row] + f[a2][x] * p[x + 1] +
                    f[b0][x] * (p[x + plane + row] - p[x + plane - row] - p[x - plane + row] + p[x - plane - row]) +
                    f[b1][x] * (p[x + row + 1] - p[x - row + 1] - p[x + row - 1] + p[x - row - 1]) +
                    f[b2][x] * (p[x + plane + 1] - p[x - plane + 1] - p[x + plane - 1] + p[x - plane - 1]) +
                    f[c0][x] * p[x - plane] + f[c1][x] * p[x - row] + f[c2][x] * p[x - 1] + f[wrk1][x];
                const float ss = (s0 * f[a3][x] - p[x]) * f[bnd][x];
                gosa += static_cast<double>(ss * ss);
                to[x] = p[x] + omega * ss;
            }
        }
        sums[i] = gosa;
    }
}

std::string at_text(std::size_t i, std::size_t j, std::size_t k) { return concat("[", i, "][", j, "][", k, "]"); }

}  // namespace

Grid grid_of(std::string_view size) {
    std::string known;
    for (const auto& [name, grid] : sizes) {
        if (name == size) return grid;
        known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw Error(Blame::usage, "Himeno has no size '", size, "'; the sizes are ", known);
}

Problem::Problem(const Grid& grid, Data data, std::uint64_t seed) : grid_(grid) {
    const std::size_t count = grid.points();
    const auto constant = [&](float value) { return make_field(count, [value](std::size_t) { return value; }); };
    if (data == Data::prescribed) {
        const auto one = constant(1), zero = constant(0), sixth = constant(1.0f / 6.0f);
        for (const auto array : {a0, a1, a2, c0, c1, c2, bnd}) coefficients_[array] = one;
        for (const auto array : {b0, b1, b2, wrk1}) coefficients_[array] = zero;
        coefficients_[a3] = sixth;
        p_ = prescribed_p(grid);
        return;
    }
    // |s0 * a3| <= (6 * 0.9 + 12 * 0.04) / 6 * max|p| + a little: below max|p|, so the field stays bounded forever.
    const std::uint64_t base = mix64(seed);
    const auto random = [&](Array array, float low, float high) {
        return random_field(count, base + array, low, high);
    };
    for (const auto array : {a0, a1, a2, c0, c1, c2}) coefficients_[array] = random(array, 0.5f, 0.9f);
    for (const auto array : {b0, b1, b2}) coefficients_[array] = random(array, -0.04f, 0.04f);
    coefficients_[a3] = random(a3, 0.125f, 1.0f / 6.0f);
    coefficients_[bnd] = random(bnd, 0.5f, 1.0f);
    coefficients_[wrk1] = random(wrk1, -0.1f, 0.1f);
    p_ = random_field(count, base + arrays, 0.1f, 1.0f);
}

double sweep(const Problem& problem, std::span<const float> from, std::span<float> to) {
    const auto& grid = problem.grid();
    std::vector<double> sums(grid.i, 0.0);
    in_parallel(grid.i - 2, std::max<std::size_t>(1, (1 << 16) / (grid.j * grid.k)),
                [&](std::size_t begin, std::size_t end) {
                    sweep_planes(problem, from.data(), to.data(), 1 + begin, 1 + end, sums.data());
                });
    double gosa = 0;  // sum in the order of the planes, so that the number of threads does not matter
    for (const double sum : sums) gosa += sum;
    return gosa;
}

std::shared_ptr<const State> Problem::after(unsigned iterations) const {
    auto& result = states_[iterations];
    if (result) return result;
    // Continue from the latest known state before it.
    State state;
    unsigned done = 0;
    for (const auto& [n, known] : states_) {
        if (!known || n > iterations) continue;
        state = *known;
        done = n;
    }
    if (done == 0) {
        const auto initial = floats(p_);
        state.p.assign(initial.begin(), initial.end());
    }
    auto next = state.p;  // both have the boundary
    for (unsigned n = done; n < iterations; ++n) {
        state.gosa = sweep(*this, state.p, next);
        std::swap(state.p, next);
    }
    result = std::make_shared<const State>(std::move(state));
    return result;
}

SharedBytes section(const SharedBytes& field, const Grid& grid) {
    return lib::filled<float>(grid.interior(), [field, grid](std::span<float> out) {
        const auto from = floats(field);
        auto to = out.begin();
        for (std::size_t i = 1; i + 1 < grid.i; ++i) {
            for (std::size_t j = 1; j + 1 < grid.j; ++j) {
                const auto row = from.begin() + static_cast<std::ptrdiff_t>((i * grid.j + j) * grid.k);
                to = std::copy(row + 1, row + static_cast<std::ptrdiff_t>(grid.k - 1), to);
            }
        }
    });
}

SharedBytes interleaved(std::span<const SharedBytes> fields) {
    const std::vector sources(fields.begin(), fields.end());
    return lib::filled<float>(sources.size() * sources.front().size() / sizeof(float), [sources](std::span<float> out) {
        const auto from = mapped(sources, floats);
        lib::fill_each(out, [&](std::size_t x) { return from[x % from.size()][x / from.size()]; });
    });
}

std::optional<std::string> compare_field(std::span<const float> found, const State& expected, const Grid& grid,
                                         std::size_t row, double tolerance, Errors* errors, std::size_t start) {
    const std::size_t rows = grid.i * grid.j;
    if (found.size() != start + rows * row)
        return concat("p has ", found.size(), " words, expected ", start + rows * row);
    for (std::size_t word = 0; word < start; ++word)
        if (std::bit_cast<std::uint32_t>(found[word]) != lib::gap_word)
            return concat("word ", word, " of p is ", lib::shown(found[word]),
                          ", written though it lies in front of the grid");
    for (std::size_t r = 0; r < rows; ++r) {
        const float* f = found.data() + start + r * row;
        const float* e = expected.p.data() + r * grid.k;
        if (row == grid.k && tolerance == 0 && std::memcmp(f, e, row * sizeof(float)) == 0) continue;
        for (std::size_t k = 0; k < row; ++k) {
            const auto bits = std::bit_cast<std::uint32_t>(f[k]);
            const auto name = [&] { return "p" + at_text(r / grid.j, r % grid.j, k); };
            if (k >= grid.k) {
                if (bits != lib::gap_word)
                    return name() + " is " + lib::shown(f[k]) + ", written though it lies between two rows";
                continue;
            }
            if (bits == std::bit_cast<std::uint32_t>(e[k]) || (errors && errors->tolerates(f[k], e[k]))) continue;
            if (tolerance == 0 || !(std::abs(static_cast<double>(f[k]) - static_cast<double>(e[k])) <= tolerance)) {
                return name() + " is " + lib::shown(f[k]) + ", expected " + lib::shown(e[k]);
            }
        }
    }
    return std::nullopt;
}

std::optional<std::string> compare_gosa(float found, double expected, double relative, Errors* errors) {
    if (errors && errors->tolerates(found, static_cast<float>(expected))) return std::nullopt;
    if (std::abs(static_cast<double>(found) - expected) <= relative * std::abs(expected)) return std::nullopt;
    return "gosa is " + lib::shown(found) + ", expected " + lib::shown(static_cast<float>(expected)) + " within " +
           lib::shown(static_cast<float>(relative)) + " of it";
}

}  // namespace cllab::model::himeno
