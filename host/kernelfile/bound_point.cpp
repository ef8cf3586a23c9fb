// A bound kernel at one point: values, data and sizes.
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/random.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/bound.hpp"
#include "kernelfile/data/data.hpp"
#include "kernelfile/names.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;
using model::Parameter;
using Kind = ArgumentSpec::Kind;
using Says = RelationLine::Kind;

model::Sampler sampler_of(const std::string& name, const std::vector<std::string>& words) {
    using Outside = model::Sampler::Outside;
    static constexpr Entry<Outside, std::string_view> outsides[] = {{Outside::edge, "edge"},
                                                                    {Outside::zero, "zero"},
                                                                    {Outside::repeat, "repeat"},
                                                                    {Outside::mirror, "mirror"},
                                                                    {Outside::undefined, "none"}};
    model::Sampler out{name};
    for (const auto& word : words) {
        if (word == "linear") out.linear = true;
        if (word == "normalized") out.normalised = true;
        if (const auto outside = key_of(outsides, word)) out.outside = *outside;
    }
    return out;
}

}  // namespace

std::string substitute(const std::string& text, const std::function<std::string(const std::string&)>& value) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto open = text.find('{', at), close = open == std::string::npos ? open : text.find('}', open);
        if (close == std::string::npos) return out + text.substr(at);
        out += text.substr(at, open - at) + value(trim(text.substr(open + 1, close - open - 1)));
        at = close + 1;
    }
    return out;
}

std::int64_t Bound::value(const model::Point& point, const Expression& expression) const {
    return Names(point, said_.arguments, real_).whole(expression);
}

std::string Bound::substituted(const model::Point& point, const std::string& options) const {
    return substitute(options, [&](const std::string& inside) {
        if (point.has(inside)) return point.text(inside);
        return std::to_string(value(point, Expression::parse(inside, {where_ + ": options '" + options + "'", 0, 0})));
    });
}

void Bound::put_number(std::byte* to, const ElementType& type, const model::Point& point,
                       const Expression& number) const {
    const auto unfit = [&](const std::string& value) {
        refuse(number.place(), "the value ", value, " does not fit the type ", type.name);
    };
    if (type.is_floating()) {
        const auto real = Names(point, said_.arguments, real_).real(number);
        put_real(to, type, real);
        if (!std::isfinite(lane_value(to, type))) unfit(format_exact(real));
        return;
    }
    const auto whole = value(point, number);
    if (!fits(type, whole)) unfit(std::to_string(whole));
    put_integer(to, type, whole);
}

model::Bytes Bound::value_bytes(const model::Point& point, const Argument& a) const {
    if (a.parameter.kind != Parameter::Kind::value) return {};
    if (a.spec.kind == Kind::bytes) {
        const auto* first = reinterpret_cast<const std::byte*>(a.spec.raw.data());
        return {first, first + a.spec.raw.size()};
    }
    model::Bytes out(a.value_bytes);
    for (const auto& [begin, type, numbers] : a.fields)
        for (std::size_t lane = 0; lane < type.lanes; ++lane)
            put_number(out.data() + begin + lane * type.lane_bytes, type, point,
                       numbers[numbers.size() == 1 ? 0 : lane]);
    return out;
}

