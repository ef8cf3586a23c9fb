// A bound kernel at one point: extents, values and data.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/random.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/bound.hpp"
#include "kernelfile/data.hpp"
#include "kernelfile/names.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;
using model::Image;
using model::Parameter;
using Kind = ArgumentSpec::Kind;

constexpr std::size_t most_elements = std::size_t{1} << 40;

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
    return Names(point, given_, real_).whole(expression);
}

std::string Bound::substituted(const model::Point& point, const std::string& options) const {
    return substitute(options, [&](const std::string& inside) {
        if (point.has(inside)) return point.text(inside);
        return std::to_string(value(point, Expression::parse(inside, {where_ + ": options '" + options + "'", 0, 0})));
    });
}

model::Extent Bound::extent(const model::Point& point, const std::pair<Place, std::vector<Expression>>& list,
                            std::int64_t least, const char* what) const {
    model::Extent out;
    out.dims = static_cast<unsigned>(list.second.size());
    std::size_t count = 1;
    for (std::size_t d = 0; d < list.second.size(); ++d) {
        const auto size = value(point, list.second[d]);
        if (size < least)
            refuse(list.second[d].place(), std::string(what) + " size " + std::to_string(d) + " is " +
                                               std::to_string(size) + " ('" + list.second[d].text() +
                                               "'); it is at least " + std::to_string(least));
        out.size[d] = static_cast<std::size_t>(size);
        if (least > 0 && (__builtin_mul_overflow(count, out.size[d], &count) || count > most_elements))
            refuse(list.first, std::string(what) + " is " + out.text() + ", more work-items than can be");
    }
    return out;
}

Shape Bound::shape(const model::Point& point, const model::Device& device) const {
    Shape out;
    out.global = extent(point, *global_, 1, "global");
    if (local_) {
        out.local = extent(point, *local_, 1, "local");
        if (out.local.dims != out.global.dims)
            refuse(local_->first, "local has " + std::to_string(out.local.dims) + " dimensions, global " +
                                      std::to_string(out.global.dims));
        for (unsigned d = 0; d < out.local.dims; ++d) {
            if (out.global.size[d] % out.local.size[d] != 0) {
                const auto l = std::to_string(out.local.size[d]);
                refuse(local_->first, "global " + out.global.text() + " is not a multiple of local " +
                                          out.local.text() + "; write global e.g. as ceil(" +
                                          global_->second[d].text() + " / " + l + ") * " + l);
            }
            const auto promised = signature_.required_group[d];
            if (signature_.required_group[0] > 0 && out.local.size[d] != promised)
                refuse(local_->first, "local is " + out.local.text() + ", but kernel '" + signature_.name +
                                          "' requires " + std::to_string(signature_.required_group[0]) + "x" +
                                          std::to_string(signature_.required_group[1]) + "x" +
                                          std::to_string(signature_.required_group[2]));
        }
    }
    if (offset_) {
        out.offset = extent(point, *offset_, 0, "offset");
        if (out.offset.dims != out.global.dims)
            refuse(offset_->first, "offset has " + std::to_string(out.offset.dims) + " dimensions, global " +
                                       std::to_string(out.global.dims));
    }
    double moved = 0;
    for (const auto& a : arguments_) {
        const auto& name = a.parameter.name;
        if (!code_only_) check_data(point, a);
        if (a.parameter.kind == Parameter::Kind::image) {
            std::array<std::size_t, 3> size{1, 1, 1};
            for (unsigned d = 0; d < a.parameter.dims; ++d) {
                std::int64_t n = 0;
                if (code_only_)
                    n = 1;
                else if (!a.spec.extent.empty())
                    n = value(point, a.spec.extent[d]);
                else if (a.file)
                    n = static_cast<std::int64_t>(d == 0 ? a.width : a.height);
                else
                    n = static_cast<std::int64_t>(out.global.size[d]);
                if (n < 1 || n > 1 << 20)
                    refuse(a.spec.place, "size " + std::to_string(d) + " of image '" + name + "' is " +
                                             std::to_string(n) + "; possible are 1 to 1048576");
                size[d] = static_cast<std::size_t>(n);
            }
            out.images[name] = size;
            moved += static_cast<double>(size[0]) * static_cast<double>(size[1] * size[2] * a.element.bytes);
            continue;
        }
        if (!is_pointer(a.parameter) && a.parameter.kind != Parameter::Kind::local) {
            value_bytes(point, a);  // refuses what does not fit
            continue;
        }
        std::int64_t count = static_cast<std::int64_t>(out.global.count());
        if (code_only_ && a.parameter.kind != Parameter::Kind::local)
            count = 1;
        else if (!a.spec.extent.empty())
            count = value(point, a.spec.extent[0]);
        else if (a.file)
            count = static_cast<std::int64_t>(a.file.size() / a.element.bytes);
        if (count < 1 || static_cast<std::size_t>(count) > most_elements)
            refuse(a.spec.place, "the length of '" + name + "' is " + std::to_string(count) + "; possible are 1 to " +
                                     std::to_string(most_elements));
        const auto bytes = static_cast<std::size_t>(count) * a.element.bytes;
        out.counts[name] = static_cast<std::size_t>(count);
        if (a.parameter.kind == Parameter::Kind::local || code_only_) continue;
        if (a.file && a.spec.extent.empty() == false && bytes != a.file.size())
            refuse(a.spec.place, "'" + a.spec.path + "' has " + std::to_string(a.file.size() / a.element.bytes) +
                                     " elements, '" + name + "' " + std::to_string(count));
        if (device.max_alloc_bytes > 0 && bytes > device.max_alloc_bytes)
            throw Unsupported("'" + name + "' needs " + format_bytes(bytes) + "; the device allocates " +
                              format_bytes(device.max_alloc_bytes) + " at once");
        moved += static_cast<double>(bytes);
    }
    for (const auto& [name, expected] : expected_) {
        if (code_only_) break;
        const auto found =
            std::ranges::find_if(arguments_, [&n = name](const auto& a) { return a.parameter.name == n; });
        const auto image = out.images.find(name);
        const auto elements =
            image == out.images.end() ? out.counts.at(name) : image->second[0] * image->second[1] * image->second[2];
        if (expected.data.size() != elements * found->element.bytes)
            refuse(expected.place, "'" + expected.file + "' has " + std::to_string(expected.data.size()) + " bytes, '" +
                                       name + "' " + std::to_string(elements * found->element.bytes));
    }
    out.work.bytes = moved;
    out.work.assumed = !work_.count("bytes");
    for (const auto& [name, to] : works) {
        const auto amount = work_.find(std::string(name));
        if (amount == work_.end()) continue;
        out.work.*to = static_cast<double>(value(point, amount->second));
        if (out.work.*to < 0) refuse(amount->second.place(), "the work is negative");
    }
    for (const auto& options : options_) out.options.push_back(substituted(point, options));
    return out;
}

