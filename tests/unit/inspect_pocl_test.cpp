// PoCL's container: its files, and which work-group function is the one that ran.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "inspect/binary/binary.hpp"
#include "inspect/binary/cpu_code.hpp"
#include "unit/inspect_build.hpp"

BOOST_AUTO_TEST_SUITE(inspect_pocl)

using namespace cllab::inspect;
using cllab::model::Extent;

namespace {

const std::string container_bytes =
    build::PoclFile{
        .kernels = {{"vadd",
                     {{"/vadd/0-0-0/vadd.so", "generic"},
                      {"/vadd/64-4-1-goffs0/vadd.so", "special"},
                      {"/vadd/64-4-1-goffs0-smallgrid/vadd.so", "small"},
                      {"/vadd/16-1-1/vadd.so", "offset"}}},
                    {"copy",
                     {{"/copy/0-0-0/copy.so", "generic copy"}, {"/copy/8-1-1-goffs0/copy.so", "special copy"}}}}}
        .bytes();

PoclCode choose(const std::string& kernel, const LaunchSize& launch, const std::vector<std::string>& loaded = {}) {
    return choose_pocl_code(read_poclbin(build::span(container_bytes)), kernel, launch, loaded);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_file_of_the_container_is_listed_with_its_content) {
    const auto container = read_poclbin(build::span(container_bytes));
    BOOST_TEST(container.version == 9u);
    BOOST_TEST(container.complete);
    BOOST_TEST_REQUIRE(container.entries.size() == 7u);
    BOOST_TEST(container.entries[0].path == "/program.bc");
    BOOST_TEST(container.entries[2].path == "/vadd/64-4-1-goffs0/vadd.so");
    BOOST_TEST(as_text(container.entries[2].content) == "special");
}

BOOST_AUTO_TEST_CASE(truncated_container_is_incomplete_at_any_length) {
    for (std::size_t size = 0; size < container_bytes.size(); ++size) {
        const std::string cut = container_bytes.substr(0, size);
        const auto container = read_poclbin(build::span(cut));
        // Cut exactly behind a record of the last kernel nothing is missing that the records could tell.
        const bool behind_a_record = cut.ends_with("generic copy");
        if (!behind_a_record)
            BOOST_TEST(!container.complete, "complete at " << size << " of " << container_bytes.size());
    }
}

BOOST_AUTO_TEST_CASE(the_function_specialised_for_the_local_size_is_chosen) {
    const auto code = choose("vadd", {Extent(64, 4), Extent(65536, 4)});
    BOOST_TEST(code.path == "/vadd/64-4-1-goffs0/vadd.so");
    BOOST_TEST(as_text(code.content) == "special");
    BOOST_TEST(code.label == "work-group function specialised for local size 64x4x1 (64-4-1-goffs0)");
    BOOST_TEST(code.symbol == "_pocl_kernel_vadd_workgroup");
    BOOST_TEST(code.others.size() == 3u);
}

BOOST_AUTO_TEST_CASE(local_size_is_not_confused_with_a_longer_one) {
    BOOST_TEST(choose("vadd", {Extent(6, 4)}).path == "/vadd/0-0-0/vadd.so");
    BOOST_TEST(choose("vadd", {Extent(16)}).path == "/vadd/16-1-1/vadd.so");
    const std::string deep = build::PoclFile{.kernels = {{"k", {{"/k/16-1-16/k.so", "deep"}}}}}.bytes();
    BOOST_TEST(choose_pocl_code(read_poclbin(build::span(deep)), "k", {Extent(16)}).path.empty());
}

BOOST_AUTO_TEST_CASE(generic_function_is_labelled_when_no_specialisation_fits) {
    const auto code = choose("vadd", {Extent(128)});
    BOOST_TEST(as_text(code.content) == "generic");
    BOOST_TEST(code.label == "generic work-group function, not specialised for local size 128");
}

BOOST_AUTO_TEST_CASE(grid_below_65535_runs_the_code_for_small_grids) {
    BOOST_TEST(as_text(choose("vadd", {Extent(64, 4), Extent(65472, 65532)}).content) == "small");
    BOOST_TEST(as_text(choose("vadd", {Extent(64, 4), Extent(64, 65536)}).content) == "special");
    BOOST_TEST(as_text(choose("vadd", {Extent(16), Extent(16)}).content) == "offset");  // there is no other
}

BOOST_AUTO_TEST_CASE(earlier_specialisation_that_divides_the_launch_is_chosen) {
    BOOST_TEST(as_text(choose("copy", {}).content) == "special copy");
    BOOST_TEST(as_text(choose("vadd", {{}, Extent(80)}).content) == "offset");
    BOOST_TEST(as_text(choose("vadd", {{}, Extent(128, 8)}).content) == "small");
    const auto none = choose("vadd", {{}, Extent(30)});
    BOOST_TEST(as_text(none.content) == "generic");
    BOOST_TEST(none.label == "generic work-group function; no specialised one fits the launch");
}

BOOST_AUTO_TEST_CASE(loaded_function_is_chosen_among_several_that_fit) {
    const LaunchSize launch{{}, Extent(65536, 4)};
    BOOST_TEST(as_text(choose("vadd", launch, {"/lib/libc.so", "/cache/AB/CD/vadd/16-1-1/vadd.so"}).content) ==
               "offset");
    BOOST_TEST(as_text(choose("vadd", launch, {"/cache/AB/CD/vadd/64-4-1-goffs0/vadd.so"}).content) == "special");
    const auto open = choose("copy", {{}, {}});
    BOOST_TEST(open.label == "work-group function specialised for local size 8x1x1 (8-1-1-goffs0)");
    const std::string two =
        build::PoclFile{.kernels = {{"k", {{"/k/8-1-1-goffs0/k.so", "8"}, {"/k/64-1-1-goffs0/k.so", "64"}}}}}.bytes();
    const auto code = choose_pocl_code(read_poclbin(build::span(two)), "k", {{}, Extent(128)});
    BOOST_TEST(as_text(code.content) == "64");
    BOOST_TEST(code.label ==
               "work-group function specialised for local size 64x1x1 (64-1-1-goffs0), one of 2 that may have run: the "
               "driver chose the local size");
}

BOOST_AUTO_TEST_CASE(code_loaded_later_is_found_in_the_folder_of_the_program) {
    const auto cache = std::filesystem::temp_directory_path() / ("cllab-pocl-" + std::to_string(getpid()));
    const std::string program = "IJ/HCKLMGLECNFKPKCJDBACCBDNKNAPIENGPHECF",
                      other = "IJ/HCKLMGLECNFKPKCJDBACCBDNKNAPIENGPHECA";
    const auto write = [&](const std::string& path, const std::string& content) {
        std::filesystem::create_directories((cache / path).parent_path());
        std::ofstream(cache / path) << content;
        return (cache / path).string();
    };
    const std::vector<std::string> loaded{write(program + "/vadd/64-4-1-goffs0/vadd.so", "not read"),
                                          write(program + "/vadd/80-1-1-goffs0/vadd.so", "later"),
                                          write(other + "/vadd/16-1-1-goffs0/vadd.so", "another program's"),
                                          (cache / program / "vadd/1-1-1/vadd.so").string()};
    BOOST_TEST(read_poclbin(build::span(container_bytes)).folder == program);
    const auto container = with_loaded(read_poclbin(build::span(container_bytes)), loaded);
    std::filesystem::remove_all(cache);
    BOOST_TEST_REQUIRE(container.entries.size() == 8u);
    BOOST_TEST(container.entries.back().path == "/vadd/80-1-1-goffs0/vadd.so");
    const auto code = choose_pocl_code(container, "vadd", {{}, Extent(80)}, loaded, "/vadd/80-1-1-goffs0/vadd.so");
    BOOST_TEST(as_text(code.content) == "later");
    BOOST_TEST(choose_pocl_code(container, "vadd", {Extent(64, 4), Extent(65536, 4)}).others.size() ==
               3u);  // in the container
    BOOST_TEST(as_text(container.entries[2].content) == "special");
}

BOOST_AUTO_TEST_CASE(function_path_contains_the_local_size_of_the_driver) {
    const auto local = local_size_of("/vadd/64-4-1-goffs0/vadd.so", "vadd");
    BOOST_TEST_REQUIRE(local.has_value());
    BOOST_TEST(local->text() == "64x4x1");
    BOOST_TEST(!local_size_of("/vadd/0-0-0/vadd.so", "vadd"));
    BOOST_TEST(!local_size_of("/copy/64-4-1/copy.so", "vadd"));
    BOOST_TEST(!local_size_of("", "vadd"));
}

BOOST_AUTO_TEST_CASE(driver_chosen_groups_are_counted_from_the_function_path) {
    const auto learned = [](cllab::model::WorkInfo work, const std::string& path) {
        learn_groups(work, path, Extent(4096, 6));
        return std::pair(work.groups, work.group);
    };
    BOOST_CHECK(learned({.launches = 1}, "/k/1024-4-1-goffs0/k.so") == std::pair(8.0, 4096.0));
    BOOST_CHECK(learned({.launches = 1}, "") == std::pair(0.0, 0.0));
    BOOST_CHECK(learned({.launches = 1}, "/k/0-0-0/k.so") == std::pair(0.0, 0.0));
    BOOST_CHECK(learned({.launches = 2}, "/k/1024-4-1-goffs0/k.so") ==
                std::pair(0.0, 0.0));  // which of them is not known
    BOOST_CHECK(learned({.launches = 1, .groups = 24, .group = 1024}, "/k/1024-4-1-goffs0/k.so") ==
                std::pair(24.0, 1024.0));
}

BOOST_AUTO_TEST_CASE(intel_barrier_kernel_is_vectorised_if_width_divides_group) {
    const std::string bytes = build::x86_object(
        {{"k", "\xc3"}, {"_ZGVeN16uu_other_k", "\xc3"}, {"_ZGVeN16uuuu_k", "\xc3"}, {"plain", "\xc3"}});
    const auto object = read_elf(build::span(bytes));
    BOOST_TEST_REQUIRE(object.has_value());
    const auto chosen = [&](const std::string& kernel, const Extent& local) {
        return choose_intel_cpu_code(*object, kernel, {local}).symbol;
    };
    BOOST_TEST(chosen("k", Extent(48, 2)) == "_ZGVeN16uuuu_k");
    BOOST_TEST(chosen("k", Extent(8, 8)) == "k");
    BOOST_TEST(chosen("plain", Extent(16)) == "plain");
    BOOST_TEST(choose_intel_cpu_code(*object, "k", {}).label.find("the driver chose the local size") !=
               std::string::npos);
    BOOST_TEST(choose_intel_cpu_code(*object, "plain", {}).label.empty());
}

BOOST_AUTO_TEST_CASE(kernel_missing_from_the_container_has_no_code) {
    BOOST_TEST(choose("vad", {Extent(64)}).path.empty());
}

BOOST_AUTO_TEST_SUITE_END()
