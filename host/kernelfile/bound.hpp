// A kernel with a value for each of its parameters. Values are checked against its signature once, then evaluated per
// point.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernelfile/data/data.hpp"
#include "kernelfile/description.hpp"
#include "kernelfile/proof/proof.hpp"
#include "kernelfile/proof/relation.hpp"
#include "model/experiment.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

/// Whether the parameter is a buffer or an image. By default it has one element per work-item.
inline bool has_extent(const model::Parameter& p) { return p.is_buffer() || p.kind == model::Parameter::Kind::image; }

/// The default image format, from the image functions in the kernel text: rgba8ui for read_imageui or write_imageui,
/// rgba32i for read_imagei or write_imagei, else rgba8.
model::PixelFormat usual_format(const std::string& text);

/// Sizes, work and build options of a bound kernel at one point. Holds no data.
struct Shape {
    std::map<std::string, std::size_t> counts;                 ///< elements, by argument
    std::map<std::string, std::array<std::size_t, 3>> images;  ///< pixels, by argument
    std::vector<model::Part> parts;
    model::Extent global, local, offset;
    model::Work work;
    std::vector<std::string> options;  ///< with the point's values

    std::size_t elements_of(const std::string& argument) const;  ///< 0 for values and samplers
};

/// What the caller needs of a kernel. launch: all that a launch takes. code: only its machine code. Then sizes and
/// local memory are used if given, and other arguments are ignored.
enum class Wants { launch, code };

class Bound;

/// An operation of a kernel file, one kernel or a sequence, that can set up its cells.
class BoundOperation {
public:
    virtual ~BoundOperation() = default;
    /// Throws Error(usage) if the point is invalid, Unsupported if a `where` line excludes it or the device cannot run
    /// it.
    virtual void check(const model::Point& point, const model::Device& device) const = 0;
    /// Arguments, sizes and steps, with random data from `seed`. Has no check and no proof. Throws as check().
    virtual model::Setup setup(const model::Point& point, const model::Device& device, std::uint64_t seed) const = 0;
    /// Inputs and outputs as the arguments of one kernel. They are the first arguments of the setup.
    virtual const Bound& data() const = 0;
    /// The work-group sizes that tuning tries: "auto" and powers of two. Empty if the file has a `local` line or no
    /// `global`. nullopt if the user cannot choose the size: the kernel requires one, or the operation is a sequence.
    virtual std::optional<std::vector<std::string>> groups() const { return std::nullopt; }
};

class Bound : public BoundOperation {
public:
    /// `where`: the file's name, for messages. Adds one clause to `notes` for each default used, without repetition.
    /// Throws Error(usage) if a value does not fit its parameter or is missing.
    Bound(std::string where, const Description& description, model::KernelSignature signature,
          std::vector<std::string> options, const model::PixelFormat& usual_format, const LoadPicture& load,
          Wants wants, std::vector<std::string>& notes);

    void check(const model::Point& point, const model::Device& device) const override { shape(point, device); }
    /// Throws as check().
    Shape shape(const model::Point& point, const model::Device& device) const;
    model::Setup setup(const model::Point& point, const Shape& shape, std::uint64_t seed) const;
    model::Setup setup(const model::Point& point, const model::Device& device, std::uint64_t seed) const override {
        return setup(point, shape(point, device), seed);
    }
    const Bound& data() const override { return *this; }
    std::optional<std::vector<std::string>> groups() const override;

    std::vector<Result> results(const model::Setup& setup) const;
    /// Each argument's value as written, by argument. Omits outputs and local memory.
    std::map<std::string, std::string> given() const;
    /// The kernel's relations, with data from `seed`. `may_launch`: see relate().
    Related related(const model::Point& point, const model::Setup& setup, std::uint64_t seed, bool may_launch) const;
    /// Inputs and outputs as arrays. Omits samplers and local memory.
    std::vector<ArgumentArray> shown(const model::Setup& setup) const;
    const std::optional<Tolerance>& tolerance() const { return tolerance_; }
    bool random_inputs() const;
    /// The `any order` relations only.
    std::vector<RelationLine> any_order() const;
    const std::optional<Placed>& reference() const { return said_.reference; }
    std::int64_t value(const model::Point& point, const Expression& expression) const;
    /// The `where` lines as constraints. They refer to this Bound, which must outlive them.
    std::vector<model::Constraint> constraints() const;

private:
    /// A field of a by-value argument; a scalar or vector is one field. Has one number per lane, or one for all lanes.
    struct Field {
        std::size_t begin;
        model::ElementType type;
        std::vector<Expression> numbers;
    };
    struct Argument {
        model::Parameter parameter;
        ArgumentSpec spec;
        model::ElementType element;  ///< the element that lengths count
        model::PixelFormat format{};
        std::string drawn_as{};             ///< the name that selects its data; `same` changes the other name
        model::SharedBytes file{};          ///< contents of a file or picture
        std::size_t width = 0, height = 0;  ///< pixels of a picture
        std::vector<Argument> members{};    ///< fields of structs that are drawn field by field
        std::size_t begin = 0;              ///< byte offset of such a field in its struct
        std::vector<Field> fields{};        ///< of a value that is not written as `bytes:`
        std::size_t value_bytes = 0;        ///< size of a value with all fields
    };
    struct Expected {
        std::string by;           ///< "file gold.npy", "expect unchanged"; empty: a line `may leave`
        model::SharedBytes data;  ///< null: the data it was given
        Place place;
    };

