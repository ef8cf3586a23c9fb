#include "kernelfile/proof/relation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

#include "core/grouped.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/data/data.hpp"
#include "kernelfile/proof/proof.hpp"
#include "model/work.hpp"

namespace cllab::kernelfile {
namespace {

using model::Bytes;
using model::ElementType;
using Says = RelationLine::Kind;

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream words(text);
    return {std::istream_iterator<std::string>(words), {}};
}

/// The data of an argument that goes in; null for other arguments.
model::SharedBytes given(const model::Setup& setup, const std::string& name) {
    for (const auto& argument : setup.args) {
        if (const auto* input = std::get_if<model::Input>(&argument); input && input->name == name) return input->data;
        if (const auto* inout = std::get_if<model::InOut>(&argument); inout && inout->name == name) return inout->data;
    }
    return {};
}

/// The same elements in another order. Buffers of the same length get the same order.
model::SharedBytes permuted(const model::SharedBytes& data, const ElementType& type) {
    return {data.size(), [data, type] {
                const auto count = data.size() / type.bytes;
                const auto order = random_order(count, count);
                Bytes out(data.size());
                for (std::size_t i = 0; i < order.size(); ++i)
                    std::memcpy(out.data() + i * type.bytes, data->data() + order[i] * type.bytes, type.bytes);
                return out;
            }};
}

/// Integers a and b, so small that floating-point sums of many are exact.
struct Terms {
    std::vector<std::int64_t> a, b;

