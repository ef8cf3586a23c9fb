// The Himeno benchmark as data: grids, initial values, and an independent reference of the sweep. The reference keeps
// the original's order of operations and is compiled without contraction, so that a kernel's field can be compared bit
// for bit. Source: R. Himeno, himenoBMT (RIKEN), static C version; 34 floating-point operations per point. The end of
// the file declares the memory layout and the launch of a variant.
#pragma once

#include "experiments/lib/family.hpp"

namespace cllab::model::himeno {

/// Points of the grid including the boundary. i is the slowest index in memory, k the fastest.
struct Grid {
    std::size_t i = 0, j = 0, k = 0;
    std::size_t points() const { return i * j * k; }
    std::size_t interior() const { return (i - 2) * (j - 2) * (k - 2); }
    bool operator==(const Grid&) const = default;
};

/// All sizes, smallest first. XS to XL are the benchmark's; XXS is added for simulators.
inline constexpr std::array<std::pair<std::string_view, Grid>, 6> sizes{{{"XXS", {8, 12, 32}},
                                                                         {"XS", {32, 32, 64}},
                                                                         {"S", {64, 64, 128}},
                                                                         {"M", {128, 128, 256}},
                                                                         {"L", {256, 256, 512}},
                                                                         {"XL", {512, 512, 1024}}}};
/// Throws Error(usage) for a name that is not in `sizes`.
Grid grid_of(std::string_view size);

/// The coefficient arrays in the kernels' order. a3 scales the update, bnd masks obstacles, wrk1 is the source term.
enum Array { a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1, arrays };
inline constexpr std::array<const char*, arrays> array_names{"a0", "a1", "a2", "a3", "b0",  "b1",
                                                             "b2", "c0", "c1", "c2", "bnd", "wrk1"};

inline constexpr float omega = 0.8f;

/// Operations per iteration: 34 per interior point (the dynamic C version counts one layer less).
inline double flops(const Grid& grid) { return 34.0 * static_cast<double>(grid.interior()); }
/// Minimum traffic per iteration in bytes: twelve coefficients and p read once, the new p written once.
inline double traffic(const Grid& grid) { return 56.0 * static_cast<double>(grid.interior()); }

enum class Data {
    prescribed,  ///< the benchmark's data: constant coefficients, a third of them zero; p varies only along i
    random,      ///< every array random, in ranges that keep the iteration a contraction: shows a lost term or a wrong
                 ///< index
};

/// The pressure after some iterations, and the residual of the last one.
struct State {
    std::vector<float> p;  ///< grid.points() values, row by row
    double gosa = 0;       ///< sum of ss*ss over the interior, terms in float, summed in double
};

/// Initial values and, on demand, the reference. Thread-compatible.
class Problem {
public:
    Problem(const Grid& grid, Data data, std::uint64_t seed);

    const Grid& grid() const { return grid_; }
    /// grid().points() floats; equal arrays share one buffer.
    const SharedBytes& coefficient(Array array) const { return coefficients_[array]; }
    const SharedBytes& initial_p() const { return p_; }
    /// The state after `iterations` sweeps from the initial values; iterations >= 1. Kept, so that variants share it.
    std::shared_ptr<const State> after(unsigned iterations) const;

private:
    Grid grid_;
    std::array<SharedBytes, arrays> coefficients_;
    SharedBytes p_;
    mutable std::map<unsigned, std::shared_ptr<const State>> states_;
};

/// One sweep from `from` to `to`, both grid.points() floats with equal boundaries; returns the residual.
double sweep(const Problem& problem, std::span<const float> from, std::span<float> to);

/// The interior points of `field`.
SharedBytes section(const SharedBytes& field, const Grid& grid);
/// Interleaves arrays of one vector component each into one array of fields.size() floats per point.
SharedBytes interleaved(std::span<const SharedBytes> fields);

/// Compares a kernel's field with rows of `row` words: every point bit for bit, or within `tolerance` if the compiler
/// may contract. Words between rows, and the `start` words in front, must hold lib::gap_word. A difference that
/// `errors` tolerates is accepted, too. Returns the first other difference in words.
std::optional<std::string> compare_field(std::span<const float> found, const State& expected, const Grid& grid,
                                         std::size_t row, double tolerance, Errors* errors = nullptr,
                                         std::size_t start = 0);
/// Compares a kernel's residual within a relative tolerance.
std::optional<std::string> compare_gosa(float found, double expected, double relative, Errors* errors = nullptr);

enum class Body { point, interleaved, local, march, rows };
enum class Transfers { none, every_iteration, around_loop, residual_only };

/// The launch of a variant with every "auto" resolved.
struct Plan {
    std::string size;
    Grid grid;
    Body body = Body::point;
    Transfers transfers = Transfers::none;
    bool copy = false;    // a kernel does p = q, instead of a swap
    unsigned sweeps = 1;  // iterations per operation
    std::size_t piece_bytes = 0;
    std::size_t row = 0;  // words from one row to the next
    Extent local;
    std::size_t planes = 1, lanes = 1;
    std::size_t start = 0;      // words before each array
    std::string order = "kji";  // the grid's axes along x, y and z of the NDRange
    bool sections = false;      // coefficients without boundary
    std::size_t first_k = 0;    // k of a row's first work-item
    Extent global;
    std::size_t groups = 0, gosa_items = 1;
    double gosa_tolerance = 0;  // relative
    bool has_double = false;    // the device adds up residuals in double precision
    bool contract = false, prescribed = false;

    std::size_t field_bytes() const { return (start + grid.i * grid.j * row) * sizeof(float); }
};

/// Reads the axes and records the values of auto. Throws Unsupported if the device has no room for the data or the
/// work-group, and Error(usage) for an unknown size.
Plan plan_of(const Request& request, Params& params);

}  // namespace cllab::model::himeno
