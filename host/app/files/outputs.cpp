#include "app/files/outputs.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "app/files/baseline.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/reading.hpp"
#include "model/warning.hpp"
#include "report/records/csv.hpp"
#include "report/records/json.hpp"
#include "report/table/comparison.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

bool is_same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Anything written there vanishes, so it conflicts with no other output.
bool is_null_device(const struct stat& file) {
    struct stat null {};
    return stat("/dev/null", &null) == 0 && is_same(file, null);
}

/// Whether the path is a name of standard output, or the file to which the shell redirects it.
bool leads_to_stdout(const fs::path& path) {
    for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
        if (path == name) return true;
    struct stat file {
    }, out{};
    return stat(path.c_str(), &file) == 0 && fstat(results_fd(), &out) == 0 && is_same(file, out) &&
           !is_null_device(file);
}

[[noreturn]] void cannot_write(const fs::path& path, const std::string& option, int error) {
    throw Error(Blame::environment,
                "file '" + path.string() + "' (" + option + ") cannot be written: " + std::strerror(error));
}

std::string called(const fs::path& path) {
    return leads_to_stdout(path) ? "standard output" : "file '" + path.string() + "'";
}

/// Rejects appending to a file with other content or other columns. Throws Error(usage).
void require_same_kind(const std::string& path, const std::string& option, Outputs::Kind kind) {
    std::ifstream in(path, std::ios::binary);
    std::string first(kind == Outputs::Kind::csv ? report::csv_header().size() + 1 : 1, '\0');
    in.read(first.data(), static_cast<std::streamsize>(first.size()));
    first.resize(static_cast<std::size_t>(in.gcount()));
    if (kind == Outputs::Kind::csv && first != report::csv_header() + "\n")
        throw Error(
            Blame::usage,
            "file '" + path + "' (" + option +
                ") has other columns than this build writes, so --append would mix two tables; use another file");
    if (kind == Outputs::Kind::json_lines && first != "{")
        throw Error(Blame::usage, "file '" + path + "' (" + option +
                                      ") does not begin with a record, so --append would corrupt it; use another file");
}

}  // namespace

fs::path link_target(const fs::path& path) {
    auto target = path;
    std::error_code code;
    for (int links = 0; links < 40 && fs::is_symlink(target, code); ++links) {
        const auto next = fs::read_symlink(target, code);
        if (code) break;
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return target;
}

OutputFile::OutputFile(const fs::path& path, const std::string& option) : path_(path), option_(option) {
    if (leads_to_stdout(path)) {
        file_ = results_file();
        return;
    }
    const auto target = link_target(path);
    // Each write appends at the current end of the file. Without a buffer, nothing stays for a later write.
    constexpr int how = O_WRONLY | O_APPEND | O_CLOEXEC;
    int fd = ::open(target.c_str(), how | O_CREAT | O_EXCL, 0666);
    made_ = fd >= 0;
    if (!made_ && errno == EEXIST) fd = ::open(target.c_str(), how);
    if (fd < 0 || !(file_ = fdopen(fd, "ab"))) cannot_write(path, option, errno);
    std::setvbuf(file_, nullptr, _IONBF, 0);
    // Continue on file systems without locks.
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    std::fclose(file_);
    throw Error(Blame::environment, "file '" + path.string() + "' (" + option +
                                        ") is being written by another run; wait, or use another file");
}

OutputFile::~OutputFile() {
    if (is_stdout()) return;
    struct stat opened {
    }, there{};
    const auto target = link_target(path_);
    if (made_ && fstat(fileno(file_), &opened) == 0 && opened.st_size == 0 && lstat(target.c_str(), &there) == 0 &&
        is_same(opened, there))
        ::unlink(target.c_str());
    std::fclose(file_);
}

std::optional<struct stat> OutputFile::regular() const {
    struct stat file {};
    const bool is_regular = !is_stdout() && fstat(fileno(file_), &file) == 0 && S_ISREG(file.st_mode);
    return is_regular ? std::optional(file) : std::nullopt;
}

bool OutputFile::has_content() const {
    const auto file = regular();
    return file && file->st_size > 0;
}

void OutputFile::begin(bool append) {
    if (!has_content()) return;
    if (!append) return whole("");
    std::ifstream in(path_, std::ios::binary);
    in.seekg(-1, std::ios::end);
    if (in.get() != '\n') line("");
}

void OutputFile::line(const std::string& text) {
    const auto before = regular();
    const std::string whole = text + "\n";
    errno = 0;
    if (std::fwrite(whole.data(), 1, whole.size(), file_) == whole.size() && std::fflush(file_) == 0) return;
    const int error = errno;
    if (before) [[maybe_unused]]
        const auto done = ftruncate(fileno(file_), before->st_size);
    throw Error(Blame::environment, called(path_) + " (" + option_ + "): writing failed: " + std::strerror(error));
}

bool OutputFile::replace(const std::function<bool(std::FILE*)>& fill) {
    const auto old = regular();
    if (!old) return false;
    const auto target = link_target(path_);
    auto name = target.string() + ".XXXXXX";
    const int fd = mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) return false;
    std::FILE* const file = fdopen(fd, "wb");
    if (!file) {
        ::close(fd);
        ::unlink(name.c_str());
        return false;
    }
    [[maybe_unused]] const auto mode = fchmod(fd, old->st_mode & 07777);
    [[maybe_unused]] const auto lock = flock(fd, LOCK_EX | LOCK_NB);
    errno = 0;
    if (!fill(file) || std::fflush(file) != 0 || std::rename(name.c_str(), target.c_str()) != 0) {
        const int error = errno;
        std::fclose(file);
        ::unlink(name.c_str());
        cannot_write(path_, option_, error);
    }
    std::fclose(file_);
    file_ = file;
    return true;
}

