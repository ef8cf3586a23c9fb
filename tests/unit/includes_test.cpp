// Who may include whom: the table of host/README.md. An experiment thus cannot leak a handle, and references are
// tested with no device present.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "device/quirks.hpp"
#include "model/explanation.hpp"

BOOST_AUTO_TEST_SUITE(includes_test)

namespace {

using Names = std::set<std::string>;

const std::map<std::string, Names> may_include{
    {"core", {}},
    {"json", {"core", "model"}},
    {"model", {"core"}},
    {"experiments", {"core", "model"}},
    {"compare", {"core", "model"}},
    {"portrait", {"core", "model"}},
    {"report", {"core", "json", "model"}},
    {"device", {"core", "model"}},
    {"kernelfile", {"core", "model", "device"}},
    {"inspect", {"core", "json", "model", "device"}},
    {"explain", {"core", "model", "inspect"}},
    {"run", {"core", "model", "device", "inspect"}},
    {"count", {"core", "json", "model", "inspect"}},
    {"app",
     {"core", "json", "model", "experiments", "compare", "portrait", "report", "device", "kernelfile", "inspect",
      "explain", "run", "count"}},
};

/// What core has of the system beside the standard library: memory, files, descriptors.
const Names of_the_system{"fcntl.h",    "fnmatch.h",    "linux/magic.h", "sys/file.h", "sys/mman.h",
                          "sys/stat.h", "sys/socket.h", "sys/vfs.h",     "unistd.h"};

/// The model is plain data: what needs these has a state of its own.
const Names forbidden_in_model{"atomic",       "condition_variable", "future", "mutex",
                               "shared_mutex", "stop_token",         "thread"};

/// The text with comments and literals replaced by one space. A scanner, not a regular expression: libstdc++ recurses
/// for every character, and a long raw string would overflow the stack.
std::string code_only(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const auto starts = [&](const char* s) { return text.compare(i, std::char_traits<char>::length(s), s) == 0; };
        const auto skip_past = [&](const std::string& end, std::size_t from) {
            const auto at = text.find(end, from);
            i = at == std::string::npos ? text.size() : at + end.size();
            out += ' ';
        };
        // An apostrophe inside a number (1'000) opens no literal.
        const bool digit_before = i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1]));
        if (starts("//"))
            skip_past("\n", i);
        else if (starts("/*"))
            skip_past("*/", i + 2);
        else if (starts("R\"")) {
            std::string end = text.substr(i + 2, text.find('(', i) - i - 2);  // the delimiter
            end.insert(end.begin(), ')');
            skip_past(end += '"', i);
        } else if (text[i] == '"' || (text[i] == '\'' && !digit_before)) {
            const char quote = text[i++];
            while (i < text.size() && text[i] != quote && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
            ++i;
            out += ' ';
        } else {
            out += text[i++];
        }
    }
    return out;
}

/// What keeps a value from one call to the next in code_only(), e.g. "static Cache cache". Functions and constants do
/// not, and neither do the threads of the native loops, which hold no data.
std::string kept_between_calls(const std::string& code) {
    static const std::regex object(
        R"re(\b(static|thread_local)\s+(?!const\b|constexpr\b|Team team;)[^;{}()=]*[\s>&*]\w+\s*[;{=])re");
    std::smatch match;
    return std::regex_search(code, match, object) ? match.str() : std::string();
}

