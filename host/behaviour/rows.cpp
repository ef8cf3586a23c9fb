#include "behaviour/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/expression.hpp"

namespace cllab::behaviour {
namespace {

/// For "uchar16:16", $ is the first part and % the second.
Question filled(Question question, const std::string& word) {
    const auto parts = split(word, ':');
    question.name += "." + parts.front();
    for (auto& [field, text] : question.fields) {
        const auto first = field == "ask" && word == "none" ? "no option" : parts.front();
        text = join(split(join(split(text, '$'), first), '%'), parts.back());
    }
    std::ranges::replace(question.fields["ask"], ';', ' ');
    return question;
}

void take(Question& question, const std::string& field, const std::string& text) {
    static const std::set<std::string> known{"ask", "claim", "needs", "say", "each"},
        kinds{"value", "ratio", "time", "rate", "enqueue", "ulp", "code", "build", "binary"};
    if (field == "so" || field.starts_with("so ")) return void(question.so.emplace_back(trim(field.substr(2)), text));
    if (kinds.contains(field))
        question.kind = field;
    else if (!known.contains(field))
        throw Error(Blame::usage, "row '", question.name, "' has the unknown field '", field, "'");
    question.fields[field] = text;
}

}  // namespace

std::vector<Question> read_rows(std::string_view text) {
    std::vector<Question> out;
    Question question;
    for (const auto& line : split(std::string(text) + "\n\n", '\n')) {
        if (const auto colon = line.find(": "); colon != std::string::npos) {
            take(question, line.substr(0, colon), line.substr(colon + 2));
        } else if (!line.empty()) {
            question.name = line;
        } else if (!question.name.empty()) {
            const auto each = question.field("each");
            if (each.empty()) out.push_back(question);
            for (const auto& word : split(each, ' '))
                if (!word.empty()) out.push_back(filled(question, word));
            question = {};
        }
    }
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

std::string consequence(const Question& question, const Answer& answer) {
    if (answer.status != Answer::Status::answered) return {};
    const bool error = answer.text.starts_with("CL_") || answer.text == "does not build";
    const auto holds = [&](const auto& one) {
        const auto& when = one.first;
        if (when.starts_with("= ")) return answer.text.starts_with(when.substr(2));
        if (when.empty() || error) return !error;
        const double value = answer.measured.empty() ? std::atof(answer.text.c_str()) : answer.measured[0];
        const double limit = std::atof(when.c_str() + 1);
        return when[0] == '<' ? value < limit : value > limit;
    };
    const auto found = std::ranges::find_if(question.so, holds);
    return found == question.so.end() ? "" : found->second;
}

bool differ(const Answer& a, const Answer& b) {
    const auto &x = a.measured, &y = b.measured;
    if (a.status != b.status || x.size() < 3 || y.size() < 3) return a.status != b.status || a.text != b.text;
    const auto& [less, more] = x[0] < y[0] ? std::pair(x, y) : std::pair(y, x);
    return more[0] > 1.1 * less[0] && more[1] > less[2];
}

Answer measured(const std::string& unit, double value, double low, double high) {
    const auto text = [&](double x) {
        return unit == "s" ? format_seconds(x) : unit.empty() ? format_significant(x, 3) : format_rate(x, unit);
    };
    Answer out{
        high < 1.5 * low ? Answer::Status::answered : Answer::Status::undecided, text(value), {value, low, high}};
    if (text(low) != text(high)) out.text += " (" + text(low) + " to " + text(high) + ")";
    if (out.status == Answer::Status::undecided) out.text = "not decided: " + out.text;
    return out;
}

std::string said(const std::string& say, std::span<const std::uint32_t> words) {
    if (say.find('{') != std::string::npos)
        return fmt::vformat(say, fmt::make_format_args(words[0], words[1], words[2], words[3]));
    const auto first = std::to_string(words[0]);
    for (const auto& one : split(say, ','))
        if (one.starts_with(first + "=")) return one.substr(first.size() + 1);
    return first;
}

Launch launch_of(const std::string& text, const Sizes& sizes) {
    Launch out;
    const auto size_of = [&](const std::string& expression) {
        const auto look_up = [&](const std::string& name, const kernelfile::Place& place) {
            if (!sizes.contains(name)) kernelfile::refuse(place, "no size is called '", name, "'");
            return static_cast<std::int64_t>(sizes.at(name));
        };
        return static_cast<std::size_t>(kernelfile::Expression::parse(expression, {text}).evaluate(look_up));
    };
    for (const auto& word : split(trim(text), ' ')) {
        const auto equals = word.find('=');
        if (equals == std::string::npos)
            (out.kernel.empty() ? out.kernel : out.change) = word;
        else if (const auto found = out.settings.find(word.substr(0, equals)); found != out.settings.end())
            found->second = word.substr(equals + 1);
        else
            throw Error(Blame::usage, "a row's launch has '", word, "'");
    }
    for (const auto& [key, extent] : {std::pair{"global", &out.global}, std::pair{"local", &out.local}})
        if (const auto& given = out.settings.at(key); !given.empty())
            for (const auto& size : split(given, ',')) extent->size.at(extent->dims++) = size_of(size);
    auto& options = out.settings.at("options");
    if (options == "none") options.clear();
    std::ranges::replace(options, ';', ' ');
    if (const auto open = options.find('{'), close = options.find('}'); close != std::string::npos)
        options.replace(open, close - open + 1, std::to_string(size_of(options.substr(open + 1, close - open - 1))));
    return out;
}

}  // namespace cllab::behaviour
