// The options of all commands by what they are about: the order of the help, and what a screen of it has.
#pragma once

#include <string>
#include <vector>

#include "app/commandline/rows.hpp"

namespace cllab::app {

/// How much of a help page: what fits a screen, or everything.
enum class Detail { screen, all };

/// Options that belong together. Those used most come first and are what a screen shows.
struct OptionGroup {
    const char* title;
    Strings often, others;
};
/// An option stands in one group at most, whichever commands have it; the help has those in none at its end.
const std::vector<OptionGroup>& option_groups();

/// The options as --help prints them: the first sentence of those used most, or all of them under their groups' titles.
std::string options_text(const std::vector<Row>& options, Detail detail);
/// True when the screen leaves something out.
bool screen_is_short(const std::vector<Row>& options);

/// Up to the first full stop behind which a sentence begins.
std::string first_sentence(const std::string& text);

}  // namespace cllab::app
