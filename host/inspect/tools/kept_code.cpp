#include "inspect/tools/kept_code.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "core/hash.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "json/read.hpp"

namespace cllab::inspect {
namespace {

namespace fs = std::filesystem;

constexpr std::ptrdiff_t most_files = 4000;

/// Empty if the user has no cache folder.
fs::path kept_folder() {
    const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    if (cache && *cache) return fs::path(cache) / "cllab" / "code";
    return home && *home ? fs::path(home) / ".cache" / "cllab" / "code" : fs::path();
}

/// Whether the text has words that read other files, or the time.
bool reads_more(const std::string& text) {
    constexpr std::string_view words[]{"include", "import", "embed", "__has_", "__DATE__", "__TIME"};
    return std::ranges::any_of(words, [&](auto word) { return text.find(word) != text.npos; });
}

/// The state of a program or library file: another version has another size or time.
std::string state_of(const fs::path& file) {
    std::error_code none;
    const auto real = fs::canonical(file, none);
    if (none) return file.string();
    return fmt::format("{} {} {}", real.string(), fs::file_size(real, none),
                       fs::last_write_time(real, none).time_since_epoch().count());
}

/// One line of JSON, then the binary. unpacked() returns nullopt for a damaged file.
std::string packed(const OfflineCode& code) {
    const auto& [target, made_by, own_make] =
        std::tie(code.options.target, code.options.made_by, code.options.own_make);
    const nlohmann::json head{code.log, code.notes, target, made_by, own_make, sha256_hex(code.binary)};
    return json_text(head) + "\n" + code.binary;
}
std::optional<OfflineCode> unpacked(const std::string& text) {
    try {
        const auto end = std::min(text.find('\n'), text.size() - 1);
        const auto head = parse_json<nlohmann::json>(std::string_view(text).substr(0, end));
        OfflineCode out{true, head.at(0), text.substr(end + 1), {}, head.at(1)};
        out.options = {.target = head.at(2), .made_by = head.at(3), .own_make = head.at(4)};
        if (head.at(5) == sha256_hex(out.binary)) return out;
    } catch (const std::exception&) {  // it is compiled again
    }
    return std::nullopt;
}

/// Writes under another name first, because two processes may write the file. If there are too many files, removes all.
void keep(const fs::path& path, const std::string& content) {
    std::error_code none;
    const auto folder = path.parent_path();
    if (std::distance(fs::directory_iterator(folder, none), {}) > most_files) fs::remove_all(folder, none);
    fs::create_directories(folder, none);
    const auto name = path.string() + std::to_string(std::random_device{}());
    try {
        write_file(name, as_bytes(content));
    } catch (const std::exception&) {  // a full disk is no reason to fail
        fs::remove(name, none);
        return;
    }
    fs::rename(name, path, none);
}

}  // namespace

OfflineCode kept_code(const std::vector<std::string>& key, const std::vector<fs::path>& tools, const std::string& text,
                      const std::vector<std::string>& options, const std::function<OfflineCode()>& make) {
    static const auto folder = kept_folder();
    if (folder.empty() || reads_more(without_comments(text)) || reads_more(join(options, " ")) ||
        std::ranges::any_of(options, [](const auto& option) { return option.starts_with("@"); }))
        return make();
    std::string all = version() + state_of("/proc/self/exe");
    for (auto** variable = environ; *variable; ++variable)  // variables that change what a compiler does
        for (const char* prefix : {"LD_LIBRARY_PATH=", "AMD_", "IGC_", "NEO", "CCC_", "CPATH=", "C_INCLUDE_PATH="})
            if (std::string_view(*variable).starts_with(prefix)) all += concat("\n", *variable);
    for (const auto& tool : tools) all += '\n' + state_of(tool);
    for (const auto* words : {&key, &options})
        for (const auto& word : *words) all += '\0' + word;
    const auto path = folder / sha256_hex(all + '\0' + text);
    const auto found = cllab::read_file(path);
    if (auto code = found ? unpacked(*found) : std::nullopt) return std::move(*code);
    auto made = make();
    if (made.ok) keep(path, packed(made));
    return made;
}

}  // namespace cllab::inspect
