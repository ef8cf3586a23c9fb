#include "app/files/image_file.hpp"

#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "app/files/outputs.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "run/executor.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
    throw Error(Blame::usage, "input file '" + path.string() + "' " + why);
}

std::string system_message() { return std::strerror(errno); }

/// A sample in 0..most as gray, rounded. Color as luma with the weights 77, 150 and 29 of 256, truncated.
std::byte to_grey(std::uint64_t sample, std::uint64_t most) {
    return static_cast<std::byte>((sample * 255 + most / 2) / most);
}
std::byte to_luma(const std::uint64_t (&rgb)[3], std::uint64_t most) {
    return static_cast<std::byte>((rgb[0] * 77 + rgb[1] * 150 + rgb[2] * 29) * 255 / (most * 256));
}

bool is_netpbm(const std::string& bytes) {
    return bytes.size() > 2 && bytes[0] == 'P' && std::strchr("2356", bytes[1]) &&
           std::isspace(static_cast<unsigned char>(bytes[2]));
}

/// Checks the first bytes only.
bool is_image(const std::string& bytes) { return is_netpbm(bytes) || bytes.starts_with("\x89PNG\r\n\x1a\n"); }

/// The whole file. Its size is not needed beforehand, because it may be a pipe.
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
        if (!is_image(bytes))
            refuse(path, "is not PNG, PGM or PPM; ImageMagick converts other formats (`convert FILE new.png`)");
        if (bytes.size() > run::host_memory_bytes())
            refuse(path, "is larger than this machine's memory of " + format_bytes(run::host_memory_bytes()));
    }
    if (in.bad()) refuse(path, "cannot be read: " + system_message());
    if (bytes.empty()) refuse(path, "is empty");
    return bytes;
}

/// Throws unless width*height pixels of `bytes_each` fit in this machine's memory. The header may claim any size.
void require_memory(const fs::path& path, std::uint64_t width, std::uint64_t height, std::uint64_t bytes_each) {
    const auto memory = run::host_memory_bytes();
    if (width > memory / bytes_each / height)
        refuse(path, "claims " + std::to_string(width) + "x" + std::to_string(height) +
                         " pixels, which do not fit in this machine's memory of " + format_bytes(memory));
}

