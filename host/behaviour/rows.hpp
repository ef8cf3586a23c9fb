// The questions of `cllab behaviour` and their answers: rows.txt, what a row launches, how an answer reads, and what
// follows from it need no device (rows.cpp); to ask needs one (prober.cpp).
#pragma once

#include "core/entries.hpp"
#include "core/stats.hpp"
#include "device/session.hpp"

namespace cllab::behaviour {

/// An entry of rows.txt, with one of the words of its line `each`. Its name is "launch.prime": the kernels are those of
/// cl/behaviour/launch.cl.
struct Question : TextEntry {
    std::string kind{};  ///< the field that says how the answer is found

    std::string file() const { return name.substr(0, name.find('.')); }
};

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

/// The first of the row's lines `so` that holds for the answer: "so > 2" and "so < 2" compare the number, "so = x" the
/// beginning of the text, and "so" holds unless there is an error. Empty where none does. Likewise of its lines `note`.
std::string consequence(const Question& question, const Answer& answer, const std::string& word = "so");
/// Whether two devices differ: measured answers by more than a tenth and beyond both intervals, others in their text.
bool differ(const Answer& a, const Answer& b);
/// "2.61 (2.55 to 2.70)"; undecided where the ends of the interval are a factor 1.5 apart or more.
Answer measured(const std::string& unit, const Summary& found);
/// What the row says of the words that a kernel left, at least four: a line "say 0: no" of the first of them; else
/// "say: {0}x{1}" of all; else the first.
std::string said(const Question& question, std::span<const std::uint32_t> words);

/// Values of the names in a row: those of sizes.txt, max_group and local_bytes.
using Sizes = std::map<std::string, std::int64_t>;

struct Launch {
    std::string kernel, change;  ///< a second word without "="
    model::Extent global{}, local{};
    std::map<std::string, std::string> settings{{"options", ""},    {"input", "random"}, {"output", "out"},
                                                {"queue", "plain"}, {"global", ""},      {"local", ""}};
};
/// "copy global=items/4,8 local=64 options=-DA;-DB". Throws std::out_of_range for a name that there is
/// not.
Launch launch_of(const std::string& text, const Sizes& sizes);

/// What the device answers; outlived by the session. What it or its driver refuses is an answer.
std::function<Answer(const Question&)> answers_of(device::Session& session);

}  // namespace cllab::behaviour
