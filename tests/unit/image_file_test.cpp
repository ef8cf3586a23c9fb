// Image files: what is read is what was meant, and whatever else the bytes are, one sentence says so.
#include "app/files/image_file.hpp"

#include <unistd.h>
#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "core/random.hpp"

BOOST_AUTO_TEST_SUITE(image_files)

using namespace cllab;
using app::load_grey, app::save_grey;
namespace fs = std::filesystem;
using namespace std::string_literals;

struct Folder {
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    fs::path put(const std::string& name, const std::string& bytes) const {
        std::ofstream(path / name, std::ios::binary) << bytes;
        return path / name;
    }
    std::string get(const fs::path& file) const {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    fs::path path = fs::temp_directory_path() / ("cllab-image-test-" + std::to_string(getpid()));
};

namespace {

std::vector<int> pixels(const model::Loaded& image) {
    std::vector<int> out;
    for (const auto b : *image.grey) out.push_back(std::to_integer<int>(b));
    return out;
}

/// The sentence of the Error(blame) that `call` must throw.
template <typename Call>
std::string sentence(Blame blame, Call call) {
    try {
        call();
    } catch (const Error& e) {
        BOOST_TEST((e.blame() == blame), "wrong blame for: " << e.what());
        const std::string text = e.what();
        BOOST_TEST(text.find('\n') == std::string::npos, "more than one line: " << text);
        return text;
    }
    BOOST_ERROR("nothing was thrown");
    return {};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string from_hex(const std::string& hex) {
    std::string out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return out;
}

// Written by Pillow and by zlib, not by the code under test.
const std::string png_16_bit = from_hex(  // 3x1: 0x00ff, 0x8080, 0xfffe
    "89504e470d0a1a0a0000000d49484452000000030000000110000000006e1b972b0000000f4944415478da6360f8dfd0f0ff1f000b7e03fd6d"
    "90e526"
    "0000000049454e44ae426082");
const std::string png_rgba = from_hex(  // 2x2: red, green at alpha 128, blue at alpha 0, white
    "89504e470d0a1a0a0000000d494844520000000200000002080600000072b60d24000000144944415478da63f8cfc0f01f081b18c034100000"
    "3fd7"
    "08795fc76db10000000049454e44ae426082");
const std::string png_palette = from_hex(  // 4x1: red, green, blue, white
    "89504e470d0a1a0a0000000d4948445200000004000000010803000000cee2ffff0000000c504c5445ff000000ff000000fffffffffb0060f6"
    "0000"
    "000d4944415478da63606064620600000f00075bd08b7d0000000049454e44ae426082");
const std::string png_interlaced = from_hex(  // 5x3: 40 x + 13 y
    "89504e470d0a1a0a0000000d4948445200000005000000030800000001095aaab20000001e4944415478da63606058c010c02095b58b41a382"
    "c169"
    "1203af696ceb5a00326305740d4b496c0000000049454e44ae426082");
std::string big_endian(std::uint32_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
    return out;
}
std::string chunk(const std::string& type, const std::string& data) {
    const std::string body = type + data;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(static_cast<std::uint32_t>(sum));
}
std::string ihdr(std::uint32_t width, std::uint32_t height, char colour) {
    return chunk("IHDR", big_endian(width) + big_endian(height) + '\x08' + colour + std::string(3, '\0'));
}
std::string packed(const std::string& rows) {
    std::string out(compressBound(rows.size()), '\0');
    uLongf size = out.size();
    compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(rows.data()), rows.size());
    return out.substr(0, size);
}
std::string png_of(const std::string& header, const std::string& rows, const std::string& between = "") {
    return "\x89PNG\r\n\x1a\n" + header + between + chunk("IDAT", rows) + chunk("IEND", "");
}
}  // namespace

/// A folder in which images are put to be read.
struct Images : Folder {
    void reads(const std::string& bytes, const std::vector<int>& expected) const {
        BOOST_TEST(pixels(load_grey(put("image", bytes))) == expected, boost::test_tools::per_element());
    }
    void refuses(const std::string& bytes, const std::string& part) const {
        BOOST_TEST(has(sentence(Blame::usage, [&] { load_grey(put("image", bytes)); }), part));
    }
};

BOOST_FIXTURE_TEST_SUITE(image_file, Images)

BOOST_AUTO_TEST_CASE(saved_image_is_loaded_bit_for_bit) {
    for (const std::string extension : {"png", "pgm", "PNG"}) {
        for (const auto& [width, height] : {std::pair<std::size_t, std::size_t>{1, 1}, {7, 3}, {3, 7}, {640, 33}}) {
            model::Bytes grey(width * height);
            fill_random(grey, width);
            const auto file = path / ("a." + extension);
            save_grey(file, width, height, grey);
            const auto again = load_grey(file);
            BOOST_TEST(again.width == width);
            BOOST_TEST(again.height == height);
            BOOST_TEST((*again.grey == grey), extension << " " << width << "x" << height << " differs");
        }
    }
    BOOST_TEST(std::distance(fs::directory_iterator(path), fs::directory_iterator()) == 3,
               "a part file was left behind");
}

BOOST_AUTO_TEST_CASE(pgm_is_scaled_by_its_maxval) {
    reads("P2\n# from a camera\n3 2 # size\n15\n0 1 7\n8 14 15\n", {0, 17, 119, 136, 238, 255});
    const std::string twelve_bit("P5 3 1 4095\n\x00\x00\x08\x00\x0f\xff", 18);
    reads(twelve_bit, {0, 128, 255});
    reads("P5 2 1 255 \x0a\xff", {10, 255});  // the first pixel looks like white space
}

BOOST_AUTO_TEST_CASE(colour_becomes_bt601_luma_in_every_format) {
    // 255 times the weights 77, 150 and 29 of 256
    const std::vector<int> expected{76, 149, 28, 255};
    const std::string rgb("\xff\0\0\0\xff\0\0\0\xff\xff\xff\xff", 12);
    reads("P6 4 1 255\n" + rgb, expected);
    reads("P3 4 1 1 1 0 0 0 1 0 0 0 1 1 1 1", expected);
    for (const auto& bytes : {png_palette, png_rgba}) reads(bytes, expected);
}

BOOST_AUTO_TEST_CASE(sixteen_bit_png_is_scaled_and_rounded) { reads(png_16_bit, {1, 128, 255}); }

BOOST_AUTO_TEST_CASE(truncated_file_is_refused_at_any_length) {
    const std::string pgm = "P2 2 2 9 1 2 3 4", deep("P5 2 2 300\n\0\1\0\2\0\3\0\4", 19);
    for (const auto& whole : {png_16_bit, png_rgba, pgm, deep}) {
        load_grey(put("whole", whole));
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const auto file = put("cut", whole.substr(0, size));
            BOOST_TEST_CONTEXT("first " << size << " of " << whole.size() << " bytes of " << whole.substr(1, 3))
            sentence(Blame::usage, [&] { load_grey(file); });
        }
    }
}

