#include "peer/himeno_peer.hpp"

#include <barrier>
#include <thread>
#include <utility>
#include <vector>

namespace peer {
namespace {

float sweep(const std::array<const float*, 12>& c, const float* __restrict p, float* __restrict q, std::size_t first,
            std::size_t last, std::size_t rows, std::size_t k_points) {
    const float *__restrict a0 = c[0], *__restrict a1 = c[1], *__restrict a2 = c[2], *__restrict a3 = c[3];
    const float *__restrict b0 = c[4], *__restrict b1 = c[5], *__restrict b2 = c[6];
    const float *__restrict c0 = c[7], *__restrict c1 = c[8], *__restrict c2 = c[9];
    const float *__restrict bnd = c[10], *__restrict wrk1 = c[11];
    const std::size_t row = k_points, plane = rows * k_points;
    float gosa = 0;
    for (std::size_t i = first; i < last; ++i) {
        for (std::size_t j = 1; j + 1 < rows; ++j) {
            for (std::size_t x = i * plane + j * row + 1; x < i * plane + (j + 1) * row - 1; ++x) {
                const float s0 =
                    a0[x] * p[x + plane] + a1[x] * p[x + row] + a2[x] * p[x + 1] +
                    b0[x] * (p[x + plane + row] - p[x + plane - row] - p[x - plane + row] + p[x - plane - row]) +
                    b1[x] * (p[x + row + 1] - p[x - row + 1] - p[x + row - 1] + p[x - row - 1]) +
                    b2[x] * (p[x + plane + 1] - p[x - plane + 1] - p[x + plane - 1] + p[x - plane - 1]) +
                    c0[x] * p[x - plane] + c1[x] * p[x - row] + c2[x] * p[x - 1] + wrk1[x];
                const float ss = (s0 * a3[x] - p[x]) * bnd[x];
                gosa += ss * ss;
                q[x] = p[x] + 0.8f * ss;
            }
        }
    }
    return gosa;
}

}  // namespace

float peer_himeno(const std::array<const float*, 12>& coefficients, float* p, float* q, std::size_t i, std::size_t j,
                  std::size_t k, unsigned iterations, unsigned threads) {
    std::vector<float> gosa(threads);
    std::barrier sweep_done(static_cast<std::ptrdiff_t>(threads));
    const auto work = [&](unsigned t) {
        const std::size_t first = 1 + (i - 2) * t / threads, last = 1 + (i - 2) * (t + 1) / threads;
        float *from = p, *to = q;
        for (unsigned n = 0; n < iterations; ++n) {
            gosa[t] = sweep(coefficients, from, to, first, last, j, k);
            sweep_done.arrive_and_wait();
            std::swap(from, to);
        }
    };
    {
        std::vector<std::jthread> team;
        for (unsigned t = 1; t < threads; ++t) team.emplace_back(work, t);
        work(0);
    }
    float sum = 0;
    for (const float part : gosa) sum += part;
    return sum;
}

}  // namespace peer
