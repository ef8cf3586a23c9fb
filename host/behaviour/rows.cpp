#include "behaviour/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/table.hpp"
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
        for (std::size_t at = 0; (at = text.find_first_of("$%", at)) != std::string::npos;) {
            const auto& part = text[at] == '$' ? first : parts.back();
            text.replace(at, 1, part);
            at += part.size();
        }
    }
    std::ranges::replace(question.fields["ask"], ';', ' ');
    return question;
}

void take(Question& question, const std::string& field, const std::string& text) {
    static const std::set<std::string> known{"ask", "claim", "needs", "say", "each"},
        kinds{"value", "ratio", "time", "rate", "enqueue", "ulp", "code", "build", "binary"};
    if (field == "so" || (field.starts_with("so ") && field.size() > 5)) {
        question.so.push_back({field == "so" ? '\0' : field[3], field.size() > 5 ? field.substr(5) : "", text});
        return;
    }
    if (kinds.contains(field))
        question.kind = field;
    else if (!known.contains(field))
        throw Error(Blame::usage, "row '", question.name, "' has the field '", field, "', which there is not");
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
    const auto all = read_rows(embedded("behaviour/rows.txt"));
    const auto is = [](const std::string& glob, const Question& question) {
        return glob_match(glob, question.name) || glob_match(glob + ".*", question.name);
    };
    std::vector<Question> out;
    for (const auto& one : all)
        if (globs.empty() || std::ranges::any_of(globs, [&](const auto& glob) { return is(glob, one); }))
            out.push_back(one);
    std::vector<std::string> names;
    for (const auto& one : all) names.push_back(one.name);
    for (const auto& glob : globs)
        if (std::ranges::none_of(out, [&](const auto& one) { return is(glob, one); }))
            throw Error(Blame::usage, "no question is called '", excerpt(glob), "'", or_did_you_mean(glob, names));
    return out;
}

std::string consequence(const Question& question, const Answer& answer) {
    if (answer.status != Answer::Status::answered) return {};
    const bool error = answer.text.starts_with("CL_") || answer.text == "does not build";
    const auto holds = [&](const Question::Consequence& one) {
        if (one.sign == '=') return answer.text.starts_with(one.value);
        if (one.sign == 0 || error) return !error;
        const double value = answer.measured.empty() ? std::atof(answer.text.c_str()) : answer.measured[0];
        return one.sign == '<' ? value < std::atof(one.value.c_str()) : value > std::atof(one.value.c_str());
    };
    const auto found = std::ranges::find_if(question.so, holds);
    return found == question.so.end() ? "" : found->text;
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
    return out;
}

std::string said(const std::string& say, std::span<const std::uint32_t> words) {
    const auto first = std::to_string(words[0]);
    if (say.empty() || say.find('=') != std::string::npos) {
        for (const auto& one : split(say, ','))
            if (one.starts_with(first + "=")) return one.substr(first.size() + 1);
        return first;
    }
    std::string out;
    for (const auto& part : split(say, '}')) {
        const auto open = std::min(part.find('{'), part.size());
        out += part.substr(0, open);
        if (open == part.size()) continue;
        const auto word = words[static_cast<std::size_t>(part[open + 1] - '0')];
        out += part.ends_with("d") ? std::to_string(static_cast<std::int32_t>(word)) : std::to_string(word);
    }
    return out;
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
    const std::pair<const char*, std::string Launch::*> texts[] = {{"options", &Launch::options},
                                                                   {"input", &Launch::input},
                                                                   {"output", &Launch::output},
                                                                   {"queue", &Launch::queue}};
    for (const auto& word : split(text, ' ')) {
        const auto equals = word.find('=');
        const auto key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (equals == std::string::npos) {
            if (!word.empty()) (out.kernel.empty() ? out.kernel : out.change) = word;
        } else if (key == "global" || key == "local") {
            auto& extent = key == "global" ? out.global : out.local;
            for (const auto& size : split(value, ',')) extent.size.at(extent.dims++) = size_of(size);
        } else if (const auto* member = find_in(texts, key)) {
            out.*(*member) = value;
        } else {
            throw Error(Blame::usage, "a row's launch has '", word, "'");
        }
    }
    auto& options = out.options;
    if (options == "none") options.clear();
    std::ranges::replace(options, ';', ' ');
    if (const auto open = options.find('{'), close = options.find('}'); close != std::string::npos)
        options.replace(open, close - open + 1, std::to_string(size_of(options.substr(open + 1, close - open - 1))));
    return out;
}

const Function& function_named(const std::string& name) {
    using L = long double;
    static const Function all[] = {
        {"exp", [](L x, L) { return std::exp(x); }, -20, 20, "3"},
        {"exp2", [](L x, L) { return std::exp2(x); }, -20, 20, "3"},
        {"log", [](L x, L) { return std::log(x); }, 0.01F, 1000, "3"},
        {"log2", [](L x, L) { return std::log2(x); }, 0.01F, 1000, "3"},
        {"log10", [](L x, L) { return std::log10(x); }, 0.01F, 1000, "3"},
        {"sin", [](L x, L) { return std::sin(x); }, -100, 100, "4"},
        {"cos", [](L x, L) { return std::cos(x); }, -100, 100, "4"},
        {"tan", [](L x, L) { return std::tan(x); }, -100, 100, "5"},
        {"erf", [](L x, L) { return std::erf(x); }, -4, 4, "16"},
        {"tgamma", [](L x, L) { return std::tgamma(x); }, 0.1F, 20, "16"},
        {"cbrt", [](L x, L) { return std::cbrt(x); }, -1000, 1000, "2"},
        {"tanh", [](L x, L) { return std::tanh(x); }, -4, 4, "5"},
        {"sqrt", [](L x, L) { return std::sqrt(x); }, 0.01F, 1000, "3; 0 where it says so"},
        {"rsqrt", [](L x, L) { return 1 / std::sqrt(x); }, 0.01F, 1000, "2"},
        {"pow", [](L x, L y) { return std::pow(x, y); }, 0.1F, 10, "16", true},
        {"divide", [](L x, L y) { return x / y; }, 0.1F, 10, "2.5; 0 where it says so", true}};
    const auto plain = name.substr(name.find('_') + 1);
    const auto* found = std::ranges::find(all, plain, &Function::name);
    if (found == std::end(all)) throw Error(Blame::usage, "no function '", name, "' is known");
    return *found;
}

double largest_ulp(const Function& function, std::span<const float> arguments, std::span<const float> results) {
    constexpr int smallest = std::numeric_limits<float>::min_exponent - 1, digits = 23;
    double out = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const long double right = function.value(arguments[i], arguments[i ^ 1]);
        const int exponent = right == 0 ? smallest : std::max(std::ilogb(right), smallest);
        const auto error = static_cast<double>(std::abs(std::ldexp(results[i] - right, digits - exponent)));
        if (!(error <= out)) out = error;
        if (std::isnan(out)) return std::numeric_limits<double>::infinity();
    }
    return out;
}

}  // namespace cllab::behaviour
