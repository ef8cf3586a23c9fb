// Which files a command reads and which it writes. No input is written, no file is written twice, a file that exists is
// kept unless the user says otherwise, and nothing is opened before everything else is known to be good.
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

/// The file that a path leads to: the target of a symbolic link, whether that exists or not.
std::filesystem::path link_target(const std::filesystem::path& path);

/// An output, open and locked. "-" and any other name of standard output is standard output.
class OutputFile {
public:
    /// Opens without emptying, and locks. Throws Error(environment) when it cannot be written or another run writes it.
    /// Content is never emptied, but replaced by that of a new file under the same name: who has read it still has it.
    OutputFile(const std::filesystem::path& path, const std::string& option);
    /// Removes the file when this object made it and nothing was written.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// A regular file with something in it.
    bool has_content() const;
    /// Replaces a regular file by an empty one, or goes to its end, where a last line that was cut short is ended
    /// first.
    void begin(bool append);
    /// Writes and flushes one line; a line that the disk does not take whole is taken back. Throws Error(environment).
    void line(const std::string& text);
    /// Replaces what is in the file, and only when all of it is written. Throws Error(environment).
    void whole(const std::string& text);
    bool is_stdout() const { return file_ == results_file(); }

private:
    /// What it is, where it is a regular file.
    std::optional<struct stat> regular() const;
    /// A new file beside this one, which takes its place when `fill` has written it; nothing where none can be made.
    bool replace(const std::function<bool(std::FILE*)>& fill);

    std::filesystem::path path_;
    std::string option_;
    std::FILE* file_ = nullptr;
    bool made_ = false;
};

class Outputs {
public:
    Outputs(bool force, bool append) : force_(force), append_(append) {}
    /// The files that the command line names.
    explicit Outputs(const FileOptions& files);

    /// The pictures of --output.
    void writes_pictures(const Pairs& pictures);
    /// The kernel texts below --cl-dir.
    void reads_for(const CellOptions& cells);

    /// A file that is read. Throws Error(usage) when it is an output.
    void reads(const std::filesystem::path& path);
    /// table: written from the beginning, line by line; whole and page: at once.
    enum class Kind { json_lines, csv, table, whole, page };
    /// Throws Error(usage) when the file is read or written otherwise, or exists and may not be replaced or added to;
    /// Error(environment) when it cannot be written.
    void writes(const std::string& path, const std::string& option, Kind kind);

    /// Opens and locks every output; none is emptied before all are open. A file of lines is empty then, or at its end;
    /// one that is written as a whole keeps its content. All that the command reads has been read by now
    /// (files_read()), or is named by reads(). Throws as `writes`.
    void open();

    /// The open file of an option; nothing when the command line does not give it. After open().
    OutputFile* file(const std::string& option) const;
    OutputFile* json() const { return file("--json"); }
    OutputFile* csv() const { return file("--csv"); }
    OutputFile* html() const { return file("--html"); }

private:
    /// A file that exists is known by device and inode, one that does not by its folder and name. Standard output is
    /// whatever descriptor 1 is.
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

/// One JSON text as the whole of a file, or on standard output. Throws as Outputs.
void write_json(const std::string& path, bool force, const std::string& text);

/// Where finished cells go: JSON lines, CSV, and the list the table is printed from.
class Sink {
public:
    /// Either may be nothing; both outlive the sink.
    Sink(OutputFile* json, OutputFile* csv);
    /// Thread-safe: the watchdog may deliver a timed-out cell.
    void take(const model::Record& record);
    /// A line of JSON only.
    void take(const model::Comparison& comparison);
    /// A line of JSON as it is.
    void line(const std::string& json);
    const std::vector<model::Record>& records() const { return records_; }
    /// What a run that was interrupted says: "interrupted; 3 finished cell(s) kept".
    std::string interrupted() const;
    bool uses_stdout() const { return (json_ && json_->is_stdout()) || (csv_ && csv_->is_stdout()); }

private:
    std::mutex mutex_;
    OutputFile *json_, *csv_;
    bool wants_header_;
    std::vector<model::Record> records_;
};

}  // namespace cllab::app
