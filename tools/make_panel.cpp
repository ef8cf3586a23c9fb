// make-panel: draws the picture a line camera gives of a display panel, with defects whose places are known, so that
// the pitch kernels can be tried on something like their real input and their finds compared with the truth.
//
// The panel is a grid of bright cells on a dark mask. Every edge is a step blurred by the lens (an error function), so
// a pitch that is no whole number of pixels falls on the samples as it would in a real picture. Light falls off
// towards the corners and the sensor adds noise.
#include <algorithm>
#include <bit>
#include <boost/program_options.hpp>
#include <cmath>
#include <iostream>
#include <numbers>
#include <string>
#include <vector>

#include "app/commandline/rows.hpp"
#include "app/errors.hpp"
#include "app/files/image_file.hpp"
#include "app/files/outputs.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

namespace {

using namespace cllab;
namespace po = boost::program_options;

struct Options {
    std::string file;
    std::size_t width = 4096, height = 2048;                                     // pixels
    double pitch = 20.2, blur = 2.0;                                             // pixels
    double contrast = 120, dark = 40, noise = 1.5, shading = 15, strength = 45;  // grey levels; shading in percent
    std::size_t defects = 6;
    std::uint64_t seed = 0;
    bool list = false, json = false, force = false;
};

/// Part of a unit step at 0 that a lens of standard deviation `blur` leaves at distance x.
double edge(double x, double blur) { return 0.5 * std::erfc(-x / (blur * std::numbers::sqrt2)); }

/// Light of a row of bars, 0 to 1, at each of n pixels: one bar a `pitch`, `fill` of it bright.
std::vector<double> bars(std::size_t n, double pitch, double fill, double blur) {
    std::vector<double> light(n);
    const auto reach = static_cast<int>(std::ceil(5 * blur / pitch)) + 1;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(i) + 0.5;
        const double cell = std::floor(x / pitch);
        for (int k = -reach; k <= reach; ++k) {
            const double from = (cell + k + (1 - fill) / 2) * pitch;
            light[i] += edge(x - from, blur) - edge(x - from - fill * pitch, blur);
        }
    }
    return light;
}

/// Illumination, 1 in the middle, falling with the square of the distance by `percent` at the ends.
std::vector<double> falling_light(std::size_t n, double percent) {
    std::vector<double> light(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double r = (2 * (static_cast<double>(i) + 0.5) / static_cast<double>(n)) - 1;
        light[i] = 1 - percent / 100 * r * r;
    }
    return light;
}

/// A spot, particle or scratch: the points within `radius` of a line of `length` at `angle` through (x, y), blurred.
struct Defect {
    std::string kind;
    double x = 0, y = 0, radius = 1, length = 0, angle = 0;  // pixels, radians from the vertical
    double level = 0;                                        // grey levels added in its middle
    long left = 0, top = 0, right = 0, bottom = 0;  // box, inclusive, of the pixels it changes by a level or more

    double at(double px, double py, double blur) const {
        const double dx = px - x, dy = py - y, ux = std::sin(angle), uy = std::cos(angle);
        const double along = std::clamp(dx * ux + dy * uy, -length / 2, length / 2);
        return level * edge(radius - std::hypot(dx - along * ux, dy - along * uy), blur);
    }
    double reach(double blur) const { return radius + length / 2 + 5 * blur; }
};

