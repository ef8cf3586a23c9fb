#include "behaviour/rows.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "core/embedded.hpp"
#include "core/grouped.hpp"
#include "core/units.hpp"
#include "kernelfile/expression.hpp"

namespace cllab::behaviour {
namespace {

const std::set<std::string> kinds{"value", "ratio", "time", "rate", "enqueue", "ulp", "code", "build", "binary"};

/// The entry for a word of its line `each`. For "uchar16:16", $ is the first part and % the second.
Question filled(TextEntry entry, const std::string& word) {
    const auto parts = split(word, ':');
    if (!word.empty()) entry.name += "." + parts.front();
    Question out{std::move(entry)};
    auto shown = word == "none" ? "no option" : parts.front();
    std::ranges::replace(shown, ';', ' ');
    for (auto& [field, text] : out.fields) {
        if (kinds.contains(field)) out.kind = field;
        text = join(split(join(split(text, '$'), field == out.kind ? parts.front() : shown), '%'), parts.back());
    }
    return out;
}

}  // namespace

std::vector<Question> read_rows(std::string_view text) {
    std::vector<Question> out;
    for (const auto& entry : text_entries(text))
        for (const auto& word : split(entry.field("each"), ' ')) out.push_back(filled(entry, word));
    return out;
}

std::vector<Question> questions(const std::vector<std::string>& globs) {
    auto out = read_rows(embedded("behaviour/rows.txt"));
    const auto names = mapped(out, &Question::name);
    const auto is = [](const std::string& name) {
        return [&name](const auto& glob) { return glob_match(glob, name) || glob_match(glob + ".*", name); };
    };
    for (const auto& glob : globs)
        if (std::ranges::none_of(names, [&](const auto& name) { return is(name)(glob); }))
            throw Error(Blame::usage, "no question matches '", excerpt(glob), "'", or_did_you_mean(glob, names));
    std::erase_if(out, [&](const auto& one) { return !globs.empty() && std::ranges::none_of(globs, is(one.name)); });
    return out;
}

std::string consequence(const Question& question, const Answer& answer, const std::string& word) {
    if (answer.status != Answer::Status::answered) return {};
    const bool error = answer.text.starts_with("CL_") || answer.text == "does not build";
    const double value = answer.measured.empty() ? std::atof(answer.text.c_str()) : answer.measured[0];
    for (const auto& [field, text] : question.fields) {
        const auto when = split(field, ' ');
        if (when[0] != word) continue;
        const auto sign = when.size() > 1 ? when[1] : "", than = sign.empty() ? "" : field.substr(word.size() + 3);
        const double limit = std::atof(than.c_str());
        const bool more = sign.empty() || (sign == "<" ? value < limit : value > limit);
        if (sign == "=" ? answer.text.starts_with(than) : more && !error) return text;
    }
    return {};
}

bool differ(const Answer& a, const Answer& b) {
    const auto &x = a.measured, &y = b.measured;
    if (a.status != b.status || x.size() < 3 || y.size() < 3) return a.status != b.status || a.text != b.text;
    const auto& [less, more] = x[0] < y[0] ? std::pair(x, y) : std::pair(y, x);
    return more[0] > 1.1 * less[0] && more[1] > less[2];
}

Answer measured(const std::string& unit, const Summary& found) {
    const auto text = [&](double x) {
        return unit == "s" ? format_seconds(x) : unit.empty() ? format_significant(x, 3) : format_rate(x, unit);
    };
    const auto low = text(found.low), high = text(found.high);
    const auto words = text(found.median) + (low == high ? "" : " (" + low + " to " + high + ")");
    Answer out{Answer::Status::answered, words, {found.median, found.low, found.high}};
    if (found.high >= 1.5 * found.low) out = {Answer::Status::undecided, "not decided: " + words, out.measured};
    return out;
}

std::string said(const Question& question, std::span<const std::uint32_t> words) {
    const auto word = question.field(concat("say ", words[0])), form = question.field("say");
    if (!word.empty()) return word;
    return fmt::vformat(form.empty() ? "{0}" : form, fmt::make_format_args(words[0], words[1], words[2], words[3]));
}

Launch launch_of(const std::string& text, const Sizes& sizes) {
    Launch out;
    const auto look_up = [&](const std::string& name, const auto&) { return sizes.at(name); };
    for (const auto& word : split(trim(text), ' ')) {
        const auto equals = word.find('=');
        if (equals != std::string::npos)
            out.settings.at(word.substr(0, equals)) = word.substr(equals + 1);
        else
            (out.kernel.empty() ? out.kernel : out.change) = word;
    }
    for (const auto& [key, extent] : {std::pair{"global", &out.global}, std::pair{"local", &out.local}})
        if (const auto& given = out.settings.at(key); !given.empty())
            for (const auto& size : kernelfile::parse_list(given, {text}))
                extent->size.at(extent->dims++) = static_cast<std::size_t>(size.evaluate(look_up));
    auto& options = out.settings.at("options");
    if (options == "none") options.clear();
    std::ranges::replace(options, ';', ' ');
    return out;
}

}  // namespace cllab::behaviour
