// Several kernels of a file as one operation: their buffers are joined by name, and each has sizes and scalars of its
// own. For everything behind, it is a set-up with steps, as those of families.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernelfile/bound.hpp"

namespace cllab::kernelfile {

inline constexpr const char* repetition = "rep";  ///< in expressions: the number of the repetition, from 0

class BoundSequence : public BoundOperation {
public:
    struct From {
        const std::string& path;  ///< of the file, for sentences
        const Description& description;
        const SequenceLine& line;
        const std::vector<model::KernelSignature>& kernels;  ///< of the build
        std::vector<std::string> options;
        model::PixelFormat usual_format{};
    };
    /// Throws Error(usage) for what does not fit, and for what is missing; `notes` get the defaults that were taken.
    BoundSequence(const From& from, const LoadPicture& load, std::vector<std::string>& notes);

    void check(const model::Point& point, const model::Device& device) const override;
    model::Setup setup(const model::Point& point, const model::Device& device, std::uint64_t seed) const override;
    /// But for scalars, which each kernel has of its own.
    const Bound& data() const override { return *data_; }

private:
    /// One item of the list.
    struct Item {
        std::string name, kernel;
        std::vector<std::pair<std::string, bool>> arguments;  ///< in the kernel's order; true: joined with others
        std::shared_ptr<const Bound> own;                     ///< its sizes, scalars and local memory
    };
    /// What the kernels share, while it is put together.
    struct Joined;

    void add_item(const From& from, const std::string& item, const LoadPicture& load, std::vector<std::string>& notes,
                  Joined& joined);
    void join_parameter(const model::Parameter& parameter, const std::string& name, const std::string& item,
                        const Scope& scope, Joined& joined) const;
    void bind_data(const From& from, const LoadPicture& load, std::vector<std::string>& notes, Joined& joined);
    void check_buffers(Joined& joined) const;
    std::size_t repetitions(const model::Point& point) const;
    /// Refuses buffers of different lengths that change places.
    void check_swaps(const Shape& shape) const;

    SequenceLine line_;
    std::vector<Item> items_;
    std::shared_ptr<const Bound> data_;  ///< all that the kernels share, as the arguments of one
};

/// Throws Error(usage) for kernels, aliases and sequences of the file that there are not.
void check_sequences(const Description& description, const std::string& path, const std::set<std::string>& kernels);

/// All names that may be those of buffers in this way, and of those that arguments are parts of.
std::set<std::string> buffers_named(const Description& description);

}  // namespace cllab::kernelfile
