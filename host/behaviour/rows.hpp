// The questions of `cllab behaviour` and their answers. rows.cpp needs no device: rows.txt, launches, texts of answers,
// and consequences. prober.cpp asks a device.
#pragma once

#include "core/entries.hpp"
#include "core/stats.hpp"
#include "device/session.hpp"

namespace cllab::behaviour {

/// An entry of rows.txt for one word of its line `each`. Its name is like "launch.prime": its kernels are in
/// cl/behaviour/launch.cl.
struct Question : TextEntry {
    std::string kind{};  ///< the field that says how to find the answer

    std::string file() const { return name.substr(0, name.find('.')); }
};

std::vector<Question> read_rows(std::string_view text);
/// The questions of rows.txt whose name, or the start of it up to a dot, matches one of the shell globs. Without globs,
/// all questions. Throws Error(usage) for a glob that matches nothing.
std::vector<Question> questions(const std::vector<std::string>& globs);

struct Answer {
    enum class Status { answered, undecided, untried, failed };
    Status status = Status::answered;
    std::string text;
    std::vector<double> measured{};  ///< value and 95 % interval; the value alone; or empty
    std::string claim{};             ///< the statement of the device or of the language
    std::string so{};                ///< the consequence for a kernel
};

/// The row's first line `so` that applies to the answer, or line `note` if `word` is "note". "so > 2" and "so < 2"
/// compare the number, "so = x" the start of the text, and "so" applies unless the answer is an error. Empty if none
/// applies.
std::string consequence(const Question& question, const Answer& answer, const std::string& word = "so");
/// Whether two devices differ: measured answers by more than a tenth and beyond both intervals, others by their text.
bool differ(const Answer& a, const Answer& b);
/// "2.61 (2.55 to 2.70)"; undecided if the ends of the interval differ by a factor of 1.5 or more.
Answer measured(const std::string& unit, const Summary& found);
/// The row's text for the words that a kernel left, at least four. Uses a line such as "say 0: no" for the first word;
/// else "say: {0}x{1}" for all words; else the first word.
std::string said(const Question& question, std::span<const std::uint32_t> words);

/// Values of the names in a row: those of sizes.txt, max_group and local_bytes.
using Sizes = std::map<std::string, std::int64_t>;

struct Launch {
    std::string kernel, change;  ///< `change`: the second word without "="
    model::Extent global{}, local{};
    std::map<std::string, std::string> settings{{"options", ""},    {"input", "random"}, {"output", "out"},
                                                {"queue", "plain"}, {"global", ""},      {"local", ""}};
};
/// Parses "copy global=items/4,8 local=64 options=-DA;-DB". Throws std::out_of_range for an unknown name.
Launch launch_of(const std::string& text, const Sizes& sizes);

/// Returns a function that asks the device; `session` must outlive it. A refusal by the device or its driver is an
/// answer.
std::function<Answer(const Question&)> answers_of(device::Session& session);

}  // namespace cllab::behaviour