    Terms(const ElementType& type, std::size_t lanes, std::uint64_t seed) : a(lanes), b(lanes) {
        Random random(mix64(seed));
        const std::int64_t least = type.kind == ElementType::Kind::unsigned_integer ? 0 : -8;
        for (std::size_t i = 0; i < lanes; ++i) {
            a[i] = static_cast<std::int64_t>(random.below(16));
            b[i] = least + static_cast<std::int64_t>(random.below(16));
        }
    }
};

model::SharedBytes numbers(const ElementType& type, std::size_t size,
                           const std::function<std::int64_t(std::size_t)>& at) {
    Bytes out(size);
    for (std::size_t i = 0; (i + 1) * type.lane_bytes <= size; ++i)
        put_integer(out.data() + i * type.lane_bytes, type, at(i));
    return std::make_shared<const Bytes>(std::move(out));
}

/// The steps of an operation, with `suffix` appended to the names in `own`.
std::vector<model::Step> renamed(const model::Setup& setup, const std::set<std::string>& own,
                                 const std::string& suffix) {
    const auto named = [&](std::string& name) {
        if (own.count(name)) name += suffix;
    };
    auto out = model::steps_of(setup);
    if (auto* only = std::get_if<model::Launch>(&out.front()); setup.steps.empty() && only->args.empty())
        for (const auto& argument : setup.args) only->args.push_back(model::name_of(argument));
    for (auto& step : out) {
        if (auto* launch = std::get_if<model::Launch>(&step)) std::ranges::for_each(launch->args, named);
        if (auto* swap = std::get_if<model::Swap>(&step)) named(swap->a), named(swap->b);
        if (auto* reset = std::get_if<model::Reset>(&step)) named(reset->buffer), named(reset->data);
    }
    return out;
}

/// Adds one more operation, with the data in `replaced` as inputs. Appends `suffix` to the names of these inputs and of
/// the results. `from_zero`: outputs begin with zeros.
void add_operation(model::Setup& to, const model::Setup& setup, const std::string& suffix,
                   const std::map<std::string, model::SharedBytes>& replaced, bool from_zero) {
    std::set<std::string> shared, renamed_here;
    for (const auto& argument : to.args) shared.insert(model::name_of(argument));
    for (auto argument : setup.args) {
        const auto name = model::name_of(argument);
        const auto other = replaced.find(name);
        bool own = true;
        if (auto* output = std::get_if<model::Output>(&argument)) {
            const auto bytes = output->size_bytes;
            output->name += suffix;
            if (from_zero) argument = model::InOut{name + suffix, {bytes, [bytes] { return Bytes(bytes); }}};
        } else if (auto* inout = std::get_if<model::InOut>(&argument)) {
            inout->name += suffix;
            if (other != replaced.end()) inout->data = other->second;
        } else if (auto* image = std::get_if<model::Image>(&argument); image && image->comes_out()) {
            image->name += suffix;
        } else if (auto* input = std::get_if<model::Input>(&argument); input && other != replaced.end()) {
            *input = model::Input{name + suffix, other->second};
        } else {
            own = false;
        }
        if (own) renamed_here.insert(name);
        if (std::ranges::count(setup.svm, name) > 0) add_once(to.svm, model::name_of(argument));
        if (own || shared.insert(name).second) to.args.push_back(std::move(argument));
    }
    for (auto part : setup.parts) {
        if (renamed_here.count(part.of)) renamed_here.insert(part.name), part.name += suffix, part.of += suffix;
        to.parts.push_back(std::move(part));
    }
    for (auto& step : renamed(setup, renamed_here, suffix)) to.steps.push_back(std::move(step));
}

long double lane_number(const std::byte* at, const ElementType& type) {
    if (type.is_floating()) return lane_value(at, type);
    return type.kind == ElementType::Kind::unsigned_integer
               ? static_cast<long double>(unsigned_lane(at, type.lane_bytes))
               : static_cast<long double>(signed_lane(at, type.lane_bytes));
}

struct Sum {
    long double value = 0, rounding = 0;
    long double size = 0;  ///< the sum of absolute values
};

/// The sum of all lanes: exact for integers of up to 32 bits, else with an error of at most `rounding`.
Sum sum_of(std::span<const std::byte> data, const ElementType& type) {
    Sum out;
    for (std::size_t lane = 0; (lane + 1) * type.lane_bytes <= data.size(); ++lane) {
        if (type.lanes == 3 && lane % 4 == 3) continue;
        const auto number = lane_number(data.data() + lane * type.lane_bytes, type);
        out.value += number, out.size += std::fabs(number);
    }
    out.rounding = out.size * static_cast<long double>(data.size()) * std::numeric_limits<long double>::epsilon();
    return out;
}

std::string number_text(long double value) { return format_exact(static_cast<double>(value)); }

std::string broken_sum(const Relation& r, const Sum& found, const ElementType& type) {
    const auto whose = r.line.sum ? "it must be " : "that of " + r.line.from.front() + " ";
    std::string out = "the sum of " + r.line.of + " is " + number_text(found.value) + ", " + whose + number_text(r.sum);
    const auto apart = std::fabs(found.value - r.sum), relative = apart / std::fabs(r.sum);
    if (type.is_floating() && r.sum != 0 && relative < 1e-3L)
        out += ", which 'tolerance relative=" + format_significant(static_cast<double>(relative) * 1.06, 2) + "' takes";
    return out;
}

/// 2 k(a) + k(b), lane by lane.
Bytes combined(std::span<const std::byte> a, std::span<const std::byte> b, const ElementType& type) {
    Bytes out(a.size());
    for (std::size_t at = 0; at + type.lane_bytes <= a.size(); at += type.lane_bytes) {
        if (type.is_floating()) {
            put_real(out.data() + at, type, 2 * lane_value(a.data() + at, type) + lane_value(b.data() + at, type));
        } else {
            const auto sum =
                2 * unsigned_lane(a.data() + at, type.lane_bytes) + unsigned_lane(b.data() + at, type.lane_bytes);
            put_integer(out.data() + at, type, static_cast<std::int64_t>(sum));
        }
    }
    return out;
}

/// The first written element that is not finite: "y[3] is nan". Such elements would satisfy any relation.
std::optional<std::string> not_finite(const std::string& name, std::span<const std::byte> data, const ElementType& type,
                                      std::uint64_t poison_seed) {
    Bytes poison(data.size());
    model::poison(poison, poison_seed);
    const auto look = [&](const std::string& where, const ElementType& lanes, std::size_t begin) {
        std::optional<std::string> out;
        for (std::size_t lane = 0; lanes.is_floating() && (lane + 1) * lanes.lane_bytes <= lanes.bytes; ++lane) {
            const auto* at = data.data() + begin + lane * lanes.lane_bytes;
            const bool padding = lanes.lanes == 3 && lane == 3;
            const bool written = std::memcmp(at, poison.data() + (at - data.data()), lanes.lane_bytes) != 0;
            if (!out && written && !padding && !std::isfinite(lane_value(at, lanes)))
                out = where + " is " + lane_text(at, lanes);
        }
        return out;
    };
    for (std::size_t i = 0; type.bytes > 0 && (i + 1) * type.bytes <= data.size(); ++i) {
        const auto where = name + "[" + std::to_string(i) + "]";
        if (auto out = look(where, type, i * type.bytes)) return out;
        for (const auto& member : type.members)
            if (auto out = look(where + "." + member.name, member.type, i * type.bytes + member.begin)) return out;
    }
    return std::nullopt;
}

/// Throws Error(usage) if arrays with a common order have different lengths.
void check_rows(const RelationLine& line, const model::Setup& setup,
                const std::map<std::string, ElementType>& elements) {
    std::size_t rows = 0;
    for (std::size_t i = 0; i < line.from.size(); ++i) {
        const auto& name = line.from[i];
        const auto argument = std::ranges::find(setup.args, name, model::name_of);
        const auto count = static_cast<std::size_t>(model::bytes_of(*argument)) / elements.at(name).bytes;
        if (i == 0) rows = count / line.arrays[i];
        if (count != rows * line.arrays[i])
            refuse(line.place, "arrays in one order must have the same length; '", line.from.front(), "' has ", rows,
                   " elements, but '", name, "' has ", count, " / ", line.arrays[i]);
    }
}

}  // namespace

