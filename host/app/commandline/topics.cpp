#include "app/commandline/topics.hpp"

#include "report/table/columns.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {

const std::vector<ExitStatus> exit_statuses{
    {0, "every cell is ok or unsupported; report: there is a record"},
    {1, "a cell is wrong, or did not build, launch or end"},
    {2, "the command line or an input file is wrong, or nothing matched"},
    {3, "no platform, no such device, a lost device, or a file that cannot be written"},
    {4, "regress: something is slower than the threshold allows, or gives other results"},
    {5, "regress: something cannot be compared; with --strict, is undecided"},
    {130, "interrupted; finished cells are kept and printed"}};

namespace {

std::string beside(const std::string& name, std::size_t room, const std::string& meaning) {
    return report::wrap_beside("  " + name + std::string(room - name.size() + 2, ' '), meaning, help_width);
}

/// The text with a list in the place of a line.
std::string with_list(std::string text, const std::string& line, const std::string& list) {
    return text.replace(text.find(line), line.size(), list);
}

}  // namespace

std::string Topic::text() const {
    std::string list, page{embedded_text(std::string("topics/") + name + ".txt")};
    if (name == std::string("columns")) {
        for (const auto& [column, meaning] : report::column_meanings()) list += beside(column, 10, meaning);
        return with_list(page, "{columns}\n", list);
    }
    if (name == std::string("statuses")) {
        for (const auto& [status, meaning] : exit_statuses) list += beside(std::to_string(status), 3, meaning);
        return with_list(page, "{statuses}\n", list);
    }
    return page;
}

const std::vector<Topic>& topics() {
    static const std::vector<Topic> all{
        {"kernel-file", "your own kernels: the whole grammar"},
        {"data", "what its arguments are given: random data of many kinds, files, images"},
        {"sequences", "several of your own kernels as one operation"},
        {"proof", "what your own kernel's results are held against"},
        {"axes", "what a kernel is run with, and ranges of it"},
        {"devices", "how to select one, and whether its timer is trusted"},
        {"columns", "what each column of the table means"},
        {"statuses", "of cells, and exit statuses"},
        {"method", "where a number comes from"},
        {"terms", "a glossary"}};
    return all;
}

}  // namespace cllab::app
