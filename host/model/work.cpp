#include "model/work.hpp"

#include <algorithm>
#include <cmath>

#include "core/hash.hpp"
#include "core/table.hpp"
#include "core/units.hpp"

namespace cllab::model {
namespace {

constexpr Entry<Declared::What, const char*> chains[] = {{Declared::What::multiply_add, "multiply_add"},
                                                         {Declared::What::integer_multiply, "multiply_add"},
                                                         {Declared::What::load, "load"},
                                                         {Declared::What::local_load, "local_load"},
                                                         {Declared::What::atomic, "atomic"}};

/// The type of the declared operations, else the value of the axis `type`, else float.
std::string type_of(const Setup& setup) {
    for (const auto& d : setup.declared) {
        if (d.what == Declared::What::integer_multiply) return d.bits == 16 ? "ushort" : "uint";
        if (d.what == Declared::What::multiply_add) return d.bits == 64 ? "double" : d.bits == 16 ? "half" : "float";
    }
    return setup.point.has("type") ? setup.point.text("type") : "float";
}

/// How many of `bytes` are read: as declared, all, none, or by each buffer's use if every buffer is accessed once.
std::optional<double> read_of(const Setup& setup, double bytes) {
    if (setup.work.stored > 0) return bytes - setup.work.stored;
    double read = 0, written = 0;
    for (const auto& argument : setup.args) {
        const double size = bytes_of(argument);
        const auto* image = std::get_if<Image>(&argument);
        if (std::holds_alternative<Scratch>(argument) && size > 0) return std::nullopt;
        const bool both = std::holds_alternative<InOut>(argument);
        if (both || std::holds_alternative<Input>(argument) ||
            (image && image->data && (image->read_write || !image->in_out)))
            read += size;
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
    return image && image->data && image->in_out;
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
    for (const auto& argument : setup.args)  // if shared, only inputs: each group writes its own part
        if (!setup.shared || std::holds_alternative<Input>(argument)) out.footprint += bytes_of(argument);
    if (setup.work.stored > 0) out.footprint = std::min(out.footprint, out.bytes);  // uses parts of the buffers
    std::vector<Launch> launches;
    for (const auto& step : steps_of(setup))
        if (const auto* launch = std::get_if<Launch>(&step)) launches.push_back(*launch);
    const auto* const only = launches.size() == 1 ? &launches.front() : nullptr;
    if (only) out.groups = groups_of(only->global, only->local);
    if (only && only->local.dims > 0) out.group = static_cast<double>(only->local.count());
    if (!setup.slope) out.launches = static_cast<unsigned>(launches.size());
    out.shared = setup.shared;
    // Instructions are declared per trip of the loop, i.e. per steps_per_trip steps; without a slope, for the whole
    // kernel.
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

// The hash of a cell's launches: work.hpp.

namespace {

/// A text that is equal for equal setups.
class Words {
public:
    Words(const Setup& setup, Contents contents) : setup_(setup), contents_(contents) {
        for (const auto& one : setup.args) std::visit([&](const auto& a) { argument(a); }, one);
        extents(setup.global, setup.local, setup.offset);
        for (const auto& one : setup.steps) std::visit([&](const auto& s) { step(s); }, one);
        for (const bool b : {setup.accumulates, setup.blocking}) put(b);
        put(static_cast<int>(setup.transfer));
        for (const auto& name : setup.reset) all("reset ", place(name));
        for (const auto& name : setup.parameters) all("given ", place(name));
        for (const auto& part : setup.parts) all("part ", place(part.of), part.origin_bytes, part.size_bytes);
        for (const auto& name : setup.svm) all("svm ", place(name));
    }
    const std::string& text() const { return text_; }

private:
    void put(const std::string& word) { text_ += concat(word.size(), ":", word); }
    void put(std::size_t number) { text_ += concat(number, ","); }
    void put(int number) { text_ += concat(number, ","); }
    void put(bool flag) { text_ += flag ? "1," : "0,"; }
    template <typename... T>
    void all(const char* kind, const T&... values) {
        text_ += kind;
        (put(values), ...);
    }
    void extents(const Extent& global, const Extent& local, const Extent& offset) {
        for (const auto* e : {&global, &local, &offset}) {
            put(static_cast<int>(e->dims));
            for (const auto n : e->size) put(n);
        }
    }
    /// Index of the argument with this name.
    std::size_t place(const std::string& name) const {
        const auto found = std::ranges::find(setup_.args, name, name_of);
        return static_cast<std::size_t>(found - setup_.args.begin());
    }

    std::size_t digest(const SharedBytes& data) const {
        return data && contents_ == Contents::taken ? cllab::digest(*data) : 0;
    }

    void argument(const Input& a) { all("input ", a.data.size(), digest(a.data)); }
    void argument(const InOut& a) { all("both ", a.data.size(), digest(a.data)); }
    void argument(const Output& a) { all("output ", a.size_bytes); }
    void argument(const Scratch& a) { all("scratch ", a.size_bytes); }
    void argument(const Local& a) { all("local ", a.size_bytes); }
    void argument(const Value& a) {
        // A family may draw the value from the seed. If it depends on axes, the point identifies it.
        if (contents_ == Contents::left_out) return all("value ", a.data.size());
        all("value ", std::string(reinterpret_cast<const char*>(a.data.data()), a.data.size()));
    }
    void argument(const Image& a) {
        all("image ", a.width, a.height, a.depth, static_cast<int>(a.dims), a.is_array, a.format.name(),
            static_cast<bool>(a.data), digest(a.data));
        const bool both = a.read_write || a.in_out;
        if (a.of_buffer || both) all("kind ", a.of_buffer, both);
    }
    void argument(const Sampler& a) { all("sampler ", a.normalised, a.linear, static_cast<int>(a.outside)); }

    void step(const Launch& s) {
        all("launch ", static_cast<int>(s.queue));
        extents(s.global, s.local, s.offset);
        for (const auto& name : s.args) put(place(name));
    }
    void step(const Upload& s) { all("up ", place(s.buffer), s.piece_bytes, static_cast<int>(s.queue)); }
    void step(const Download& s) { all("down ", place(s.buffer), static_cast<int>(s.queue)); }
    void step(const Swap& s) { all("swap ", place(s.a), place(s.b)); }
    void step(const Reset& s) { all("reset ", place(s.buffer), place(s.data)); }
    void step(const HostLoop&) { all("host "); }

    const Setup& setup_;
    Contents contents_;
    std::string text_;
};

}  // namespace

std::string launch_identity(const Setup& setup, Contents contents) { return sha256_hex(Words(setup, contents).text()); }

}  // namespace cllab::model
