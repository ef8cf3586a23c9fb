// Scalars, from their names and from the number of work-items that do something while a scalar is small.
#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/guess/kernel_guess.hpp"

namespace cllab::kernelfile {

using Meaning = ScalarName::Meaning;
using model::Parameter;

namespace {

/// The first rule that fits decides: a "filter width" is no width, and an "iteration count" is no count.
struct NameRule {
    std::string_view words;  ///< with blanks around each word
    ScalarName is;
};

constexpr NameRule name_rules[] = {
    {" offset offsets off ofs start begin base origin first shift phase ", {Meaning::value, -1, 0}},
    {" t i j id idx index seed inc incx incy step order border pad padding halo dilation sign pass stage "
     "level axis mode flag flags ",
     {Meaning::value, -1, 1}},
    {" stride strides pitch ld lda ldb ldc ldd ldx ldy spacing inner inside ", {Meaning::stride, 0, 1}},
    {" local group workgroup wg wgsize localsize groupsize tile block blocksize ", {Meaning::group, 0, 1}},
    {" radius rad ", {Meaning::value, -1, 2}},
    {" filter ksize kernel window mask taps ntaps fsize ", {Meaning::value, -1, 3}},
    {" iter iters iteration iterations niter niters maxiter maxit steps nsteps samples nsamples repeat "
     "repeats rounds loops ",
     {Meaning::value, -1, 16}},
    {" bins nbins buckets histogram colors colours vocab ", {Meaning::value, -1, 256}},
    {" channels channel components planes bands cn nc ", {Meaning::value, -1, 4}},
    {" batch batches heads clusters nclusters classes groups features nfeatures degree neighbors neighbours "
     "factor scale batchsize ",
     {Meaning::value, -1, 4}},
    {" width w cols col columns ncols ncol nx ni xsize dimx sizex x xdim wid xres imgw ", {Meaning::size, 0}},
    {" height h rows row nrows nrow ny nj ysize dimy sizey y ydim hgt yres imgh ", {Meaning::size, 1}},
    {" depth slices nz zsize dimz sizez z zdim ", {Meaning::size, 2}},
    {" n m k nk nl num count cnt size len length total elements elems nelems numel items nitems dim facts.dimensions "
     "points npoints particles bodies nbodies vertices nodes edges samplecount limit max end last nnz "
     "nelements numelements pixels npixels ne shape ",
     {Meaning::size}},
};

/// The words of a name, split at changes of case and at other characters than letters: max, iter for "maxIter_2".
std::vector<std::string> words_of_name(const std::string& name) {
    std::vector<std::string> out(1);
    bool lower_before = false;
    for (const char c : name) {
        const auto u = static_cast<unsigned char>(c);
        if (!std::isalpha(u) || (std::isupper(u) && lower_before)) out.emplace_back();
        if (std::isalpha(u)) out.back() += static_cast<char>(std::tolower(u));
        lower_before = std::islower(u) != 0;
    }
    std::erase_if(out, [](const auto& word) { return word.empty(); });
    return out;
}

void add_scalar(std::vector<Scalar>& scalars, const Parameter& p, const model::ElementType& type,
                const std::string& word, int dimension = -1) {
    auto& out = scalars.emplace_back(Scalar{&p, type, scalar_name(word), word});
    if (type.is_floating()) {
        out.name = {Meaning::value};
        const auto words = words_of_name(word);
        const bool tiny = std::ranges::any_of(
            words, [](const auto& w) { return w.starts_with("eps") || w.starts_with("tol") || w == "softening"; });
        out.value = tiny ? "0.001" : "0.5";
        return;
    }
    if (dimension >= 0 && out.is_size()) out.name.dimension = dimension;
    out.value = std::to_string(out.name.value);
}

/// Adds the lanes of a vector, or the fields of a struct. Adds nothing for a struct with an array: the user is asked.
void add_parts(std::vector<Scalar>& scalars, const Parameter& p) {
    if (!p.type.is_opaque()) {
        for (std::size_t lane = 0; lane < (p.type.is_floating() ? 1 : p.type.lanes); ++lane)
            add_scalar(scalars, p, p.type, p.name, p.type.lanes > 1 ? static_cast<int>(lane) : -1);
        return;
    }
    const auto& fields = p.type.members;
    if (std::ranges::any_of(fields, [](const auto& field) { return field.name.ends_with("]"); })) return;
    for (const auto& field : fields) add_scalar(scalars, p, field.type, field.name);
}

/// A `k` without an `m` is no side of a matrix. It counts the steps of a loop in the host's code.
void name_steps(std::vector<Scalar>& scalars) {
    const auto is_called = [](const Scalar& s, const char* word) {
        return words_of_name(s.word) == std::vector<std::string>{word};
    };
    const auto is_m = [&](const auto& s) { return is_called(s, "m"); };
    if (std::ranges::any_of(scalars, is_m) || std::ranges::count_if(scalars, &Scalar::is_size) < 2) return;
    for (auto& scalar : scalars)
        if (is_called(scalar, "k") && scalar.is_size()) scalar.name = {Meaning::value};
}

bool has_axis(const std::vector<SizeAxis>& axes, const std::string& name) {
    return std::ranges::find(axes, name, &SizeAxis::name) != axes.end();
}

/// Scalars, as places in Arguments::scalars, with small values.
using Scalars = std::vector<std::pair<std::size_t, std::int64_t>>;

/// For each dimension, the scalar that limits its work-items at these values, if any. `products`: the limit may also
/// be the product of the two scalars.
Bounds bounds_with(const KernelFacts& facts, Samples trial, std::int64_t axis_size, const Scalars& tried,
                   bool products) {
    auto& shape = trial.shape;
    const auto product = products ? tried[0].second * tried[1].second : 0;
    const auto most = 4 + (products ? product : std::ranges::max(tried, {}, &Scalars::value_type::second).second);
    for (const auto& [scalar, value] : tried) shape.scalars[scalar].value = std::to_string(value);
    for (unsigned d = 0; d < facts.dimensions; ++d) {
        const auto group = d < shape.local.size() ? shape.local[d] : 1;
        shape.global.push_back(std::to_string((most + group - 1) / group * group));
    }
    for (auto& scalar : shape.scalars)
        if (scalar.name.meaning == Meaning::stride) scalar.value = std::to_string(most);
    const auto seen = facts.launch(small_launch(facts, trial, Extents(shape.axes.size(), axis_size)));
    Bounds out;
    if (!seen.trouble.empty() || seen.too_long) return out;
    for (unsigned d = 0; d < facts.dimensions; ++d) {
        const auto ends = seen.items[d];
        if (ends == 0 || ends >= *parse_integer(shape.global[d])) continue;
        for (const std::int64_t divisor : {1, 4, 2, 8, 16, 3})
            for (const std::int64_t less : {0, 1, 2, 3})
                for (const auto& [scalar, value] : tried)
                    if (out[d].scalars.empty() && ends == (value - less + divisor - 1) / divisor &&
                        (less == 0 || divisor == 1))
                        out[d] = {{scalar}, divisor};
        if (products && ends == product) out[d] = {{tried[0].first, tried[1].first}, 1};
    }
    return out;
}

/// The step shape_of().
struct ShapeOf {
    const KernelFacts& facts;
    LaunchShape out;