/// Defects inside the panel, so far apart that none touches another's echoes one pitch to the left and right.
std::vector<Defect> place_defects(const Options& o) {
    Random random(o.seed);
    const auto real = [&](double low, double high) {
        return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
    };
    std::vector<Defect> placed;
    for (std::size_t i = 0, tries = 0; i < o.defects;) {
        Defect d;
        // Narrower than half a pitch, as the comparison with the next cell wants; a wide stain needs another method.
        switch (i % 4) {
            case 0:
                d.kind = "bright spot";
                d.radius = real(0.08, 0.14) * o.pitch;
                d.level = o.strength;
                break;
            case 1:
                d.kind = "dark spot";
                d.radius = real(0.08, 0.14) * o.pitch;
                d.level = -o.strength;
                break;
            case 2:
                d.kind = "scratch";
                d.radius = std::max(1.0, 0.05 * o.pitch);
                d.length = real(1, 3) * o.pitch;
                d.angle = real(-0.1, 0.1);
                d.level = o.strength;
                break;
            default:
                d.kind = "particle";
                d.radius = real(0.15, 0.2) * o.pitch;
                d.level = -o.strength;
                break;
        }
        const double margin_x = d.reach(o.blur) + o.pitch + 2, margin_y = d.reach(o.blur);
        const auto width = static_cast<double>(o.width), height = static_cast<double>(o.height);
        d.x = real(margin_x, width - margin_x);
        d.y = real(margin_y, height - margin_y);
        const bool clear =
            2 * margin_x < width && 2 * margin_y < height && std::ranges::none_of(placed, [&](const Defect& other) {
                const double apart = d.reach(o.blur) + other.reach(o.blur);
                return std::abs(d.x - other.x) < apart + 2 * o.pitch + 2 && std::abs(d.y - other.y) < apart;
            });
        if (!clear) {
            if (++tries < 10000) continue;
            throw Error(Blame::usage, "a panel of " + std::to_string(o.width) + "x" + std::to_string(o.height) +
                                          " pixels has no room for " + std::to_string(o.defects) +
                                          " defects whose echoes stay apart; " + std::to_string(i) + " fit");
        }
        const auto span = static_cast<long>(std::ceil(d.reach(o.blur)));
        const auto cx = std::lround(d.x), cy = std::lround(d.y);
        d.left = d.top = std::numeric_limits<long>::max();
        for (long y = cy - span; y <= cy + span; ++y)
            for (long x = cx - span; x <= cx + span; ++x)
                if (std::abs(d.at(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5, o.blur)) >= 1) {
                    d.left = std::min(d.left, x), d.right = std::max(d.right, x);
                    d.top = std::min(d.top, y), d.bottom = std::max(d.bottom, y);
                }
        placed.push_back(d);
        ++i;
    }
    return placed;
}

/// Noise of standard deviation 1: the number of ones among 64 random bits is binomial, which is normal enough here and
/// takes one instruction; a second word's fraction makes it continuous.
double noise(std::uint64_t seed, std::uint64_t pixel) {
    const auto word = mix64(seed ^ mix64(pixel));
    const auto fraction = static_cast<double>(mix64(word) >> 11) * 0x1p-53 - 0.5;
    return (std::popcount(word) - 32 + fraction) / 4.01;  // variance 16 + 1/12
}

model::Bytes draw(const Options& o, const std::vector<Defect>& defects) {
    const auto columns = bars(o.width, o.pitch, 0.7, o.blur), rows = bars(o.height, 3 * o.pitch, 0.9, o.blur);
    const auto light_x = falling_light(o.width, o.shading), light_y = falling_light(o.height, o.shading);
    model::Bytes grey(o.width * o.height);
    for (std::size_t y = 0; y < o.height; ++y) {
        std::vector<double> line(o.width);
        for (std::size_t x = 0; x < o.width; ++x)
            line[x] = (o.dark + o.contrast * columns[x] * rows[y]) * light_x[x] * light_y[y];
        for (const auto& d : defects) {
            const double span = d.reach(o.blur);
            if (std::abs(static_cast<double>(y) - d.y) > span + 1) continue;
            const auto from = static_cast<std::size_t>(std::max(0.0, d.x - span));
            const auto to = std::min(o.width, static_cast<std::size_t>(d.x + span) + 1);
            for (auto x = from; x < to; ++x)
                line[x] += d.at(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5, o.blur);
        }
        for (std::size_t x = 0; x < o.width; ++x) {
            const auto i = y * o.width + x;
            grey[i] = static_cast<std::byte>(std::clamp(std::lround(line[x] + o.noise * noise(o.seed, i)), 0l, 255l));
        }
    }
    return grey;
}

void print_list(const std::vector<Defect>& defects, bool json) {
    std::cout << (json ? "[" : "kind,x,y,left,top,right,bottom,level\n");
    for (std::size_t i = 0; i < defects.size(); ++i) {
        const auto& d = defects[i];
        const auto x = static_cast<long>(d.x), y = static_cast<long>(d.y), level = std::lround(d.level);
        if (json)
            std::cout << (i ? ",\n " : "") << "{\"kind\":\"" << d.kind << "\",\"x\":" << x << ",\"y\":" << y
                      << ",\"left\":" << d.left << ",\"top\":" << d.top << ",\"right\":" << d.right
                      << ",\"bottom\":" << d.bottom << ",\"level\":" << level << "}";
        else
            std::cout << d.kind << ',' << x << ',' << y << ',' << d.left << ',' << d.top << ',' << d.right << ','
                      << d.bottom << ',' << level << '\n';
    }
    if (json) std::cout << "]\n";
}

void require(const char* name, double value, double least, double most) {
    if (!(value >= least && value <= most))
        throw Error(Blame::usage, std::string("--") + name + " must be from " + std::to_string(std::lround(least)) +
                                      " to " + std::to_string(std::lround(most)));
}

}  // namespace

