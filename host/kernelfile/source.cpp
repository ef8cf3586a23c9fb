#include "kernelfile/source.hpp"

#include <filesystem>

#include "core/text.hpp"
#include "kernelfile/data.hpp"
#include "model/registry.hpp"

namespace cllab::kernelfile {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path, const Place& place) {
    const auto bytes = read_bytes(path, place);
    constexpr std::size_t most = 16u << 20;
    if (bytes.size() > most) refuse(place, "'" + path.string() + "' is larger than 16 MiB, so it is no kernel's text");
    std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    // Programs that write a C string with its end leave a zero byte, as the OpenCL Intercept Layer does; no driver sees
    // what is put behind one, such as the kernels that ask for the sizes of types.
    text.resize(text.find_last_not_of('\0') + 1);
    if (const auto at = text.find('\0'); at != std::string::npos)
        refuse(place,
               "'" + path.string() + "' has a zero byte at " + std::to_string(at) + ", so it is no kernel's text");
    return text;
}

bool directive(std::string_view line, std::string_view word) {
    std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string_view::npos || line[at] != '#') return false;
    at = line.find_first_not_of(" \t", at + 1);
    return at != std::string_view::npos && line.substr(at).starts_with(word);
}

/// The text with lab.h in the place of its #include "lab.h".
model::Text prepared(const std::string& path, const std::string& text) {
    model::Text out{path, {}};
    const auto lines = split(text, '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) out.text += '\n';
        const bool asks = directive(lines[i], "include") && lines[i].find("\"lab.h\"") != std::string::npos;
        if (!asks) {
            out.text += lines[i];
            continue;
        }
        out.includes_lab = true;
        out.text += "#line 1 \"lab.h\"\n" + std::string(model::embedded_kernel("include/lab.h")) + "\n#line " +
                    std::to_string(i + 2) + " \"" + path + "\"";
    }
    return out;
}

}  // namespace

SourceFile read_source(const std::string& path, const std::string* given) {
    SourceFile out;
    out.path = path;
    const auto text = given ? *given : read_text(path, {"kernel file '" + path + "'", 0, 0});
    out.text = std::make_shared<const model::Text>(prepared(path, text));
    out.uses_integer_pixels =
        text.find("read_imageui") != std::string::npos || text.find("write_imageui") != std::string::npos;
    std::size_t number = 0;
    for (const auto& line : split(text, '\n')) {
        ++number;
        out.includes = out.includes || directive(line, "include");
        const auto at = line.find("enqueue_kernel(");
        if (at != std::string::npos && line.find("//") > at)
            refuse({path, number, at + 1},
                   "device-side enqueue is not supported: what a kernel starts is not timed or checked");
    }
    parse_blocks(text, path, out.description);
    const auto beside = fs::path(path).replace_extension(".cllab");
    std::error_code ignored;
    if (fs::is_regular_file(beside, ignored)) {
        Description more;
        parse_statements(read_text(beside, {"'" + beside.string() + "'", 0, 0}), beside.string(), 1, more);
        override_with(out.description, more);
    }
    return out;
}

}  // namespace cllab::kernelfile