Drawn Bound::drawn(const model::Point& point, const Argument& a) const {
    Drawn out{.draw = a.spec.draw};
    const auto& numbers = a.spec.numbers;
    const auto wrong_way = [&](const auto& low, const auto& high) {
        refuse(a.spec.place, "the bounds of '", a.parameter.name, "' are ", low, " and ", high,
               "; the lower bound must come first");
    };
    const auto refuse_unfit = [&] {
        model::Bytes lane(a.element.lane_bytes);
        for (const auto& number : numbers) put_number(lane.data(), a.element, point, number);
    };
    if (a.element.lane_bytes == 1 && a.element.kind == ElementType::Kind::signed_integer) out.most = 127;
    if (a.element.is_packed()) out.most = 15;
    if (a.parameter.kind == Parameter::Kind::image && a.format.is_normalised()) {
        out.most = a.format.white();
        out.least = a.format.is_signed() ? -out.most : 0;
    }
    const bool bounded = numbers.size() == 2 || out.draw == Draw::constant;  // one number bounds a constant
    if (out.draw == Draw::normal || (bounded && a.element.is_floating())) {
        if (numbers.empty()) return out;
        refuse_unfit();
        Names names(point, said_.arguments, real_);
        out.low = names.real(numbers[0]), out.high = names.real(numbers.back());
        if (out.draw == Draw::normal && out.high < 0)
            refuse(a.spec.place, "the deviation of '", a.parameter.name, "' is ", format_exact(out.high),
                   "; it must be at least 0");
        if (out.draw != Draw::normal && out.low > out.high) wrong_way(format_exact(out.low), format_exact(out.high));
    } else if (bounded) {
        refuse_unfit();
        out.least = value(point, numbers[0]), out.most = value(point, numbers.back());
        if (out.least > out.most) wrong_way(out.least, out.most);
    } else if (numbers.size() == 1) {
        out.most = value(point, numbers[0]);
        if (const int least = out.draw == Draw::one_hot ? 1 : 0; out.most < least)
            refuse(a.spec.place, "the last number in ", cllab::quoted(a.spec.text), " of '", a.parameter.name, "' is ",
                   out.most, "; it must be at least ", least);
    }
    return out;
}

void Bound::check_data(const model::Point& point, const Argument& a, std::size_t count) const {
    for (const auto& member : a.members) check_data(point, member, count);
    if (a.spec.kind != Kind::drawn) return;
    if (const auto why = undrawable(a.element, count, drawn(point, a)); !why.empty())
        refuse(a.spec.place, cllab::quoted(a.spec.text), " does not fit '", a.parameter.name,
               "', whose elements of type ", a.element.name, " ", why);
}

model::SharedBytes Bound::data(const model::Point& point, const Argument& a, std::size_t count,
                               std::uint64_t seed) const {
    if (a.file) return a.file;
    if (!a.members.empty()) return structs(point, a, count, seed);
    std::uint64_t name = 0;
    for (const char c : a.drawn_as) name = mix64(name ^ static_cast<unsigned char>(c));
    return drawn_data(a.element, count, seed ^ name, drawn(point, a));
}

model::Setup Bound::setup(const model::Point& point, const Shape& shape, std::uint64_t seed) const {
    model::Setup out;
    for (const auto& a : arguments_) {
        const auto& name = a.parameter.name;
        const auto element_bytes = a.element.is_packed() ? 0 : a.element.bytes;
        if (a.spec.svm) out.svm.push_back(name);
        switch (a.parameter.kind) {
            case Parameter::Kind::local:
                out.args.push_back(model::Local{name, a.element.bytes_of(shape.counts.at(name))});
                break;
            case Parameter::Kind::sampler:
                out.args.push_back(sampler_of(name, a.spec.words));
                break;
            case Parameter::Kind::image: {
                const auto& size = shape.images.at(name);
                model::Image image{name,    size[0], size[1],          a.format,
                                   nullptr, size[2], a.parameter.dims, a.parameter.is_array};
                image.of_buffer = a.parameter.is_buffer_image();
                image.read_write = a.parameter.reads_too;
                if (a.spec.kind != Kind::output) {
                    image.data = data(point, a, size[0] * size[1] * size[2], seed);
                    image.in_out = a.parameter.writes;
                }
                out.args.push_back(std::move(image));
                break;
            }
            case Parameter::Kind::global:
            case Parameter::Kind::constant:
                if (a.spec.kind == Kind::output)
                    out.args.push_back(model::Output{.name = name,
                                                     .size_bytes = a.element.bytes_of(shape.counts.at(name)),
                                                     .given = "zero:" + std::to_string(shape.counts.at(name)),
                                                     .element_bytes = element_bytes});
                else if (auto bytes = data(point, a, shape.counts.at(name), seed); a.parameter.is_const)
                    out.args.push_back(model::Input{name, std::move(bytes), element_bytes});
                else
                    out.args.push_back(
                        model::InOut{.name = name, .data = std::move(bytes), .element_bytes = element_bytes});
                break;
            default:
                out.args.push_back(model::Value{name, value_bytes(point, a)});
                break;
        }
    }
    out.parts = shape.parts;
    if (!same_.empty() || !parts_.empty())
        for (const auto& p : signature_.parameters) out.parameters.push_back(called(p.name));
    out.global = shape.global;
    out.local = shape.local;
    out.offset = shape.offset;
    out.work = shape.work;
    out.defines = shape.options;
    return out;
}

