// A device session and a scratch family for the suites: one kernel text, written to a folder of its own.
#pragma once

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/session.hpp"
#include "model/params.hpp"
#include "run/executor.hpp"

namespace cllab::test {

/// The device under test.
inline device::Found found() {
    const auto all = device::discover();
    std::vector<model::Device> facts;
    for (const auto& f : all) facts.push_back(f.facts);
    const char* wanted = std::getenv("CLLAB_TEST_DEVICE");
    return all[device::resolve(facts, {wanted ? wanted : "cpu"}, [](std::size_t) { return true; }).front()];
}

/// One session with it for the whole program.
inline device::Session& session() {
    static device::Session one(found());
    return one;
}

inline bool is_simulated() { return session().facts().implementation == model::Implementation::oclgrind; }

/// Whether CLLAB_TEST_BUILD_OPTIONS leaves the optimiser on.
inline bool optimised() {
    const char* options = std::getenv("CLLAB_TEST_BUILD_OPTIONS");
    return !options || !std::strstr(options, "-cl-opt-disable");
}

/// A test that has no meaning without the optimiser. Skipped there, and listed as skipped.
inline boost::unit_test::precondition only_optimised() {
    return boost::unit_test::precondition([](boost::unit_test::test_unit_id) -> boost::test_tools::assertion_result {
        boost::test_tools::assertion_result out(optimised());
        out.message() << "kernels are built without optimisation (CLLAB_TEST_BUILD_OPTIONS)";
        return out;
    });
}

/// A claim about measured times, which other work on the machine can spoil: the first try bears it out, or three of the
/// four after it. Where one try in ten is spoiled, what is right fails once in 190 runs (0.1 times 0.052).
template <class Try>
bool borne_out(Try&& once) {
    if (once()) return true;
    int passed = 0;
    for (int i = 0; i < 4; ++i) passed += once();
    return passed >= 3;
}

struct Folder {
    std::filesystem::path path;
    /// Two at a time need two names.
    explicit Folder(const std::string& name = "test")
        : path(std::filesystem::temp_directory_path() / ("cllab-" + name + "-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path);
    }
    ~Folder() { std::filesystem::remove_all(path); }
};

/// Keeps every record.
struct Recorder {
    std::vector<model::Record> records;
    std::vector<std::string> phases;
    bool stop = false;
    const run::Events events{.begin = [this](std::size_t, std::size_t, const model::Record& r,
                                             const char* phase) { phases.push_back(r.id + " " + phase); },
                             .done = [this](std::size_t, std::size_t, const model::Record& r) { records.push_back(r); },
                             .cancelled = [this] { return stop; }};
};

/// A kernel scratch_<name> for run_scratch, of one work-item a word: `statement` sees i, src, dst and n.
inline std::string body(const std::string& name, const std::string& statement) {
    return "kernel void scratch_" + name +
           "(global const uint* src, global uint* dst, int n) { int i = get_global_id(0); " + statement + " }\n";
}

/// The kernel scratch_right, which does as it must.
inline const std::string right = body("right", "dst[i] = 2 * src[i] + 1;");

/// How often the check of run_scratch was asked.
inline unsigned checks = 0;

/// Runs `variants` (entry points scratch_<name>) of a family whose kernels take (global const uint* src, global uint*
/// dst, int n) and must write dst[i] = 2 * src[i] + 1. `adjust` may change what they must do, `where` the session.
/// `apart`: each is a comparison. `twins`: each stands there once more, built with -DTWIN.
inline std::vector<model::Record> run_scratch(const std::string& kernels, const std::vector<model::Variant>& variants,
                                              run::Settings settings = {}, Recorder* recorder = nullptr,
                                              const std::string& words = "1000",
                                              std::function<void(const model::Variant&, model::Setup&)> adjust = {},
                                              device::Session* where = nullptr,
                                              std::optional<model::Cell> yardstick = {}, bool apart = false,
                                              run::Kept* results = nullptr, bool twins = false) {
    static Folder folder;
    std::ofstream(folder.path / "scratch.cl") << kernels;
    model::Experiment experiment;
    experiment.family = "scratch";
    experiment.question = "Does the executor see what a kernel did?";
    experiment.axes = {{"n", "", "words", model::Axis::Kind::integer, {"1000"}}};
    experiment.variants = variants;
    experiment.setup = [adjust](const model::Request& request, model::Params& params) {
        const auto n = params.count("n");
        std::vector<std::uint32_t> src(n);
        for (std::size_t i = 0; i < n; ++i) src[i] = static_cast<std::uint32_t>(i * 2654435761u + request.seed);
        model::Setup out;
        out.args = {model::Input{"src", model::share(src)}, model::Output{"dst", n * 4},
                    model::value("n", static_cast<std::int32_t>(n))};
        out.global = model::Extent(n);
        out.work.bytes = 8.0 * static_cast<double>(n);
        out.check = [src](const model::Buffers& buffers) -> std::optional<std::string> {
            ++checks;
            const auto dst = buffers.as<std::uint32_t>("dst");
            for (std::size_t i = 0; i < src.size(); ++i) {
                if (dst[i] != 2 * src[i] + 1) return "dst[" + std::to_string(i) + "] differs";
            }
            return std::nullopt;
        };
        if (adjust) adjust(request.variant, out);
        return out;
    };
    std::vector<model::Group> comparisons(1);
    model::Point point;
    point.set("n", words);
    for (const auto& variant : experiment.variants) {
        if (apart && !comparisons.back().empty()) comparisons.emplace_back();
        comparisons.back().push_back({&experiment, &variant, experiment.id(variant), point, ""});
        if (twins) comparisons.back().push_back({&experiment, &variant, experiment.id(variant), point, "", "-DTWIN"});
    }
    settings.cl_dir = folder.path;
    settings.sampling_seconds = 0.05;
    if (const char* more = std::getenv("CLLAB_TEST_BUILD_OPTIONS")) settings.build_options = more;
    Recorder own;
    auto& use = recorder ? *recorder : own;
    run::execute(where ? *where : session(), {std::move(yardstick), comparisons, settings}, use.events, {}, results);
    return use.records;
}

}  // namespace cllab::test