/// Broken rules of one file, each as a sentence. `path` is relative to host/, e.g. "model/axes.cpp".
std::vector<std::string> violations(const std::string& path, const std::string& text) {
    std::vector<std::string> found;
    const std::string module = path.substr(0, path.find('/'));
    const auto rule = may_include.find(module);
    if (rule == may_include.end()) return {path + " is in no known module"};
    const bool standard_only =
        module == "core" || module == "model" || module == "experiments" || module == "compare" || module == "portrait";

    static const std::regex include(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, include)) continue;
        const bool quoted = match[1] == "\"";
        const std::string header = match[2];
        const bool opencl = header.rfind("CL/", 0) == 0 || header.rfind("OpenCL/", 0) == 0;
        if (opencl && module != "device")
            found.push_back(path + " includes " + header + ": OpenCL headers belong to device/");
        if (quoted) {
            const std::string other = header.substr(0, header.find('/'));
            if (other == header)
                found.push_back(path + " includes \"" + header + "\" without its module's name");
            else if (other != module && rule->second.count(other) == 0)
                found.push_back(path + " includes " + header + ": " + module + " may not know " + other);
        } else if (standard_only && header.find_first_of("/.") != std::string::npos &&
                   !(module == "core" && of_the_system.count(header))) {
            found.push_back(path + " includes <" + header + ">: " + module + " uses the standard library only");
        }
        if (module == "model" && forbidden_in_model.count(header))
            found.push_back(path + " includes <" + header + ">: the model is plain data");
        if ((header == "iostream" || header == "print") && module != "app")
            found.push_back(path + " includes <" + header + ">: only app prints");
    }

    static const std::regex prints(
        R"re(\bstd::(cout|cerr|clog)\b|\b(f|v|vf)?printf\s*\(|\bf?puts\s*\(|\bputchar\s*\(|\bfmt::print\b|\bperror\s*\()re");
    static const std::regex ends(R"re(\bstd::(exit|quick_exit|abort|terminate)\s*\()re");
    const std::string code = code_only(text);
    std::smatch match;
    if (module != "app" && std::regex_search(code, match, prints))
        found.push_back(path + " uses " + match.str() + ": only app prints");
    if (code.find("std::cout") != std::string::npos && module == "app")
        found.push_back(path + " uses std::cout, which drivers share: results go to app::results()");
    if (const auto kept = kept_between_calls(code); !kept.empty() && (module == "model" || module == "experiments"))
        found.push_back(path + " has '" + kept + "': what outlives a call is the run's, in its Memo");
    if (module != "app" && std::regex_search(code, match, ends))
        found.push_back(path + " uses " + match.str() + "): a library never ends the program");
    return found;
}

/// The first #include of a kernel text, or nothing; also behind blanks, comments or a continued line.
std::string kernel_include(const std::string& text) {
    std::string joined;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.compare(i, 2, "\\\n") == 0)
            ++i;
        else
            joined += text[i];
    }
    std::istringstream lines(code_only(joined));
    static const std::regex include(R"re(^\s*(#|%:)\s*(include|import)\b)re");
    for (std::string line; std::getline(lines, line);)
        if (std::regex_search(line, include)) return line;
    return {};
}

std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_file_of_host_keeps_the_include_rules) {
    const std::filesystem::path host = std::filesystem::path(CLLAB_SOURCE_DIR) / "host";
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(host)) {
        const auto extension = entry.path().extension();
        if (!entry.is_regular_file() || (extension != ".cpp" && extension != ".hpp")) continue;
        ++files;
        for (const auto& sentence :
             violations(entry.path().lexically_relative(host).generic_string(), read(entry.path())))
            BOOST_ERROR(sentence);
    }
    BOOST_TEST(files >= 20u);  // the rule was applied to the real tree, not to an empty folder
}

BOOST_AUTO_TEST_CASE(clhpp_is_included_from_one_header) {
    const std::filesystem::path host = std::filesystem::path(CLLAB_SOURCE_DIR) / "host";
    std::vector<std::string> including;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(host))
        if (entry.is_regular_file() &&
            std::regex_search(read(entry.path()), std::regex(R"re(#\s*include\s*[<"]CL/(opencl|cl2)\.hpp)re")))
            including.push_back(entry.path().lexically_relative(host).generic_string());
    BOOST_TEST(including.size() <= 1u);
    for (std::size_t i = 1; i < including.size(); ++i)
        BOOST_ERROR(including[i] + " includes CLHPP beside " + including[0]);
}

BOOST_AUTO_TEST_CASE(no_line_is_longer_than_the_style_file_says) {
    const std::filesystem::path root(CLLAB_SOURCE_DIR);
    std::smatch limit;
    const auto style = read(root / ".clang-format");
    BOOST_REQUIRE(std::regex_search(style, limit, std::regex("ColumnLimit: (\\d+)")));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "host")) {
        if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
        std::istringstream lines(read(entry.path()));
        std::size_t number = 0;
        for (std::string line; std::getline(lines, line);) {
            ++number;
            const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
            if (columns > std::stol(limit[1]))  // code points, as clang-format counts
                BOOST_ERROR(entry.path().lexically_relative(root).generic_string() + ":" + std::to_string(number) +
                            " has " + std::to_string(columns) + " columns");
        }
    }
}

