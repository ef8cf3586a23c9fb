// Arrays of structs whose fields each have a rule.
#include <algorithm>
#include <cstring>

#include "core/text.hpp"
#include "kernelfile/bound.hpp"
#include "kernelfile/data/structs.hpp"

namespace cllab::kernelfile {

using Kind = ArgumentSpec::Kind;

/// Types that lines give the fields of a struct hold for every argument of that struct.
void Bound::declare_structs() {
    for (const auto& parameter : signature_.parameters) {
        const auto said = said_.arguments.find(parameter.name);
        if (said == said_.arguments.end() || said->second.kind != Kind::rules) continue;
        std::vector<model::Member> members;
        for (const auto& rule : said->second.rules)
            for (auto& member : members_in(rule.declaration)) members.push_back(std::move(member));
        const auto type = parameter.type;
        if (members.empty() || !type.is_opaque() || type.bytes == 0) continue;
        lay_out(members);
        if (bytes_of(members) != type.bytes)
            refuse(said->second.place, described(parameter), " with ", type.bytes, " bytes on the device; ",
                   cllab::quoted(said->second.text), " makes ", bytes_of(members),
                   "; each field of the struct is named, in its order");
        for (auto& other : signature_.parameters)
            if (other.type.name == type.name) other.type.members = members;
    }
}

/// Each field as an argument of its own.
void Bound::bind_members(Argument& a) const {
    const bool uniform = a.spec.kind == Kind::drawn && a.spec.draw == Draw::uniform;
    if (a.spec.kind != Kind::rules && !uniform) return;
    const auto& members = a.element.members;
    const auto& rules = a.spec.rules;
    if (members.empty() && uniform) return;
    if (members.empty())
        refuse(a.spec.place, described(a.parameter),
               a.element.is_opaque() ? ", of which the text does not tell the fields; give their types, as in "
                                       "fields:n:{float3 position:rand, int id:iota}"
                                     : ", which has no fields; write e.g. rand:1024");
    const auto name_of = [](const model::Member& m) { return m.name.substr(0, m.name.find('[')); };
    for (const auto& rule : rules)
        if (std::ranges::find(members, rule.name, name_of) == members.end())
            refuse(a.spec.place, named(a.parameter), " has no field '", rule.name, "'; there are ",
                   join(members, ", ", [](const auto& m) { return m.name; }));
    for (const auto& member : members) {
        const auto rule = std::ranges::find(rules, name_of(member), &FieldRule::name);
        Argument one{a.parameter, rule == rules.end() ? ArgumentSpec{a.spec.place, "rand", Kind::drawn} : rule->drawn,
                     member.type};
        one.parameter.name += "." + member.name;
        one.drawn_as = a.drawn_as + "." + member.name;
        one.begin = member.begin;
        a.members.push_back(std::move(one));
    }
}

model::SharedBytes Bound::structs(const model::Point& point, const Argument& a, std::size_t count,
                                  std::uint64_t seed) const {
    struct Column {
        std::size_t begin, width;
        model::SharedBytes data;
    };
    std::vector<Column> columns;
    for (const auto& member : a.members)
        columns.push_back({member.begin, member.element.bytes, data(point, member, count, seed)});
    const auto stride = a.element.bytes;
    return {count * stride, [columns, count, stride] {
                model::Bytes out(count * stride);
                for (const auto& [begin, width, data] : columns)
                    for (std::size_t i = 0; i < count; ++i)
                        std::memcpy(out.data() + i * stride + begin, data->data() + i * width, width);
                return out;
            }};
}

bool Bound::is_random(const Argument& a) {
    return a.members.empty() ? a.spec.is_random() : std::ranges::any_of(a.members, is_random);
}

}  // namespace cllab::kernelfile