    LaunchShape with(const Bounds& bounds) {
        out.global.resize(facts.dimensions);
        for (unsigned d = 0; d < facts.dimensions; ++d)
            if (!facts.said.global.empty())
                set_given(d, facts.said.global[d]);
            else if (!bounds[d].scalars.empty())
                set_bounded(d, bounds[d]);
        const bool asks_for_items = facts.by_text || facts.calls_any({"get_global_id", "get_local_id", "get_group_id",
                                                                      "get_global_linear_id", "get_local_linear_id"});
        for (unsigned d = 0; d < facts.dimensions; ++d)
            if (out.global[d].empty() && !asks_for_items && out.group_multiple() == 1)
                out.global[d] = "1";
            else if (out.global[d].empty())
                out.global[d] = unbounded(d);
        set_other_scalars();
        return out;
    }

    /// The result keeps a number that the user gave. If it is not 1, it becomes an axis, so that small launches can use
    /// smaller sizes.
    void set_given(unsigned d, const std::string& text) {
        const auto value = parse_integer(text);
        if (value && *value > 1) out.axes.push_back({"cllab_global_" + std::to_string(d), text, false, *value});
        out.global[d] = value && *value > 1 ? out.axes.back().name : text;
    }
    void set_bounded(unsigned d, const ItemBound& bound) {
        std::vector<std::string> names;
        for (const auto i : bound.scalars) {
            auto& scalar = out.scalars[i];
            scalar.name.meaning = Meaning::size;
            if (scalar.is_open())
                scalar.value = axis_named(!scalar.is_part()                        ? scalar.word
                                          : facts.dimensions == 1 && names.empty() ? new_axis(0)
                                          : is_name_taken(scalar.word)             ? new_axis(d)
                                                                                   : scalar.word);
            names.push_back(scalar.value);
        }
        auto items = join(names, "*");
        if (bound.divisor != 1) items = "ceil(" + items + "/" + std::to_string(bound.divisor) + ")";
        const auto group = d < out.local.size() ? std::to_string(out.local[d]) : "1";
        out.global[d] = group == "1" ? items : "ceil(" + items + "/" + group + ")*" + group;
    }
    /// No scalar was seen to limit the dimension. Uses a scalar that is named like a size, else a new axis.
    std::string unbounded(unsigned d) {
        const auto is_of = [&](const Scalar& s) { return s.name.dimension == static_cast<int>(d); };
        const auto is_any = [](const Scalar& s) { return s.name.dimension < 0; };
        if (const auto size = taken(d, is_of); !size.empty()) return size;
        // With several dimensions, a scalar called n (or m, n, k) is the side of a square.
        for (const auto& scalar : out.scalars)
            if (facts.dimensions > 1 && scalar.is_size() && is_any(scalar) && scalar.value == scalar.word)
                return scalar.value;
        if (const auto size = taken(d, is_any); !size.empty()) return size;
        for (const auto& axis : out.axes)
            if (!axis.is_new && std::ranges::find(out.scalars, axis.name, &Scalar::value) == out.scalars.end() &&
                std::ranges::none_of(out.global, [&](const auto& g) { return g.find(axis.name) != g.npos; }))
                return axis.name;
        return new_axis(d);
    }
    /// The value of the first open size that fits, which becomes an axis; empty if there is none.
    template <typename Fits>
    std::string taken(unsigned d, Fits fits) {
        for (auto& scalar : out.scalars) {
            const bool is_given_one = scalar.value == scalar.word && facts.said.is_given(*scalar.of) &&
                                      std::ranges::find(out.global, scalar.word) == out.global.end();
            if (scalar.is_size() && (scalar.is_open() || is_given_one) && fits(scalar))
                return scalar.value = axis_named(scalar.is_part() ? new_axis(d) : scalar.word);
        }
        return {};
    }
    /// Sets the scalars that limit no dimension.
    void set_other_scalars() {
        for (auto& scalar : out.scalars) {
            if (!scalar.is_open()) continue;
            if (scalar.is_size()) scalar.value = other_size(scalar);
            // With one dimension, the stride from one work-item to the next is 1.
            if (scalar.name.meaning == Meaning::stride && (facts.dimensions > 1 || out.axes.size() > 1))
                scalar.value = extent(0);
            if (scalar.name.meaning == Meaning::group && !out.local.empty())
                scalar.value = std::to_string(out.local.front());
        }
    }
    std::string other_size(const Scalar& scalar) {
        constexpr std::size_t most_axes = 3;
        const bool is_said = !facts.said.global.empty();
        const auto dimension = scalar.name.dimension;
        if (facts.dimensions == 1 && !scalar.is_part() && dimension >= 0 && out.axes.size() < most_axes && !is_said)
            return axis_named(scalar.word);
        // A single work-item loops over the size.
        const bool is_single = std::ranges::count(out.global, "1") == std::ssize(out.global);
        if (out.axes.empty() && !scalar.is_part() && is_single) return axis_named(scalar.word);
        if (dimension >= static_cast<int>(facts.dimensions)) return "4";
        const auto d = static_cast<std::size_t>(std::max(0, dimension));
        return is_said ? out.global[d] : extent(d);
    }
    /// The axis of a dimension's size.
    std::string extent(std::size_t d) const {
        for (const auto& axis : out.axes)
            if (out.global[d] == axis.name || out.global[d].starts_with("ceil(" + axis.name)) return axis.name;
        return out.axes.empty() ? "16" : out.axes.front().name;
    }
    bool is_name_taken(const std::string& name) const {
        return std::ranges::find(facts.parameters(), name, &Parameter::name) != facts.parameters().end();
    }
    /// Adds the axis of that name, unless the guess or the user has it already. Returns the name.
    std::string axis_named(const std::string& name) {
        if (!has_axis(out.axes, name)) out.axes.push_back({name, name});
        return name;
    }
    std::string new_axis(unsigned dimension) {
        static constexpr const char* names[] = {"width", "height", "depth"};
        const std::string name = facts.dimensions == 1 ? "n" : names[dimension];
        return axis_named(is_name_taken(name) ? name + "_items" : name);
    }
};

}  // namespace

Arguments named_arguments(const SaidOfKernel& said) {
    Arguments out;
    for (const auto& [name, value] : said.axes) out.axes.push_back({name, name, false, value});
    for (const auto& p : said.signature.parameters) {
        if (p.kind != Parameter::Kind::value) continue;
        if (!said.is_given(p)) add_parts(out.scalars, p);
        // A number that the user gave for a size becomes an axis, so that small launches can use smaller sizes.
        const auto number = said.is_given(p) ? parse_integer(said.given.at(p.name).text) : std::nullopt;
        if (!number || !p.type.is_integer() || p.type.lanes > 1 || has_axis(out.axes, p.name)) continue;
        if (scalar_name(p.name).meaning != Meaning::size) continue;
        out.axes.push_back({p.name, p.name, false, *number});
        add_scalar(out.scalars, p, p.type, p.name);
        out.scalars.back().value = p.name;
    }
    name_steps(out.scalars);
    return out;
}

Bounds bounds_of(const KernelFacts& facts, const Arguments& arguments, const Group& group) {
    const std::int64_t first[] = {44, 12, 4}, step[] = {24, 8, 4}, few[] = {6, 10};
    const auto kind = facts.dimensions - 1;
    Scalars all, two;
    for (std::size_t i = 0; i < arguments.scalars.size(); ++i) {
        const auto& scalar = arguments.scalars[i];
        if (scalar.type.is_floating() || (!scalar.is_size() && scalar.name.meaning != Meaning::unknown)) continue;
        all.emplace_back(i, first[kind] + step[kind] * static_cast<std::int64_t>(all.size()));
        if (scalar.is_size() && two.size() < 2) two.emplace_back(i, few[two.size()]);
    }
    if (facts.by_text || !facts.said.global.empty() || all.empty()) return {};
    const Samples trial{.shape = {arguments, group.size}};
    const auto out = bounds_with(facts, trial, group.axis_size, all, false);
    const bool needs_product = facts.dimensions == 1 && two.size() == 2 && out[0].scalars.empty();
    return needs_product ? bounds_with(facts, trial, group.axis_size, two, true) : out;
}

LaunchShape shape_of(const KernelFacts& facts, const Arguments& arguments, const Group& group, const Bounds& bounds) {
    return ShapeOf{facts, {arguments, group.size}}.with(bounds);
}

ScalarName scalar_name(const std::string& name) {
    const auto words = words_of_name(name);
    const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
    // These are the steps of a filter.
    if ((has("stride") || has("strides")) && (has("h") || has("w") || has("shape"))) return {Meaning::value};
    for (const auto& [rule, is] : name_rules)
        if (std::ranges::any_of(words, [&](const auto& word) { return rule.find(" " + word + " ") != rule.npos; }))
            return is;
    return {};
}

}  // namespace cllab::kernelfile
