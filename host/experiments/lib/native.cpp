#include "experiments/lib/native.hpp"

#include <barrier>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "core/widest.hpp"

namespace cllab::model::native {
namespace {

/// The region of interest [left, right] x [top, bottom], inclusive. n: the whole part of the pitch. The sum of the two
/// weights is at most 128.
struct Pitch {
    std::int32_t width, left, top, right, bottom, n;
    std::int16_t floor_weight, ceiling_weight;
};
/// Computes the rows [begin, end).
inline void pitch_rows(const std::uint8_t* __restrict src, std::uint8_t* __restrict dst, const Pitch& what,
                       std::int32_t begin, std::int32_t end) {
    const int n = what.n, f = what.floor_weight, c = what.ceiling_weight;
    for (int y = begin; y < end; ++y) {
        const std::uint8_t* __restrict from = src + static_cast<std::ptrdiff_t>(y) * what.width;
        std::uint8_t* __restrict to = dst + static_cast<std::ptrdiff_t>(y) * what.width;
        for (int x = what.left; x <= what.right; ++x) {
            // Use 16-bit types; otherwise the vectorizer processes half as many pixels at a time.
            const auto east = static_cast<std::uint16_t>(f * from[x + n] + c * from[x + n + 1]);
            const auto west = static_cast<std::uint16_t>(f * from[x - n] + c * from[x - n - 1]);
            const auto d = static_cast<std::int16_t>(128 * from[x] - ((east >> 1) + (west >> 1)));
            to[x] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(d < 0 ? -d : d) >> 7);
        }
    }
}

const char* instruction_set() {
#if defined(__x86_64__)
    const auto vectors = widest_vectors();
    return vectors == Vectors::avx512 ? "x86-64 with AVX-512"
           : vectors == Vectors::avx2 ? "x86-64 with AVX2"
                                      : "x86-64";
#elif defined(__aarch64__)
    return "AArch64";
#else
    return "the target of the build";
#endif
}

std::string compiler() {
#ifdef __clang__
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

// --- Persistent threads ----------------------------------------------------------------------------------------------

/// Threads that sleep between two pieces of work, because creating threads each time would cost more than a small loop.
/// Created at the first use, so that a forked child process has its own.
class Team {
public:
    explicit Team(unsigned threads) : all_(threads) {
        for (unsigned number = 1; number < threads; ++number) threads_.emplace_back([this, number] { serve(number); });
    }
    ~Team() {
        work_ = nullptr;
        all_.arrive_and_wait();
    }
    /// Runs work(0) to work(threads - 1), each on its own thread; work(0) on the caller's.
    void run(const std::function<void(unsigned)>& work) {
        work_ = &work;
        all_.arrive_and_wait();
        work(0);
        all_.arrive_and_wait();
    }

private:
    void serve(unsigned number) {
        for (all_.arrive_and_wait(); work_; all_.arrive_and_wait()) {
            (*work_)(number);
            all_.arrive_and_wait();
        }
    }

    std::barrier<> all_;
    const std::function<void(unsigned)>* work_ = nullptr;
    std::vector<std::jthread> threads_;
};

/// Runs work(first, last) on equal parts of 0 .. count.
template <typename Work>
void share(std::size_t count, unsigned threads, const Work& work) {
    if (threads <= 1) return work(std::size_t{0}, count);
    static std::map<unsigned, Team> teams;
    auto& team = teams.try_emplace(threads, threads).first->second;
    team.run([&](unsigned t) { work(count * t / threads, count * (t + 1) / threads); });
}

/// Writes only the region of interest of dst.
void pitch(const HostMemory& m, const Point&, unsigned threads) {
    const auto of = [&](const char* name) { return m.value<std::int32_t>(name); };
    const Pitch what{of("width"),
                     of("left"),
                     of("top"),
                     of("right"),
                     of("bottom"),
                     of("n"),
                     m.value<std::int16_t>("f"),
                     m.value<std::int16_t>("c")};
    share(static_cast<std::size_t>(what.bottom - what.top + 1), threads, [&](std::size_t first, std::size_t last) {
        widest([=, src = m.as<std::uint8_t>("src").data(), dst = m.as<std::uint8_t>("dst").data(),
                begin = what.top + static_cast<std::int32_t>(first),
                end = what.top + static_cast<std::int32_t>(last)] { pitch_rows(src, dst, what, begin, end); });
    });
}

}  // namespace

std::vector<Variant> pitch_loops() {
    const auto one = [&](const char* name, const char* threads, bool every_core) {
        Variant out{name, std::string("The loop over rows and columns in 16-bit integers, ") + threads, {}, {"cpu"}};
        out.native =
            std::make_shared<const Native>(Native{"implicit", every_core, pitch, compiler(), instruction_set()});
        return out;
    };
    return {one("native", "on one thread.", false),
            one("native_all", "on a thread for each core of the device.", true)};
}

}  // namespace cllab::model::native
