// A rest of a line of a kernel file's block, and the value of an argument that one holds.
#pragma once

#include <cctype>
#include <string>

#include "core/text.hpp"
#include "kernelfile/description.hpp"

namespace cllab::kernelfile {

/// A rest of a line, with where it stands.
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
    /// The name that begins here; empty where none does.
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

/// NAME and what follows its '='. `example`: for the sentence when there is none.
std::string take_named(Piece& rest, const std::string& keyword, const std::string& example);

/// Names with commas between, each with where it stands; `wants`: for the sentence where one is none.
std::vector<std::pair<std::string, Place>> take_names(const Piece& rest, const std::string& wants);

/// A line `kernel`, `sequence`, `repeat`, `swap` or `reset`; false: it is none. `scope` becomes what the lines behind
/// it are about. Throws Error(usage).
bool parse_scope(const std::string& keyword, Piece rest, Description& out, Scope*& scope);

/// Of a line `arg`. Throws Error(usage).
ArgumentSpec parse_argument(const Piece& value);

}  // namespace cllab::kernelfile
