// Who may include whom: the table of host/README.md. An experiment thus cannot leak a handle, and references are
// tested with no device present.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <initializer_list>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "unit/source_tree.hpp"

BOOST_AUTO_TEST_SUITE(includes_test)

namespace test = cllab::test;

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
    {"behaviour", {"core", "model", "experiments", "device", "kernelfile", "inspect", "run"}},
    {"count", {"core", "json", "model", "inspect"}},
    {"capture", {"core", "inspect", "json", "model"}},
    {"app",
     {"core", "json", "model", "experiments", "compare", "portrait", "report", "device", "kernelfile", "inspect",
      "explain", "run", "behaviour", "count", "capture"}},
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
        R"re(\b(static|thread_local)\s+(?!const\b|constexpr\b|std::map<unsigned, Team> teams;)[^;{}()=]*[\s>&*]\w+\s*[;{=])re");
    std::smatch match;
    return std::regex_search(code, match, object) ? match.str() : std::string();
}

/// libstdc++ takes a second for each megabyte that it searches by a regular expression: what has none of these words is
/// not searched.
bool has_one_of(const std::string& code, std::initializer_list<const char*> words) {
    return std::ranges::any_of(words, [&](const char* word) { return code.find(word) != std::string::npos; });
}

/// Broken rules of one file, each as a sentence. `path` is relative to host/, e.g. "model/axes.cpp".
std::vector<std::string> violations(const std::string& path, const std::string& text) {
    std::vector<std::string> found;
    const std::string module = path.substr(0, path.find('/'));
    const auto rule = may_include.find(module);
    if (rule == may_include.end()) return {path + " is in no known module"};
    // The program, and the test of what is below it, may end with a message before a stream is known.
    const bool may_print = path.starts_with("app/screen/") || path == "app/program.cpp";
    const bool standard_only =
        module == "core" || module == "model" || module == "experiments" || module == "compare" || module == "portrait";

    static const std::regex include(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (line.find('#') == std::string::npos || !std::regex_search(line, match, include)) continue;
        const bool quoted = match[1] == "\"";
        const std::string header = match[2];
        const bool opencl = header.rfind("CL/", 0) == 0 || header.rfind("OpenCL/", 0) == 0;
        if (opencl && module != "device" && !path.starts_with("capture/layer/"))
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
        if ((header == "iostream" || header == "print") && !may_print)
            found.push_back(path + " includes <" + header + ">: only app/screen prints");
    }

    static const std::regex prints(
        R"re(\bstd::(cout|cerr|clog)\b|\b(v|vf)?printf\s*\(|\bfprintf\s*\(\s*std(out|err)\b|\bf?puts\s*\(|\bputchar\s*\(|\bfmt::print\b|\bperror\s*\()re");
    static const std::regex ends(R"re(\bstd::(exit|quick_exit|abort|terminate)\s*\()re");
    const std::string code = code_only(text);
    std::smatch match;
    if (!may_print && has_one_of(code, {"cout", "cerr", "clog", "print", "puts", "putchar", "perror"}) &&
        std::regex_search(code, match, prints))
        found.push_back(path + " uses " + match.str() + ": only app/screen prints");
    if (code.find("std::cout") != std::string::npos && may_print)
        found.push_back(path + " uses std::cout, which drivers share: results go to app::results()");
    if ((module == "model" || module == "experiments") && has_one_of(code, {"static", "thread_local"}))
        if (const auto kept = kept_between_calls(code); !kept.empty())
            found.push_back(path + " has '" + kept + "': what outlives a call is the run's, in its Memo");
    if (module != "app" && has_one_of(code, {"exit", "abort", "terminate"}) && std::regex_search(code, match, ends))
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

/// The number of broken rules of a file at `path` with this text.
std::size_t broken(const std::string& path, const std::string& text) { return violations(path, text).size(); }

}  // namespace