// A kernel is built from one text wherever its device is: no driver looks for files. lab.h is put in front by the host.
BOOST_AUTO_TEST_CASE(no_kernel_text_includes_a_file) {
    std::size_t files = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(CLLAB_SOURCE_DIR) / "cl")) {
        if (!entry.is_regular_file()) continue;
        ++files;
        BOOST_TEST(kernel_include(read(entry.path())) == "", entry.path().filename().string());
    }
    BOOST_TEST(files >= 20u);
    for (const char* text : {"#include \"a.h\"\n", "int a;\n  #  include <a.h>", "/* a */ #include \"a.h\"",
                             "#inc\\\nlude \"a.h\"", "#import \"a.h\""})
        BOOST_TEST(kernel_include(text) != "", text);
    for (const char* text : {"// #include \"a.h\"\n", "/*\n#include \"a.h\"\n*/", "int include; // a\n#ifdef A"})
        BOOST_TEST(kernel_include(text) == "", text);
}

BOOST_AUTO_TEST_CASE(a_forbidden_include_is_found) {
    BOOST_TEST(violations("model/a.cpp", "#include \"device/queue.hpp\"\n").size() == 1u);
    BOOST_TEST(violations("core/a.cpp", "  #  include \"model/axes.hpp\"\n").size() == 1u);
    BOOST_TEST(violations("experiments/a.cpp", "#include \"run/executor.hpp\"\n").size() == 1u);
    BOOST_TEST(violations("report/a.cpp", "#include \"app/commandline/options.hpp\"\n").size() == 1u);
    BOOST_TEST(violations("device/a.cpp", "#include \"inspect/tools/dump.hpp\"\n").size() == 1u);
    BOOST_TEST(violations("model/a.cpp", "#include \"axes.hpp\"\n").size() == 1u);
    BOOST_TEST(violations("core/a.cpp", "#include <fmt/core.h>\n").size() == 1u);
    for (const auto* other :
         {"device/session.hpp", "inspect/isa.hpp", "run/executor.hpp", "report/table/table.hpp", "json/read.hpp"})
        BOOST_TEST(violations("portrait/a.cpp", "#include \"" + std::string(other) + "\"\n").size() == 1u, other);
    for (const auto* other : {"device/session.hpp", "run/executor.hpp", "report/table/table.hpp", "portrait/page.hpp"})
        BOOST_TEST(violations("explain/a.cpp", "#include \"" + std::string(other) + "\"\n").size() == 1u, other);
    BOOST_TEST(violations("run/a.cpp", "#include \"explain/profile_limits.hpp\"\n").size() == 1u);
    BOOST_TEST(violations("portrait/a.cpp", "#include <fmt/format.h>\n").size() == 1u);
    BOOST_TEST(violations("gadgets/a.cpp", "").size() == 1u);
}

BOOST_AUTO_TEST_CASE(threads_in_the_model_are_found) {
    BOOST_TEST(violations("model/a.cpp", "#include <mutex>\n").size() == 1u);
    BOOST_TEST(violations("model/a.cpp", "#include <thread>\n").size() == 1u);
    BOOST_TEST(violations("experiments/lib/a.cpp", "#include <thread>\n").empty());
}

BOOST_AUTO_TEST_CASE(a_cache_of_the_model_or_of_a_family_is_found) {
    for (const char* kept : {"static Recent<std::pair<int, int>, Data> recent;", "static int count = 0;",
                             "thread_local std::map<int, int> known;", "static std::deque<Entry> recent{};"}) {
        const std::string text = std::string("void f() {\n    ") + kept + "\n}\n";
        BOOST_TEST(violations("experiments/a.cpp", text).size() == 1u, kept);
        BOOST_TEST(violations("model/a.cpp", text).size() == 1u, kept);
        BOOST_TEST(violations("app/a.cpp", text).empty(), kept);
    }
    for (const char* allowed :
         {"static const std::regex known(\"a\");", "static Extent of(int x);", "static_cast<int>(x);",
          "static constexpr int most = 3;", "static inline Extent of(int x) { return x; }"})
        BOOST_TEST(violations("experiments/a.cpp", allowed).empty(), allowed);
}

BOOST_AUTO_TEST_CASE(opencl_outside_device_is_found) {
    BOOST_TEST(violations("run/a.cpp", "#include <CL/opencl.hpp>\n").size() == 1u);
    BOOST_TEST(violations("device/opencl.hpp", "#include <CL/opencl.hpp>\n").empty());
}

