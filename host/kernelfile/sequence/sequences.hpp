// Several kernels of a file as one operation. Buffers are joined by name. Each kernel has its own sizes and scalars.
// Later stages see a setup with steps, as families have.
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
        const std::string& path;  ///< of the file, for messages
        const Description& description;
        const SequenceLine& line;
        const std::vector<model::KernelSignature>& kernels;  ///< of the build
        std::vector<std::string> options;
        model::PixelFormat usual_format{};
    };
    /// Throws Error(usage) if a value does not fit or is missing. Adds the defaults used to `notes`.
    BoundSequence(const From& from, const LoadPicture& load, std::vector<std::string>& notes);

    void check(const model::Point& point, const model::Device& device) const override;
    model::Setup setup(const model::Point& point, const model::Device& device, std::uint64_t seed) const override;
    /// The shared arguments. Scalars are not among them: each kernel has its own.
    const Bound& data() const override { return *data_; }

private:
    /// One item of the list.
    struct Item {
        std::string name, kernel;
        std::vector<std::pair<std::string, bool>> arguments;  ///< in the kernel's order; true: shared
        std::shared_ptr<const Bound> own;                     ///< its sizes, scalars and local memory
    };
    /// The shared arguments while they are collected.
    struct Joined;

    void add_item(const From& from, const std::string& item, const LoadPicture& load, std::vector<std::string>& notes,
                  Joined& joined);
    void join_parameter(const model::Parameter& parameter, const std::string& name, const std::string& item,
                        const Scope& scope, Joined& joined) const;
    void bind_data(const From& from, const LoadPicture& load, std::vector<std::string>& notes, Joined& joined);
    void check_buffers(Joined& joined) const;
    std::size_t repetitions(const model::Point& point) const;
    /// Throws Error(usage) if swapped buffers have different lengths.
    void check_swaps(const Shape& shape) const;

    SequenceLine line_;
    std::vector<Item> items_;
    std::shared_ptr<const Bound> data_;  ///< the shared arguments, as those of one kernel
};

/// Throws Error(usage) for unknown kernels, for sequences and aliases with the name of a kernel, for aliases in no
/// sequence, and for an axis `rep`.
void check_sequences(const Description& description, const std::string& path, const std::set<std::string>& kernels);

/// All names in arguments that may be those of joined buffers or of buffers with parts.
std::set<std::string> buffers_named(const Description& description);

}  // namespace cllab::kernelfile
