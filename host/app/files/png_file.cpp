#include "app/files/png_file.hpp"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <new>
#include <vector>

namespace cllab::app {
namespace {

/// libpng reports errors by longjmp, which may pass no C++ object: each step is a function that has none.
class Png {
public:
    explicit Png(std::string_view bytes) : left_(bytes) {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &Png::on_error, &Png::on_warning);
        info_ = png_ ? png_create_info_struct(png_) : nullptr;
    }
    ~Png() { png_destroy_read_struct(&png_, &info_, nullptr); }
    Png(const Png&) = delete;
    Png& operator=(const Png&) = delete;

    /// The header, and rows of whole bytes as they will come: palette indices stay indices.
    bool begin() {
        if (!info_) return fail("out of memory");
        if (setjmp(png_jmpbuf(png_))) return false;
        png_set_read_fn(png_, this, &Png::on_read);
        png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
        png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        // Text and colour profiles are not needed, and need not be right.
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
    std::size_t row_bytes = 0, packed_row_bytes = 0;  ///< as they come, and as the file has them
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

/// Palette index past the end as a sentence, or empty.
std::string convert(const Png& png, const std::byte* row, std::byte* grey) {
    const auto sample = [&](std::size_t i) -> std::uint64_t {
        if (png.depth < 16) return std::to_integer<std::uint64_t>(row[i]);
        return std::to_integer<std::uint64_t>(row[2 * i]) << 8 | std::to_integer<std::uint64_t>(row[2 * i + 1]);
    };
    const std::uint64_t most = png.depth < 16 ? 255 : 65535;
    for (std::size_t x = 0; x < png.width(); ++x) {
        if (png.has_palette()) {
            const auto index = sample(x);
            if (index >= static_cast<std::uint64_t>(png.colours))
                return "has a pixel of colour " + std::to_string(index) + ", but its palette has only " +
                       std::to_string(png.colours);
            const auto& c = png.palette[index];
            grey[x] = to_luma({c.red, c.green, c.blue}, 255);
        } else if (png.channels() == 3) {
            grey[x] = to_luma({sample(3 * x), sample(3 * x + 1), sample(3 * x + 2)}, most);
        } else {
            grey[x] = to_grey(sample(x), most);
        }
    }
    return {};
}

}  // namespace

std::byte to_grey(std::uint64_t sample, std::uint64_t most) {
    return static_cast<std::byte>((sample * 255 + most / 2) / most);
}

std::byte to_luma(const std::uint64_t (&rgb)[3], std::uint64_t most) {
    return static_cast<std::byte>((rgb[0] * 77 + rgb[1] * 150 + rgb[2] * 29) * 255 / (most * 256));
}

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

std::string read_png(std::string_view bytes, GreyImage& image,
                     const std::function<void(std::size_t, std::size_t, std::size_t)>& room) {
    Png png(bytes);
    const auto damaged = [&] { return "cannot be read as PNG: " + png.failure(); };
    if (!png.begin()) return damaged();
    image.width = png.width(), image.height = png.height();
    // Deflate packs 1032 bytes into one at the most, so a header's word is worth no more memory than that.
    if ((png.packed_row_bytes + 1) > bytes.size() * 1032 / image.height)
        return "is cut short: its header claims " + std::to_string(image.width) + "x" + std::to_string(image.height) +
               " pixels, but the file has only " + std::to_string(bytes.size()) + " bytes";
    // The rows of an interlaced picture come in several passes, each over all of it.
    const bool interlaced = png.passes > 1;
    room(image.width, image.height, 1 + (interlaced ? std::max<std::size_t>(1, png.row_bytes / image.width) : 0));
    image.grey.resize(image.width * image.height);
    std::vector<std::byte> rows(png.row_bytes * (interlaced ? image.height : 1));
    for (int pass = 0; pass < png.passes; ++pass)
        for (std::size_t y = 0; y < image.height; ++y) {
            auto* row = rows.data() + (interlaced ? y * png.row_bytes : 0);
            if (!png.row(row)) return damaged();
            if (pass + 1 < png.passes) continue;
            if (auto wrong = convert(png, row, image.grey.data() + y * image.width); !wrong.empty()) return wrong;
        }
    return png.end() ? std::string{} : damaged();
}

std::string write_png(std::size_t width, std::size_t height, std::span<const std::byte> grey) {
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

}  // namespace cllab::app