BOOST_AUTO_TEST_CASE(printing_outside_app_is_found) {
    BOOST_TEST(violations("run/a.cpp", "#include <iostream>\n").size() == 1u);
    BOOST_TEST(violations("run/a.cpp", "void f() { std::cerr << 1; }\n").size() == 1u);
    BOOST_TEST(violations("report/a.cpp", "void f() { printf (\"x\"); }\n").size() == 1u);
    BOOST_TEST(violations("report/a.cpp", "void f() { fmt::print(\"x\"); }\n").size() == 1u);
    BOOST_TEST(violations("run/a.cpp", "void f() { std::exit(1); }\n").size() == 1u);
    BOOST_TEST(violations("app/a.cpp", "#include <iostream>\nint f() { std::cerr << 1; std::exit(1); }\n").empty());
    BOOST_TEST(violations("app/a.cpp", "#include <iostream>\nint f() { std::cout << 1; }\n").size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_is_allowed_or_only_mentioned_is_not_found) {
    BOOST_TEST(
        violations(
            "report/a.cpp",
            "#include <fmt/format.h>\n#include <ostream>\n#include \"report/a.hpp\"\n#include \"core/text.hpp\"\n")
            .empty());
    BOOST_TEST(
        violations("run/a.cpp",
                   "// std::cout is for app\nauto s = \"printf(\"; auto r = R\"(std::cerr)\"; snprintf(b, 1, s);\n")
            .empty());
    BOOST_TEST(violations("app/a.cpp", "#include \"run/executor.hpp\"\n#include \"report/table/table.hpp\"\n").empty());
}

BOOST_AUTO_TEST_CASE(code_after_a_comment_or_a_string_is_still_read) {
    BOOST_TEST(
        violations("run/a.cpp", "/* a\n b */ auto c = '\"'; auto n = 1'000; std::cout << \"\\\"\"; // done\n").size() ==
        1u);
}

/// The functions that quirks.hpp declares.
std::set<std::string> functions_of_quirks() {
    static const std::regex declaration(R"re(^(?!//)\S.*?(\w+)\([^()]*\);$)re");
    std::set<std::string> out;
    std::ifstream in(std::filesystem::path(CLLAB_SOURCE_DIR) / "host/device/quirks.hpp");
    std::smatch found;
    for (std::string line; std::getline(in, line);)
        if (std::regex_match(line, found, declaration)) out.insert(found[1]);
    return out;
}

/// Names of drivers' quirks that host code outside the table asks has_quirk() for.
std::set<std::string> names_asked_for() {
    static const std::regex call(R"re(has_quirk\([^"]*"([^"]+)"\))re");
    std::set<std::string> out;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(CLLAB_SOURCE_DIR) / "host")) {
        if (file.path().extension() != ".cpp" || file.path().filename() == "quirks.cpp") continue;
        std::ifstream in(file.path());
        const std::string text(std::istreambuf_iterator<char>(in), {});
        for (std::sregex_iterator i(text.begin(), text.end(), call), end; i != end; ++i) out.insert((*i)[1]);
    }
    return out;
}

BOOST_AUTO_TEST_CASE(an_entry_is_dealt_with_where_it_says) {
    using Dealt = cllab::device::Quirk::Dealt;
    const std::filesystem::path host = std::filesystem::path(CLLAB_SOURCE_DIR) / "host";
    const auto functions = functions_of_quirks();
    BOOST_TEST(functions.contains("extra_build_options"));
    std::set<std::string> said;
    for (const auto& q : cllab::device::quirks()) {
        static const std::regex file(R"(\(([a-z_/]+\.cpp)\))");
        const std::sregex_iterator first(q.handling.begin(), q.handling.end(), file), end;
        for (auto i = first; i != end; ++i)
            BOOST_TEST(std::filesystem::exists(host / (*i)[1].str()), q.name + ": " + (*i)[1].str());
        if (q.dealt == Dealt::where_asked) said.insert(q.name);
        if (q.dealt == Dealt::everywhere) BOOST_TEST((first != end), q.name + " names no file");
        if (q.dealt == Dealt::here) {
            const auto named = [&](const std::string& function) {
                return q.handling.find(function) != std::string::npos;
            };
            BOOST_TEST(std::ranges::any_of(functions, named), q.name + " names no function of quirks.hpp");
        }
    }
    BOOST_TEST(said == names_asked_for(), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_schema_of_records_knows_every_limit) {
    using cllab::model::Limit;
    std::ifstream file(CLLAB_SOURCE_DIR "/tools/record.schema.json");
    const std::string schema(std::istreambuf_iterator<char>(file), {});
    for (int i = 0; i <= static_cast<int>(Limit::withdrawn); ++i) {
        const std::string limit = cllab::model::name(static_cast<Limit>(i));
        BOOST_TEST(schema.find('"' + limit + '"') != std::string::npos, limit);
    }
}

BOOST_AUTO_TEST_SUITE_END()