void Bound::put_number(std::byte* to, const ElementType& type, const model::Point& point,
                       const Expression& number) const {
    const auto unfit = [&](const std::string& value) {
        refuse(number.place(), "the value " + value + " does not fit the type " + type.name);
    };
    if (type.kind == ElementType::Kind::floating) {
        const auto real = Names(point, given_, real_).real(number);
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
    const auto put = [&](model::Bytes& out, std::size_t at, const ElementType& type,
                         const std::vector<Expression>& numbers) {
        for (std::size_t lane = 0; lane < type.lanes; ++lane)
            put_number(out.data() + at + lane * type.lane_bytes, type, point, numbers[numbers.size() == 1 ? 0 : lane]);
    };
    if (a.spec.kind == Kind::numbers) {
        model::Bytes out(a.parameter.type.bytes);
        put(out, 0, a.parameter.type, a.spec.numbers);
        return out;
    }
    model::Bytes out;
    std::size_t align = 1;
    for (const auto& [name, numbers] : a.spec.fields) {
        const auto field = *model::builtin_type(name);
        align = std::max(align, field.bytes);
        const auto at = (out.size() + field.bytes - 1) / field.bytes * field.bytes;
        out.resize(at + field.bytes);
        put(out, at, field, numbers);
    }
    out.resize((out.size() + align - 1) / align * align);
    return out;
}

model::Bytes Bound::constant(const model::Point& point, const Argument& a) const {
    model::Bytes out(a.element.lane_bytes);
    put_number(out.data(), a.element, point, a.spec.numbers[0]);
    return out;
}

Bounds Bound::bounds(const model::Point& point, const Argument& a) const {
    Bounds out;
    const bool signed_bytes = a.element.lane_bytes == 1 && a.element.kind == ElementType::Kind::signed_integer;
    if (signed_bytes) out.most = 127;
    if (a.spec.numbers.size() != 2) return out;
    const auto wrong_way = [&](const std::string& low, const std::string& high) {
        refuse(a.spec.place,
               "the bounds of '" + a.parameter.name + "' are " + low + " and " + high + ", the wrong way round");
    };
    model::Bytes low(a.element.lane_bytes), high(a.element.lane_bytes);
    put_number(low.data(), a.element, point, a.spec.numbers[0]);
    put_number(high.data(), a.element, point, a.spec.numbers[1]);
    if (a.element.kind == ElementType::Kind::floating) {
        Names names(point, given_, real_);
        out.low = names.real(a.spec.numbers[0]), out.high = names.real(a.spec.numbers[1]);
        if (out.low > out.high) wrong_way(format_exact(out.low), format_exact(out.high));
    } else {
        out.least = value(point, a.spec.numbers[0]), out.most = value(point, a.spec.numbers[1]);
        if (out.least > out.most) wrong_way(std::to_string(out.least), std::to_string(out.most));
    }
    return out;
}

void Bound::check_data(const model::Point& point, const Argument& a) const {
    if (a.spec.kind == Kind::random) bounds(point, a);
    if (a.spec.kind == Kind::constant) constant(point, a);
}

model::SharedBytes Bound::data(const model::Point& point, const Argument& a, std::size_t count,
                               std::uint64_t seed) const {
    if (a.file) return a.file;
    const auto& type = a.element;
    if (a.spec.kind == Kind::random) {
        std::uint64_t name = 0;
        for (const char c : a.parameter.name) name = mix64(name ^ static_cast<unsigned char>(c));
        return random_data(type, count, seed ^ name, bounds(point, a));
    }
    const auto size = count * type.bytes;
    if (a.spec.kind == Kind::zero || type.kind == ElementType::Kind::opaque)
        return {size, [size] { return model::Bytes(size); }};
    const bool counting = a.spec.kind == Kind::counting;
    const auto value = counting ? model::Bytes() : constant(point, a);
    return {size, [=] {
                model::Bytes out(size);
                for (std::size_t i = 0; i < size / type.lane_bytes; ++i) {
                    auto* to = out.data() + i * type.lane_bytes;
                    if (counting)
                        put_integer(to, type, static_cast<std::int64_t>(i * type.lane_bytes / type.bytes));
                    else
                        std::memcpy(to, value.data(), type.lane_bytes);
                }
                return out;
            }};
}

model::Setup Bound::setup(const model::Point& point, const Shape& shape, std::uint64_t seed) const {
    model::Setup out;
    for (const auto& a : arguments_) {
        const auto& name = a.parameter.name;
        switch (a.parameter.kind) {
            case Parameter::Kind::local:
                out.args.push_back(model::Local{name, shape.counts.at(name) * a.element.bytes});
                break;
            case Parameter::Kind::sampler: {
                model::Sampler sampler{name};
                for (const auto& word : a.spec.words) {
                    using Outside = model::Sampler::Outside;
                    if (word == "linear") sampler.linear = true;
                    if (word == "normalized") sampler.normalised = true;
                    if (word == "edge") sampler.outside = Outside::edge;
                    if (word == "zero") sampler.outside = Outside::zero;
                    if (word == "repeat") sampler.outside = Outside::repeat;
                    if (word == "mirror") sampler.outside = Outside::mirror;
                    if (word == "none") sampler.outside = Outside::undefined;
                }
                out.args.push_back(sampler);
                break;
            }
            case Parameter::Kind::image: {
                const auto& size = shape.images.at(name);
                model::Image image{name, size[0], size[1], a.format, nullptr, size[2], a.parameter.dims};
                if (!a.parameter.writes) image.data = data(point, a, size[0] * size[1] * size[2], seed);
                out.args.push_back(std::move(image));
                break;
            }
            case Parameter::Kind::global:
            case Parameter::Kind::constant:
                if (a.spec.kind == Kind::output)
                    out.args.push_back(model::Output{.name = name,
                                                     .size_bytes = shape.counts.at(name) * a.element.bytes,
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
    out.global = shape.global;
    out.local = shape.local;
    out.offset = shape.offset;
    out.work = shape.work;
    out.defines = shape.options;
    return out;
}

std::vector<Result> Bound::results(const model::Setup& setup) const {
    std::vector<Result> out;
    for (std::size_t i = 0; i < setup.args.size(); ++i) {
        const auto& a = arguments_[i];
        Result result{a.parameter.name, a.element};
        if (const auto* image = std::get_if<model::Image>(&setup.args[i]); image && !image->data) {
        } else if (std::holds_alternative<model::Output>(setup.args[i])) {
        } else if (const auto* inout = std::get_if<model::InOut>(&setup.args[i])) {
            result.given = inout->data;
        } else {
            continue;
        }
        if (const auto found = expected_.find(result.name); found != expected_.end())
            result.expected = found->second.data, result.file = found->second.file;
        out.push_back(std::move(result));
    }
    return out;
}

bool Bound::random_inputs() const {
    return std::ranges::any_of(arguments_, [](const auto& a) { return a.spec.kind == Kind::random; });
}

}  // namespace cllab::kernelfile
