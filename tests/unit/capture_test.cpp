// What `cllab capture` reads of the memory that other people's processes wrote.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>

#include "capture/board.hpp"

namespace {

using namespace cllab::capture;

void add(Board& board, const char* kernel, int program, std::uint64_t global, std::uint64_t launches, std::uint64_t ns) {
    const auto index = board.rows++;
    board.tallies[index].count = launches, board.tallies[index].ns = ns;
    board.say({{"row", index}, {"kernel", kernel}, {"device", "cpu"}, {"program", program}, {"global", {global}}});
}

BOOST_AUTO_TEST_SUITE(capture)

BOOST_AUTO_TEST_CASE(rows_of_a_kernel_are_merged_and_sorted_by_time) {
    const auto board = std::make_unique<Board>();
    add(*board, "add", 1, 64, 3, 10);
    add(*board, "scale", 1, 64, 1, 100);
    add(*board, "scale", 1, 128, 2, 300);
    add(*board, "other", 1, 1, 0, 0);  // its launch failed
    const auto kernels = by_kernel(rows_on(*board, "kernel"));
    BOOST_TEST_REQUIRE(kernels.size() == 2u);
    BOOST_TEST(kernels[0][0]["kernel"] == "scale");
    BOOST_TEST(sum_of(kernels[0], "count") == 3);
    BOOST_TEST(kernels[0][0]["global"][0] == 128);
    BOOST_TEST(kernels[0][0]["count"] == 2);
    BOOST_TEST(kernels[1][0]["kernel"] == "add");
}

BOOST_AUTO_TEST_CASE(same_kernel_name_in_two_programs_makes_two_kernels) {
    const auto board = std::make_unique<Board>();
    add(*board, "scale", 1, 64, 1, 1);
    add(*board, "scale", 2, 64, 1, 1);
    BOOST_TEST(by_kernel(rows_on(*board, "kernel")).size() == 2u);
}

BOOST_AUTO_TEST_CASE(later_line_about_a_file_replaces_the_earlier_one) {
    const auto board = std::make_unique<Board>();
    board->say({{"file", "scale.cl"}, {"launch", 1}});
    board->say({{"file", "add.cl"}, {"launch", 1}});
    board->say({{"file", "scale.cl"}, {"launch", 7}});
    const auto files = said_on(*board, "file");
    BOOST_TEST_REQUIRE(files.size() == 2u);
    BOOST_TEST(files[1]["launch"] == 7);
}

BOOST_AUTO_TEST_CASE(reader_stays_inside_a_board_with_arbitrary_bytes) {
    const auto board = std::make_unique<Board>();
    std::memset(static_cast<void*>(board.get()), 0xff, sizeof(Board));
    BOOST_TEST(rows_on(*board, "kernel").empty());
    BOOST_TEST(said_on(*board, "note").empty());
    board->used = 0, board->rows = 0;
    board->say({{"row", board->tallies.size()}, {"kernel", "beyond"}});
    board->say({{"row", "scale"}, {"kernel", "scale"}});
    board->say({{"kernel", "without a row"}});
    board->say({{"note", "it \xff stays"}});
    BOOST_TEST(rows_on(*board, "kernel").empty());
    BOOST_TEST(said_on(*board, "note").size() == 1u);
}

BOOST_AUTO_TEST_CASE(line_without_room_on_the_board_is_dropped) {
    const auto board = std::make_unique<Board>();
    const std::string half(board->lines.size() / 2, 'x');
    for (int i = 0; i < 3; ++i) board->say({{"note", half + std::to_string(i)}});
    BOOST_TEST(said_on(*board, "note").size() == 1u);
}

BOOST_AUTO_TEST_CASE(board_is_created_once_and_found_again) {
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