/// The Netpbm formats PGM and PPM, text (P2, P3) and binary (P5, P6), any maxval.
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
        if (most_ == 0 || most_ > 65535) refuse(path_, "has maxval " + std::to_string(most_) + "; expected 1 to 65535");
        // A text sample takes at least two characters, except the last one. A binary header ends in one white space.
        const std::size_t sample_bytes = text ? 2 : most_ > 255 ? 2 : 1;
        if (!text) ++at_;
        const std::size_t left = bytes_.size() - std::min(at_, bytes_.size()) + (text ? 1 : 0);
        if (width > left / sample_bytes / channels / height)
            refuse(path_, "is cut short: its header claims " + std::to_string(width) + "x" + std::to_string(height) +
                              " pixels, but only " + std::to_string(left) + " bytes follow");
        require_memory(path_, width, height, 1);
        model::Bytes grey(width * height);
        if (!text && channels == 1 && most_ == 255) {  // already in the output format; common for large panels
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
    /// A decimal number after white space and # comments, in headers and text samples.
    std::uint64_t number(const char* what) {
        while (at_ < bytes_.size() && (std::isspace(static_cast<unsigned char>(bytes_[at_])) || bytes_[at_] == '#')) {
            if (bytes_[at_] == '#') at_ = std::min(bytes_.find('\n', at_), bytes_.size() - 1);
            ++at_;
        }
        std::uint64_t value = 0;
        const auto first = at_;
        for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_)
            value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(bytes_[at_] - '0'), 4'000'000'000);
        if (at_ == first) refuse(path_, std::string("is a damaged PGM or PPM: its ") + what + " is not a number");
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

/// libpng reports errors by longjmp, which must not skip destructors. So each step is a function without C++ objects.
class Png {
public:
    explicit Png(std::string_view bytes) : left_(bytes) {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &Png::on_error, &Png::on_warning);
        info_ = png_ ? png_create_info_struct(png_) : nullptr;
    }
    ~Png() { png_destroy_read_struct(&png_, &info_, nullptr); }
    Png(const Png&) = delete;
    Png& operator=(const Png&) = delete;

    /// Reads the header. Rows will have whole bytes per sample; palette indices stay indices.
    bool begin() {
        if (!info_) return fail("out of memory");
        if (setjmp(png_jmpbuf(png_))) return false;
        png_set_read_fn(png_, this, &Png::on_read);
        png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
        png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        // Ignores text and color profiles, even damaged ones.
        png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
        png_set_benign_errors(png_, 0);
        png_read_info(png_, info_);
        png_uint_32 width = 0, height = 0;
        png_get_IHDR(png_, info_, &width, &height, &depth, &colour_, nullptr, nullptr, nullptr);
        width_ = width, height_ = height;
        packed_row_bytes = png_get_rowbytes(png_, info_);
        if (colour_ == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png_);
        if (colour_ == PNG_COLOR_TYPE_PALETTE) png_set_packing(png_);
        png_set_strip_alpha(png_);
        passes = png_set_interlace_handling(png_);
        png_read_update_info(png_, info_);
        row_bytes = png_get_rowbytes(png_, info_);
        png_get_PLTE(png_, info_, &palette, &colours);
        return true;
    }
    bool row(std::byte* to) {
        if (setjmp(png_jmpbuf(png_))) return false;
        png_read_row(png_, reinterpret_cast<png_bytep>(to), nullptr);
        return true;
    }
    bool end() {
        if (setjmp(png_jmpbuf(png_))) return false;
        png_read_end(png_, nullptr);
        return true;
    }

    std::size_t width() const { return width_; }
    std::size_t height() const { return height_; }
    bool has_palette() const { return colour_ == PNG_COLOR_TYPE_PALETTE; }
    std::size_t channels() const { return colour_ & PNG_COLOR_MASK_COLOR && !has_palette() ? 3 : 1; }
    std::string failure() const { return message_; }

    int depth = 0, passes = 1, colours = 0;
    std::size_t row_bytes = 0, packed_row_bytes = 0;  ///< per row: as read, and as stored in the file
    png_colorp palette = nullptr;

private:
    bool fail(const char* why) {
        std::strncpy(message_, why, sizeof message_ - 1);
        return false;
    }
    static void on_error(png_structp png, png_const_charp why) {
        static_cast<Png*>(png_get_error_ptr(png))->fail(why);
        png_longjmp(png, 1);
    }
    static void on_warning(png_structp, png_const_charp) {}
    static void on_read(png_structp png, png_bytep to, std::size_t size) {
        auto& left = static_cast<Png*>(png_get_io_ptr(png))->left_;
        if (size > left.size()) png_error(png, "the file is cut short");
        std::memcpy(to, left.data(), size);
        left.remove_prefix(size);
    }

    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
    std::string_view left_;
    char message_[200] = {};
    std::size_t width_ = 0, height_ = 0;
    int colour_ = 0;
};

/// Converts a row of pixels to gray.
void convert(const fs::path& path, const Png& png, const std::byte* row, std::byte* grey) {
    const auto sample = [&](std::size_t i) -> std::uint64_t {
        if (png.depth < 16) return std::to_integer<std::uint64_t>(row[i]);
        return std::to_integer<std::uint64_t>(row[2 * i]) << 8 | std::to_integer<std::uint64_t>(row[2 * i + 1]);
    };
    const std::uint64_t most = png.depth < 16 ? 255 : 65535;
    for (std::size_t x = 0; x < png.width(); ++x) {
        if (png.has_palette()) {
            const auto index = sample(x);
            if (index >= static_cast<std::uint64_t>(png.colours))
                refuse(path, "has a pixel with palette index " + std::to_string(index) + ", but its palette has only " +
                                 std::to_string(png.colours) + " colors");
            const auto& c = png.palette[index];
            grey[x] = to_luma({c.red, c.green, c.blue}, 255);
        } else if (png.channels() == 3) {
            grey[x] = to_luma({sample(3 * x), sample(3 * x + 1), sample(3 * x + 2)}, most);
        } else {
            grey[x] = to_grey(sample(x), most);
        }
    }
}

