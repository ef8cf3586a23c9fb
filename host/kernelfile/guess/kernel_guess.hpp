// The state of one kernel's guess. Its steps are in guess.cpp, guess_scalars.cpp, guess_lengths.cpp and guess_data.cpp.
// KernelGuess::made() calls them in order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelfile/guess/guess.hpp"

namespace cllab::kernelfile {

// The most likely meaning of a scalar argument, from its name.
struct ScalarName {
    enum class Meaning {
        size,    ///< of the data, or of the launch
        stride,  ///< elements from one row to the next
        group,   ///< items of a work-group
        value,   ///< does not grow with the data: an offset, a radius, an iteration count
        unknown,
    };
    Meaning meaning = Meaning::unknown;
    int dimension = -1;      ///< of a size: 0 width, 1 height, 2 depth; -1: any
    std::int64_t value = 1;  ///< for meanings other than `size`
};

ScalarName scalar_name(const std::string& name);

class KernelGuess {
public:
    KernelGuess(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch);
    GuessedKernel made();

private:
    /// A scalar argument, or one part of a vector or a struct.
    struct Scalar {
        const model::Parameter* of = nullptr;
        model::ElementType type;
        ScalarName name;
        std::string word;   ///< its name, or that of the part
        std::string value;  ///< a number, or an expression of axes
        bool is_size() const { return name.meaning == ScalarName::Meaning::size; }
        bool is_part() const { return of->type.is_opaque() || of->type.lanes > 1; }
        bool is_open() const { return value == std::to_string(name.value); }
    };
    struct SizeAxis {
        std::string name, shown;  ///< shown: its text in the result
        bool is_new = true;
        std::int64_t value = 0;  ///< in the result
        std::int64_t small = 1;  ///< in the next small launch
    };
    /// The bound of one dimension. Work-items do nothing from the value of `scalars` (or their product) / `divisor` on.
    struct Bounding {
        std::vector<std::size_t> scalars;
        std::int64_t divisor = 1;
    };

    // guess_scalars.cpp
    void list_scalars();
    void name_steps();
    void add_parts(const model::Parameter& parameter);
    void add_scalar(const model::Parameter& parameter, const model::ElementType& type, const std::string& word,
                    int dimension = -1);
    void find_bounds();
    void find_bounds_with(const std::vector<std::size_t>& sized, const std::vector<std::int64_t>& values,
                          bool products);
    void set_sizes();
    void set_global(unsigned dimension, const std::string& items, bool bounded);
    void set_unbounded(unsigned dimension);
    void set_other_scalars();
    std::string axis_named(const std::string& name);
    std::string new_axis(unsigned dimension);
    bool is_name_taken(const std::string& name) const;

    // guess.cpp
    bool look();
    void set_dimensions();
    void set_local();
    void choose_group();
    struct GroupSeen {
        bool runs = false, overruns = false;
        std::int64_t bytes = 0, room = 0;  ///< of local memory: touched, total
    };
    GroupSeen try_group(const std::vector<std::int64_t>& group);
    bool asks(std::initializer_list<const char*> functions) const;

    // guess_lengths.cpp
    using Sample = std::pair<std::vector<std::int64_t>, SeenLaunch>;  ///< sizes of the axes, and what was seen
    bool measure_lengths();
    bool run_samples();
    bool run_samples_of_few_items();
    bool run_samples_patiently();
    std::vector<std::vector<std::int64_t>> sample_sizes() const;
    bool step_inside();
    void fill_by_counting();
    void set_rows();
    std::string advice_for(const model::Parameter& parameter) const;
    void fit_lengths();
    std::optional<std::string> bins_of(std::int64_t elements) const;
    std::optional<std::string> length_of(std::size_t argument) const;
    std::string local_length_of(std::size_t argument) const;
    std::string usual_pixels(const model::Parameter& parameter, unsigned dimension) const;
    std::string pixels_of(std::size_t argument, unsigned dimension) const;
    std::string channel_of(const model::Parameter& parameter) const;
    std::int64_t value_in(const Sample& sample, const std::string& text) const;
    std::vector<std::string> axis_names() const;
    std::int64_t group_items() const;
    std::int64_t group_multiple() const;
    std::int64_t element_bytes(const model::Parameter& parameter) const;
    void find_indices();
    void ask_for_counts();
    /// `is_start`: an index is the start of a range, so elements after it are touched too.
    void bound_index(std::size_t index, std::size_t into, std::int64_t stride_bytes, bool is_start);
    const Sample& telling_sample() const;
    std::string all_items() const;
    void set_lengths_by_text();

    // guess_data.cpp
    bool check();
    std::string data_of(std::size_t argument) const;
    std::string typed_data(const model::Parameter& parameter, const std::string& kind, const std::string& length,
                           const std::string& bounds = {}) const;
    bool outgrows_given(std::int64_t size) const;
    bool overruns_at(std::int64_t size);
    void choose_sizes();
    double items_at(std::int64_t size) const;
    double bytes_at(std::int64_t size) const;
    bool has_wider_image(std::int64_t size, std::int64_t widest) const;

    SmallLaunch small_launch() const;
    std::string text_of(const model::Parameter& parameter) const;
    std::string shown(const std::string& text) const;
    std::int64_t value_at(const std::string& text, std::int64_t size_of_new) const;
    std::string image_text(const model::Parameter& parameter) const;
    GuessedKernel result() const;
    bool is_given(const model::Parameter& parameter) const { return said_.given.count(parameter.name) > 0; }

    const SaidOfKernel& said_;
    const TextFacts& text_;
    const TryLaunch& launch_;
    const std::vector<model::Parameter>& parameters_;
    bool by_text_ = false;
    unsigned dims_ = 1;
    SeenLaunch first_;
    std::string trouble_;  ///< of the launch that ended the use of the simulator
    std::vector<Scalar> scalars_;
    std::vector<SizeAxis> axes_;
    std::vector<std::int64_t> local_;
    bool local_is_given_ = false;
    std::vector<std::string> global_;
    std::int64_t inset_ = 0;  ///< work-items at each border that are not launched
    std::array<Bounding, 3> bounds_;
    std::map<std::string, std::string> fill_;  ///< data in small launches, by buffer
    std::vector<Sample> samples_;
    bool short_loops_ = false;                           ///< samples use few steps of axes that are no launch size
    bool few_items_ = false;                             ///< samples use small sizes of the launch, too
    bool patient_ = false;                               ///< samples get more time, as whole groups take long
    std::vector<TouchedBytes> seen_;                     ///< by argument, in all samples
    std::map<std::string, std::string> lengths_;         ///< by buffer and local pointer; "w,h" of an image
    std::map<std::string, std::string> bounds_of_data_;  ///< ":0:n-1", by buffer of indices
    std::set<std::string> open_;                         ///< arguments that must be asked for
    std::set<std::string> counted_;                      ///< integer buffers that hold the starts of ranges
    std::set<std::string> between_;                      ///< buffers touched only if those are not all zero
    std::set<std::string> appended_;                     ///< buffers whose elements a counter of the launch selects
    std::string rows_;                                   ///< the number of rows whose starts `counted_` holds
};

}  // namespace cllab::kernelfile
