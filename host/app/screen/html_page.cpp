// --html, --markdown, --svg and --png.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "app/choose/choice.hpp"
#include "app/commands.hpp"
#include "app/files/profile_file.hpp"
#include "app/screen/results.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "core/version.hpp"
#include "explain/limiter.hpp"
#include "inspect/tools/dump.hpp"
#include "inspect/tools/tool.hpp"
#include "json/read.hpp"
#include "model/registry.hpp"
#include "report/records/joined.hpp"
#include "report/table/comparison.hpp"
#include "report/table/table.hpp"
#include "run/executor.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using namespace report::html;
using nlohmann::json;

std::vector<Curves> curves_of_page(const std::vector<model::Record>& records,
                                   const std::vector<portrait::Conclusion>& conclusions) {
    std::vector<Curves> out;
    for (const auto& conclusion : conclusions) {
        const auto& experiment = *conclusion.experiment;
        Curves set{conclusion.device_key, experiment.family, experiment.question, {}, conclusion.findings};
        for (std::size_t i = 0; i < conclusion.curves.size(); ++i) {
            const auto& curve = conclusion.curves[i];
            if (!portrait::is_long_enough(curve)) continue;
            const auto* axis = portrait::swept_axis(experiment, curve.variant);
            set.series.push_back({curve, axis->name, axis->unit, {}});
            for (const auto* record : conclusion.points[i])
                set.series.back().cells.push_back(static_cast<std::size_t>(record - records.data()));
        }
        if (!set.series.empty() || !set.findings.empty()) out.push_back(std::move(set));
    }
    return out;
}

/// The value of a key. If the type is wrong: null, an empty text or 0.
json found_in(const json& j, const char* key) { return j.is_object() ? j.value(key, json()) : json(); }
std::string text_in(const json& j, const char* key) {
    const auto found = found_in(j, key);
    return found.is_string() ? found.get<std::string>() : "";
}
double number_in(const json& j, const char* key) {
    const auto found = found_in(j, key);
    return found.is_number() ? found.get<double>() : 0;
}

/// The variant of a profile's curve, with the axes that distinguish it from the variant's other curves.
std::string name_of(const json& curve, const json& curves) {
    const auto id = text_in(curve, "id");
    auto out = id;
    const auto fixed = found_in(curve, "fixed");
    for (const auto& [axis, any] : fixed.items()) {
        const auto value = text_in(fixed, axis.c_str());
        if (std::ranges::any_of(curves, [&, &axis = axis](const json& other) {
                return text_in(other, "id") == id && text_in(found_in(other, "fixed"), axis.c_str()) != value;
            }))
            out += " " + axis + "=" + value;
    }
    return out;
}

/// nullopt if the content is not a profile of the record's device.
std::optional<Portrait> portrait_from(const std::string& content, const model::Record& record) {
    json profile;
    try {
        profile = parse_json<json>(content);
    } catch (const JsonRefused&) {
        return std::nullopt;
    }
    const auto device = found_in(profile, "device");
    if (text_in(device, "name") != record.device.name || text_in(device, "platform") != record.device.platform ||
        text_in(device, "driver") != record.device.driver)
        return std::nullopt;
    Portrait out{model::device_key(record), record.device.name, text_in(profile, "utc"), {}, {}, {}};
    for (const auto& f : found_in(profile, "figures"))
        if (found_in(f, "value").is_number())
            out.figures.push_back({text_in(f, "section"), text_in(f, "name"), text_in(f, "unit"), text_in(f, "how"),
                                   text_in(f, "driver_says"), number_in(f, "value"), number_in(f, "low"),
                                   number_in(f, "high")});
    for (const auto& a : found_in(profile, "absent"))
        out.absent.push_back(text_in(a, "section") + ", " + text_in(a, "name") + ": " + text_in(a, "reason"));
    const auto curves = found_in(profile, "curves");
    for (const auto& curve : curves) {
        out.curves.push_back({name_of(curve, curves), text_in(curve, "over"), {}});
        for (const auto& s : found_in(curve, "samples")) {
            auto& sample = out.curves.back().samples.emplace_back();
            sample.x = number_in(s, "x");
            sample.seconds = number_in(s, "seconds");
            sample.per_step = number_in(s, "step_time");
            sample.metrics["bandwidth"] = number_in(s, "bandwidth");
        }
    }
    return out;
}

