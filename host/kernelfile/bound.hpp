// A kernel with a value for each of its parameters: checked against its signature once, then evaluated point by point.
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

/// It has as many elements as the kernel has work-items where nothing else is said.
inline bool has_extent(const model::Parameter& p) { return p.is_buffer() || p.kind == model::Parameter::Kind::image; }

/// The format of images for what the text reads and writes: rgba8, of whole numbers rgba8ui or rgba32i.
model::PixelFormat usual_format(const std::string& text);

/// What a bound kernel is at one point, before any data is made.
struct Shape {
    std::map<std::string, std::size_t> counts;                 ///< elements, by argument
    std::map<std::string, std::array<std::size_t, 3>> images;  ///< pixels, by argument
    std::vector<model::Part> parts;
    model::Extent global, local, offset;
    model::Work work;
    std::vector<std::string> options;  ///< of the point

    std::size_t elements_of(const std::string& argument) const;  ///< 0: it has none
};

/// What is asked of a kernel: all that a launch needs, or its code, for which sizes and local memory are taken where
/// they are given and nothing else is looked at.
enum class Wants { launch, code };

class Bound;

/// What an operation of a file needs for its cells: one kernel, or several in sequence.
class BoundOperation {
public:
    virtual ~BoundOperation() = default;
    /// Throws Error(usage) for a point that cannot be, Unsupported for one that the device cannot do.
    virtual void check(const model::Point& point, const model::Device& device) const = 0;
    /// Arguments, extents and steps with data of `seed`; without check and proof. Throws as check().
    virtual model::Setup setup(const model::Point& point, const model::Device& device, std::uint64_t seed) const = 0;
    /// What goes in and comes out, as the arguments of one kernel, which are the first ones of the set-up.
    virtual const Bound& data() const = 0;
    /// Work-groups that a tuning tries: "auto" and powers of two; none where its file says which one it is. Nothing for
    /// what has no work-group of the user's choice: a kernel that requires one, and a sequence.
    virtual std::optional<std::vector<std::string>> groups() const { return std::nullopt; }
};

class Bound : public BoundOperation {
public:
    /// `where`: the file's name for sentences. Takes the defaults that `notes` then says, one clause each and each
    /// once. Throws Error(usage) for a value that does not fit its parameter, and for what is missing.
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
    /// What goes in, as it is written, by argument.
    std::map<std::string, std::string> given() const;
    /// Its relations with data of the seed. `may_launch`: as relate()'s.
    Related related(const model::Point& point, const model::Setup& setup, std::uint64_t seed, bool may_launch) const;
    /// What goes in and comes out, but for samplers and local memory.
    std::vector<ArgumentArray> shown(const model::Setup& setup) const;
    const std::optional<Tolerance>& tolerance() const { return tolerance_; }
    bool random_inputs() const;
    /// Relations that say so, and no others.
    std::vector<RelationLine> any_order() const;
    const std::optional<Placed>& reference() const { return said_.reference; }
    std::int64_t value(const model::Point& point, const Expression& expression) const;
    /// Lines `where`, of a Bound that outlives them.
    std::vector<model::Constraint> constraints() const;

private:
    /// Numbers of a value, one for each lane or one for all: of a scalar or vector its only field.
    struct Field {
        std::size_t begin;
        model::ElementType type;
        std::vector<Expression> numbers;
    };
    struct Argument {
        model::Parameter parameter;
        ArgumentSpec spec;
        model::ElementType element;  ///< what extents count
        model::PixelFormat format{};
        std::string drawn_as{};             ///< whose line its data is from: two may be one buffer
        model::SharedBytes file{};          ///< of a file or picture
        std::size_t width = 0, height = 0;  ///< of a picture
        std::vector<Argument> members{};    ///< of structs that are drawn field by field
        std::size_t begin = 0;              ///< of such a field in its struct
        std::vector<Field> fields{};        ///< of a value that is not given by its bytes
        std::size_t value_bytes = 0;        ///< of all fields
    };
    struct Expected {
        std::string by;           ///< "file gold.npy", "expect unchanged"; empty: it may be anything
        model::SharedBytes data;  ///< nothing: what it was given
        Place place;
    };

    std::optional<ArgumentSpec> spec_of(const model::Parameter& parameter, std::vector<std::string>& notes) const;
    void bind_all(const LoadPicture& load, std::vector<std::string>& notes);
    static void pass_null(model::Parameter& parameter, ArgumentSpec& spec);
    std::vector<model::Parameter> join_same();
    std::optional<std::string> same_as(const model::Parameter& parameter) const;
    /// Of arguments that are one buffer the one by which it is called; the name itself of others.
    const std::string& called(const std::string& name) const;
    void bind_local_memory();
    void require_all(std::vector<std::string> missing) const;
    /// "argument 'src' of kernel 'copy'", and " is a __global float*" behind it.
    std::string named(const model::Parameter& parameter) const;
    std::string described(const model::Parameter& parameter) const;
    const Argument* find(const std::string& name) const;
    void bind(Argument& argument, const LoadPicture& load);
    void bind_pointer(Argument& argument, const LoadPicture& load);
    void declare_structs();
    void bind_members(Argument& argument) const;
    /// The structs of all fields' data.
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
    /// Refuses values that do not fit, before anything is built.
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
    std::map<std::string, std::string> same_;  ///< what called() says
    std::vector<model::Parameter> parts_;      ///< parameters that are parts of arguments
    std::vector<Argument> arguments_;
    Scope said_;                  ///< also arguments that are no parameter: sizes may name them
    std::set<std::string> real_;  ///< scalar parameters of a floating type
    std::map<std::string, Expected> expected_;
    std::optional<Tolerance> tolerance_;
};

/// `text` with each {EXPRESSION} or {AXIS} replaced by its value at the point.
std::string substitute(const std::string& text, const std::function<std::string(const std::string&)>& value);

}  // namespace cllab::kernelfile
