#include "behaviour/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::behaviour {
namespace {

/// For "uchar16:16", $ is the first part and % the second.
std::string filled(std::string text, const std::string& word) {
    const auto parts = split(word, ':');
    for (std::size_t at = 0; (at = text.find_first_of("$%", at)) != std::string::npos;) {
        const auto& part = text[at] == '$' ? parts.front() : parts.back();
        text.replace(at, 1, part);
        at += part.size();
    }
    return text;
}

Question filled(Question row, const std::string& word) {
    row.name += "." + split(word, ':').front();
    for (auto* text : {&row.claim, &row.launches, &row.say}) *text = filled(*text, word);
    row.ask = filled(row.ask, word == "none" ? "no option" : word);
    std::ranges::replace(row.ask, ';', ' ');
    return row;
}

void take(Question& row, std::string& each, const std::string& field, const std::string& text) {
    static constexpr std::pair<const char*, std::string Question::*> texts[] = {
        {"ask", &Question::ask}, {"claim", &Question::claim}, {"needs", &Question::needs}, {"say", &Question::say}};
    static constexpr const char* kinds[] = {"value", "ratio", "time",  "rate",  "enqueue",
                                            "ulp",   "code",  "build", "binary", "query"};
    if (const auto* member = find_in(texts, field)) {
        row.*(*member) = text;
    } else if (field == "each") {
        each = text;
    } else if (field == "so") {
        row.so.push_back({0, "", text});
    } else if (field.starts_with("so ") && field.size() > 5) {
        row.so.push_back({field[3], field.substr(5), text});
    } else if (std::ranges::find(kinds, field) != std::end(kinds)) {
        row.kind = field;
        row.launches = text;
    } else {
        throw Error(Blame::usage, "row '", row.name, "' has a field ", cllab::quoted(field), " that there is not");
    }
}

}  // namespace

std::vector<Question> read_rows(std::string_view text) {
    std::vector<Question> out;
    Question row;
    std::string each;
    for (const auto& line : split(std::string(text) + "\n\n", '\n')) {
        if (const auto colon = line.find(": "); colon != std::string::npos) {
            take(row, each, line.substr(0, colon), line.substr(colon + 2));
        } else if (!line.empty()) {
            row.name = line;
        } else if (!row.name.empty()) {
            if (each.empty()) out.push_back(row);
            for (const auto& word : split(each, ' '))
                if (!word.empty()) out.push_back(filled(row, word));
            row = {};
            each.clear();
        }
    }
    return out;
}

const std::vector<Question>& rows() {
    static const auto all = read_rows(embedded("behaviour/rows.txt"));
    return all;
}

std::vector<Question> rows_named(const std::vector<std::string>& globs) {
    std::vector<Question> out;
    std::vector<std::string> names;
    for (const auto& row : rows()) names.push_back(row.name);
    for (const auto& row : rows()) {
        const auto matches = [&](const std::string& glob) {
            return glob_match(glob, row.name) || glob_match(glob + ".*", row.name);
        };
        if (globs.empty() || std::ranges::any_of(globs, matches)) out.push_back(row);
    }
    for (const auto& glob : globs)
        if (std::ranges::none_of(names, [&](const auto& n) { return glob_match(glob, n) || glob_match(glob + ".*", n); }))
            throw Error(Blame::usage, "no question matches ", cllab::quoted(glob), or_did_you_mean(glob, names));
    return out;
}

const char* name(Answer::Status status) {
    static constexpr std::array names{"answered", "not decided", "not tried", "failed"};
    return name_in(names, status);
}

std::string consequence(const Question& row, const Answer& answer) {
    if (answer.status != Answer::Status::answered) return {};
    const bool refused = answer.text.starts_with("CL_") || answer.text == "does not build";
    const auto holds = [&](const Question::Consequence& one) {
        if (one.sign == '=') return answer.text.starts_with(one.value);
        if (one.sign == 0 || refused) return !refused;
        const double value = answer.value ? *answer.value : std::strtod(answer.text.c_str(), nullptr);
        const double limit = std::strtod(one.value.c_str(), nullptr);
        return one.sign == '<' ? value < limit : value > limit;
    };
    const auto found = std::ranges::find_if(row.so, holds);
    return found == row.so.end() ? "" : found->text;
}

bool differ(const Answer& a, const Answer& b) {
    if (a.status != b.status || !a.value || !b.value) return a.status != b.status || a.text != b.text;
    if (!a.low || !b.low) return a.text != b.text;
    const auto [less, more] = *a.value < *b.value ? std::pair(&a, &b) : std::pair(&b, &a);
    return *more->value > 1.1 * *less->value && *more->low > *less->high;
}