int main(int argc, char** argv) try {
    app::open_missing_streams();
    Options o;
    std::string seed = "1";
    po::options_description named("Options", 110, 80);
    // clang-format off
    named.add_options()
        ("help,h", "Print this and exit.")
        ("width", po::value(&o.width)->value_name("PIXELS")->default_value(o.width), "Width of the picture.")
        ("height", po::value(&o.height)->value_name("PIXELS")->default_value(o.height), "Height of the picture.")
        ("pitch", po::value(&o.pitch)->value_name("PIXELS")->default_value(o.pitch, "20.2"),
            "Distance from cell to cell in a row; need not be a whole number. Rows of cells are three times as far apart.")
        ("contrast", po::value(&o.contrast)->value_name("LEVELS")->default_value(o.contrast, "120"),
            "How much brighter a cell is than the mask between the cells, in grey levels. The mask has 40.")
        ("blur", po::value(&o.blur)->value_name("PIXELS")->default_value(o.blur, "2"),
            "Standard deviation of the lens. Below about 1.5 the interpolation between pixels shows at every edge.")
        ("noise", po::value(&o.noise)->value_name("LEVELS")->default_value(o.noise, "1.5"),
            "Standard deviation of the sensor's noise, in grey levels.")
        ("shading", po::value(&o.shading)->value_name("PERCENT")->default_value(o.shading, "15"),
            "How much darker the middle of each side is than the middle of the picture.")
        ("defects", po::value(&o.defects)->value_name("COUNT")->default_value(o.defects),
            "Number of defects: bright spots, dark spots, scratches and particles by turns.")
        ("strength", po::value(&o.strength)->value_name("LEVELS")->default_value(o.strength, "45"),
            "How much a defect changes the picture in its middle, in grey levels.")
        ("seed", po::value(&seed)->value_name("NUMBER")->default_value(seed),
            "The same seed and options draw the same picture, byte for byte.")
        ("list", po::bool_switch(&o.list),
            "Print the defects to stdout as CSV: kind, middle, the box of pixels changed by at least one level, and level.")
        ("json", po::bool_switch(&o.json), "With --list: print them as JSON.")
        ("force", po::bool_switch(&o.force), "Replace FILE when it exists. Without it such a file is kept.");
    // clang-format on
    po::options_description all;
    all.add(named).add_options()("file", po::value(&o.file));
    po::variables_map given;
    app::refuse_empty({argv + 1, argv + argc});
    try {
        po::store(po::command_line_parser(argc, argv)
                      .options(all)
                      .positional(po::positional_options_description().add("file", 1))
                      .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                      .run(),
                  given);
        po::notify(given);
    } catch (const po::error& e) {
        throw Error(Blame::usage, std::string(e.what()) + "; --help lists the options");
    }
    if (given.count("help")) {
        std::cout
            << "make-panel [OPTIONS] FILE.png|FILE.pgm\n\n"
               "Draws the picture a camera gives of a display panel: cells at a pitch that is no whole number of\n"
               "pixels, shading, noise, and a few defects at known places. For trying the pitch kernels:\n\n"
               "    tools/make-panel --list panel.png\n"
               "    tools/cllab --device cpu --kernel pitch_wide --input src=panel.png --output dst=map.png\n\n"
            << named << "\nExit status: 0 done, 2 the command line is wrong, 3 the file cannot be written.\n";
        app::require_printed();
        return 0;
    }
    if (o.file.empty() && !o.list) throw Error(Blame::usage, "no file is named; --help shows how");
    if (o.json && !o.list) throw Error(Blame::usage, "--json needs --list");
    o.seed = app::seed_of(seed);
    require("width", static_cast<double>(o.width), 1, 1 << 20);
    require("height", static_cast<double>(o.height), 1, 1 << 20);
    require("pitch", o.pitch, 2, 1000);
    require("contrast", o.contrast, 0, 255);
    require("blur", o.blur, 0.1, 100);
    require("noise", o.noise, 0, 100);
    require("shading", o.shading, 0, 50);
    require("strength", o.strength, 1, 255);
    app::Outputs outputs(o.force, false);
    if (!o.file.empty()) outputs.writes(o.file, "FILE", app::Outputs::Kind::whole);
    const auto defects = place_defects(o);
    outputs.open();
    if (!o.file.empty()) app::save_grey(o.file, o.width, o.height, draw(o, defects));
    if (o.list) print_list(defects, o.json);
    app::require_printed();
    return 0;
} catch (const std::exception& e) {
    const auto error = app::as_error(e);
    std::cerr << "make-panel: " << error.what() << '\n';
    return app::exit_status(error.blame());
}
