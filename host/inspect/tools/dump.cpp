#include "inspect/tools/dump.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"
#include "inspect/binary/cpu_code.hpp"
#include "inspect/code/hot_code.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/tool.hpp"
#include "json/read.hpp"

namespace cllab::inspect {
namespace {

namespace fs = std::filesystem;

constexpr const char* list_name = "files.txt";
constexpr const char* list_title = "What cllab wrote here and replaces; other files are kept.";
constexpr auto patience = std::chrono::seconds(10);

[[noreturn]] void fail(const std::string& sentence) { throw Error(Blame::environment, sentence); }

void make_folder(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) fail("the dump folder '" + folder.string() + "' cannot be made: " + failed.message());
}

int open_file(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) fail("'" + path.string() + "' cannot be written: " + std::strerror(errno));
    return fd;
}

bool locked_elsewhere(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

/// False when another process still holds the lock after the patience. A file system without locks is no reason to
/// write nothing.
bool lock(int fd) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (locked_elsewhere(fd)) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::usleep(20'000);
    }
    return true;
}

std::string content(int fd) {
    std::string out;
    char chunk[4096];
    ::lseek(fd, 0, SEEK_SET);
    for (ssize_t n; out.size() < (1u << 20) && (n = ::read(fd, chunk, sizeof chunk)) > 0;)
        out.append(chunk, static_cast<std::size_t>(n));
    return out;
}

bool replace_content(int fd, const std::string& text) {
    return ::ftruncate(fd, 0) == 0 && ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

/// What tells a device from every other one, as model::device_key does, but for the driver: a new one is no new device.
std::string owner_text(const model::Device& device, const std::string& host) {
    const bool named_anywhere = device.is_gpu() && device.identity.starts_with("UUID ");
    std::string out = "platform  " + one_line(device.platform) + "\nname      " + one_line(device.name) + "\n";
    if (!device.identity.empty())
        out += "identity  " + one_line(device.identity) + "\n";
    else
        out += "place     " + device.selector.substr(device.selector.find(':') + 1) + "\n";
    if (!named_anywhere && !host.empty()) out += "host      " + one_line(host) + "\n";
    return out;
}

fs::path candidate(const fs::path& root, const model::Device& device, unsigned n) {
    return root / (folder_name(device.name) + (n == 1 ? "" : "-" + std::to_string(n)));
}

}  // namespace

Analysis read_code(const DumpRequest& request) {
    return analyse(request.binary, request.entry, request.build_log, request.launch,
                   {.ran = request.ran, .tool_budget = request.tool_budget});
}

std::string code_that_ran(const DumpRequest& request) {
    if (recognise(request.binary) != Kind::poclbin) return {};
    const auto loaded = loaded_objects();
    return choose_pocl_code(with_loaded(read_poclbin(request.binary), loaded), request.entry, request.launch, loaded,
                            request.ran)
        .path;
}

DumpFolder write_sidecars(const DumpRequest& request, const Analysis& a) {
    std::vector<std::pair<std::string, std::string>> texts{
        {"source.cl", request.source}, {"options.txt", request.options + "\n"}, {"build.log", request.build_log}};
    if (a.kind == Kind::ptx)
        texts.emplace_back(file_name(a.kind), ptx_text(request.binary));
    else if (a.kind != Kind::empty)
        texts.emplace_back(file_name(a.kind), as_text(request.binary));
    for (const auto& part : a.disassembly.parts) texts.emplace_back(part.file, part.bytes);
    texts.emplace_back("isa.txt", request.hot ? marked_isa_text(a, *request.hot) : isa_text(a));
    texts.emplace_back("stats.json", request.hot ? marked_stats(a, *request.hot) : a.stats);
    std::vector<std::string> files{timing_file};
    for (const auto& [file, text] : texts) files.push_back(file);
    DumpFolder folder(request.folder, files);
    for (const auto& [file, text] : texts) folder.write(file, as_bytes(text));
    return folder;
}