std::vector<Result> Bound::results(const model::Setup& setup) const {
    std::vector<Result> out;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        const auto& a = arguments_[i];
        Result result{a.parameter.name, a.element};
        if (const auto* image = std::get_if<model::Image>(&setup.args[i]); image && image->comes_out()) {
            result.given = image->data;
            result.is_rounded = image->format.is_normalised();
        } else if (std::holds_alternative<model::Output>(setup.args[i])) {
        } else if (const auto* inout = std::get_if<model::InOut>(&setup.args[i])) {
            result.given = inout->data;
        } else {
            continue;
        }
        if (const auto found = expected_.find(result.name); found != expected_.end()) {
            const auto& [by, data, place] = found->second;
            result.may_stay = by.empty();
            result.is_guessed = place.file.ends_with(" (guessed)");
            if (!result.may_stay) result.expected = data ? data : result.given, result.by = by;
        }
        out.push_back(std::move(result));
    }
    return out;
}

std::map<std::string, std::string> Bound::given() const {
    std::map<std::string, std::string> out;
    for (const auto& a : arguments_)
        if (a.spec.kind != Kind::output && a.spec.kind != Kind::local) out.emplace(a.parameter.name, a.spec.text);
    return out;
}

/// Throws Error(usage) if the relation does not fit the arguments that it names.
void Bound::check_relation(const RelationLine& line) const {
    const auto require = [&](const std::string& name, bool comes_out) {
        const auto* const found = find(name);
        const bool buffer = found && found->parameter.is_buffer();
        const bool fits = buffer && (comes_out ? !found->parameter.is_const : found->spec.kind != Kind::output);
        if (!fits)
            refuse(line.place, "the relation ", cllab::quoted(line.text), " needs a buffer that kernel '",
                   signature_.name, "' ", comes_out ? "writes" : "reads data from", "; found ", cllab::quoted(name));
        const bool is_moved = line.kind == Says::permute || line.kind == Says::any_order;
        if (found->element.is_packed() || (found->element.is_opaque() && !is_moved))
            refuse(line.place, "the relation ", cllab::quoted(line.text), " needs numbers; '", name,
                   "' has elements of type ", found->element.name);
    };
    for (const auto& name : line.from) require(name, line.kind == Says::any_order);
    if (!line.of.empty()) require(line.of, true);
    const auto expected = std::ranges::count_if(line.from, [&](const auto& name) {
        const auto found = expected_.find(name);
        return found != expected_.end() && !found->second.by.empty();
    });
    if (line.kind == Says::any_order && expected > 0 && static_cast<std::size_t>(expected) < line.from.size())
        refuse(line.place, "the relation ", cllab::quoted(line.text), " has ", line.from.size(),
               " results, but lines 'expect' cover only ", expected, "; add them for all or for none");
    if (line.kind != Says::linear) return;
    for (const auto& a : arguments_)
        if (a.parameter.is_buffer() && !a.parameter.is_const) require(a.parameter.name, true);
}

