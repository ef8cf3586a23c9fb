// PoCL's container: its files, and which work-group function is the one that ran.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>

#include "inspect/binary.hpp"
#include "inspect/pocl_code.hpp"
#include "unit/inspect_build.hpp"

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

PoclCode choose(const std::string& kernel, const Extent& local) {
    return choose_pocl_code(read_poclbin(build::span(container_bytes)), kernel, local);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(inspect_pocl)

BOOST_AUTO_TEST_CASE(every_file_of_the_container_is_listed_with_its_content) {
    const auto container = read_poclbin(build::span(container_bytes));
    BOOST_TEST(container.version == 9u);
    BOOST_TEST(container.device_hash == 0x00ed1684c2b7fb5aull);
    BOOST_TEST(container.complete);
    BOOST_TEST_REQUIRE(container.entries.size() == 7u);
    BOOST_TEST(container.entries[0].path == "/program.bc");
    BOOST_TEST(container.entries[2].path == "/vadd/64-4-1-goffs0/vadd.so");
    BOOST_TEST(as_text(container.entries[2].content) == "special");
}

BOOST_AUTO_TEST_CASE(a_truncated_container_is_not_complete_at_any_length) {
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
    const auto code = choose("vadd", Extent(64, 4));
    BOOST_TEST(code.path == "/vadd/64-4-1-goffs0/vadd.so");
    BOOST_TEST(as_text(code.content) == "special");
    BOOST_TEST(code.label == "work-group function specialised for local size 64x4x1 (64-4-1-goffs0)");
    BOOST_TEST(code.symbol == "_pocl_kernel_vadd_workgroup");
    BOOST_TEST(code.others.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_local_size_is_not_taken_for_a_longer_one_that_starts_alike) {
    BOOST_TEST(choose("vadd", Extent(6, 4)).path == "/vadd/0-0-0/vadd.so");
    BOOST_TEST(choose("vadd", Extent(16)).path == "/vadd/16-1-1/vadd.so");
    const std::string deep = build::PoclFile{.kernels = {{"k", {{"/k/16-1-16/k.so", "deep"}}}}}.bytes();
    BOOST_TEST(choose_pocl_code(read_poclbin(build::span(deep)), "k", Extent(16)).path.empty());
}

BOOST_AUTO_TEST_CASE(without_its_specialisation_the_generic_function_is_labelled_as_such) {
    const auto code = choose("vadd", Extent(128));
    BOOST_TEST(as_text(code.content) == "generic");
    BOOST_TEST(code.label == "generic work-group function, not specialised for local size 128");
}

BOOST_AUTO_TEST_CASE(with_no_local_size_a_single_specialisation_is_the_one_that_ran_and_several_leave_it_open) {
    BOOST_TEST(as_text(choose("copy", {}).content) == "special copy");
    const auto code = choose("vadd", {});
    BOOST_TEST(as_text(code.content) == "generic");
    BOOST_TEST(code.label == "generic work-group function");
}

BOOST_AUTO_TEST_CASE(a_kernel_that_is_not_in_the_container_has_no_code) {
    BOOST_TEST(choose("vad", Extent(64)).path.empty());
}

BOOST_AUTO_TEST_SUITE_END()