void OutputFile::whole(const std::string& text) {
    const auto fill = [&](std::FILE* file) {
        return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
    };
    if (replace(fill)) return;
    if (regular() && ftruncate(fileno(file_), 0) != 0) cannot_write(path_, option_, errno);
    errno = 0;
    if (!fill(file_)) cannot_write(path_, option_, errno);
}

Outputs::Outputs(const FileOptions& files) : Outputs(files.force, files.append) {
    if (!files.json.empty()) writes(files.json, "--json", Kind::json_lines);
    if (!files.csv.empty()) writes(files.csv, "--csv", Kind::csv);
    if (!files.baseline.empty()) writes(records_of_baseline(files.baseline), "--baseline", Kind::json_lines);
    if (!files.junit.empty()) writes(files.junit, "--junit", Kind::whole);
    if (!files.html.empty()) writes(files.html, "--html", Kind::page);
    if (!files.markdown.empty()) writes(files.markdown, "--markdown", Kind::page);
    if (!files.svg.empty()) writes(files.svg, "--svg", Kind::page);
    if (!files.png.empty()) writes(files.png, "--png", Kind::page);
    if (!files.long_csv.empty()) writes(files.long_csv, "--long", Kind::table);
}

void Outputs::writes_pictures(const Pairs& pictures) {
    for (const auto& [name, path] : pictures) writes(path, "--output " + name, Kind::whole);
}

void Outputs::reads_for(const CellOptions& cells) {
    for (const auto& word : split(cells.reference_command, ' ')) reads(word);
    if (cells.cl_dir.empty()) return;
    std::error_code code;
    for (const auto& folder : {fs::path(cells.cl_dir), fs::path(cells.cl_dir) / "include"})
        for (fs::directory_iterator i(folder, code), end; !code && i != end; i.increment(code))
            if (i->path().extension() == ".cl" || i->path().extension() == ".h") reads(i->path());
}

std::optional<Outputs::Identity> Outputs::identity_of(const fs::path& path, const std::string& option) {
    struct stat file {};
    if (leads_to_stdout(path)) {
        if (fstat(results_fd(), &file) != 0) return std::nullopt;
        return Identity{file.st_dev, file.st_ino, is_null_device(file) ? "-" : ""};
    }
    if (stat(path.c_str(), &file) == 0) {
        if (S_ISDIR(file.st_mode)) cannot_write(path, option, EISDIR);
        if (access(path.c_str(), W_OK) != 0) cannot_write(path, option, errno);
        if (is_null_device(file)) return std::nullopt;
        return Identity{file.st_dev, file.st_ino, ""};
    }
    if (errno != ENOENT) cannot_write(path, option, errno);
    const auto target = link_target(path);
    const auto folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    if (stat(folder.c_str(), &file) != 0 || access(folder.c_str(), W_OK | X_OK) != 0) cannot_write(path, option, errno);
    if (!target.has_filename()) cannot_write(path, option, EISDIR);
    return Identity{file.st_dev, file.st_ino, target.filename().string()};
}

