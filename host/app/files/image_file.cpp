#include "app/files/image_file.hpp"

#include <unistd.h>

#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#include <stb_image.h>
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/files/outputs.hpp"
#include "app/files/png_file.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "run/executor.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

const std::string readable = "PNG, JPEG, BMP, PGM or PPM";

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
    throw Error(Blame::usage, "input file '" + path.string() + "' " + why);
}

std::string system_message() { return std::strerror(errno); }

bool is_netpbm(const std::string& bytes) {
    return bytes.size() > 2 && bytes[0] == 'P' && std::strchr("2356", bytes[1]) &&
           std::isspace(static_cast<unsigned char>(bytes[2]));
}

/// By the first bytes, whatever follows them.
bool is_image(const std::string& bytes) {
    return is_netpbm(bytes) || bytes.starts_with("\x89PNG\r\n\x1a\n") || bytes.starts_with("\xff\xd8") ||
           bytes.starts_with("BM");
}

/// The whole file. A pipe is fine, so the size is not asked for beforehand.
std::string read_file(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) refuse(path, "is a folder, not an image");
    if (const auto fault = reading_fault(path); !fault.empty()) refuse(path, "cannot be opened: " + fault);
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) refuse(path, "cannot be opened: " + system_message());
    std::string bytes;
    const auto size = fs::file_size(path, ignored);
    if (!ignored) bytes.reserve(size);
    std::vector<char> chunk(1 << 20);
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
        bytes.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
        // A pipe may have no end.
        if (!is_image(bytes)) refuse(path, "cannot be read as " + readable + ": it begins like none of them");
        if (bytes.size() > run::host_memory_bytes())
            refuse(path, "is larger than this machine's memory of " + format_bytes(run::host_memory_bytes()));
    }
    if (in.bad()) refuse(path, "cannot be read: " + system_message());
    if (bytes.empty()) refuse(path, "is empty");
    return bytes;
}

/// Throws unless width*height pixels of `bytes_each` fit this machine's memory; the header's word is not trusted.
void require_memory(const fs::path& path, std::uint64_t width, std::uint64_t height, std::uint64_t bytes_each) {
    const auto memory = run::host_memory_bytes();
    if (width > memory / bytes_each / height)
        refuse(path, "claims " + std::to_string(width) + "x" + std::to_string(height) +
                         " pixels, more than this machine's memory of " + format_bytes(memory) + " holds");
}

/// The Netpbm formats PGM and PPM, text (P2, P3) and binary (P5, P6), any maxval; stb ignores maxval and has no text.
/// https://netpbm.sourceforge.net/doc/pgm.html
class Netpbm {
public:
    Netpbm(const fs::path& path, const std::string& bytes) : path_(path), bytes_(bytes), at_(2) {}

    model::Loaded read() {
        const bool text = bytes_[1] == '2' || bytes_[1] == '3';
        const std::size_t channels = bytes_[1] == '3' || bytes_[1] == '6' ? 3 : 1;
        const auto width = number("width"), height = number("height");
        most_ = number("maxval");
        if (width == 0 || height == 0)
            refuse(path_, "has no pixels (" + std::to_string(width) + "x" + std::to_string(height) + ")");
        if (most_ == 0 || most_ > 65535)
            refuse(path_, "has maxval " + std::to_string(most_) + "; possible are 1 to 65535");
        // A text sample takes two characters at least, but for the last; a binary header ends in one white space.
        const std::size_t sample_bytes = text ? 2 : most_ > 255 ? 2 : 1;
        if (!text) ++at_;
        const std::size_t left = bytes_.size() - std::min(at_, bytes_.size()) + (text ? 1 : 0);
        if (width > left / sample_bytes / channels / height)
            refuse(path_, "is cut short: its header claims " + std::to_string(width) + "x" + std::to_string(height) +
                              " pixels, but only " + std::to_string(left) + " bytes follow");
        require_memory(path_, width, height, 1);
        model::Bytes grey(width * height);
        if (!text && channels == 1 && most_ == 255) {  // already what is wanted, and large panels come so
            std::memcpy(grey.data(), bytes_.data() + at_, grey.size());
        } else {
            for (auto& pixel : grey) {
                std::uint64_t rgb[3] = {};
                for (std::size_t c = 0; c < channels; ++c) rgb[c] = text ? number("sample") : binary(sample_bytes);
                pixel = channels == 1 ? to_grey(rgb[0], most_) : to_luma(rgb, most_);
            }
        }
        return {path_.string(), width, height, std::make_shared<const model::Bytes>(std::move(grey))};
    }

private:
    /// A decimal number after white space and # comments. Headers and text samples.
    std::uint64_t number(const char* what) {
        while (at_ < bytes_.size() && (std::isspace(static_cast<unsigned char>(bytes_[at_])) || bytes_[at_] == '#')) {
            if (bytes_[at_] == '#') at_ = std::min(bytes_.find('\n', at_), bytes_.size() - 1);
            ++at_;
        }
        std::uint64_t value = 0;
        const auto first = at_;
        for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_)
            value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(bytes_[at_] - '0'), 4'000'000'000);
        if (at_ == first)
            refuse(path_, std::string("is a damaged PGM or PPM: no number where its ") + what + " should stand");
        return in_range(value);
    }

    /// 8-bit sample, or 16-bit with the high byte first.
    std::uint64_t binary(std::size_t sample_bytes) {
        std::uint64_t value = static_cast<unsigned char>(bytes_[at_++]);
        if (sample_bytes == 2) value = value << 8 | static_cast<unsigned char>(bytes_[at_++]);
        return in_range(value);
    }

    std::uint64_t in_range(std::uint64_t value) const {
        if (most_ != 0 && value > most_)
            refuse(path_,
                   "has a sample of " + std::to_string(value) + ", above its maxval of " + std::to_string(most_));
        return value;
    }

    const fs::path& path_;
    const std::string& bytes_;
    std::size_t at_;
    std::uint64_t most_ = 0;  // 0 until the header is read
};