/// Adds explanations, from the text of a profile, for records of the device that have none yet.
void add_explanations(Page& page, const model::Record& of, const std::string& profile) {
    try {
        const auto limits = limits_from(profile, device_of(of));
        for (std::size_t i = 0; i < page.records.size(); ++i)
            if (const auto& r = page.records[i]; r.time && model::device_key(r) == model::device_key(of))
                page.explanations.try_emplace(i, explain::explain(r, limits));
    } catch (const Error&) {  // the page also draws profiles without limits
    }
}

/// Where the profile of a record's device may be: next to the record's dump, or where `why` reads it on this machine.
std::vector<fs::path> places_of_profile(const model::Record& record) {
    std::vector<fs::path> out;
    // DIR/<device>/<variant>, with one more folder if the run varied an axis.
    const auto folder = fs::path(record.dump);
    if (!record.dump.empty())
        out = {folder.parent_path() / "profile.json", folder.parent_path().parent_path() / "profile.json"};
    if (record.host.name == run::this_host().name) out.push_back(profile_path("", device_of(record)));
    return out;
}

/// Adds the profiles of the records' devices, and the explanations that they allow.
void add_portraits(Page& page) {
    std::set<std::string> done;
    for (const auto& record : page.records) {
        if (done.count(model::device_key(record))) continue;
        for (const auto& place : places_of_profile(record)) {
            const auto content = read_plain(place);
            auto portrait = content ? portrait_from(*content, record) : std::nullopt;
            if (!portrait) continue;
            page.portraits.push_back(std::move(*portrait));
            add_explanations(page, record, *content);
            done.insert(model::device_key(record));
            break;
        }
    }
}

/// The parts that the page and the picture share.
Page page_of(const std::vector<model::Record>& records, const std::vector<portrait::Conclusion>& conclusions,
             const std::vector<std::string>& lines) {
    Page page{records};
    page.may_be_auto = may_be_auto;
    const auto points = portrait::points_of_curves(conclusions);
    for (const auto& record : records) page.in_curve.push_back(points.contains(&record));
    page.explanations = report::explanations_of(records, lines);
    std::ranges::copy_if(lines, std::back_inserter(page.comparisons), report::is_comparison);
    add_portraits(page);
    return page;
}

void write_html(OutputFile& file, Page page, const std::vector<portrait::Conclusion>& conclusions,
                const std::vector<std::string>& verdicts) {
    const auto& records = page.records;
    require_page(records.size());
    page.curves = curves_of_page(records, conclusions);
    for (const auto& experiment : model::registry())
        page.questions.emplace_back(experiment.family, experiment.question);
    page.verdicts = verdicts;
    page.again = commands_again(records);
    page.made = std::string("Made by cllab ") + version() + " on " + utc_now();
    add_code(page);
    std::ostringstream out;
    write_page(out, page);
    file.whole(out.str());
}

/// The path by which the Markdown file refers to the chart; empty without a chart file.
std::string picture_of(const Outputs& outputs, const FileOptions& files) {
    const auto is_file = [&](const char* option) {
        const auto* file = outputs.file(option);
        return file && !file->is_stdout();
    };
    const auto picture = is_file("--svg") ? files.svg : is_file("--png") ? files.png : std::string();
    if (picture.empty() || files.markdown == "-") return picture;
    std::error_code code;
    const auto found = fs::relative(picture, fs::absolute(files.markdown).parent_path(), code);
    return code || found.empty() ? picture : found.generic_string();
}

std::string png_of(const std::string& svg) {
    const auto program = require_rasterizer();
    const inspect::TempFolder folder;
    const auto file = folder.write("chart.svg", inspect::as_bytes(svg));
    auto made = inspect::run_tool(program, {"--zoom", "2", file.string()});  // sharp on a slide
    if (!made.ok()) throw Error(Blame::environment, "--png: rsvg-convert " + made.failure());
    return std::move(made.out);
}

void write_pictures(OutputFile* svg, OutputFile* png, const Page& page) {
    std::ostringstream out;
    write_ranked(out, page);
    if (svg) svg->whole(out.str());
    if (png) png->whole(png_of(out.str()));
}

}  // namespace

void require_page(std::size_t records) {
    if (records > most_cells)
        throw Error(Blame::usage, "--html shows at most ", most_cells, " records, found ", records,
                    "; omit --html or read fewer files");
}