BOOST_AUTO_TEST_CASE(png_with_any_wrong_bit_is_refused) {
    for (const auto& whole : {png_16_bit, png_rgba, png_palette, png_interlaced})
        for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 3) {  // each of the eight places in a byte
            std::string damaged = whole;
            damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
            BOOST_TEST_CONTEXT("bit " << bit)
            sentence(Blame::usage, [&] { load_grey(put("damaged", damaged)); });
        }
}

BOOST_AUTO_TEST_CASE(an_interlaced_png_is_read_row_by_row) {
    std::vector<int> expected;
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 5; ++x) expected.push_back(40 * x + 13 * y);
    reads(png_interlaced, expected);
}

BOOST_AUTO_TEST_CASE(png_with_valid_checksums_needs_all_rows_and_colours) {
    const std::string two_rows = packed("\0\1\2\0\3\4"s), header = ihdr(2, 2, 0);
    reads(png_of(header, two_rows), {1, 2, 3, 4});
    refuses(png_of(header, packed("\0\1\2"s)), "cannot be read as PNG: ");
    std::string wrong_sum = two_rows;
    wrong_sum.back() ^= 1;
    refuses(png_of(header, wrong_sum), "cannot be read as PNG: ");
    const std::string three_colours = chunk("PLTE", "\xff\0\0\0\xff\0\0\0\xff"s);
    reads(png_of(ihdr(2, 1, 3), packed("\0\1\2"s), three_colours), {149, 28});
    refuses(png_of(ihdr(2, 1, 3), packed("\0\1\3"s), three_colours),
            "has a pixel with palette index 3, but its palette has only 3 colors");
    // A colour profile is not used, so it need not be right.
    reads(png_of(header, two_rows, chunk("iCCP", "no profile") + chunk("gAMA", "\0\0\x27\x10"s)), {1, 2, 3, 4});
}