    std::optional<ArgumentSpec> spec_of(const model::Parameter& parameter, std::vector<std::string>& notes) const;
    void bind_all(const LoadPicture& load, std::vector<std::string>& notes);
    static void pass_null(model::Parameter& parameter, ArgumentSpec& spec);
    std::vector<model::Parameter> join_same();
    std::optional<std::string> same_as(const model::Parameter& parameter) const;
    /// The name of the argument's buffer. Arguments that share a buffer get the same name; others get their own.
    const std::string& called(const std::string& name) const;
    void bind_local_memory();
    void require_all(std::vector<std::string> missing) const;
    /// named: "argument 'src' of kernel 'copy'". described: the same, followed by " is a __global float*".
    std::string named(const model::Parameter& parameter) const;
    std::string described(const model::Parameter& parameter) const;
    const Argument* find(const std::string& name) const;
    void bind(Argument& argument, const LoadPicture& load);
    void bind_pointer(Argument& argument, const LoadPicture& load);
    void declare_structs();
    void bind_members(Argument& argument) const;
    /// An array of structs with the data of all fields.
    model::SharedBytes structs(const model::Point& point, const Argument& argument, std::size_t count,
                               std::uint64_t seed) const;
    static bool is_random(const Argument& argument);
    void bind_image(Argument& argument, const LoadPicture& load);
    void bind_value(Argument& argument);
    void expect(const std::string& name, const Place& place, const std::string& path, const LoadPicture& load);
    void add_local(const model::Point& point, const model::Device& device, Shape& to) const;
    double add_image(const model::Point& point, const Argument& argument, Shape& to) const;
    bool is_parameter(const std::string& name) const;
    bool is_said(const model::Parameter& buffer, ArgumentSpec::Kind kind) const;
    void join_part(const model::Parameter& parameter, std::vector<model::Parameter>& to);
    void add_part(const model::Point& point, const model::Device& device, const model::Parameter& parameter,
                  Shape& to) const;
    double add_buffer(const model::Point& point, const model::Device& device, const Argument& argument,
                      Shape& to) const;
    void check_relation(const RelationLine& line) const;
    void check_expected(const Shape& shape) const;
    model::Bytes value_bytes(const model::Point& point, const Argument& argument) const;
    void put_number(std::byte* to, const model::ElementType& type, const model::Point& point,
                    const Expression& number) const;
    Drawn drawn(const model::Point& point, const Argument& argument) const;
    /// Throws Error(usage) for data that does not fit its type, before anything is built.
    void check_data(const model::Point& point, const Argument& argument, std::size_t count) const;
    model::SharedBytes data(const model::Point& point, const Argument& argument, std::size_t count,
                            std::uint64_t seed) const;
    std::string substituted(const model::Point& point, const std::string& options) const;
    model::Extent extent(const model::Point& point, const Sizes& list, std::int64_t least, const char* what) const;

    std::string where_;
    model::KernelSignature signature_;
    std::vector<std::string> options_;
    model::PixelFormat usual_format_;
    bool code_only_;                           ///< Wants::code
    bool takes_group_;                         ///< Description::takes_group
    std::map<std::string, std::string> same_;  ///< buffer name by argument, for called()
    std::vector<model::Parameter> parts_;      ///< parameters that are part of a buffer
    std::vector<Argument> arguments_;
    Scope said_;                  ///< with arguments that are not parameters: sizes may name them
    std::set<std::string> real_;  ///< scalar parameters of a floating type
    std::map<std::string, Expected> expected_;
    std::optional<Tolerance> tolerance_;
};

/// `text` with each {EXPRESSION} or {AXIS} replaced by its value at the point.
std::string substitute(const std::string& text, const std::function<std::string(const std::string&)>& value);

}  // namespace cllab::kernelfile
