#include "app/commandline/arguments.hpp"

#include <charconv>

#include "core/error.hpp"

namespace cllab::app {

std::uint64_t seed_from(const std::string& text) {
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || end != text.data() + text.size())
        throw Error(Blame::usage,
                    "option '--seed' is '" + text + "'; possible are whole numbers from 0 to 18446744073709551615");
    return out;
}

void refuse_empty(const std::vector<std::string>& args) {
    for (std::size_t i = 0; i < args.size(); ++i)
        if (args[i].empty())
            throw Error(Blame::usage,
                        i == 0 ? "the first argument is empty" : "the argument after '" + args[i - 1] + "' is empty");
}

void refuse_missing_values(const std::vector<std::string>& args,
                           const boost::program_options::options_description& known) {
    const auto option_at = [&](const std::string& arg) {
        const auto name = arg.rfind("--", 0) == 0            ? arg.substr(2)
                          : arg.size() == 2 && arg[0] == '-' ? arg
                                                             : std::string();
        return name.empty() ? nullptr : known.find_nothrow(name, false);
    };
    for (std::size_t i = 0; i + 1 < args.size() && args[i] != "--"; ++i) {
        const auto* option = option_at(args[i]);
        if (option && option->semantic()->max_tokens() > 0 &&
            (args[i + 1].rfind("--", 0) == 0 || option_at(args[i + 1])))
            throw Error(Blame::usage, "option '" + args[i] + "' needs a value; found '" + args[i + 1] + "'");
    }
}

}  // namespace cllab::app
