// What `cllab capture` reads of the memory that other people's processes wrote.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>

#include "capture/board.hpp"

namespace {

using namespace cllab::capture;

LaunchRow& add(Board& board, const char* kernel, std::uint64_t global, std::uint64_t launches, std::uint64_t ns) {
    auto& row = *claim(board.launch_rows, board.launch);
    row.kernel.set(kernel);
    row.global = {global};
    row.launches.count = launches, row.launches.ns = ns;
    return row;
}

BOOST_AUTO_TEST_SUITE(capture)

BOOST_AUTO_TEST_CASE(rows_of_a_kernel_are_one_and_the_longest_is_first) {
    const auto board = std::make_unique<Board>();
    add(*board, "add", 64, 3, 10);
    add(*board, "scale", 64, 1, 100);
    add(*board, "scale", 128, 2, 300);
    add(*board, "other", 1, 0, 0);  // claimed, and its launch failed
    const auto kernels = kernels_on(*board);
    BOOST_TEST_REQUIRE(kernels.size() == 2u);
    BOOST_TEST(kernels[0].kernel == "scale");
    BOOST_TEST(kernels[0].launches == 3u);
    BOOST_TEST(kernels[0].rows[0]->global[0] == 128u);
    BOOST_TEST(kernels[1].kernel == "add");
}

BOOST_AUTO_TEST_CASE(kernels_of_the_same_name_in_two_programs_are_two) {
    const auto board = std::make_unique<Board>();
    add(*board, "scale", 64, 1, 1).program = 1;
    add(*board, "scale", 64, 1, 1).program = 2;
    BOOST_TEST(kernels_on(*board).size() == 2u);
}

BOOST_AUTO_TEST_CASE(whatever_bytes_it_holds_nothing_beyond_it_is_read) {
    const auto board = std::make_unique<Board>();
    std::memset(static_cast<void*>(board.get()), 0xff, sizeof(Board));
    BOOST_TEST(kernels_on(*board).size() == 1u);
    BOOST_TEST(kernels_on(*board)[0].kernel.size() == 256u);
    BOOST_TEST(kept_on(*board).size() == board->kept.size());
    BOOST_TEST(notes_on(*board).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_full_list_gives_no_place_and_a_long_text_is_cut) {
    const auto board = std::make_unique<Board>();
    for (std::size_t i = 0; i < board->note.size(); ++i) BOOST_TEST(claim(board->notes, board->note));
    BOOST_TEST(!claim(board->notes, board->note));
    board->loader.set(std::string(1000, 'x'));
    BOOST_TEST(board->loader.get().size() == 511u);
}

BOOST_AUTO_TEST_CASE(a_board_is_made_once_and_is_found_again) {
    const auto path = std::filesystem::temp_directory_path() / "cllab-capture-test-board";
    std::filesystem::remove(path);
    BOOST_TEST(!map_board(path, false));
    auto* made = map_board(path, true);
    BOOST_TEST_REQUIRE(made);
    made->processes = 7;
    BOOST_TEST(!map_board(path, true));
    BOOST_TEST(map_board(path, false)->processes == 7u);
    std::filesystem::remove(path);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
