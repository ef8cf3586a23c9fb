#include "experiments/lib/native.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "experiments/lib/himeno.hpp"

namespace cllab::model::native {
namespace {

// --- One text, several instruction sets. Arrays are row by row and do not overlap. -----------------------------------

/// The region of interest [left, right] x [top, bottom], inclusive; n: the whole part of the pitch. The two weights sum
/// to 128 or less.
struct Pitch {
    std::int32_t width, left, top, right, bottom, n;
    std::int16_t floor_weight, ceiling_weight;
};

/// Points of a grid, boundary included, and words from one row to the next.
struct Grid {
    std::size_t i, j, k, row;
};

struct Loops {
    void (*saxpy)(const float*, float*, float, std::size_t first, std::size_t last, std::size_t stride);
    std::uint32_t (*sum)(const std::uint32_t*, std::size_t first, std::size_t last);
    void (*gemm)(const float*, const float*, float*, std::size_t first, std::size_t last, std::size_t n, std::size_t k);
    void (*pitch)(const std::uint8_t*, std::uint8_t*, const Pitch&, std::int32_t begin, std::int32_t end);
    double (*himeno)(const float* const*, const float*, float*, std::size_t first, std::size_t last, const Grid&);
};

namespace of_the_build {
#ifdef __FMA__
#define MULTIPLY_ADD(a, b, c) __builtin_fmaf(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif
#include "experiments/lib/native_loops.inc"
#undef MULTIPLY_ADD
}  // namespace of_the_build

#if defined(__x86_64__)

#define MULTIPLY_ADD(a, b, c) __builtin_fmaf(a, b, c)

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace avx2 {
#include "experiments/lib/native_loops.inc"
}  // namespace avx2
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"))), \
                                 apply_to = function)
#else
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")
#endif
namespace avx512 {
#include "experiments/lib/native_loops.inc"
}  // namespace avx512
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#undef MULTIPLY_ADD

#endif

struct Best {
    const Loops* loops;
    const char* instruction_set;
};

const Best& best() {
    static const Best found = []() -> Best {
#if defined(__x86_64__)
        const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        if (wide && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
            return {&avx512::loops, "x86-64 with AVX-512"};
        if (wide) return {&avx2::loops, "x86-64 with AVX2"};
        return {&of_the_build::loops, "x86-64"};
#elif defined(__aarch64__)
        return {&of_the_build::loops, "AArch64"};
#else
        return {&of_the_build::loops, "the target of the build"};
#endif
    }();
    return found;
}

std::string compiler() {
#ifdef __clang__
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

// --- Threads that stay -----------------------------------------------------------------------------------------------

/// Threads that sleep between two pieces of work: making them anew each time would cost more than a small loop. Made
/// when first asked for, so that a child process that was forked before has its own.
class Team {
public:
    ~Team() {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        wake_.notify_all();
        for (auto& thread : threads_) thread.join();
    }
    /// work(0) to work(count - 1), each on a thread of its own; work(0) on the caller's.
    void run(unsigned count, const std::function<void(unsigned)>& work) {
        {
            const std::lock_guard lock(mutex_);
            while (threads_.size() + 1 < count)
                threads_.emplace_back([this, number = static_cast<unsigned>(threads_.size()) + 1, seen = round_] {
                    serve(number, seen);
                });
            work_ = &work;
            count_ = count;
            busy_ = count - 1;
            ++round_;
        }
        if (count > 1) wake_.notify_all();
        work(0);
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
    }

private:
    void serve(unsigned number, std::uint64_t seen) {
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return stop_ || round_ != seen; });
            if (stop_) return;
            seen = round_;
            if (number >= count_) continue;
            const auto& work = *work_;
            lock.unlock();
            work(number);
            lock.lock();
            if (--busy_ == 0) done_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::vector<std::thread> threads_;
    const std::function<void(unsigned)>* work_ = nullptr;
    unsigned count_ = 0, busy_ = 0;
    std::uint64_t round_ = 0;
    bool stop_ = false;
};

/// work(first, last, thread) on equal parts of 0 .. count.
template <typename Work>
void share(std::size_t count, unsigned threads, const Work& work) {
    if (threads <= 1) return work(std::size_t{0}, count, 0u);
    static Team team;
    team.run(threads, [&](unsigned t) { work(count * t / threads, count * (t + 1) / threads, t); });
}

/// What each thread leaves, a cache line apart.
template <typename T>
struct alignas(64) Apart {
    T value{};
};

template <typename T>
T total(const std::vector<Apart<T>>& parts) {
    T out{};
    for (const auto& part : parts) out += part.value;
    return out;
}

}  // namespace

std::vector<Variant> loops(const std::string& like, const std::string& meaning, Loop loop) {
    const auto one = [&](const char* name, const char* threads, bool every_core) {
        Variant out{name, meaning + threads, {}, {"cpu"}};
        out.native = std::make_shared<const Native>(Native{like, every_core, loop, compiler(), best().instruction_set});
        return out;
    };
    return {one("native", ", on one thread.", false),
            one("native_all", ", on a thread for each core of the device.", true)};
}

void saxpy(const HostMemory& m, const Point& point, unsigned threads) {
    const auto offset = static_cast<std::size_t>(point.integer("offset")),
               stride = static_cast<std::size_t>(point.integer("stride"));
    share(m.value<std::uint64_t>("n"), threads, [&](std::size_t first, std::size_t last, unsigned) {
        best().loops->saxpy(&m.as<float>("x")[offset], &m.as<float>("y")[offset], m.value<float>("a"), first, last,
                            stride);
    });
}

void reduce(const HostMemory& m, const Point&, unsigned threads) {
    std::vector<Apart<std::uint32_t>> sums(threads);
    share(m.value<std::uint64_t>("n"), threads, [&](std::size_t first, std::size_t last, unsigned t) {
        sums[t].value = best().loops->sum(m.as<std::uint32_t>("src").data(), first, last);
    });
    m.as<std::uint32_t>("dst").front() = total(sums);
}

void gemm(const HostMemory& m, const Point&, unsigned threads) {
    const auto size = [&](const char* name) { return static_cast<std::size_t>(m.value<std::int32_t>(name)); };
    share(size("m"), threads, [&](std::size_t first, std::size_t last, unsigned) {
        best().loops->gemm(m.as<float>("a").data(), m.as<float>("b").data(), m.as<float>("c").data(), first, last,
                           size("n"), size("k"));
    });
}

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
    share(static_cast<std::size_t>(what.bottom - what.top + 1), threads,
          [&](std::size_t first, std::size_t last, unsigned) {
              best().loops->pitch(m.as<std::uint8_t>("src").data(), m.as<std::uint8_t>("dst").data(), what,
                                  what.top + static_cast<std::int32_t>(first),
                                  what.top + static_cast<std::int32_t>(last));
          });
}

void himeno(const HostMemory& m, const Point& point, unsigned threads) {
    const auto [i, j, k] = himeno::grid_of(point.text("size"));
    const Grid grid{i, j, k, k + static_cast<std::size_t>(point.integer("pad"))};
    std::array<const float*, himeno::arrays> coefficients{};
    for (std::size_t n = 0; n < coefficients.size(); ++n) coefficients[n] = m.as<float>(himeno::array_names[n]).data();
    std::vector<Apart<double>> gosa(threads);
    share(grid.i - 2, threads, [&](std::size_t first, std::size_t last, unsigned t) {
        gosa[t].value = best().loops->himeno(coefficients.data(), m.as<float>("p").data(), m.as<float>("q").data(),
                                             1 + first, 1 + last, grid);
    });
    m.as<float>("gosa").front() = static_cast<float>(total(gosa));
}

}  // namespace cllab::model::native