RelationLine parse_relation(const std::string& text, const Place& place) {
    const auto words = words_of(text);
    RelationLine out{place, join(words, " ")};
    const auto begins = [&](const std::vector<std::string>& with) {
        return words.size() > with.size() && std::equal(with.begin(), with.end(), words.begin());
    };
    const auto rest = [&](std::size_t from) {
        return join(std::vector<std::string>(words.begin() + static_cast<std::ptrdiff_t>(from), words.end()), " ");
    };
    if (begins({"same", "under", "permute"})) {
        out.kind = Says::permute;
        for (const auto& [name, where] : split_top(rest(3), place, ',')) out.from.push_back(name);
    } else if (begins({"linear", "in"}) && words.size() == 3) {
        out.from = {words[2]};
    } else if (begins({"any", "order", "of"})) {
        out.kind = Says::any_order;
        for (const auto& [item, where] : split_top(rest(3), place, ',')) {
            const auto slash = item.find('/');
            out.from.push_back(trim(item.substr(0, slash)));
            const auto arrays = slash == std::string::npos ? 1 : parse_integer(trim(item.substr(slash + 1)));
            if (!arrays || *arrays < 1)
                refuse(where,
                       "'any order of' takes names, as in 'any order of slots' or "
                       "'any order of points / 3' for 3 arrays in one buffer; found ",
                       cllab::quoted(item));
            out.arrays.push_back(static_cast<std::size_t>(*arrays));
        }
    } else if (const bool is_kept = words.size() == 6 && words[3] == "preserved" && words[4] == "from";
               begins({"sum", "of"}) && words.size() >= 5 && (is_kept || words[3] == "is")) {
        out.kind = Says::sum;
        out.of = words[2];
        if (is_kept)
            out.from = {words[5]};
        else
            out.sum = Expression::parse(rest(4), place);
    } else {
        refuse(place,
               "'relation' takes 'same under permute X', 'linear in X', 'sum of Y preserved from X', "
               "'sum of Y is EXPRESSION' or 'any order of Y'; found ",
               cllab::quoted(text));
    }
    return out;
}

