// The questions of `cllab behaviour` and their answers, as far as they need no device: rows.txt, what a row launches,
// how an answer reads, and what follows from it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/axes.hpp"

namespace cllab::behaviour {

/// An entry of rows.txt, with one of the words of its line `each`.
struct Question {
    std::string name;  ///< "launch.prime": the kernels are those of cl/behaviour/launch.cl
    std::map<std::string, std::string> fields;
    std::string kind;  ///< the field that says how the answer is found
    /// When, and what follows: "> 2" and "< 2" compare numbers, "= x" the beginning of the text; "" holds unless there
    /// is an error.
    std::vector<std::pair<std::string, std::string>> so;

    std::string file() const { return name.substr(0, name.find('.')); }
    std::string field(const std::string& of) const { return fields.contains(of) ? fields.at(of) : ""; }
};

/// Throws Error(usage) for an unknown field.
std::vector<Question> read_rows(std::string_view text);
/// Those of rows.txt whose name, or the beginning of it up to a dot, matches one of the shell globs; all where there
/// are none. Throws Error(usage) for a glob that matches nothing.
std::vector<Question> questions(const std::vector<std::string>& globs);

struct Answer {
    enum class Status { answered, undecided, untried, failed };
    Status status = Status::answered;
    std::string text;
    std::vector<double> measured{};  ///< value, and the ends of its 95 % interval; the value alone; or nothing
    std::string claim{};             ///< what the device, or the language, says
    std::string so{};                ///< what follows for a kernel
};

/// The advice for this answer; empty if the row has none.
std::string consequence(const Question& question, const Answer& answer);
/// Whether two devices differ: measured answers by more than a tenth and beyond both intervals, others in their text.
bool differ(const Answer& a, const Answer& b);
/// "2.61 (2.55 to 2.70)"; undecided where the ends of the interval are a factor 1.5 apart or more.
Answer measured(const std::string& unit, double value, double low, double high);
/// `say` with the words that a kernel left, at least four: "{0}x{1}"; or "0=no,1=yes" by the first. Empty: the first.
std::string said(const std::string& say, std::span<const std::uint32_t> words);

/// Values of the names in a row: items, small, side, few, long, max_group, local_bytes.
using Sizes = std::map<std::string, std::uint64_t>;

struct Launch {
    std::string kernel, change;  ///< a second word without "="
    model::Extent global{}, local{};
    std::map<std::string, std::string> settings{{"options", ""},    {"input", "random"}, {"output", "out"},
                                                {"queue", "plain"}, {"global", ""},      {"local", ""}};
};
/// "copy global=items/4,8 local=64 options=-DA={local_bytes};-DB". Throws Error(usage).
Launch launch_of(const std::string& text, const Sizes& sizes);

}  // namespace cllab::behaviour
