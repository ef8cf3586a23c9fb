#include "unit/golden.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace cllab::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::filesystem::path path_of(const std::string& name) {
    return std::filesystem::path(CLLAB_SOURCE_DIR) / "tests" / "golden" / name;
}

}  // namespace

std::string golden(const std::string& name) {
    std::ifstream in(path_of(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void matches_golden(const std::string& name, const std::string& text) {
    const auto path = path_of(name);
    const char* update = std::getenv("CLLAB_UPDATE_GOLDEN");
    if (update && std::string(update) == "1") {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream out(path, std::ios::binary);
        out << text;
        BOOST_REQUIRE_MESSAGE(out.flush(), "cannot write " << path);
        return;
    }
    BOOST_REQUIRE_MESSAGE(std::filesystem::exists(path),
                          "no golden file " << name << "; CLLAB_UPDATE_GOLDEN=1 makes it");
    const auto expected = golden(name);
    const auto want = lines_of(expected), have = lines_of(text);
    std::size_t line = 0;
    while (line < want.size() && line < have.size() && want[line] == have[line]) ++line;
    const auto at = [&](const std::vector<std::string>& lines) {
        return line < lines.size() ? "'" + lines[line] + "'" : std::string("the end");
    };
    BOOST_CHECK_MESSAGE(text == expected,
                        name << " line " << line + 1 << ": " << at(have) << ", expected " << at(want));
}

}  // namespace cllab::test