Related relate(const std::vector<RelationLine>& lines, const model::Setup& setup,
               const std::map<std::string, ElementType>& elements,
               const std::function<double(const Expression&)>& value, std::uint64_t seed, bool may_launch) {
    Related out;
    auto launches = std::make_shared<model::Setup>();
    launches->global = setup.global, launches->local = setup.local, launches->offset = setup.offset;
    launches->defines = setup.defines;
    const auto launch = [&](Relation& relation, const std::map<std::string, model::SharedBytes>& data, bool from_zero) {
        relation.launches.push_back("." + std::to_string(launches->steps.size() + 1));
        add_operation(*launches, setup, relation.launches.back(), data, from_zero);
    };
    for (const auto& line : lines) {
        Relation relation{line};
        if (line.kind == Says::any_order) check_rows(line, setup, elements);
        if (line.kind == Says::any_order || (line.kind != Says::sum && !may_launch)) continue;
        if (line.kind == Says::sum && line.sum) {
            relation.sum = value(*line.sum);
        } else if (line.kind == Says::sum) {
            const auto sum = sum_of(*given(setup, line.from.front()), elements.at(line.from.front()));
            relation.sum = sum.value, relation.rounding = sum.rounding;
        } else if (line.kind == Says::permute) {
            std::map<std::string, model::SharedBytes> data;
            const auto count = [&](const std::string& name) {
                return given(setup, name).size() / elements.at(name).bytes;
            };
            for (const auto& name : line.from) {
                if (count(name) != count(line.from.front()))
                    refuse(line.place, "arrays with one permutation must have the same length; '", line.from.front(),
                           "' has ", count(line.from.front()), " elements, but '", name, "' has ", count(name));
                data[name] = permuted(given(setup, name), elements.at(name));
            }
            launch(relation, data, false);
        } else {
            const auto& name = line.from.front();
            const auto& type = elements.at(name);
            const auto size = given(setup, name).size();
            const Terms terms(type, size / type.lane_bytes, seed);
            for (const auto& at : std::vector<std::function<std::int64_t(std::size_t)>>{
                     [&](std::size_t i) { return terms.a[i]; }, [&](std::size_t i) { return terms.b[i]; },
                     [&](std::size_t i) { return 2 * terms.a[i] + terms.b[i]; }})
                launch(relation, {{name, numbers(type, size, at)}}, true);
        }
        out.relations.push_back(std::move(relation));
    }
    if (!launches->steps.empty()) out.launches = std::move(launches);
    return out;
}

std::optional<std::string> broken(const Relation& r, const std::vector<Result>& results, const model::Buffers& buffers,
                                  model::Errors& errors) {
    const auto sentence = [&](const std::string& how) {
        return "the relation '" + r.line.text + "' does not hold: " + how;
    };
    for (const auto& result : results) {
        const auto of = [&](std::size_t launch) -> std::span<const std::byte> {
            return buffers.expected->at(result.name + r.launches[launch]);
        };
        if (r.line.kind == Says::sum) {
            if (result.name != r.line.of) continue;
            const auto& data = buffers.data.at(result.name);
            if (const auto no_number = not_finite(result.name, data, result.type, buffers.poison_seed))
                return sentence(*no_number);
            const auto found = sum_of(data, result.type);
            const auto apart = std::fabs(found.value - r.sum);
            if (apart <= r.rounding + found.rounding) continue;
            if (apart <= errors.allowed().absolute || apart <= errors.allowed().relative * std::fabs(r.sum)) continue;
            return sentence(broken_sum(r, found, result.type));
        }
        const bool permutes = r.line.kind == Says::permute;
        for (std::size_t launch = 0; launch < r.launches.size(); ++launch)
            if (const auto no_number = not_finite(result.name, of(launch), result.type, buffers.poison_seed))
                return sentence(*no_number + (permutes
                                                  ? " with " + join(r.line.from, ", ") + " permuted"
                                                  : concat(" of k(", std::array{"a", "b", "2a + b"}.at(launch), ")")));
        const auto expected = permutes ? Bytes(of(0).begin(), of(0).end()) : combined(of(0), of(1), result.type);
        const auto found = permutes ? buffers.data.at(result.name) : of(2);
        const auto whose =
            permutes ? "with " + join(r.line.from, ", ") + " permuted it has" : std::string("2 k(a) + k(b) has");
        if (const auto wrong = difference(result.name, found, expected, result.type, errors, whose, true))
            return sentence((permutes ? "" : "of k(2a + b) ") + *wrong);
    }
    return std::nullopt;
}

bool tells_nothing(const Relation& r, const std::vector<Result>& results, const model::Buffers& buffers) {
    return r.line.kind == Says::linear && std::ranges::all_of(results, [&](const Result& result) {
               return sum_of(buffers.expected->at(result.name + r.launches.back()), result.type).size == 0;
           });
}

}  // namespace cllab::kernelfile
