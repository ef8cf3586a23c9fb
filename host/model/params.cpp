#include "model/params.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "core/units.hpp"
#include "model/plan.hpp"

namespace cllab::model {

const std::string& Params::text(const std::string& axis) {
    read_.insert(axis);
    return point_.text(axis);
}

bool Params::is_auto(const std::string& axis) { return text(axis) == "auto"; }

std::int64_t Params::integer(const std::string& axis) {
    text(axis);
    return point_.integer(axis);
}

std::size_t Params::count(const std::string& axis) { return static_cast<std::size_t>(integer(axis)); }

double Params::real(const std::string& axis) {
    text(axis);
    return point_.real(axis);
}

std::string Params::text(const std::string& axis, const std::string& automatic) {
    if (is_auto(axis)) record(axis, automatic);
    return text(axis);
}

std::int64_t Params::integer(const std::string& axis, std::int64_t automatic) {
    if (is_auto(axis)) record(axis, std::to_string(automatic));
    return integer(axis);
}

std::size_t Params::count(const std::string& axis, std::size_t automatic) {
    return static_cast<std::size_t>(integer(axis, static_cast<std::int64_t>(automatic)));
}

double Params::real(const std::string& axis, double automatic) {
    if (is_auto(axis)) record(axis, format_exact(automatic));
    return real(axis);
}

Extent Params::shape(const std::string& axis, const Extent& automatic) {
    if (is_auto(axis)) {
        if (automatic.dims > 0) record(axis, automatic.text());
        return automatic;
    }
    return point_.shape(axis);
}

std::size_t Params::only(const std::string& axis, std::size_t value, const std::string& reason) {
    if (const auto found = text(axis, std::to_string(value)); found != std::to_string(value))
        throw Unsupported("axis '", axis, "' is ", found, "; ", reason, ", so only ", value, " is possible");
    return value;
}

void Params::record(const std::string& axis, const std::string& value) { point_.set(axis, value); }

std::vector<std::string> Params::unread() const {
    std::vector<std::string> out;
    for (const auto& [axis, value] : point_.values())
        if (read_.count(axis) == 0) out.push_back(axis);
    return out;
}

namespace {

const Variant& kernel_of(const Experiment& experiment, const Native& native) {
    const auto found = std::ranges::find(experiment.variants, native.like, &Variant::name);
    if (found == experiment.variants.end())
        throw Error(Blame::result, "'", experiment.family, "' has no variant '", native.like,
                    "', which its native loop is like");
    return *found;
}

/// The parameters of a native loop: those of the kernel that it resembles, with default values for axes that it lacks.
class AsKernel {
public:
    AsKernel(const Experiment& experiment, const Request& request)
        : point_(request.point),
          request_{kernel_of(experiment, *request.variant.native),
                   point_,
                   request.device,
                   request.seed,
                   request.files,
                   request.verification,
                   request.memo} {
        for (const auto& axis : axes_of(experiment, request_.variant))
            if (!point_.has(axis.name)) point_.set(axis.name, axis.values.front());
    }
    const Request& request() const { return request_; }

private:
    Point point_;
    Request request_;
};

/// A point with the axes of `asked` and the values of `resolved`.
Point like(const Point& asked, const Point& resolved) {
    Point out;
    for (const auto& [axis, value] : asked.values()) out.set(axis, resolved.text(axis));
    return out;
}

/// Replaces the launches of the operation by the loop.
void put_loop(Setup& setup, const std::shared_ptr<const Native>& native, const Device& device) {
    const bool moves = std::ranges::any_of(setup.steps, [](const auto& s) {
        return std::holds_alternative<Upload>(s) || std::holds_alternative<Download>(s);
    });
    if (moves || setup.slope)
        throw Error(Blame::result, "a native loop cannot be like '", native->like,
                    "', which has transfers or two trip counts");
    std::erase_if(setup.steps, [](const auto& step) { return std::holds_alternative<Launch>(step); });
    setup.steps.insert(setup.steps.begin(),
                       HostLoop{[native, point = setup.point, threads = native->threads(device)](
                                    const HostMemory& memory) { native->loop(memory, point, threads); }});
    setup.defines.clear();
    setup.declared.clear();
}

}  // namespace

Point resolve(const Experiment& experiment, const Request& request) {
    if (request.variant.native)
        return like(request.point, resolve(experiment, AsKernel(experiment, request).request()));
    Params params(request.point);
    if (experiment.resolve) experiment.resolve(request, params);
    return params.resolved();
}

Setup set_up(const Experiment& experiment, const Request& request) {
    if (request.variant.native) {
        auto out = set_up(experiment, AsKernel(experiment, request).request());
        out.point = like(request.point, out.point);
        put_loop(out, request.variant.native, request.device);
        return out;
    }
    Params params(request.point);
    Setup out = experiment.setup(request, params);
    if (has_build_options_axis(experiment, request.point)) {
        const auto& options = params.text(build_options_axis().name);
        if (options != "none") out.defines.push_back(options);
    }
    if (const auto unread = params.unread(); !unread.empty())
        throw Error(Blame::result, "'", experiment.id(request.variant), "' does not read axis '", join(unread, "', '"),
                    "'; Axis::only says which variants have an axis");
    out.point = params.resolved();
    return out;
}

}  // namespace cllab::model
