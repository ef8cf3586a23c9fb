// PNG in and out, through libpng.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "model/experiment.hpp"

namespace cllab::app {

struct GreyImage {
    std::size_t width = 0, height = 0;
    model::Bytes grey;  ///< rows from the top
};

/// One sample of 0..most as grey, rounded; colour as luma with the weights 77, 150 and 29 of 256, cut.
std::byte to_grey(std::uint64_t sample, std::uint64_t most);
std::byte to_luma(const std::uint64_t (&rgb)[3], std::uint64_t most);

bool is_png(std::string_view bytes);

/// Reads the whole file: every checksum, every row, every palette index must be right. Empty when it was read, else
/// what is wrong, to follow the file's name. Alpha and gamma are ignored. `room` is asked before memory is taken, with
/// the size and the bytes a pixel; it throws to refuse.
std::string read_png(std::string_view bytes, GreyImage& image,
                     const std::function<void(std::size_t width, std::size_t height, std::size_t bytes)>& room);

/// A file of width*height grey bytes, rows from the top. Throws std::bad_alloc.
std::string write_png(std::size_t width, std::size_t height, std::span<const std::byte> grey);

}  // namespace cllab::app
