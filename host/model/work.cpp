#include "model/work.hpp"

#include <algorithm>
#include <cmath>

#include "core/table.hpp"

namespace cllab::model {
namespace {

constexpr Entry<Declared::What, const char*> chains[] = {{Declared::What::multiply_add, "multiply_add"},
                                                         {Declared::What::integer_multiply, "multiply_add"},
                                                         {Declared::What::load, "load"},
                                                         {Declared::What::local_load, "local_load"},
                                                         {Declared::What::atomic, "atomic"}};

/// The type of the operations declared, else of the axis that chooses one.
std::string type_of(const Setup& setup) {
    for (const auto& d : setup.declared) {
        if (d.what == Declared::What::integer_multiply) return d.bits == 16 ? "ushort" : "uint";
        if (d.what == Declared::What::multiply_add) return d.bits == 64 ? "double" : d.bits == 16 ? "half" : "float";
    }
    return setup.point.has("type") ? setup.point.text("type") : "float";
}

/// How many of `bytes` are read: all, none, or what each buffer's use says where they are every buffer once.
std::optional<double> read_of(const Setup& setup, double bytes) {
    double read = 0, written = 0;
    for (const auto& argument : setup.args) {
        const double size = bytes_of(argument);
        const auto* image = std::get_if<Image>(&argument);
        if (std::holds_alternative<Scratch>(argument) && size > 0) return std::nullopt;
        const bool both = std::holds_alternative<InOut>(argument);
        if (both || std::holds_alternative<Input>(argument) || (image && image->data)) read += size;
        if (both || std::holds_alternative<Output>(argument) || (image && image->comes_out())) written += size;
    }
    constexpr double little = 0.02;
    if (setup.slope) {
        const auto stores = [](const Declared& d) { return d.what == Declared::What::store; };
        const bool only_reads = !setup.declared.empty() && std::ranges::none_of(setup.declared, stores);
        return only_reads ? std::optional(bytes) : std::nullopt;
    }
    if (std::abs(bytes - read - written) <= little * bytes) return read;
    if (written <= little * bytes) return bytes;
    if (read <= little * bytes) return 0.0;
    return std::nullopt;
}

double groups_of(const Extent& global, const Extent& local) {
    if (local.dims == 0) return 0;
    double out = 1;
    for (std::size_t d = 0; d < 3; ++d)
        out *= std::ceil(static_cast<double>(global.size[d]) /
                         static_cast<double>(std::max<std::size_t>(1, local.size[d])));
    return out;
}

}  // namespace

const std::string& name_of(const Argument& argument) {
    return std::visit([](const auto& a) -> const std::string& { return a.name; }, argument);
}

double bytes_of(const Argument& argument) {
    if (const auto* a = std::get_if<Input>(&argument)) return static_cast<double>(a->data.size());
    if (const auto* a = std::get_if<Output>(&argument)) return static_cast<double>(a->size_bytes);
    if (const auto* a = std::get_if<InOut>(&argument)) return static_cast<double>(a->data.size());
    if (const auto* a = std::get_if<Scratch>(&argument)) return static_cast<double>(a->size_bytes);
    if (const auto* a = std::get_if<Image>(&argument))
        return static_cast<double>(a->width * a->height * a->depth * a->format.bytes());
    return 0;
}

bool goes_in_and_out(const Argument& argument) {
    if (const auto* inout = std::get_if<InOut>(&argument)) return inout->by_step != ByStep::up;
    const auto* image = std::get_if<Image>(&argument);
    return image && image->data && image->read_write;
}

std::vector<Step> steps_of(const Setup& setup) {
    if (!setup.steps.empty()) return setup.steps;
    return {Launch{{}, setup.global, setup.local, setup.parameters, setup.offset}};
}

double local_bytes_of(const Setup& setup, const std::vector<std::string>& arguments) {
    double out = 0;
    for (const auto& argument : setup.args) {
        const auto* local = std::get_if<Local>(&argument);
        if (local && (arguments.empty() || std::ranges::count(arguments, local->name) > 0))
            out += static_cast<double>(local->size_bytes);
    }
    return out;
}

std::vector<const Launch*> launches_of(const Setup& setup) {
    std::vector<const Launch*> out;
    for (const auto& step : setup.steps)
        if (const auto* launch = std::get_if<Launch>(&step)) out.push_back(launch);
    return out;
}

WorkInfo work_of(const Setup& setup) {
    WorkInfo out;
    out.bytes = setup.work.bytes;
    out.flops = setup.work.flops;
    out.assumed = setup.work.assumed;
    out.type = type_of(setup);
    if (out.bytes > 0) out.read = read_of(setup, out.bytes);
    for (const auto& argument : setup.args)  // what is written is of each group's own
        if (!setup.shared || std::holds_alternative<Input>(argument)) out.footprint += bytes_of(argument);
    std::vector<Launch> launches;
    for (const auto& step : steps_of(setup))
        if (const auto* launch = std::get_if<Launch>(&step)) launches.push_back(*launch);
    const auto* const only = launches.size() == 1 ? &launches.front() : nullptr;
    if (only) out.groups = groups_of(only->global, only->local);
    if (only && only->local.dims > 0) out.group = static_cast<double>(only->local.count());
    if (!setup.slope) out.launches = static_cast<unsigned>(launches.size());
    out.shared = setup.shared;
    // Instructions are declared of one trip of the loop, which is so many steps; without a slope of the whole kernel.
    const double trips = setup.slope ? 1 / setup.slope->steps_per_trip : 1;
    const double items = only ? static_cast<double>(only->global.count()) : 0;
    const auto sum = [&](Declared::What what, double factor) {
        double all = 0;
        for (const auto& d : setup.declared)
            if (d.what == what)
                all += d.count * factor *
                       (what == Declared::What::local_load || what == Declared::What::local_store ? d.bits / 8.0 : 1);
        return all * trips;
    };
    using enum Declared::What;
    out.atomics = setup.work.atomics + sum(atomic, items);
    out.local_atomics = sum(local_atomic, items);
    out.local_addresses = setup.work.local_addresses;
    out.local_bytes = setup.work.local_bytes + sum(local_load, items) + sum(local_store, items);
    out.barriers = setup.work.barriers + sum(barrier, only ? 1 : 0);
    if (setup.chained && !setup.declared.empty()) {
        out.chain = value_of(chains, setup.declared.front().what, "");
        out.links = setup.slope ? 1 : setup.declared.front().count;
    } else if (setup.work.chain > 0) {
        out.chain = "load";
        out.links = setup.work.chain;
    }
    return out;
}

}  // namespace cllab::model