DumpTexts read_dump(const std::filesystem::path& folder) {
    DumpTexts out;
    out.isa = read_file(folder / "isa.txt").value_or("");
    try {
        const auto stats = parse_json<nlohmann::json>(read_file(folder / "stats.json").value_or(""));
        out.summary = stats.value("summary", "");
        for (const auto& listing : stats.value("listings", nlohmann::json::array())) {
            const auto* set = isa::named(listing.value("isa", ""));
            if (!set || !listing.contains("counts") || (!out.counted_isa.empty() && set->virtual_machine)) continue;
            out.function = listing.at("counts").at("function").get<std::string>();
            out.counted_isa = listing.at("isa").get<std::string>();
        }
    } catch (const JsonRefused&) {  // the text of the disassembly is there without its counts
    } catch (const nlohmann::json::exception&) {
    }
    return out;
}

fs::path device_folder(const fs::path& root, const model::Device& device, const std::string& host) {
    const auto own = owner_text(device, host);
    for (unsigned n = 1;; ++n) {
        const auto folder = candidate(root, device, n);
        const auto owner = read_file(folder / "device.txt");
        if (!owner || owner->empty() || *owner == own) return folder;
    }
}

fs::path claim_device_folder(const fs::path& root, const model::Device& device, const std::string& host) {
    const auto own = owner_text(device, host);
    for (unsigned n = 1;; ++n) {
        const auto folder = candidate(root, device, n);
        make_folder(folder);
        const int fd = open_file(folder / "device.txt");
        lock(fd);  // for as long as it takes another process to write a few lines
        const auto owner = content(fd);
        const bool ours = owner == own || (owner.empty() && replace_content(fd, own));
        const int error = errno;
        ::close(fd);
        if (ours) return folder;
        if (owner.empty())
            fail("'" + (folder / "device.txt").string() + "' cannot be written: " + std::strerror(error));
    }
}

DumpFolder::DumpFolder(const fs::path& folder, const std::vector<std::string>& files) : folder_(folder), files_(files) {
    make_folder(folder);
    list_ = open_file(folder / list_name);
    try {
        if (!lock(list_)) fail("the dump folder '" + folder.string() + "' is being written by another run");
        const auto lines = split(content(list_), '\n');
        if (!(lines.size() == 1 && lines.front().empty()) && lines.front() != list_title)
            fail("'" + (folder / list_name).string() + "' is not cllab's, so cllab dumps nothing beside it");
        // A name and no path, whatever somebody wrote there.
        std::vector<std::string> old;
        for (std::size_t i = 1; i < lines.size(); ++i)
            if (!lines[i].empty() && lines[i].find('/') == std::string::npos && lines[i] != list_name)
                old.push_back(lines[i]);
        std::error_code ignored;
        const auto is_foreign = [&](const std::string& file) {
            const auto there = fs::symlink_status(folder / file, ignored);
            return fs::is_directory(there) || (fs::exists(there) && std::ranges::find(old, file) == old.end());
        };
        for (const auto& file : files)
            if (is_foreign(file))
                fail("'" + (folder / file).string() + "' is not cllab's and is kept, so cllab dumps nothing beside it");
        for (const auto& file : old) fs::remove(folder / file, ignored);
        if (!replace_content(list_, list_title + ("\n" + join(files, "\n")) + "\n"))
            fail("'" + (folder / list_name).string() + "' cannot be written: " + std::strerror(errno));
    } catch (...) {
        ::close(list_);
        throw;
    }
}

DumpFolder::DumpFolder(DumpFolder&& other) noexcept
    : folder_(std::move(other.folder_)), files_(std::move(other.files_)), list_(std::exchange(other.list_, -1)) {}

DumpFolder::~DumpFolder() {
    if (list_ >= 0) ::close(list_);
}

void DumpFolder::write(const std::string& file, ByteSpan content) {
    try {
        write_file(folder_ / file, content);
    } catch (...) {
        remove_files();
        throw;
    }
}

void DumpFolder::remove_files() {
    std::error_code ignored;
    for (const auto& file : files_) fs::remove(folder_ / file, ignored);
}

}  // namespace cllab::inspect
