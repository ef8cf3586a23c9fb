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
    {" n m k nk nl num count cnt size len length total elements elems nelems numel items nitems dim dims "
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

}  // namespace

void KernelGuess::add_scalar(const Parameter& p, const model::ElementType& type, const std::string& word,
                             int dimension) {
    Scalar out{&p, type, scalar_name(word), word, {}};
    if (type.is_floating()) {
        out.name = {Meaning::value};
        const auto words = words_of_name(word);
        const bool tiny = std::ranges::any_of(
            words, [](const auto& w) { return w.starts_with("eps") || w.starts_with("tol") || w == "softening"; });
        out.value = tiny ? "0.001" : "0.5";
        scalars_.push_back(std::move(out));
        return;
    }
    if (dimension >= 0 && out.is_size()) out.name.dimension = dimension;
    out.value = std::to_string(out.name.value);
    scalars_.push_back(std::move(out));
}

/// Adds the lanes of a vector, or the fields of a struct. Adds nothing for other types, so that the user is asked.
void KernelGuess::add_parts(const Parameter& p) {
    if (!p.type.is_opaque()) {
        for (std::size_t lane = 0; lane < (p.type.is_floating() ? 1 : p.type.lanes); ++lane)
            add_scalar(p, p.type, p.name, p.type.lanes > 1 ? static_cast<int>(lane) : -1);
        return;
    }
    const auto& fields = p.type.members;
    if (std::ranges::any_of(fields, [](const auto& field) { return field.name.ends_with("]"); })) return;
    for (const auto& field : fields) add_scalar(p, field.type, field.name);
}

/// A `k` without an `m` is no side of a matrix. It counts the steps of a loop in the host's code.
void KernelGuess::name_steps() {
    const auto is_called = [&](const char* word) {
        return std::ranges::any_of(
            scalars_, [&](const auto& s) { return words_of_name(s.word) == std::vector<std::string>{word}; });
    };
    if (is_called("m") || !is_called("k") || std::ranges::count_if(scalars_, &Scalar::is_size) < 2) return;
    for (auto& scalar : scalars_)
        if (words_of_name(scalar.word) == std::vector<std::string>{"k"} && scalar.is_size())
            scalar.name = {Meaning::value};
}

void KernelGuess::list_scalars() {
    for (const auto& p : parameters_) {
        if (p.kind != Parameter::Kind::value) continue;
        if (!is_given(p)) {
            add_parts(p);
            continue;
        }
        // A number given for a size becomes an axis, so that small launches can use smaller sizes.
        const auto& spec = said_.given.at(p.name);
        const bool known_axis = std::ranges::find(axes_, p.name, &SizeAxis::name) != axes_.end();
        if (!p.type.is_integer() || p.type.lanes > 1 || known_axis || !parse_integer(spec.text)) continue;
        if (scalar_name(p.name).meaning != Meaning::size) continue;
        axes_.push_back({p.name, p.name, false, *parse_integer(spec.text)});
        add_scalar(p, p.type, p.name);
        scalars_.back().value = p.name;
    }
    name_steps();
}

bool KernelGuess::is_name_taken(const std::string& name) const {
    return std::ranges::any_of(parameters_, [&](const auto& p) { return p.name == name; });
}

/// Adds the axis of that name, unless the guess or the user has it already. Returns the name.
std::string KernelGuess::axis_named(const std::string& name) {
    if (std::ranges::find(axes_, name, &SizeAxis::name) == axes_.end()) axes_.push_back({name, name});
    return name;
}

std::string KernelGuess::new_axis(unsigned dimension) {
    static constexpr const char* names[] = {"width", "height", "depth"};
    const std::string name = dims_ == 1 ? "n" : names[dimension];
    return axis_named(is_name_taken(name) ? name + "_items" : name);
}

