// Image files for --input NAME=FILE and --output NAME=FILE.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "model/experiment.hpp"

namespace cllab::app {

/// Reads PNG, PGM or PPM, recognized by content, as one gray byte per pixel, rows from the top without padding. Color
/// becomes luma with the weights of ITU-R BT.601 (0.299 red, 0.587 green, 0.114 blue; alpha is ignored), in the file's
/// own transfer curve. Deeper samples (16-bit PNG, PNM of any maxval) are scaled to 0..255 and rounded. Throws
/// Error(usage), one sentence, for a file that is missing, unreadable, empty, damaged, truncated, of another format, or
/// too large for this machine's memory.
model::Loaded load_grey(const std::filesystem::path& path);

/// Checks in advance what save_grey would reject. Throws Error(usage) unless the extension is .png or .pgm, and
/// Error(environment) unless the folder of `path` exists and is writable.
void require_savable(const std::filesystem::path& path);

/// Writes width*height gray bytes, rows from the top, as PNG or PGM by the extension. The file appears complete or not
/// at all: it is written under another name in the same folder and then renamed. It keeps the permissions of the file
/// that it replaces. For a symbolic link, writes the target. Throws Error(usage) for another extension and for a PNG
/// above the writer's limit of 1 GiB; Error(environment) if the file cannot be written.
void save_grey(const std::filesystem::path& path, std::size_t width, std::size_t height,
               std::span<const std::byte> grey);

}  // namespace cllab::app