fs::path require_rasterizer() {
    const auto program = inspect::find_tool({"rsvg-convert"});
    if (!program)
        throw Error(Blame::environment,
                    "program 'rsvg-convert' (--png) not found on PATH; on Debian: apt-get install librsvg2-bin; or use "
                    "--svg");
    return *program;
}

void write_pages(const Outputs& outputs, const FileOptions& files, const std::vector<model::Record>& records,
                 const std::vector<portrait::Conclusion>& conclusions, const std::vector<std::string>& verdicts,
                 const std::vector<std::string>& lines) {
    if (records.empty()) return;
    auto *html = outputs.html(), *svg = outputs.file("--svg"), *png = outputs.file("--png");
    if (html || svg || png) {
        const auto page = page_of(records, conclusions, lines);
        if (html) write_html(*html, page, conclusions, verdicts);
        if (svg || png) write_pictures(svg, png, page);
    }
    if (auto* markdown = outputs.file("--markdown")) {
        std::ostringstream out;
        report::print_markdown(out, model::rows_of(records), verdicts, picture_of(outputs, files), may_be_auto);
        markdown->whole(out.str());
    }
}

bool has_page_on_stdout(const Outputs& outputs) {
    for (const char* option : {"--html", "--markdown", "--svg", "--png"})
        if (const auto* file = outputs.file(option); file && file->is_stdout()) return true;
    return false;
}

// The command that measures a record's cell again, from the command line that measured it.

namespace {

/// Quotes a word for the shell.
std::string shell_word(const std::string& word) {
    const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
        return in_name(c) || std::string_view("./:=,@%+-").find(c) != std::string_view::npos;
    });
    if (plain) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

/// The words without output options and their files, and without `options`, each of which takes a value.
Strings without(const Strings& words, const std::set<std::string>& options = {}) {
    static const std::set<std::string> files{"--json", "--csv",   "--html",     "--markdown", "--svg",
                                             "--png",  "--junit", "--baseline", "--output"},
        flags{"--force", "--append"};
    Strings out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto name = words[i].substr(0, words[i].find('='));
        if (files.contains(name) || options.contains(name))
            i += name == words[i];  // its value is the next word
        else if (!flags.contains(name))
            out.push_back(words[i]);
    }
    return out;
}

}  // namespace

std::string typed(const Strings& argv, const std::set<std::string>& options) {
    return "cllab " + join(without({argv.begin() + 1, argv.end()}, options), " ", shell_word);
}

namespace {

/// The part of a command line that neither selects cells nor names output files.
struct Line {
    Strings words;
    std::set<std::string> axes;
};

/// nullopt if the command is not a plain `run`: then a single cell cannot be run alone.
std::optional<Line> line_of(const Strings& argv) {
    if (argv[1] != "run" && find_command(argv[1])) return std::nullopt;
    RunOptions options;
    try {
        options = run_options_of(argv);
    } catch (const Error&) {  // from another version or edited
        return std::nullopt;
    }
    if (options.versus.starts_with('-') || !options.replay.empty() || options.watch) return std::nullopt;
    Line out{without({argv.begin() + (argv[1] == "run" ? 2 : 1), argv.end()}, {"--vs", "--axis", "-a"}), {}};
    for (const auto& [axis, values] : options.axes) out.axes.insert(axis);
    std::erase_if(out.words, [&](const std::string& word) {
        return std::ranges::find(options.patterns, word) != options.patterns.end();
    });
    return out;
}

}  // namespace

std::vector<std::string> commands_again(const std::vector<model::Record>& records) {
    const auto varying = report::html::varying_axes(records);
    std::map<Strings, std::optional<Line>> lines;
    std::vector<std::string> out;
    for (const auto& r : records) {
        auto& again = out.emplace_back();
        if (r.argv.size() < 2) continue;
        const auto [known, is_new] = lines.try_emplace(r.argv);
        if (is_new) known->second = line_of(r.argv);
        if (!known->second) {
            again = typed(r.argv);
            continue;
        }
        const auto& line = *known->second;
        Strings words{"cllab", "run", names_kernel_file(r.build.source) ? r.build.source + ":" + r.id : r.id};
        words.insert(words.end(), line.words.begin(), line.words.end());
        const auto varies = varying.find(r.family);
        for (const auto& [axis, value] : r.point)
            if (line.axes.contains(axis) || (varies != varying.end() && varies->second.contains(axis)))
                words.insert(words.end(), {"--axis", axis + "=" + value});
        again = join(words, " ", shell_word);
    }
    return out;
}

}  // namespace cllab::app
