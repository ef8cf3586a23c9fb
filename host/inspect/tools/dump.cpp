#include "inspect/tools/dump.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "inspect/binary/cpu_code.hpp"
#include "inspect/code/hot_code.hpp"
#include "inspect/isa/isa.hpp"
#include "json/read.hpp"

namespace cllab::inspect {
namespace {

namespace fs = std::filesystem;

constexpr const char* list_name = "files.txt";
constexpr const char* list_title = "What cllab wrote here and replaces; other files are kept.";

[[noreturn]] void fail(const std::string& sentence) { throw Error(Blame::environment, sentence); }

void make_folder(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) fail("the dump folder '" + folder.string() + "' cannot be created: " + failed.message());
}

Descriptor open_file(const fs::path& path) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file) fail("'" + path.string() + "' cannot be written: " + std::strerror(errno));
    return file;
}

/// False if another process still holds the lock after ten seconds. On a file system without locks it returns true.
bool lock(const Descriptor& file) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::usleep(20'000);
    }
    return true;
}

bool replace_content(const Descriptor& file, const std::string& text) {
    return ::ftruncate(file.number(), 0) == 0 &&
           ::pwrite(file.number(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

/// Identifies a device as model::device_key does, but without the driver: a device with a new driver is the same
/// device.
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
    const auto program = program_of_text(request.source).value_or("");
    std::vector<std::pair<std::string, std::string>> texts{{is_spirv(program) ? "source.spv"
                                                            : program.empty() ? "source.cl"
                                                                              : "source.bin",
                                                            program.empty() ? request.source : program},
                                                           {"options.txt", request.options + "\n"},
                                                           {"build.log", request.build_log}};
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

void add_to_dump(const fs::path& folder, const std::string& file, ByteSpan content) {
    const auto list = open_file(folder / list_name);
    lock(list);
    auto names = read_file(folder / list_name).value_or("");
    if (!names.starts_with(list_title)) fail("'" + folder.string() + "' is no longer a dump folder");
    if (("\n" + names).find("\n" + file + "\n") == names.npos) names += file + "\n";
    if (!replace_content(list, names)) fail("'" + (folder / list_name).string() + "' cannot be written");
    write_file(folder / file, content);
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
    } catch (const JsonRefused&) {  // the disassembly is usable without its counts
    } catch (const nlohmann::json::exception&) {
    }
    return out;
}

fs::path device_folder(const fs::path& root, const model::Device& device, const std::string& host) {
    const auto own = owner_text(device, host);
    for (unsigned n = 1;; ++n) {
        const auto folder = root / (folder_name(device.name) + (n == 1 ? "" : "-" + std::to_string(n)));
        const auto owner = read_file(folder / "device.txt");
        if (!owner || owner->empty() || *owner == own) return folder;
    }
}

fs::path claim_device_folder(const fs::path& root, const model::Device& device, const std::string& host) {
    const auto own = owner_text(device, host);
    for (;;) {  // repeats if another process has taken the folder in the meantime
        const auto folder = device_folder(root, device, host);
        make_folder(folder);
        const auto file = open_file(folder / "device.txt");
        lock(file);  // another process holds it only while it writes a few lines
        const auto owner = read_file(folder / "device.txt").value_or("");
        if (owner == own || (owner.empty() && replace_content(file, own))) return folder;
        if (owner.empty())
            fail("'" + (folder / "device.txt").string() + "' cannot be written: " + std::strerror(errno));
    }
}

DumpFolder::DumpFolder(const fs::path& folder, const std::vector<std::string>& files) : folder_(folder), files_(files) {
    make_folder(folder);
    list_ = open_file(folder / list_name);
    if (!lock(list_)) fail("the dump folder '" + folder.string() + "' is being written by another run");
    const auto lines = split(read_file(folder / list_name).value_or(""), '\n');
    if (!(lines.size() == 1 && lines.front().empty()) && lines.front() != list_title)
        fail("'" + (folder / list_name).string() + "' was not written by cllab, so cllab writes no dump there");
    // Accepts only names without a path, whatever the file contains.
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
            fail("'" + (folder / file).string() +
                 "' was not written by cllab and is kept, so cllab writes no dump there");
    for (const auto& file : old) fs::remove(folder / file, ignored);
    if (!replace_content(list_, list_title + ("\n" + join(files, "\n")) + "\n"))
        fail("'" + (folder / list_name).string() + "' cannot be written: " + std::strerror(errno));
}

void DumpFolder::write(const std::string& file, ByteSpan content) {
    try {
        write_file(folder_ / file, content);
    } catch (...) {
        std::error_code ignored;
        for (const auto& each : files_) fs::remove(folder_ / each, ignored);
        throw;
    }
}

}  // namespace cllab::inspect