/// The whole number of `count` bytes at `at`, which lie inside `bytes`.
std::uint64_t little_endian(const std::string& bytes, std::size_t at, std::size_t count) {
    std::uint64_t v = 0;
    while (count-- > 0) v = v << 8 | static_cast<unsigned char>(bytes[at + count]);
    return v;
}

/// stb_image fills the rest of a BMP that is cut short with black and calls it a success, and shows whatever memory
/// holds for a palette index past the palette's end. It takes uncompressed ones only: rows of whole 32-bit words, from
/// the offset at byte 10; bits a pixel at 24 in the oldest header, else at 28.
void require_sound_bmp(const fs::path& path, const std::string& bytes, std::uint64_t width, std::uint64_t height) {
    if (!bytes.starts_with("BM") || bytes.size() < 30) return;
    const auto header = little_endian(bytes, 14, 4), data = little_endian(bytes, 10, 4);
    const auto bits = little_endian(bytes, header == 12 ? 24 : 28, 2), row_bytes = (width * bits + 31) / 32 * 4;
    if (data + row_bytes * height > bytes.size()) refuse(path, "is cut short: its last pixels are missing");
    if (bits != 1 && bits != 4 && bits != 8) return;
    if (header == 12) refuse(path, "is a BMP of OS/2 with a palette, which is not read; save it as PNG");
    if (data < 14 + header) refuse(path, "is a damaged BMP: its palette cannot be found");
    const auto colours = (data - 14 - header) / 4;
    for (std::uint64_t y = 0; y < height; ++y)
        for (std::uint64_t x = 0; x < width; ++x) {
            const auto at = x * bits;
            const auto index = static_cast<unsigned char>(bytes[data + y * row_bytes + at / 8]) >> (8 - bits - at % 8) &
                               ((1u << bits) - 1);
            if (index >= colours)
                refuse(path, "has a pixel of colour " + std::to_string(index) + ", but its palette has only " +
                                 std::to_string(colours));
        }
}

/// stb_image up to 2.27 writes past its table for a Huffman table of more than 256 codes, so no such JPEG gets to it.
void require_sound_jpeg(const fs::path& path, std::string_view bytes) {
    const auto byte = [&](std::size_t at) { return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u; };
    if (byte(0) != 0xFF || byte(1) != 0xD8) return;
    std::size_t at = 2;
    // What other programs keep in front of the image is skipped, for it may hold any bytes. From there on every place
    // that may be the marker of a table is looked at: in a damaged file stb finds markers where the lengths do not
    // lead.
    while (byte(at) == 0xFF && (byte(at + 1) == 0xFE || (byte(at + 1) >= 0xE0 && byte(at + 1) <= 0xEF)))
        at += 2 + std::max(2u, byte(at + 2) << 8 | byte(at + 3));
    for (; at + 4 < bytes.size(); ++at) {
        if (byte(at) != 0xFF || byte(at + 1) != 0xC4) continue;
        const std::size_t end = at + 2 + (byte(at + 2) << 8 | byte(at + 3));
        for (std::size_t table = at + 4; table < end;) {
            std::size_t codes = 0;
            for (std::size_t length = 1; length <= 16; ++length) codes += byte(table + length);
            if (codes > 256)
                refuse(path, "is damaged: a Huffman table of the JPEG has " + std::to_string(codes) +
                                 " codes; at most 256 are possible");
            table += 17 + codes;
        }
    }
}

