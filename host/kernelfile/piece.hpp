// The rest of a line of a kernel file's block, and the functions that parse it.
#pragma once

#include <cctype>
#include <string>

#include "core/text.hpp"
#include "kernelfile/description.hpp"

namespace cllab::kernelfile {

/// The rest of a line, with its place.
struct Piece {
    std::string text;
    Place place;

    void skip_blanks() {
        std::size_t n = 0;
        while (n < text.size() && std::isspace(static_cast<unsigned char>(text[n]))) ++n;
        drop(n);
    }
    void drop(std::size_t n) {
        text.erase(0, n);
        place = place.at(n);
    }
    /// Takes the name that begins here; empty if there is none.
    std::string take_word() {
        skip_blanks();
        std::size_t n = 0;
        while (n < text.size() && in_name(text[n])) ++n;
        auto out = text.substr(0, n);
        drop(n);
        skip_blanks();
        return out;
    }
    bool take(char c) {
        if (text.empty() || text.front() != c) return false;
        drop(1);
        skip_blanks();
        return true;
    }
};

bool is_name(const std::string& text);

/// Takes NAME and '=', so that `rest` is the value. Throws Error(usage) if one is missing. `example`: for the message.
std::string take_named(Piece& rest, const std::string& keyword, const std::string& example);

/// Names separated by commas, each with its place. Throws Error(usage) if one is not a name. `wants`: for the message.
std::vector<std::pair<std::string, Place>> take_names(const Piece& rest, const std::string& wants);

/// Parses a line `kernel`, `sequence`, `repeat`, `swap` or `reset`. False for other keywords. Sets `scope` to the scope
/// of the lines that follow. Throws Error(usage).
bool parse_scope(const std::string& keyword, Piece rest, Description& out, Scope*& scope);

/// Parses the value in an `arg` line. Throws Error(usage).
ArgumentSpec parse_argument(const Piece& value);

}  // namespace cllab::kernelfile
