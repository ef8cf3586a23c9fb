// Which variant is fastest, by how much, what differs between it and the next, and what to do where none is: in
// sentences, the same ones on the terminal, the page, the picture and in Markdown.
#pragma once

#include <string>
#include <vector>

#include "model/result.hpp"
#include "report/table/ranking.hpp"

namespace cllab::report {

/// Of the timed variants at one point on one device, fastest first: a sentence for each set that took turns. `where`:
/// what tells the point from others of the same run, for the command that compares two of them.
std::vector<std::string> ranking_sentences(const std::vector<const RankedCell*>& timed,
                                           const model::PointValues& where = {});

/// What a table of two or more timed cells ends with: of few points the ranking at each, of many how often each
/// variant is fastest, of one variant the points of its least and its longest time.
std::vector<std::string> table_sentences(const Comparison& comparison);

struct Difference {
    std::string text{};  ///< "a executes 26 instructions per pixel, b 60"; empty: there is none of a tenth
    double ratio = 1;    ///< of it, at most that of the times
};
/// What was counted, declared or read of the code, has the same sign as the times, and explains most of their ratio.
Difference difference(const model::Record& faster, const model::Record& slower);

/// The loop or path with most samples of a CPU's kernel: "loop at 0x1cb0, 96.1 % of the kernel's samples: 25
/// instructions in vectors of up to 128 bits; 3.12 instructions per stored byte". Empty where that is not known, or
/// most samples are outside the kernel.
std::string hot_code_text(const model::Record& record);

/// A kernel as the command line takes it: of a user's file with the file's name.
std::string pattern_of(const model::Record& record);
/// A word of a command that a user copies: in quotes where a shell would take it apart or expand it.
std::string shell_word(std::string word);
/// Whether the word of a command line gives the axis its values: "n=256" behind -a or --axis, "--axis=n=256".
bool sets_axis(std::string_view word, const std::string& axis);
/// " --axis n=256" of the axes that its command line had, and of those in `also`: at another size another one may win.
std::string axes_of(const model::Record& record, const model::PointValues& also = {});

/// "±1.7 %", "-5/+82 %", or "n = 3" where there is no interval.
std::string spread_of(const model::Record& record);

}  // namespace cllab::report
