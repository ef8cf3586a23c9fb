#include "capture/board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "json/read.hpp"

namespace cllab::capture {

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void Board::say(const Json& line) {
    const auto text = text_of(line) + "\n";
    const auto at = used.fetch_add(text.size());
    if (at + text.size() <= lines.size()) std::ranges::copy(text, lines.data() + at);
}

Board* map_board(const std::filesystem::path& path, bool is_new) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | (is_new ? O_CREAT | O_EXCL : 0), 0600);
    if (file < 0) return nullptr;
    void* at = MAP_FAILED;
    const int fault = is_new ? ::posix_fallocate(file, 0, sizeof(Board)) : 0;
    if (fault == 0) at = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (fault) errno = fault;
    return at == MAP_FAILED ? nullptr : static_cast<Board*>(at);
}

std::vector<Json> said_on(const Board& board, const char* key) {
    std::vector<Json> out;
    const auto size = std::min<std::size_t>(board.used, board.lines.size());
    for (const auto& text : split({board.lines.data(), size}, '\n')) try {
            auto line = parse_json<Json>(text);
            if (!line.contains(key)) continue;
            const auto is_same = [&](const Json& other) { return other[key] == line[key]; };
            if (!line.contains("row")) std::erase_if(out, is_same);
            out.push_back(std::move(line));
        } catch (const JsonRefused&) {
        }
    return out;
}

std::vector<Json> rows_on(const Board& board, const char* key) {
    std::vector<Json> out;
    for (auto& row : said_on(board, "row")) {
        if (!row.contains(key)) continue;
        const auto& number = row["row"];
        const auto index = number.is_number_unsigned() ? number.get<std::size_t>() : board.tallies.size();
        if (index >= board.tallies.size() || board.tallies[index].count == 0) continue;
        const auto& tally = board.tallies[index];
        row["count"] = tally.count.load(), row["timed"] = tally.timed.load(), row["bytes"] = tally.bytes.load();
        row["seconds"] = static_cast<double>(tally.ns) * 1e-9;
        out.push_back(std::move(row));
    }
    return out;
}

double sum_of(const std::vector<Json>& rows, const char* key) {
    double out = 0;
    for (const auto& row : rows) out += row[key].get<double>();
    return out;
}

std::vector<std::vector<Json>> by_kernel(const std::vector<Json>& rows) {
    auto out = grouped(rows, [](const Json& row) {
        return text_of({row.at("kernel"), row.at("program"), row.at("device")});
    });
    const auto weight = [](const auto& of) { return std::pair(sum_of(of, "seconds"), sum_of(of, "count")); };
    for (auto& kernel : out)
        std::ranges::stable_sort(kernel, std::ranges::greater{},
                                 [&](const Json& row) { return weight(std::vector{row}); });
    std::ranges::stable_sort(out, std::ranges::greater{}, weight);
    return out;
}

}  // namespace cllab::capture