/// The rest, through stb_image.
model::Loaded read_stb(const fs::path& path, const std::string& bytes) {
    if (bytes.size() > INT_MAX) refuse(path, "is larger than 2 GiB; only PGM and PPM may be");
    const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
    const auto size = static_cast<int>(bytes.size());
    const auto damaged = [&] { refuse(path, "cannot be read as " + readable + ": " + lower(stbi_failure_reason())); };
    int width = 0, height = 0, channels = 0;
    if (!stbi_info_from_memory(data, size, &width, &height, &channels)) damaged();
    // A BMP whose height is negative has its rows from the top; stb turns only the others round.
    if (bytes.starts_with("BM") && height < 0 && height > INT_MIN) height = -height;
    if (width <= 0 || height <= 0)
        refuse(path, "has no pixels (" + std::to_string(width) + "x" + std::to_string(height) + ")");
    const auto columns = static_cast<std::size_t>(width), rows = static_cast<std::size_t>(height);
    require_memory(path, columns, rows, static_cast<std::uint64_t>(channels));
    require_sound_bmp(path, bytes, columns, rows);
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
        stbi_load_from_memory(data, size, &width, &height, &channels, 1), stbi_image_free);
    if (!pixels) damaged();
    const auto* first = reinterpret_cast<const std::byte*>(pixels.get());
    return {path.string(), columns, rows, std::make_shared<const model::Bytes>(first, first + columns * rows)};
}

model::Loaded load_png(const fs::path& path, const std::string& bytes) {
    GreyImage image;
    const auto wrong = read_png(bytes, image, [&](std::size_t width, std::size_t height, std::size_t each) {
        require_memory(path, width, height, each);
    });
    if (!wrong.empty()) refuse(path, wrong);
    return {path.string(), image.width, image.height, std::make_shared<const model::Bytes>(std::move(image.grey))};
}

/// The bytes of a PNG file. stb counts in int and keeps the filtered image beside the compressed one.
std::string png(const fs::path& path, std::size_t width, std::size_t height, std::span<const std::byte> grey) {
    constexpr std::size_t limit = std::size_t{1} << 30;
    if (grey.size() + height > limit)
        throw Error(Blame::usage, "output file '" + path.string() + "' would have " + std::to_string(width) + "x" +
                                      std::to_string(height) +
                                      " pixels, above the PNG writer's limit of 1 GiB; name it .pgm");
    std::string file;
    const auto append = [](void* to, void* bytes, int size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
    };
    if (!stbi_write_png_to_func(append, &file, static_cast<int>(width), static_cast<int>(height), 1, grey.data(),
                                static_cast<int>(width)))
        throw std::bad_alloc();
    return file;
}

}  // namespace

model::Loaded load_grey(const fs::path& path) {
    try {
        const auto bytes = read_file(path);
        if (is_netpbm(bytes)) return Netpbm(path, bytes).read();
        if (is_png(bytes)) return load_png(path, bytes);
        require_sound_jpeg(path, bytes);
        return read_stb(path, bytes);
    } catch (const std::bad_alloc&) {
        refuse(path, "does not fit in memory");
    }
}

void require_savable(const fs::path& path) {
    const auto extension = lower(path.extension().string());
    if (extension != ".png" && extension != ".pgm")
        throw Error(Blame::usage, "output file '" + path.string() + "' must end in .png or .pgm");
    const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        throw Error(Blame::environment, "output file '" + path.string() + "' cannot be written: " + system_message());
}

void save_grey(const fs::path& path, std::size_t width, std::size_t height, std::span<const std::byte> grey) {
    if (width == 0 || height == 0 || grey.size() / width != height || grey.size() % width != 0)
        throw std::invalid_argument("save_grey: the bytes given are not width*height");
    require_savable(path);
    const bool pgm = lower(path.extension().string()) == ".pgm";
    const auto head = pgm ? "P5\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n"
                          : png(path, width, height, grey);

    const auto target = link_target(path);
    auto beside = target;
    beside += "." + std::to_string(getpid()) + ".part";
    errno = 0;
    std::ofstream out(beside, std::ios::binary);
    out << head;
    if (pgm) out.write(reinterpret_cast<const char*>(grey.data()), static_cast<std::streamsize>(grey.size()));
    out.close();  // a full disk may show only here
    auto failure = out ? std::string() : system_message();
    std::error_code ignored;
    if (const auto old = fs::status(target, ignored); fs::is_regular_file(old))
        fs::permissions(beside, old.permissions(), ignored);
    if (failure.empty() && std::rename(beside.c_str(), target.c_str()) != 0) failure = system_message();
    if (failure.empty()) return;
    fs::remove(beside, ignored);
    throw Error(Blame::environment, "output file '" + path.string() + "' cannot be written: " + failure);
}

}  // namespace cllab::app
