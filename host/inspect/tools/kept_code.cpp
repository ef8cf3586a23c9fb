#include "inspect/tools/kept_code.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "json/read.hpp"

extern char** environ;

namespace cllab::inspect {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 4000;

/// Empty where the user has no cache.
fs::path kept_folder() {
    const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    if (cache && *cache) return fs::path(cache) / "cllab" / "code";
    return home && *home ? fs::path(home) / ".cache" / "cllab" / "code" : fs::path();
}

/// The words of the language that bring in other files, or the time.
bool reads_more(const std::string& text, const std::vector<std::string>& options) {
    constexpr std::string_view words[]{"include", "import", "embed", "__has_", "__DATE__", "__TIME"};
    const auto has = [&](const std::string& in) {
        return std::ranges::any_of(words, [&](auto word) { return in.find(word) != in.npos; });
    };
    return has(without_comments(text)) || std::ranges::any_of(options, [&](const auto& o) { return has(o) || o.starts_with("@"); });
}

/// A program or library as it is: another version has another size or time.
std::string state_of(const fs::path& file) {
    std::error_code none;
    const auto real = fs::canonical(file, none);
    const auto size = none ? 0 : fs::file_size(real, none);
    const auto time = none ? 0 : fs::last_write_time(real, none).time_since_epoch().count();
    return real.string() + " " + std::to_string(size) + " " + std::to_string(time);
}

/// What the compilers read of the environment.
std::string settings() {
    std::vector<std::string> out;
    for (char** one = environ; one && *one; ++one)
        for (const char* prefix : {"AMD_", "CCC_", "IGC_", "NEO", "LLVM_", "LD_LIBRARY_PATH"})
            if (std::string_view(*one).starts_with(prefix)) out.emplace_back(*one);
    std::ranges::sort(out);
    return join(out, "\n");
}

/// A line that says what follows, then the binary.
std::string packed(const OfflineCode& code) {
    const nlohmann::json head{{"log", code.log},
                              {"notes", code.notes},
                              {"target", code.options.target},
                              {"made_by", code.options.made_by},
                              {"own_make", code.options.own_make},
                              {"sha256", sha256_hex(code.binary)}};
    return head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n" + code.binary;
}

std::optional<OfflineCode> unpacked(const std::string& text) {
    const auto end = text.find('\n');
    if (end == text.npos) return std::nullopt;
    OfflineCode out{true, {}, text.substr(end + 1), {}};
    try {
        const auto head = parse_json<nlohmann::json>(std::string_view(text).substr(0, end));
        out.log = head.at("log");
        out.notes = head.at("notes");
        out.options = {.target = head.at("target"), .made_by = head.at("made_by"), .own_make = head.at("own_make")};
        if (head.at("sha256") != sha256_hex(out.binary)) return std::nullopt;
    } catch (const std::exception&) {  // damaged: it is made again
        return std::nullopt;
    }
    return out;
}

/// When they are many, half of them go, those that were written first.
void make_room(const fs::path& folder) {
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code none;
    for (fs::directory_iterator i(folder, none), end; !none && i != end; i.increment(none))
        files.emplace_back(i->last_write_time(none), i->path());
    if (files.size() < most_files) return;
    std::ranges::sort(files);
    for (std::size_t i = 0; i < files.size() / 2; ++i) fs::remove(files[i].second, none);
}

void keep(const fs::path& path, const std::string& content) {
    std::error_code none;
    fs::create_directories(path.parent_path(), none);
    auto name = path.string() + ".XXXXXX";
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) return;
    const bool whole = ::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    ::close(fd);
    if (whole)
        fs::rename(name, path, none);
    else
        fs::remove(name, none);
}

}  // namespace

OfflineCode kept_code(const std::vector<std::string>& key, const std::vector<fs::path>& tools, const std::string& text,
                      const std::vector<std::string>& options, const std::function<OfflineCode()>& make) {
    static const auto folder = kept_folder();
    if (folder.empty() || reads_more(text, options)) return make();
    static const std::string own = version() + state_of("/proc/self/exe") + settings();
    std::string all = own;
    for (const auto& tool : tools) all += '\0' + state_of(tool);
    for (const auto* words : {&key, &options})
        for (const auto& word : *words) all += '\0' + word;
    const auto path = folder / sha256_hex(all + '\0' + text);
    if (const auto found = cllab::read_file(path))
        if (auto code = unpacked(*found)) return std::move(*code);
    auto made = make();
    if (!made.ok) return made;
    static std::once_flag once;
    std::call_once(once, [] { make_room(folder); });
    keep(path, packed(made));
    return made;
}

}  // namespace cllab::inspect