Related Bound::related(const model::Point& point, const model::Setup& setup, std::uint64_t seed,
                       bool may_launch) const {
    std::map<std::string, ElementType> elements;
    for (const auto& a : arguments_) elements.emplace(a.parameter.name, a.element);
    const auto value = [&](const Expression& e) { return Names(point, said_.arguments, real_).real(e); };
    return relate(said_.relations, setup, elements, value, seed, may_launch);
}

std::vector<ArgumentArray> Bound::shown(const model::Setup& setup) const {
    std::vector<ArgumentArray> out;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        const auto& a = arguments_[i];
        ArgumentArray one{a.parameter.name, a.element, {}};
        const auto hold = [&](std::size_t bytes) { one.shape.push_back(bytes / a.element.bytes); };
        if (const auto* image = std::get_if<model::Image>(&setup.args[i])) {
            one.shape = {image->depth, image->height, image->width};
            one.shape.erase(one.shape.begin(), one.shape.end() - image->dims);
            one.data = image->data, one.comes_out = image->comes_out();
        } else if (const auto* output = std::get_if<model::Output>(&setup.args[i])) {
            hold(output->size_bytes), one.comes_out = true;
        } else if (const auto* inout = std::get_if<model::InOut>(&setup.args[i])) {
            hold(inout->data.size()), one.data = inout->data, one.comes_out = true;
        } else if (const auto* input = std::get_if<model::Input>(&setup.args[i])) {
            hold(input->data.size()), one.data = input->data;
        } else if (const auto* value = std::get_if<model::Value>(&setup.args[i])) {
            one.element = a.parameter.type;
            one.data = std::make_shared<const model::Bytes>(value->data);
        } else {
            continue;
        }
        const bool opaque = a.element.is_opaque();
        const auto lanes = opaque ? a.element.bytes : a.element.bytes / a.element.lane_bytes;
        if (opaque || lanes > 1) one.shape.push_back(lanes);
        // An input that several arguments share is listed under each of their names.
        for (const auto& [name, own] : same_)
            if (own == one.name && name != own && one.data) out.push_back({name, one.element, one.shape, one.data});
        out.push_back(std::move(one));
    }
    return out;
}

std::vector<RelationLine> Bound::any_order() const {
    auto out = said_.relations;
    std::erase_if(out, [](const auto& line) { return line.kind != RelationLine::Kind::any_order; });
    return out;
}

bool Bound::is_random(const Argument& a) {
    return a.members.empty() ? a.spec.is_random() : std::ranges::any_of(a.members, is_random);
}

bool Bound::random_inputs() const { return std::ranges::any_of(arguments_, is_random); }

// --- Sizes of a bound kernel at one point.

static constexpr std::size_t most_elements = std::size_t{1} << 40;

model::Extent Bound::extent(const model::Point& point, const Sizes& list, std::int64_t least, const char* what) const {
    model::Extent out;
    out.dims = static_cast<unsigned>(list.second.size());
    std::size_t count = 1;
    for (std::size_t d = 0; d < list.second.size(); ++d) {
        const auto size = value(point, list.second[d]);
        if (size < least)
            refuse(list.second[d].place(), what, " size ", d, " is ", size, " ('", list.second[d].text(),
                   "'); it must be at least ", least);
        out.size[d] = static_cast<std::size_t>(size);
        if (least > 0 && (__builtin_mul_overflow(count, out.size[d], &count) || count > most_elements))
            refuse(list.first, what, " is ", out.text(), ", more than ", most_elements, " work-items");
    }
    return out;
}

