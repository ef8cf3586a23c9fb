// Image files in and out: --input NAME=FILE and --output NAME=FILE.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "model/experiment.hpp"

namespace cllab::app {

/// Reads PNG, PGM or PPM, recognised by content, as one grey byte a pixel, rows from the top without padding. Colour
/// becomes luma with the weights of ITU-R BT.601 (0.299 red, 0.587 green, 0.114 blue; alpha is ignored), in the file's
/// own transfer curve. Deeper samples (16-bit PNG, PNM of any maxval) are scaled to 0..255 and rounded. Throws
/// Error(usage), one sentence, for a file that is missing, unreadable, empty, damaged, cut short, of another format, or
/// whose pixels do not fit this machine's memory.
model::Loaded load_grey(const std::filesystem::path& path);

/// What save_grey would refuse, known before the long part: Error(usage) unless the extension is .png or .pgm,
/// Error(environment) unless the folder of `path` exists and can be written.
void require_savable(const std::filesystem::path& path);

/// Writes width*height grey bytes, rows from the top, as PNG or PGM by the extension. The file appears complete or not
/// at all: it is written beside its final name and renamed, with the permissions of the file it replaces. A symbolic
/// link stays one; its target is written. Throws Error(usage) for another extension and for a PNG above the writer's
/// limit of 1 GiB; Error(environment) when the file cannot be written.
void save_grey(const std::filesystem::path& path, std::size_t width, std::size_t height,
               std::span<const std::byte> grey);

}  // namespace cllab::app
