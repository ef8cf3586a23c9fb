#include "kernelfile/guess/scalar_names.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace cllab::kernelfile {
namespace {

using Meaning = ScalarName::Meaning;

/// In the order in which they decide: a "filter width" is no width, and an "iteration count" no count.
struct NameRule {
    std::string_view words;  ///< with blanks around each
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

}  // namespace

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

ScalarName scalar_name(const std::string& name) {
    const auto words = words_of_name(name);
    const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
    // The steps of a filter.
    if ((has("stride") || has("strides")) && (has("h") || has("w") || has("shape"))) return {Meaning::value};
    for (const auto& [rule, is] : name_rules)
        if (std::ranges::any_of(words, [&](const auto& word) { return rule.find(" " + word + " ") != rule.npos; }))
            return is;
    return {};
}

}  // namespace cllab::kernelfile