void Bound::add_local(const model::Point& point, const model::Device& device, Shape& out) const {
    const bool asked = takes_group_ && point.has(group_axis) && point.text(group_axis) != "auto";
    if (!asked && !said_.local) return;
    out.local = asked ? point.shape(group_axis) : extent(point, *said_.local, 1, "local");
    if (code_only_) return;
    // A size from the axis may be one that tuning tries, so it makes the point unsupported. A wrong `local` line is an
    // error.
    const auto wrong = [&](const std::string& sentence, const std::string& help = "") {
        if (asked) throw Unsupported(sentence);
        refuse(said_.local->first, sentence, help);
    };
    if (out.local.dims != out.global.dims)
        wrong(concat("local has ", out.local.dims, " dimensions, but global has ", out.global.dims));
    for (unsigned d = 0; d < out.local.dims; ++d) {
        const auto l = std::to_string(out.local.size[d]);
        if (out.global.size[d] % out.local.size[d] != 0)
            wrong("global " + out.global.text() + " is not a multiple of local " + out.local.text(),
                  "; write global e.g. as ceil(" + said_.global->second[d].text() + " / " + l + ") * " + l);
        const auto& promised = signature_.required_group;
        if (promised[0] > 0 && out.local.size[d] != promised[d])
            wrong(concat("local is ", out.local.text(), ", but kernel '", signature_.name, "' requires ", promised[0],
                         "x", promised[1], "x", promised[2]));
    }
    if (asked && out.local.count() > device.max_group_promised)
        throw Unsupported("a work-group of ", out.local.text(), " is too large; the device takes at most ",
                          device.max_group_promised, " work-items");
}

std::optional<std::vector<std::string>> Bound::groups() const {
    if (signature_.required_group[0] > 0) return std::nullopt;
    std::vector<std::string> out;
    if (said_.local || !said_.global) return out;
    const auto dims = said_.global->second.size();
    constexpr std::size_t least = 32, most = 4096;
    const std::array<std::size_t, 3> sides{dims == 1 ? most : 1024, dims > 1 ? 32U : 1U, dims > 2 ? 16U : 1U};
    out.emplace_back("auto");
    for (std::size_t z = 1; z <= sides[2]; z *= 2)
        for (std::size_t y = 1; y <= sides[1]; y *= 2)
            for (std::size_t x = 1; x <= sides[0]; x *= 2) {
                model::Extent group(x, y, z);
                group.dims = static_cast<unsigned>(dims);
                if (group.count() >= least && group.count() <= most) out.push_back(group.text());
            }
    return out;
}

/// Adds the image's size to the shape. Returns its bytes.
double Bound::add_image(const model::Point& point, const Argument& a, Shape& out) const {
    std::array<std::size_t, 3> size{1, 1, 1};
    for (unsigned d = 0; d < a.parameter.dims; ++d) {
        auto n = static_cast<std::int64_t>(out.global.size[d]);
        if (!a.spec.extent.empty())
            n = value(point, a.spec.extent[d]);
        else if (a.file)
            n = static_cast<std::int64_t>(d == 0 ? a.width : a.height);
        const std::int64_t most = a.parameter.is_buffer_image() ? 1 << 30 : 1 << 20;
        if (n < 1 || n > most)
            refuse(a.spec.place, "size ", d, " of image '", a.parameter.name, "' is ", n, "; expected 1 to ", most);
        size[d] = static_cast<std::size_t>(n);
    }
    out.images[a.parameter.name] = size;
    const auto bytes = size[0] * size[1] * size[2] * a.element.bytes;
    if (a.file && a.file.size() != bytes)
        refuse(a.spec.place, "'", a.spec.path, "' has ", a.file.size(), " bytes, but image '", a.parameter.name,
               "' has ", bytes);
    return static_cast<double>(bytes);
}

