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
    /// What follows, and when: < and > compare numbers, = the beginning of the text; 0 holds unless there is an error.
    struct Consequence {
        char sign;
        std::string value, text;
    };
    std::vector<Consequence> so;

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
/// `say` with the words that a kernel left: "{0}x{1}", {2d} signed; or "0=no,1=yes" by the first. Empty: the first.
std::string said(const std::string& say, std::span<const std::uint32_t> words);

/// Values of the names in a row: items, small, side, long, max_group, local_bytes.
using Sizes = std::map<std::string, std::uint64_t>;

struct Launch {
    std::string kernel, options;
    model::Extent global{}, local{};
    std::string input = "random";  ///< zeros, host, fresh, image, or floats "LOW:HIGH"
    std::string output = "out", queue = "profiling";
    std::string change;  ///< a second word without "="
};
/// "copy global=items/4,8 local=64 options=-DA={local_bytes};-DB". Throws Error(usage).
Launch launch_of(const std::string& text, const Sizes& sizes);

/// A math function with its reference in long double on the host.
struct Function {
    const char* name;
    long double (*value)(long double x, long double y);
    float low, high;    ///< range of its arguments
    const char* limit;  ///< largest error that OpenCL C allows, in ulp
    bool binary = false;
};
/// Without "native_" or "half_" in front. Throws Error(usage).
const Function& function_named(const std::string& name);
/// The largest error of results[i] in ulp of the correctly rounded float; infinite for a NaN.
double largest_ulp(const Function& function, std::span<const float> arguments, std::span<const float> results);

}  // namespace cllab::behaviour