void Outputs::reads(const fs::path& path) {
    struct stat file {};
    if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return;
    const Identity identity{file.st_dev, file.st_ino, ""};
    inputs_.emplace_back(path.string(), identity);
    for (const auto& output : outputs_)
        if (output.identity == identity)
            throw Error(Blame::usage, called(output.path) + " (" + output.option + ") is also the input '" +
                                          path.string() + "'; use another output file");
}

void Outputs::writes(const std::string& path, const std::string& option, Kind kind) {
    const auto identity = identity_of(path, option);
    Output output{path, option, kind, identity.value_or(Identity{}), nullptr};
    for (const auto& other : outputs_)
        if (identity && other.identity == *identity)
            throw Error(Blame::usage, "'" + other.path + "' (" + other.option + ") and '" + path + "' (" + option +
                                          ") are the same file; use two files");
    for (const auto& [name, input] : inputs_)
        if (identity && input == *identity)
            throw Error(Blame::usage,
                        called(path) + " (" + option + ") is also the input '" + name + "'; use another output file");
    struct stat file {
    }, err{};
    const bool regular = !leads_to_stdout(path) && stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode);
    if (regular && fstat(STDERR_FILENO, &err) == 0 && is_same(file, err))
        throw Error(Blame::usage,
                    "file '" + path + "' (" + option + ") is also standard error; use another output file");
    if (regular && file.st_size > 0) {
        if (!may_write(kind)) refuse_existing(output);
        if (append_ && is_lines(kind)) require_same_kind(path, option, kind);
    }
    outputs_.push_back(std::move(output));
}

void Outputs::refuse_existing(const Output& output) const {
    throw Error(Blame::usage,
                "file '" + output.path + "' (" + output.option + ") already exists; --force replaces it" +
                    (!is_lines(output.kind) ? " (--append applies to records only)" : ", --append adds to it"));
}

void Outputs::open() {
    for (const auto& path : files_read()) reads(path);
    for (auto& output : outputs_) {
        output.file = std::make_unique<OutputFile>(output.path, output.option);
        // The file may have been created meanwhile.
        if (output.file->has_content() && !may_write(output.kind)) refuse_existing(output);
    }
    for (auto& output : outputs_)
        if (is_lines(output.kind) || output.kind == Kind::table) output.file->begin(append_ && is_lines(output.kind));
}

OutputFile* Outputs::file(const std::string& option) const {
    for (const auto& output : outputs_)
        if (output.option == option) return output.file.get();
    return nullptr;
}

void write_json(const std::string& path, bool force, const std::string& text) {
    if (path == "-") {  // failures on standard output are detected at the end of the command
        results() << text << '\n';
        return;
    }
    Outputs outputs(force, false);
    outputs.writes(path, "--json", Outputs::Kind::whole);
    outputs.open();
    outputs.json()->whole(text + "\n");
}

Sink::Sink(OutputFile* json, OutputFile* csv) : json_(json), csv_(csv), wants_header_(csv && !csv->has_content()) {}

void Sink::take(const model::Record& record) {
    const std::lock_guard lock(mutex_);
    records_.push_back(record);
    if (json_) json_->line(report::to_json_line(record));
    if (wants_header_) csv_->line(report::csv_header());
    wants_header_ = false;
    if (csv_) csv_->line(report::to_csv_line(record));
}

void Sink::take(const model::Comparison& comparison) { line(report::comparison_json(comparison)); }

std::string Sink::interrupted() const {
    const auto count = [&](auto is) { return std::ranges::count_if(records_, is); };
    const auto cut = count([](const auto& r) { return model::warns(r, model::Warning::interrupted); });
    const auto none = count([](const auto& r) { return r.status == model::Status::timed_out; });
    return "interrupted; " + std::to_string(std::ssize(records_) - cut - none) + " finished cell(s) kept" +
           (cut ? ", and " + std::to_string(cut) + " with fewer samples" : "");
}

void Sink::line(const std::string& json) {
    const std::lock_guard lock(mutex_);
    if (json_) json_->line(json);
}

}  // namespace cllab::app