BOOST_AUTO_TEST_CASE(file_without_an_image_has_a_clear_error) {
    const auto why = [&](const fs::path& file) { return sentence(Blame::usage, [&] { load_grey(file); }); };
    BOOST_TEST(has(why(path / "absent.png"), "absent.png' cannot be opened: No such file"));
    BOOST_TEST(has(why(path), "is a folder"));
    refuses("", "is empty");
    refuses("hello, this is text\n", "is not PNG, PGM or PPM; ImageMagick converts");
    for (const auto& other : {std::string(4096, '\0'), "\xff\xd8\xff\xe0"s, "BM\x42\0\0\0"s})
        refuses(other, "is not PNG, PGM or PPM");
    refuses("P5 0 4 255 ", "has no pixels (0x4)");
    refuses("P5 1 1 70000 abc", "maxval 70000");
    refuses("P2 2 1 9 3 12", "sample of 12, above its maxval of 9");
    refuses("P5 wide 4 255 ", "its width is not a number");
    refuses(from_hex("89504e470d0a1a0a0000000d49484452000000000000000508000000004e2db27d"), "cannot be read");
}

BOOST_AUTO_TEST_CASE(header_with_excessive_size_allocates_no_memory) {
    refuses("P5 999999999 999999999 255 abc", "claims 999999999x999999999 pixels, but only 3 bytes follow");
    refuses("P5 99999999999999999999999 1 255 abc", "cut short");
    refuses("P3 4000000 4000000 1 0 1", "cut short");
    const std::string tail = "0000000a4944415478da6360040000030002e67da7670000000049454e44ae426082";
    refuses(from_hex("89504e470d0a1a0a0000000d4948445200f4240000f4240008000000002ffd0dcf" + tail),
            "claims 16000000x16000000 pixels");
    refuses(from_hex("89504e470d0a1a0a0000000d4948445200008000000080000800000000e117fca3" + tail),
            "is cut short: its header claims 32768x32768 pixels");
}

BOOST_AUTO_TEST_CASE(failed_save_has_an_error_and_leaves_no_file) {
    const model::Bytes grey(6);
    BOOST_TEST(has(sentence(Blame::usage, [&] { save_grey(path / "a.jpg", 3, 2, grey); }), "must end in .png or .pgm"));
    BOOST_TEST(has(sentence(Blame::usage, [&] { save_grey(path / "png", 3, 2, grey); }), "must end in .png or .pgm"));
    BOOST_TEST(
        has(sentence(Blame::environment, [&] { save_grey(path / "absent" / "a.png", 3, 2, grey); }), "No such file"));
    BOOST_TEST(
        has(sentence(Blame::environment, [&] { app::require_savable(path / "absent" / "a.png"); }), "No such file"));
    BOOST_TEST(has(sentence(Blame::usage, [&] { app::require_savable(path / "a.gif"); }), "must end in .png or .pgm"));
    app::require_savable(path / "a.PNG");
    app::require_savable("a.pgm");
    fs::create_directory(path / "taken.pgm");
    BOOST_TEST(
        has(sentence(Blame::environment, [&] { save_grey(path / "taken.pgm", 3, 2, grey); }), "cannot be written"));
    BOOST_CHECK_THROW(save_grey(path / "a.png", 4, 2, grey), std::invalid_argument);
    BOOST_TEST(std::distance(fs::directory_iterator(path), fs::directory_iterator()) == 1);
}

BOOST_AUTO_TEST_CASE(old_file_is_replaced_only_by_a_complete_one) {
    const auto file = path / "map.pgm";
    save_grey(file, 2, 1, model::Bytes(2, std::byte{7}));
    save_grey(file, 1, 1, model::Bytes(1, std::byte{9}));
    BOOST_TEST(get(file) == "P5\n1 1\n255\n\x09");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
