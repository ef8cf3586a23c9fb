// A bound kernel at one point: values and data.
#include <algorithm>
#include <cmath>

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
               ", the wrong way round");
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
    const bool bounded = numbers.size() == 2 || out.draw == Draw::constant;  // which has both bounds in one number
    if (out.draw == Draw::normal || (bounded && a.element.is_floating())) {
        if (numbers.empty()) return out;
        refuse_unfit();
        Names names(point, said_.arguments, real_);
        out.low = names.real(numbers[0]), out.high = names.real(numbers.back());
        if (out.draw == Draw::normal && out.high < 0)
            refuse(a.spec.place, "the deviation of '", a.parameter.name, "' is ", format_exact(out.high),
                   ", less than 0");
        if (out.draw != Draw::normal && out.low > out.high) wrong_way(format_exact(out.low), format_exact(out.high));
    } else if (bounded) {
        refuse_unfit();
        out.least = value(point, numbers[0]), out.most = value(point, numbers.back());
        if (out.least > out.most) wrong_way(out.least, out.most);
    } else if (numbers.size() == 1) {
        out.most = value(point, numbers[0]);
        if (const int least = out.draw == Draw::one_hot ? 1 : 0; out.most < least)
            refuse(a.spec.place, cllab::quoted(a.spec.text), " of '", a.parameter.name, "' ends in ", out.most,
                   ", less than ", least);
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
                if (a.spec.kind != Kind::output) image.data = data(point, a, size[0] * size[1] * size[2], seed);
                out.args.push_back(std::move(image));
                break;
            }
            case Parameter::Kind::global:
            case Parameter::Kind::constant:
                if (a.spec.kind == Kind::output)
                    out.args.push_back(model::Output{.name = name,
                                                     .size_bytes = a.element.bytes_of(shape.counts.at(name)),
                                                     .given = "zero:" + std::to_string(shape.counts.at(name))});
                else if (auto bytes = data(point, a, shape.counts.at(name), seed); a.parameter.is_const)
                    out.args.push_back(model::Input{name, std::move(bytes)});
                else
                    out.args.push_back(model::InOut{name, std::move(bytes)});
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
        } else if (std::holds_alternative<model::Output>(setup.args[i])) {
        } else if (const auto* inout = std::get_if<model::InOut>(&setup.args[i])) {
            result.given = inout->data;
        } else {
            continue;
        }
        if (const auto found = expected_.find(result.name); found != expected_.end()) {
            const auto& [by, data, place] = found->second;
            result.may_stay = by.empty();
            if (!result.may_stay) result.expected = data ? data : result.given, result.by = by;
        }
        out.push_back(std::move(result));
    }
    return out;
}

/// Throws Error(usage) for what the relation cannot be about.
void Bound::check_relation(const RelationLine& line) const {
    const auto require = [&](const std::string& name, bool comes_out) {
        const auto* const found = find(name);
        const bool buffer = found && found->parameter.is_buffer();
        const bool fits = buffer && (comes_out ? !found->parameter.is_const : found->spec.kind != Kind::output);
        if (!fits)
            refuse(line.place, "the relation ", cllab::quoted(line.text), " names ", cllab::quoted(name),
                   ", which is no buffer that kernel '", signature_.name, "' ",
                   comes_out ? "writes" : "is given data in");
        const bool is_moved = line.kind == Says::permute || line.kind == Says::any_order;
        if (found->element.is_packed() || (found->element.is_opaque() && !is_moved))
            refuse(line.place, "the relation ", cllab::quoted(line.text), " is about numbers; '", name,
                   "' has elements of type ", found->element.name);
    };
    for (const auto& name : line.from) require(name, line.kind == Says::any_order);
    if (!line.of.empty()) require(line.of, true);
    const auto expected = std::ranges::count_if(line.from, [&](const auto& name) {
        const auto found = expected_.find(name);
        return found != expected_.end() && !found->second.by.empty();
    });
    if (line.kind == Says::any_order && expected > 0 && static_cast<std::size_t>(expected) < line.from.size())
        refuse(line.place, "the relation ", cllab::quoted(line.text), " is about ", line.from.size(),
               " results, of which ", expected, " have a line 'expect'; give all of them one, or none");
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
        // Whoever reads what goes in may know it by any of its names.
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

bool Bound::random_inputs() const { return std::ranges::any_of(arguments_, is_random); }

}  // namespace cllab::kernelfile
