// Rows that several commands have, so that an option means the same wherever it stands.
#pragma once

#include <string>

#include "app/commandline/rows.hpp"

namespace cllab::app {

/// --kernel, --device, --axis: which cells. `devices`: false where only one device will do.
Rows<CellOptions> choice_rows(bool devices = true);
/// --arg, --global ...: what a kernel file says of its kernels, also on the command line.
Rows<CellOptions> kernel_file_rows();
/// For commands that verify and ask it before: --reference-command.
Rows<CellOptions> reference_command_rows();
/// --cl-dir, --build-options: which text, built how.
Rows<CellOptions> text_rows();
/// --label, to tell runs apart later.
Rows<CellOptions> label_rows();
/// --timeout, --seed.
Rows<CellOptions> process_rows();
/// --markdown, --svg: the table and the ranked chart in files of their own.
Rows<FileOptions> excerpt_rows();
/// --json alone, or with a file.
Row json_row();
/// --timings.
Rows<Call> timings_rows();
/// --force and --append, with what the latter adds to.
Rows<FileOptions> replace_rows(const std::string& appendable = "");

/// --columns of the table of cells, and of tables whose columns are always the same.
std::string about_columns();
std::string about_columns(const Strings& names);

}  // namespace cllab::app
