// Sentences: which variant is fastest, by how much, how it differs from the next, and what to do if none is. The
// terminal, the page, the picture and Markdown show the same sentences.
#pragma once

#include <string>
#include <vector>

#include "model/result.hpp"
#include "report/table/ranking.hpp"

namespace cllab::report {

/// `timed`: the timed variants at one point on one device, fastest first. One sentence per set that took turns.
/// `where`: the axes that tell the point from others of the same run, for the command that compares two variants.
/// `says_where`: each sentence begins with them: "At width=512 items=2: ".
std::vector<std::string> ranking_sentences(const std::vector<const RankedCell*>& timed, const model::PointValues& where,
                                           bool says_where = false);

/// The sentences below a table of two or more timed cells. Few points: the ranking at each. Many points: how often each
/// variant is fastest, and one undecided point. One variant per point: the points of its least and its longest time.
std::vector<std::string> table_sentences(const Comparison& comparison);

/// The largest counted, declared or sampled amount that is larger for the slower kernel.
struct Difference {
    std::string text{};  ///< "a executes 26 instructions per pixel, b 60"; empty if none differs by a tenth
    double ratio = 1;    ///< ratio of the two amounts, at most that of the times
};
Difference difference(const model::Record& faster, const model::Record& slower);

/// The loop or path with most samples of a CPU's kernel: "loop at 0x1cb0, 96.1 % of the kernel's samples: 25
/// instructions in vectors of up to 128 bits; 3.12 instructions per stored byte". Empty if unknown, or if most samples
/// are outside the kernel.
std::string hot_code_text(const model::Record& record);

/// A kernel as the command line takes it, with the file's name if it is from a user's file.
std::string pattern_of(const model::Record& record);
/// A word of a command that a user copies: in quotes if a shell would split or expand it.
std::string shell_word(std::string word);
/// Whether the word of a command line gives the axis its values: "n=256" after -a or --axis, "--axis=n=256".
bool sets_axis(std::string_view word, const std::string& axis);
/// " --axis n=256" for the axes that the record's command line set, and for those in `also`. At another size, another
/// variant may win.
std::string axes_of(const model::Record& record, const model::PointValues& also = {});
/// The options by which the record's command line describes the kernel, with their values.
std::vector<std::string> kernel_options(const model::Record& record);
/// A command to paste: "`cllab run a --vs b --axis n=256 --arg m=3 --device 0:0`". It has the record's device,
/// axes_of() and kernel_options(). `words`: the command and its patterns.
std::string command_text(const model::Record& record, const std::string& words, const model::PointValues& also = {});
/// The command that checks the record's kernel, which is in that file, in Oclgrind.
std::string check_command(const model::Record& record, const std::string& file);

/// "±1.7 %", "-5/+82 %", or "n = 3" if there is no interval.
std::string spread_of(const model::Record& record);

}  // namespace cllab::report
