// What a device is asked to build: each file with the options of each of its variants.
#include <algorithm>

#include "core/includes.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/experiment.hpp"
#include "kernelfile/names.hpp"
#include "kernelfile/piece.hpp"

namespace cllab::kernelfile {

namespace fs = std::filesystem;

/// The first value of each axis; where a line `where` leaves that point out, those of the first point that it does not.
model::Point KernelFiles::first_point(const Scope& said) const {
    auto axes = axes_;
    model::Point first;
    for (auto& axis : axes) {
        first.set(axis.name, axis.values.front());
        if (!axis.tune.empty()) axis.values = axis.tune;
    }
    std::vector<model::Constraint> constraints;
    for (const auto& line : said.where)
        constraints.push_back({line.text(), line.names(), [&](const model::Point& point) {
                                   return Names(point, said.arguments, {}).whole(line) != 0;
                               }});
    try {
        if (std::ranges::all_of(constraints, [&](const auto& c) { return c.holds(first); })) return first;
        const auto points = model::cross_if_few(axes, constraints);
        return points && !points->empty() ? points->front() : first;
    } catch (const Error&) {  // the plan says it, when all names are known
        return first;
    }
}

std::string KernelFiles::at_values(const std::string& options, const Place& place, const model::Point& point) const {
    return substitute(options, [&](const std::string& inside) {
        if (point.has(inside)) return point.text(inside);
        return std::to_string(
            Expression::parse(inside, place).evaluate([&](const std::string& name, const Place& at) -> std::int64_t {
                if (point.has(name))
                    if (const auto value = parse_integer(point.text(name))) return *value;
                refuse(at, "'", name, "' is not an axis of whole numbers; options may use axes only");
            }));
    });
}

void KernelFiles::make_builds() {
    constexpr std::size_t most_builds = 16;  // that a device is asked about
    for (std::size_t f = 0; f < files_.size(); ++f) {
        const auto first = first_point(described_[f].all);
        std::vector<const VariantLine*> lines{nullptr};
        for (const auto& line : described_[f].variants) lines.push_back(&line);
        for (const auto* line : lines) {
            Build build{f, line ? line->name : "", {}};
            read_whole(build);
            for (const auto& [place, text] : described_[f].options)
                if (!text.starts_with("-"))
                    refuse(place, "a build option begins with '-', as in -DTILE=16; found ", cllab::quoted(text));
            if (line && !line->options.starts_with("-"))
                refuse(line->place, "the options of variant '", line->name, "' begin with '-', as in -DTILE=32; found ",
                       cllab::quoted(line->options));
            const Place place = line                            ? line->place
                                : described_[f].options.empty() ? Place{files_[f].path, 0, 0}
                                                                : described_[f].options.front().first;
            const auto at = [&](const model::Point& point) {
                return join(options_of(build), " ", [&](const auto& one) { return at_values(one, place, point); });
            };
            build.options = at(first);
            builds_.push_back(build);
            // A word may be a type; a number is none.
            for (const auto& axis : axes_)
                for (const auto& value : axis.values) {
                    if (parse_real(value) || builds_.size() >= most_builds) continue;
                    auto other = first;
                    other.set(axis.name, value);
                    const auto options = at(other);
                    const bool known = std::ranges::any_of(
                        builds_, [&](const auto& b) { return b.file == f && b.options == options; });
                    if (!known) builds_.push_back({f, build.variant, options, axis.name + "=" + value, build.text});
                }
        }
    }
}

/// Of lines `extends`. Throws Error(usage).
std::vector<fs::path> KernelFiles::folders_of(const Build& build) const {
    std::vector<fs::path> out;
    for (const auto& [place, path] : described_[build.file].folders) {
        out.push_back(resolved(path, place));
        std::error_code ignored;
        if (!fs::is_directory(out.back(), ignored))
            refuse(place, "there is no folder '", out.back().string(), "' to include from");
    }
    return out;
}

/// An option may name a folder too; behind one that an axis names nobody knows what comes first.
void KernelFiles::read_whole(Build& build) {
    auto folders = folders_of(build);
    auto options = options_of(build);
    options.push_back(more_options_);
    bool alone = false;  // "-I folder"
    for (const auto& option : split(join(options, " "), ' ')) {
        if (!alone && !option.starts_with("-I")) continue;
        if (option.find('{') != std::string::npos) break;
        const auto folder = alone ? option : option.substr(2);
        alone = folder.empty();
        if (!alone) folders.emplace_back(folder);
    }
    auto& file = files_[build.file];
    std::string first;
    for (const auto& [place, name] : described_[build.file].includes) {
        const auto path = resolved(name, place);
        std::error_code ignored;
        if (!file.read.files.count(path.string()) && !fs::is_regular_file(path, ignored))
            refuse(place, "there is no file '", path.string(), "' to include");
        first += "#include \"" + path.string() + "\"\n";
    }
    if (first.empty()) {
        build.text = std::make_shared<const model::Text>(whole_text(file, folders));
        return;
    }
    auto joined = file;
    joined.read.files[file.read.path] = first + line_directive(1, file.read.path) + "\n" + file.text();
    build.text = std::make_shared<const model::Text>(whole_text(joined, folders));
    file.read.files.merge(joined.read.files);  // what was included
}

std::vector<std::string> KernelFiles::options_of(const Build& build) const {
    std::vector<std::string> out;
    const auto& file = files_[build.file];
    const auto& description = described_[build.file];
    // The driver looks for what is not in the text.
    if (build.text && !includes_of(build.text->text).empty()) {
        auto folders = folders_of(build);
        folders.insert(folders.begin(), fs::path(file.path).parent_path());
        for (const auto& folder : folders) {
            const auto text = folder.empty() ? std::string(".") : folder.string();
            if (text.find(' ') != std::string::npos)
                refuse({"kernel file '" + file.path + "'", 0, 0}, "the folder '", text,
                       "' has a blank in its name, which build options cannot hold");
            out.push_back("-I" + text);
        }
    }
    for (const auto& [place, text] : description.options) out.push_back(text);
    for (const auto& line : description.variants)
        if (line.name == build.variant) out.push_back(line.options);
    return out;
}

}  // namespace cllab::kernelfile