/// Rejects a file with a wrong checksum, row or palette index. Ignores alpha and gamma.
model::Loaded load_png(const fs::path& path, const std::string& bytes) {
    Png png(bytes);
    const auto require = [&](bool read) {
        if (!read) refuse(path, "cannot be read as PNG: " + png.failure());
    };
    require(png.begin());
    const auto width = png.width(), height = png.height();
    // Deflate compresses at most 1032:1. This limits the memory that a header can claim.
    if ((png.packed_row_bytes + 1) > bytes.size() * 1032 / height)
        refuse(path, "is cut short: its header claims " + std::to_string(width) + "x" + std::to_string(height) +
                         " pixels, but the file has only " + std::to_string(bytes.size()) + " bytes");
    // The rows of an interlaced picture come in several passes, each over the whole picture.
    const bool interlaced = png.passes > 1;
    require_memory(path, width, height, 1 + (interlaced ? std::max<std::size_t>(1, png.row_bytes / width) : 0));
    model::Bytes grey(width * height);
    std::vector<std::byte> rows(png.row_bytes * (interlaced ? height : 1));
    for (int pass = 0; pass < png.passes; ++pass)
        for (std::size_t y = 0; y < height; ++y) {
            auto* row = rows.data() + (interlaced ? y * png.row_bytes : 0);
            require(png.row(row));
            if (pass + 1 == png.passes) convert(path, png, row, grey.data() + y * width);
        }
    require(png.end());
    return {path.string(), width, height, std::make_shared<const model::Bytes>(std::move(grey))};
}

/// The bytes of a PNG file. The limit is below libpng's limit for a picture in memory.
std::string png_of(const fs::path& path, std::size_t width, std::size_t height, std::span<const std::byte> grey) {
    constexpr std::size_t limit = std::size_t{1} << 30;
    if (grey.size() + height > limit)
        throw Error(Blame::usage, "output file '" + path.string() + "' would have " + std::to_string(width) + "x" +
                                      std::to_string(height) +
                                      " pixels, above the PNG writer's limit of 1 GiB; use a .pgm file");
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width);
    image.height = static_cast<png_uint_32>(height);
    image.format = PNG_FORMAT_GRAY;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::string out(size, '\0');
    if (!png_image_write_to_memory(&image, out.data(), &size, 0, grey.data(), 0, nullptr)) throw std::bad_alloc();
    out.resize(size);
    return out;
}

}  // namespace

model::Loaded load_grey(const fs::path& path) {
    try {
        const auto bytes = read_file(path);
        if (is_netpbm(bytes)) return Netpbm(path, bytes).read();
        return load_png(path, bytes);
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
                          : png_of(path, width, height, grey);

    const auto target = link_target(path);
    auto part_file = target;
    part_file += "." + std::to_string(getpid()) + ".part";
    errno = 0;
    std::ofstream out(part_file, std::ios::binary);
    out << head;
    if (pgm) out.write(reinterpret_cast<const char*>(grey.data()), static_cast<std::streamsize>(grey.size()));
    out.close();  // a full disk may show only here
    auto failure = out ? std::string() : system_message();
    std::error_code ignored;
    if (const auto old = fs::status(target, ignored); fs::is_regular_file(old))
        fs::permissions(part_file, old.permissions(), ignored);
    if (failure.empty() && std::rename(part_file.c_str(), target.c_str()) != 0) failure = system_message();
    if (failure.empty()) return;
    fs::remove(part_file, ignored);
    throw Error(Blame::environment, "output file '" + path.string() + "' cannot be written: " + failure);
}

}  // namespace cllab::app
