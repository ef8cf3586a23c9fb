// The guess for one kernel is a pipeline: guess_kernel() calls the steps below in this order. Each step takes the
// values of earlier steps, changes none of them and returns a value of its own.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernelfile/guess/guess.hpp"

namespace cllab::kernelfile {

using Extents = std::vector<std::int64_t>;         ///< by axis; of a group, by dimension
using Texts = std::map<std::string, std::string>;  ///< by argument

/// The most likely meaning of a scalar argument, from its name.
struct ScalarName {
    enum class Meaning {
        size,    ///< of the data, or of the launch
        stride,  ///< elements from one row to the next
        group,   ///< work-items of a work-group
        value,   ///< does not grow with the data: an offset, a radius, an iteration count
        unknown,
    };
    Meaning meaning = Meaning::unknown;
    int dimension = -1;      ///< of a size: 0 width, 1 height, 2 depth; -1: any
    std::int64_t value = 1;  ///< for meanings other than `size`
};
ScalarName scalar_name(const std::string& name);

/// A scalar argument, or one lane or field of an argument that is a vector or a struct.
struct Scalar {
    const model::Parameter* of = nullptr;
    model::ElementType type;
    ScalarName name;
    std::string word;   ///< the argument's or the field's name
    std::string value;  ///< a number, or an expression of axes

    bool is_size() const { return name.meaning == ScalarName::Meaning::size; }
    bool is_part() const { return of->type.is_opaque() || of->type.lanes > 1; }
    bool is_open() const { return value == std::to_string(name.value); }
};

struct SizeAxis {
    std::string name;
    std::string shown;       ///< its text in the result: the name, or the number that the user gave
    bool is_new = true;      ///< false: the user gave it
    std::int64_t value = 0;  ///< of the user's axis
};

struct Arguments {
    std::vector<Scalar> scalars;  ///< with the values that their names suggest
    std::vector<SizeAxis> axes;   ///< the user's
};
Arguments named_arguments(const SaidOfKernel& said);

/// The user's lines, the kernel's text, and one launch.
struct KernelFacts {
    const SaidOfKernel& said;
    const TextFacts& text;
    const TryLaunch& launch;
    SeenLaunch first{};    ///< of one work-item, or of one work-group if the kernel requires its size
    bool by_text = false;  ///< no simulator ran that launch; `first.calls` come from the text
    unsigned dimensions = 1;

    const std::vector<model::Parameter>& parameters() const { return said.signature.parameters; }
    bool calls_any(std::initializer_list<const char*> functions) const;
};
KernelFacts facts_of(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch,
                     const Arguments& arguments);

struct Group {
    Extents size;                ///< empty: the driver chooses
    std::int64_t axis_size = 1;  ///< of each axis of the user in the launches that find bounds
};
Group group_of(const KernelFacts& facts, const Arguments& arguments);

/// The bound of one dimension. Work-items do nothing from the value of `scalars` (or their product) / `divisor` on.
struct ItemBound {
    std::vector<std::size_t> scalars;  ///< places in Arguments::scalars; empty: no bound was found
    std::int64_t divisor = 1;
};
using Bounds = std::array<ItemBound, 3>;
Bounds bounds_of(const KernelFacts& facts, const Arguments& arguments, const Group& group);

/// A launch whose sizes are expressions of axes.
struct LaunchShape : Arguments {
    Extents local;
    std::vector<std::string> global;  ///< by dimension
    std::int64_t inset = 0;           ///< work-items at each border that are not launched

    std::string local_text() const;
    std::string offset_text() const;
    std::int64_t group_multiple() const;  ///< each dimension of the group divides it
    std::string all_items() const;        ///< the product of the global sizes, without rounding up to whole groups
    /// The value of an expression at these sizes of the axes; 1 if it has none.
    std::int64_t value_of(const std::string& text, const Extents& sizes) const;
};
LaunchShape shape_of(const KernelFacts& facts, const Arguments& arguments, const Group& group, const Bounds& bounds);

struct Sample {
    Extents sizes;  ///< by axis
    SeenLaunch seen;
};

/// Small launches at several sizes.
struct Samples {
    LaunchShape shape;                 ///< may have a smaller group than the guess, and skip a border
    Texts fill{};                      ///< the kind of data, for buffers without the usual kind
    bool short_loops = false;          ///< uses few steps of axes that are no launch size
    bool few_items = false;            ///< uses small sizes of the launch, too
    bool patient = false;              ///< gives the simulator more time
    std::vector<Sample> runs{};        ///< empty: the guess is by the text
    std::vector<TouchedBytes> seen{};  ///< by argument, in all runs
    bool is_enough = false;            ///< there are as many runs as an expression needs
    std::string trouble{};             ///< of the last launch that failed
    std::set<std::string> counted{};   ///< integer buffers that hold the starts of ranges
    std::set<std::string> between{};   ///< buffers touched only if those are not all zero

