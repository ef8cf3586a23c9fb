// The files that a command reads and writes. No input is written, and no file is written twice. An existing file is
// kept unless the user allows to replace it. Nothing is opened before all other checks have passed.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/commandline/options.hpp"
#include "app/screen/streams.hpp"
#include "model/comparison.hpp"

namespace cllab::app {

/// The file that a path leads to: the target of a symbolic link, even if it does not exist.
std::filesystem::path link_target(const std::filesystem::path& path);

/// An open and locked output. "-" and other names of standard output mean standard output.
class OutputFile {
public:
    /// Opens without truncating, and locks. Throws Error(environment) if the file cannot be written or another run
    /// writes it. Content is replaced by a new file under the same name if possible, so a reader keeps the old content.
    OutputFile(const std::filesystem::path& path, const std::string& option);
    /// Removes the file if this object created it and wrote nothing.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Whether it is a regular file that is not empty.
    bool has_content() const;
    /// Empties a regular file, or, with `append`, terminates a last line that was cut short.
    void begin(bool append);
    /// Writes and flushes one line. Removes a line that was written only in part. Throws Error(environment).
    void line(const std::string& text);
    /// Replaces the content of the file, if possible only after all new content is written. Throws Error(environment).
    void whole(const std::string& text);
    bool is_stdout() const { return file_ == results_file(); }

private:
    /// Its status if it is a regular file, else nullopt.
    std::optional<struct stat> regular() const;
    /// Writes a new file with `fill`, which then replaces this one; false if no new file can be made.
    bool replace(const std::function<bool(std::FILE*)>& fill);

    std::filesystem::path path_;
    std::string option_;
    std::FILE* file_ = nullptr;
    bool made_ = false;
};

class Outputs {
public:
    Outputs(bool force, bool append) : force_(force), append_(append) {}
    /// The outputs that the command line names.
    explicit Outputs(const FileOptions& files);

    /// Registers the pictures of --output.
    void writes_pictures(const Pairs& pictures);
    /// Registers as inputs: the kernel texts in --cl-dir and the files in the reference command.
    void reads_for(const CellOptions& cells);

    /// Registers an input. Throws Error(usage) if it is also an output.
    void reads(const std::filesystem::path& path);
    /// table: emptied at open(), then written by line; whole and page: written at once.
    enum class Kind { json_lines, csv, table, whole, page };
    /// Registers an output. Throws Error(usage) if the file is also read or written elsewhere, or exists and may be
    /// neither replaced nor extended; Error(environment) if it cannot be written.
    void writes(const std::string& path, const std::string& option, Kind kind);

    /// Opens and locks every output; empties none before all are open. Files of lines are then empty or at their end;
    /// others keep their content until they are written. Call this after the command has read all its inputs, or has
    /// named them with reads(). Throws as `writes`.
    void open();

    /// The open file of an option; nullptr if the command line does not have the option. Call after open().
    OutputFile* file(const std::string& option) const;
    OutputFile* json() const { return file("--json"); }
    OutputFile* csv() const { return file("--csv"); }
    OutputFile* html() const { return file("--html"); }

private:
    /// Identifies an existing file by device and inode, a new one by its folder and name. For standard output, the file
    /// of its descriptor.
    struct Identity {
        dev_t device = 0;
        ino_t inode = 0;
        std::string name;
        bool operator==(const Identity&) const = default;
    };
    struct Output {
        std::string path, option;
        Kind kind;
        Identity identity;
        std::unique_ptr<OutputFile> file;
    };
    static std::optional<Identity> identity_of(const std::filesystem::path& path, const std::string& option);
    static bool is_lines(Kind kind) { return kind == Kind::json_lines || kind == Kind::csv; }
    [[noreturn]] void refuse_existing(const Output& output) const;
    bool may_write(Kind kind) const { return force_ || (append_ && is_lines(kind)); }

    bool force_, append_;
    std::vector<std::pair<std::string, Identity>> inputs_;
    std::vector<Output> outputs_;
};

/// Writes one JSON text to a file, as its whole content, or to standard output. Throws as Outputs.
void write_json(const std::string& path, bool force, const std::string& text);

/// Receives finished cells: writes JSON lines and CSV, and keeps the list for the table.
class Sink {
public:
    /// Either may be nullptr. Both outlive the sink.
    Sink(OutputFile* json, OutputFile* csv);
    /// Thread-safe: the watchdog may deliver a timed-out cell.
    void take(const model::Record& record);
    /// Writes a line to the JSON file only.
    void take(const model::Comparison& comparison);
    /// Writes the line to the JSON file unchanged.
    void line(const std::string& json);
    const std::vector<model::Record>& records() const { return records_; }
    /// The message after an interrupt: "interrupted; 3 finished cell(s) kept".
    std::string interrupted() const;
    bool uses_stdout() const { return (json_ && json_->is_stdout()) || (csv_ && csv_->is_stdout()); }

private:
    std::mutex mutex_;
    OutputFile *json_, *csv_;
    bool wants_header_;
    std::vector<model::Record> records_;
};

}  // namespace cllab::app