BOOST_AUTO_TEST_CASE(every_file_of_host_keeps_the_include_rules) {
    const auto files = test::files_of("host", {".cpp", ".hpp"});
    for (const auto& file : files)
        for (const auto& sentence : violations(test::within("host", file), test::text_of(file))) BOOST_ERROR(sentence);
    BOOST_TEST(files.size() >= 20u);  // the rule was applied to the real tree, not to an empty folder
}

BOOST_AUTO_TEST_CASE(clhpp_is_included_from_one_header) {
    static const std::regex clhpp(R"re(#\s*include\s*[<"]CL/(opencl|cl2)\.hpp)re");
    std::vector<std::string> including;
    for (const auto& file : test::files_of("host"))
        if (const auto text = test::text_of(file); has_one_of(text, {"CL/"}) && std::regex_search(text, clhpp))
            including.push_back(test::within("host", file));
    BOOST_TEST(including == std::vector<std::string>{"device/cl.hpp"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_line_is_longer_than_the_style_file_says) {
    std::smatch limit;
    const auto style = test::text_of(test::source_tree() / ".clang-format");
    BOOST_REQUIRE(std::regex_search(style, limit, std::regex("ColumnLimit: (\\d+)")));
    for (const auto& file : test::files_of("host", {".cpp", ".hpp"})) {
        std::istringstream lines(test::text_of(file));
        std::size_t number = 0;
        for (std::string line; std::getline(lines, line);) {
            ++number;
            const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
            if (columns > std::stol(limit[1]))  // code points, as clang-format counts
                BOOST_ERROR(test::within("host", file) + ":" + std::to_string(number) + " has " +
                            std::to_string(columns) + " columns");
        }
    }
}

// A kernel is built from one text wherever its device is: no driver looks for files. lab.h is put in front by the host.
BOOST_AUTO_TEST_CASE(no_kernel_text_includes_a_file) {
    const auto files = test::files_of("cl");
    for (const auto& file : files) BOOST_TEST(kernel_include(test::text_of(file)) == "", file.filename().string());
    BOOST_TEST(files.size() >= 20u);
    for (const char* text : {"#include \"a.h\"\n", "int a;\n  #  include <a.h>", "/* a */ #include \"a.h\"",
                             "#inc\\\nlude \"a.h\"", "#import \"a.h\""})
        BOOST_TEST(kernel_include(text) != "", text);
    for (const char* text : {"// #include \"a.h\"\n", "/*\n#include \"a.h\"\n*/", "int include; // a\n#ifdef A"})
        BOOST_TEST(kernel_include(text) == "", text);
}

BOOST_AUTO_TEST_CASE(a_forbidden_include_is_found) {
    for (const auto& [path, line] : {std::pair{"model/a.cpp", "#include \"device/queue.hpp\""},
                                     {"core/a.cpp", "  #  include \"model/axes.hpp\""},
                                     {"experiments/a.cpp", "#include \"run/executor.hpp\""},
                                     {"report/a.cpp", "#include \"app/commandline/options.hpp\""},
                                     {"device/a.cpp", "#include \"inspect/tools/dump.hpp\""},
                                     {"model/a.cpp", "#include \"axes.hpp\""},
                                     {"core/a.cpp", "#include <fmt/core.h>"},
                                     {"portrait/a.cpp", "#include \"device/session.hpp\""},
                                     {"portrait/a.cpp", "#include \"inspect/isa.hpp\""},
                                     {"portrait/a.cpp", "#include \"run/executor.hpp\""},
                                     {"portrait/a.cpp", "#include \"report/table/table.hpp\""},
                                     {"portrait/a.cpp", "#include \"json/read.hpp\""},
                                     {"portrait/a.cpp", "#include <fmt/format.h>"},
                                     {"explain/a.cpp", "#include \"device/session.hpp\""},
                                     {"explain/a.cpp", "#include \"run/executor.hpp\""},
                                     {"explain/a.cpp", "#include \"report/table/table.hpp\""},
                                     {"explain/a.cpp", "#include \"portrait/page.hpp\""},
                                     {"run/a.cpp", "#include \"explain/limiter.hpp\""},
                                     {"gadgets/a.cpp", ""}})
        BOOST_TEST(broken(path, line) == 1u, path << ": " << line);
}

BOOST_AUTO_TEST_CASE(threads_in_the_model_are_found) {
    BOOST_TEST(broken("model/a.cpp", "#include <mutex>\n") == 1u);
    BOOST_TEST(broken("model/a.cpp", "#include <thread>\n") == 1u);
    BOOST_TEST(broken("experiments/lib/a.cpp", "#include <thread>\n") == 0u);
}

BOOST_AUTO_TEST_CASE(static_caches_in_model_or_family_are_found) {
    for (const char* kept : {"static Recent<std::pair<int, int>, Data> recent;", "static int count = 0;",
                             "thread_local std::map<int, int> known;", "static std::deque<Entry> recent{};"}) {
        const std::string text = std::string("void f() {\n    ") + kept + "\n}\n";
        BOOST_TEST(broken("experiments/a.cpp", text) == 1u, kept);
        BOOST_TEST(broken("model/a.cpp", text) == 1u, kept);
        BOOST_TEST(broken("app/a.cpp", text) == 0u, kept);
    }
    for (const char* allowed :
         {"static const std::regex known(\"a\");", "static Extent of(int x);", "static_cast<int>(x);",
          "static constexpr int most = 3;", "static inline Extent of(int x) { return x; }"})
        BOOST_TEST(broken("experiments/a.cpp", allowed) == 0u, allowed);
}

BOOST_AUTO_TEST_CASE(opencl_outside_device_is_found) {
    BOOST_TEST(broken("run/a.cpp", "#include <CL/opencl.hpp>\n") == 1u);
    BOOST_TEST(broken("device/opencl.hpp", "#include <CL/opencl.hpp>\n") == 0u);
}

BOOST_AUTO_TEST_CASE(printing_outside_app_is_found) {
    BOOST_TEST(broken("run/a.cpp", "#include <iostream>\n") == 1u);
    BOOST_TEST(broken("run/a.cpp", "void f() { std::cerr << 1; }\n") == 1u);
    BOOST_TEST(broken("report/a.cpp", "void f() { printf (\"x\"); }\n") == 1u);
    BOOST_TEST(broken("report/a.cpp", "void f() { fmt::print(\"x\"); }\n") == 1u);
    BOOST_TEST(broken("run/a.cpp", "void f() { std::exit(1); }\n") == 1u);
    BOOST_TEST(broken("app/commands/a.cpp", "void f() { std::cerr << 1; }\n") == 1u);
    BOOST_TEST(broken("app/screen/a.cpp", "#include <iostream>\nint f() { std::cerr << 1; std::exit(1); }\n") == 0u);
    BOOST_TEST(broken("app/screen/a.cpp", "#include <iostream>\nint f() { std::cout << 1; }\n") == 1u);
}

BOOST_AUTO_TEST_CASE(allowed_or_commented_code_is_not_reported) {
    BOOST_TEST(
        broken(
            "report/a.cpp",
            "#include <fmt/format.h>\n#include <ostream>\n#include \"report/a.hpp\"\n#include \"core/text.hpp\"\n") ==
        0u);
    BOOST_TEST(
        broken("run/a.cpp",
               "// std::cout is for app\nauto s = \"printf(\"; auto r = R\"(std::cerr)\"; snprintf(b, 1, s);\n") == 0u);
    BOOST_TEST(broken("app/a.cpp", "#include \"run/executor.hpp\"\n#include \"report/table/table.hpp\"\n") == 0u);
}

BOOST_AUTO_TEST_CASE(code_after_a_comment_or_a_string_is_still_read) {
    BOOST_TEST(broken("run/a.cpp", "/* a\n b */ auto c = '\"'; auto n = 1'000; std::cout << \"\\\"\"; // done\n") ==
               1u);
}

BOOST_AUTO_TEST_SUITE_END()