    /// The last sample, unless it takes long; else the first. In a small sample, a loop may not run.
    const Sample& telling() const;
    bool has_before() const;  ///< memory before a buffer is accessed
};
Samples samples_of(const KernelFacts& facts, const LaunchShape& shape);
/// Finds integer buffers that hold the starts of ranges, and fills them by counting. If all are zero, the ranges are
/// empty and other buffers stay untouched.
Samples counted_samples(const KernelFacts& facts, const Samples& with_zeros);

struct Lengths {
    Texts of;                        ///< elements by buffer and local pointer; "w,h" of an image
    Texts limits;                    ///< ":0:n-1", by buffer of indices
    std::set<std::string> open;      ///< arguments that the user must give
    std::set<std::string> appended;  ///< buffers whose elements a counter of the launch selects
    std::string rows;                ///< the number of rows whose starts Samples::counted holds
};
/// `inside`: no memory before a buffer was accessed.
Lengths fitted_lengths(const KernelFacts& facts, const Samples& samples, bool inside);
/// Fills one integer buffer after the other with a large number. If another buffer is then touched further on, the
/// integers are its indices.
Lengths indexed_lengths(const KernelFacts& facts, const Samples& samples, const Lengths& fitted);
/// Scalars of unknown meaning with which the kernel does more if they are larger. They are loop counts, and 1 is not a
/// realistic one.
std::set<std::string> loop_counts(const KernelFacts& facts, const Samples& samples, const Lengths& lengths);

struct Measured {
    Samples samples;
    Lengths lengths{};

    bool by_text() const { return samples.runs.empty(); }
};
Measured measure(const KernelFacts& facts, const LaunchShape& shape);
/// Without a simulator, each buffer has one element per work-item. `failed`: the measurement as far as it went.
Measured measure_by_text(const KernelFacts& facts, const Measured& failed);
/// Runs the guessed and suggested data at a small size. An argument that is accessed outside its buffer becomes open.
/// nullopt if the launch failed.
std::optional<Measured> checked(const KernelFacts& facts, const Measured& before);

/// The size of all new axes. It is worth timing and takes a fraction of a second on two cores.
std::int64_t timed_size(const KernelFacts& facts, const Measured& measured);
/// GuessedKernel::sizes; empty without new axes.
std::vector<std::pair<std::int64_t, std::int64_t>> sizes_up_to(const KernelFacts& facts, const Measured& measured,
                                                               std::int64_t timed);

// Parts of several steps.
/// `sizes`: of the axes. `lengths`: Lengths::of, for the sizes of images; empty before they are measured.
SmallLaunch small_launch(const KernelFacts& facts, const Samples& samples, const Extents& sizes,
                         const Texts& lengths = {});
/// Of a scalar argument; empty if it has no guessed value.
std::string scalar_text(const std::vector<Scalar>& scalars, const model::Parameter& parameter);
/// The value of a buffer. Names an element type if the size of the kernel's type is unknown.
std::string typed_data(const KernelFacts& facts, const Samples& samples, std::size_t argument, const std::string& kind,
                       const std::string& length, const std::string& limits = {});
std::string image_text(const KernelFacts& facts, const Samples& samples, const Texts& lengths, std::size_t argument);
/// Empty if nothing is guessed, or if the argument is open.
std::string argument_text(const KernelFacts& facts, const Measured& measured, std::size_t argument);
/// Suggested data for an open argument; empty if none is known.
std::string advice_for(const KernelFacts& facts, const Measured& measured, std::size_t argument);
/// If the type's size is unknown: 4 if the smallest access has 4 bytes, else 1.
std::int64_t element_bytes(const KernelFacts& facts, const Samples& samples, std::size_t argument);
/// The scalar argument that is a number of bins: more than half of them are `elements`. nullopt if there is none.
std::optional<std::string> bins_of(const LaunchShape& shape, std::int64_t elements);

}  // namespace cllab::kernelfile