/// For each dimension, the scalar that limits its work-items at these values, if any.
void KernelGuess::find_bounds_with(const std::vector<std::size_t>& sized, const std::vector<std::int64_t>& values,
                                   bool products) {
    auto kept = scalars_;
    std::int64_t most = *std::ranges::max_element(values) + 4;
    for (std::size_t i = 0; i < sized.size(); ++i) scalars_[sized[i]].value = std::to_string(values[i]);
    if (products) most = values[0] * values[1] + 4;
    global_.clear();
    for (unsigned d = 0; d < dims_; ++d) {
        const auto group = d < local_.size() ? local_[d] : 1;
        global_.push_back(std::to_string((most + group - 1) / group * group));
    }
    for (auto& scalar : scalars_)
        if (scalar.name.meaning == Meaning::stride) scalar.value = std::to_string(most);
    const auto seen = launch_(small_launch());
    scalars_ = std::move(kept);
    if (!seen.trouble.empty() || seen.too_long) return;
    for (unsigned d = 0; d < dims_; ++d) {
        const auto ends = seen.items[d];
        if (ends == 0 || ends >= *parse_integer(global_[d])) continue;
        auto& bound = bounds_[d];
        for (const std::int64_t divisor : {1, 4, 2, 8, 16, 3})
            for (const std::int64_t less : {0, 1, 2, 3})
                for (std::size_t i = 0; i < sized.size() && bound.scalars.empty(); ++i)
                    if (ends == (values[i] - less + divisor - 1) / divisor && (less == 0 || divisor == 1))
                        bound = {{sized[i]}, divisor};
        if (products && ends == values[0] * values[1]) bound = {{sized[0], sized[1]}, 1};
    }
}

void KernelGuess::find_bounds() {
    if (!said_.global.empty()) return;
    std::vector<std::size_t> sized;
    for (std::size_t i = 0; i < scalars_.size(); ++i) {
        const auto meaning = scalars_[i].name.meaning;
        if (!scalars_[i].type.is_floating() && (meaning == Meaning::size || meaning == Meaning::unknown))
            sized.push_back(i);
    }
    if (sized.empty()) return;
    const std::int64_t first[] = {44, 12, 4}, step[] = {24, 8, 4};
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < sized.size(); ++i)
        values.push_back(first[dims_ - 1] + step[dims_ - 1] * static_cast<std::int64_t>(i));
    find_bounds_with(sized, values, false);
    if (dims_ > 1 || sized.size() < 2 || !bounds_[0].scalars.empty()) return;
    std::vector<std::int64_t> few{6, 10};
    std::vector<std::size_t> two;
    for (const auto i : sized)
        if (scalars_[i].is_size() && two.size() < 2) two.push_back(i);
    if (two.size() == 2) find_bounds_with(two, few, true);
}

void KernelGuess::set_global(unsigned d, const std::string& items, bool bounded) {
    const auto group = d < local_.size() ? local_[d] : 1;
    const auto size = std::to_string(group);
    global_[d] = bounded && group > 1 ? "ceil(" + items + "/" + size + ")*" + size : items;
}

/// No scalar was seen to limit the dimension. Uses a scalar that is named like its size, else a new axis.
void KernelGuess::set_unbounded(unsigned d) {
    const auto take = [&](auto matches) {
        for (auto& scalar : scalars_) {
            const bool is_given_one = scalar.value == scalar.word && this->is_given(*scalar.of) &&
                                      std::ranges::find(global_, scalar.word) == global_.end();
            if (!scalar.is_size() || (!scalar.is_open() && !is_given_one) || !matches(scalar)) continue;
            scalar.value = axis_named(scalar.is_part() ? new_axis(d) : scalar.word);
            set_global(d, scalar.value, false);
            return true;
        }
        return false;
    };
    if (take([&](const auto& s) { return s.name.dimension == static_cast<int>(d); })) return;
    // With several dimensions, a scalar called n (or m, n, k) is the side of a square.
    if (dims_ > 1) {
        for (const auto& scalar : scalars_)
            if (scalar.is_size() && scalar.name.dimension < 0 && scalar.value == scalar.word)
                return set_global(d, scalar.value, false);
    }
    if (take([](const auto& s) { return s.name.dimension < 0; })) return;
    for (const auto& axis : axes_)
        if (!axis.is_new && std::ranges::none_of(scalars_, [&](const auto& s) { return s.value == axis.name; }) &&
            std::ranges::none_of(global_, [&](const auto& g) { return g.find(axis.name) != std::string::npos; }))
            return set_global(d, axis.name, false);
    set_global(d, new_axis(d), false);
}