/// Adds the length of a buffer or of local memory to the shape. Returns the bytes of a buffer, 0 for local memory.
double Bound::add_buffer(const model::Point& point, const model::Device& device, const Argument& a, Shape& out) const {
    const auto& name = a.parameter.name;
    auto count = static_cast<std::int64_t>(out.global.count());
    if (!a.spec.extent.empty())
        count = value(point, a.spec.extent[0]);
    else if (a.file)
        count = static_cast<std::int64_t>(a.element.count_in(a.file.size()));
    if (count < 1 || static_cast<std::size_t>(count) > most_elements)
        refuse(a.spec.place, "the length of '", name, "' is ", count, "; expected 1 to ", most_elements);
    const auto bytes = a.element.bytes_of(static_cast<std::size_t>(count));
    if (const auto own = std::max<std::size_t>(1, a.parameter.type.bytes);
        a.element.is_packed() && static_cast<std::size_t>(count) % (2 * own) != 0)
        refuse(a.spec.place, "the length of '", name, "' is ", count, " nibbles; it must be a multiple of ", 2 * own,
               ", the nibbles per element of the kernel's type");
    out.counts[name] = static_cast<std::size_t>(count);
    if (a.parameter.kind == Parameter::Kind::local) return 0;
    if (a.file && !a.spec.extent.empty() && bytes != a.file.size())
        refuse(a.spec.place, "'", a.spec.path, "' has ", a.element.count_in(a.file.size()), " elements, but '", name,
               "' has ", count);
    if (device.max_alloc_bytes > 0 && bytes > device.max_alloc_bytes)
        throw Unsupported("buffer '", name, "' needs ", format_bytes(bytes), "; the device allocates at most ",
                          format_bytes(device.max_alloc_bytes), " at once");
    return static_cast<double>(bytes);
}

std::size_t Shape::elements_of(const std::string& argument) const {
    const auto image = images.find(argument);
    if (image != images.end()) return image->second[0] * image->second[1] * image->second[2];
    const auto count = counts.find(argument);
    return count == counts.end() ? 0 : count->second;
}

/// Throws Error(usage) if a file of expected results does not have the size of the result.
void Bound::check_expected(const Shape& shape) const {
    for (const auto& [name, expected] : expected_) {
        const auto bytes = find(name)->element.bytes_of(shape.elements_of(name));
        if (expected.data && expected.data.size() != bytes)
            refuse(expected.place, expected.by, " has ", expected.data.size(), " bytes, but '", name, "' has ", bytes);
    }
}

std::vector<model::Constraint> Bound::constraints() const {
    std::vector<model::Constraint> out;
    for (const auto& line : said_.where)
        out.push_back({line.place().line == 0 ? "--where '" + line.text() + "'"
                                              : "'where " + line.text() + "' (" + line.place().text() + ")",
                       line.names(), [this, line](const model::Point& point) { return value(point, line) != 0; }});
    return out;
}

Shape Bound::shape(const model::Point& point, const model::Device& device) const {
    Shape out;
    for (const auto& line : said_.where)
        if (value(point, line) == 0) throw Unsupported("excluded by 'where ", line.text(), "'");
    if (said_.global) out.global = extent(point, *said_.global, 1, "global");
    add_local(point, device, out);
    if (said_.offset && !code_only_) {
        out.offset = extent(point, *said_.offset, 0, "offset");
        if (out.offset.dims != out.global.dims)
            refuse(said_.offset->first, "offset has ", out.offset.dims, " dimensions, but global has ",
                   out.global.dims);
    }
    for (const auto& a : arguments_) {
        if (a.parameter.kind == Parameter::Kind::image)
            out.work.bytes += add_image(point, a, out);
        else if (a.parameter.is_buffer() || a.parameter.kind == Parameter::Kind::local)
            out.work.bytes += add_buffer(point, device, a, out) * (is_parameter(a.parameter.name) ? 1 : 0);
        else
            value_bytes(point, a);  // throws for a value that does not fit
        check_data(point, a, out.elements_of(a.parameter.name));
    }
    for (const auto& part : parts_) add_part(point, device, part, out);
    check_expected(out);
    out.work.assumed = !said_.work.count("bytes");
    for (const auto& [name, to] : works) {
        const auto amount = said_.work.find(std::string(name));
        if (amount == said_.work.end()) continue;
        out.work.*to = static_cast<double>(value(point, amount->second));
        if (out.work.*to < 0)
            refuse(amount->second.place(), "work ", name, " is ", format_exact(out.work.*to), ", less than 0");
    }
    for (const auto& options : options_) out.options.push_back(substituted(point, options));
    return out;
}

}  // namespace cllab::kernelfile