Answer measured(const std::string& unit, double value, double low, double high) {
    const auto text = [&](double x) {
        return unit == "s" ? format_seconds(x) : unit.empty() ? format_significant(x, 3) : format_rate(x, unit);
    };
    Answer out{Answer::Status::answered, text(value), value, low, high};
    if (text(low) != text(high)) out.text += " (" + text(low) + " to " + text(high) + ")";
    if (!(high < 1.5 * low)) out.status = Answer::Status::undecided;
    return out;
}

std::string said(const std::string& say, std::span<const std::uint32_t> words) {
    const auto first = std::to_string(words[0]);
    if (say.empty()) return first;
    if (say.find('=') != std::string::npos) {
        for (const auto& one : split(say, ','))
            if (one.starts_with(first + "=")) return one.substr(first.size() + 1);
        return first;
    }
    std::string out;
    for (std::size_t i = 0; i < say.size(); ++i) {
        if (say[i] != '{') {
            out += say[i];
            continue;
        }
        const auto word = words[static_cast<std::size_t>(say[i + 1] - '0')];
        const bool is_signed = say[i + 2] == 'd';
        out += is_signed ? std::to_string(static_cast<std::int32_t>(word)) : std::to_string(word);
        i += is_signed ? 3 : 2;
    }
    return out;
}

std::uint64_t size_of(const std::string& expression, const Sizes& sizes) {
    std::uint64_t out = 0;
    char sign = '+';
    for (std::size_t at = 0; at < expression.size();) {
        const auto end = std::min(expression.find_first_of("*/+", at), expression.size());
        const auto word = expression.substr(at, end - at);
        const auto* known = find_in(sizes, word);
        const auto number = known ? std::optional(static_cast<std::int64_t>(*known)) : parse_integer(word);
        if (!number || (sign == '/' && *number == 0))
            throw Error(Blame::usage, "a row has the size ", cllab::quoted(expression));
        const auto value = static_cast<std::uint64_t>(*number);
        out = sign == '+' ? out + value : sign == '*' ? out * value : out / value;
        if (end < expression.size()) sign = expression[end];
        at = end + 1;
    }
    return out;
}

namespace {

model::Extent extent_of(const std::string& text, const Sizes& sizes) {
    model::Extent out;
    for (std::size_t at = 0; at <= text.size() && out.dims < 3;) {
        // An x ends a size before a number or a name, but for the one in "max_group".
        const auto from = text.compare(at, 4, "max_") == 0 ? at + 4 : at;
        const auto end = std::min(text.find('x', from), text.size());
        out.size[out.dims++] = static_cast<std::size_t>(size_of(text.substr(at, end - at), sizes));
        at = end + 1;
    }
    return out;
}

}  // namespace

Launch launch_of(const std::string& text, const Sizes& sizes) {
    Launch out;
    const std::pair<const char*, std::string Launch::*> texts[] = {{"options", &Launch::options},
                                                                   {"input", &Launch::input},
                                                                   {"output", &Launch::output},
                                                                   {"queue", &Launch::queue},
                                                                   {"after", &Launch::change}};
    for (const auto& word : split(text, ' ')) {
        const auto equals = word.find('=');
        const auto key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (word.empty()) continue;
        if (equals == std::string::npos)
            (out.kernel.empty() ? out.kernel : out.change) = word;
        else if (const auto* member = find_in(texts, key))
            out.*(*member) = value;
        else if (key == "global" || key == "local")
            (key == "global" ? out.global : out.local) = extent_of(value, sizes);
        else
            throw Error(Blame::usage, "a row's launch has ", cllab::quoted(word));
    }
    auto& options = out.options;
    if (options.starts_with("none")) options.clear();
    std::ranges::replace(options, ';', ' ');
    if (const auto open = options.find('{'), close = options.find('}', open); close != std::string::npos)
        options.replace(open, close - open + 1,
                        std::to_string(size_of(options.substr(open + 1, close - open - 1), sizes)));
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
    std::string plain = name;
    for (const std::string prefix : {"native_", "half_"})
        if (plain.starts_with(prefix)) plain = plain.substr(prefix.size());
    const auto* found = std::ranges::find(all, plain, &Function::name);
    if (found == std::end(all)) throw Error(Blame::usage, "no function ", cllab::quoted(name), " is known");
    return *found;
}

double largest_ulp(const Function& function, std::span<const float> arguments, std::span<const float> results) {
    double out = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const long double right = function.value(arguments[i], arguments[i ^ 1]);
        const float size = std::max(std::abs(static_cast<float>(right)), std::numeric_limits<float>::min());
        const float below = std::ilogb(size) <= -126 ? std::numeric_limits<float>::denorm_min()
                                                     : std::ldexp(1.0F, std::ilogb(size) - 23);
        const auto error = static_cast<double>(std::abs(results[i] - right) / below);
        out = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(out, error);
        if (std::isinf(out)) break;
    }
    return out;
}

}  // namespace cllab::behaviour