void KernelGuess::set_sizes() {
    global_.assign(dims_, "");
    for (unsigned d = 0; d < dims_; ++d) {
        if (!said_.global.empty()) {
            // The result keeps a number that was given for a size. Small launches use smaller sizes.
            const auto value = parse_integer(said_.global[d]);
            if (value) axes_.push_back({"cllab_global_" + std::to_string(d), said_.global[d], false, *value});
            global_[d] = value ? axes_.back().name : said_.global[d];
            continue;
        }
        if (bounds_[d].scalars.empty()) continue;
        std::vector<std::string> names;
        for (const auto i : bounds_[d].scalars) {
            auto& scalar = scalars_[i];
            scalar.name.meaning = Meaning::size;
            if (scalar.is_open())
                scalar.value = axis_named(!scalar.is_part()             ? scalar.word
                                          : dims_ == 1 && names.empty() ? new_axis(0)
                                          : is_name_taken(scalar.word)  ? new_axis(d)
                                                                        : scalar.word);
            names.push_back(scalar.value);
        }
        const auto items = join(names, "*");
        set_global(d,
                   bounds_[d].divisor == 1 ? items : "ceil(" + items + "/" + std::to_string(bounds_[d].divisor) + ")",
                   true);
    }
    const bool no_items = !by_text_ && !asks({"get_global_id", "get_local_id", "get_group_id", "get_global_linear_id",
                                              "get_local_linear_id"});
    for (unsigned d = 0; d < dims_; ++d)
        if (global_[d].empty() && no_items && said_.local.empty() && local_.empty())
            global_[d] = "1";
        else if (global_[d].empty())
            set_unbounded(d);
    set_other_scalars();
}

/// Sets the scalars that limit no dimension.
void KernelGuess::set_other_scalars() {
    constexpr std::size_t most_axes = 3;
    const auto width = [&](int dimension) -> std::string {
        const auto d = dimension < 0 ? 0u : static_cast<unsigned>(dimension);
        for (const auto& axis : axes_)
            if (d < dims_ && (global_[d] == axis.name || global_[d].starts_with("ceil(" + axis.name))) return axis.name;
        return axes_.empty() ? "16" : axes_.front().name;
    };
    for (auto& scalar : scalars_) {
        if (!scalar.is_open()) continue;
        switch (scalar.name.meaning) {
            case Meaning::size: {
                const bool own = dims_ == 1 && !scalar.is_part() && scalar.name.dimension >= 0 &&
                                 axes_.size() < most_axes && said_.global.empty();
                const bool other_dimension = scalar.name.dimension >= static_cast<int>(dims_);
                if (own)
                    scalar.value = axis_named(scalar.word);
                else if (other_dimension)
                    scalar.value = "4";
                else
                    scalar.value = said_.global.empty()
                                       ? width(scalar.name.dimension)
                                       : global_[static_cast<std::size_t>(std::max(0, scalar.name.dimension))];
                break;
            }
            case Meaning::stride:
                // With one dimension, the stride from one work-item to the next is 1.
                if (dims_ > 1 || axes_.size() > 1) scalar.value = width(0);
                break;
            case Meaning::group:
                if (!local_.empty()) scalar.value = std::to_string(local_.front());
                break;
            default:
                break;
        }
    }
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
