// What is said of the code that ran: beside the listing, in stats.json and in the summary.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inspect/code/counts.hpp"
#include "inspect/code/hot_code.hpp"
#include "json/read.hpp"
#include "json/write_fields.hpp"

namespace cllab::inspect {
namespace {

using model::Hot;

/// "63.2 % of the samples, "; nothing where code is only accounted for.
std::string share_of(const Hot& hot, const model::HotBlock& block) {
    return block.share > 0 ? fmt::format("{:.1f} % of {}, ", 100 * block.share, model::what_is_shared(hot))
                           : std::string();
}

std::string place(const model::HotBlock& block) {
    std::string text = fmt::format("0x{:x}..0x{:x}", block.begin, block.end);
    if (block.loops.empty()) return text + ", in no loop";
    text += block.loops.size() > 1 ? ", in the loops at" : ", in the loop at";
    for (const auto header : block.loops) text += fmt::format(" 0x{:x}", header);
    return text;
}

}  // namespace

std::string hot_summary(const Hot& hot) {
    std::string text =
        "hot: " + model::statement(hot) + (hot.known() && !hot.method.empty() ? " by " + hot.method : "") + "\n";
    for (const auto& block : hot.blocks)
        text += "  " + share_of(hot, block) + place(block) + ": " + std::to_string(block.instructions) +
                " instructions: " + listed(block.classes) + (block.memory.empty() ? "" : "; " + listed(block.memory)) +
                "\n";
    return text;
}

std::string marked_isa_text(const Analysis& analysis, const Hot& hot) {
    const auto text = isa_text(analysis), about = hot_summary(hot);
    std::string out, function;
    bool head = true;
    for (const auto line : lines_of(text)) {
        // Behind what is said of the code as a whole.
        if (head && !line.starts_with("//")) {
            for (const auto said : lines_of(about)) out += "// " + std::string(said) + "\n";
            head = false;
        }
        if (const auto name = function_header(line); !name.empty()) function = name;
        const auto address = line.starts_with("//") ? std::nullopt : listed_address(line);
        for (const auto& block : hot.blocks)
            if (address == block.begin && block.function == function)
                out += "// hot: " + share_of(hot, block) + place(block) + "\n";
        out.append(line).append("\n");
    }
    return out;
}

std::string marked_stats(const Analysis& analysis, const Hot& hot) {
    auto stats = parse_json<nlohmann::json>(analysis.stats);
    stats["hot"] = fields_json<nlohmann::json>(hot);
    stats["summary"] = stats.value("summary", "") + hot_summary(hot);
    return stats.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace cllab::inspect
