#include "model/params.hpp"

#include "core/text.hpp"
#include "core/units.hpp"
#include "model/plan.hpp"

namespace cllab::model {

const std::string& Params::read(const std::string& axis) {
    read_.insert(axis);
    return point_.text(axis);
}

bool Params::is_auto(const std::string& axis) { return read(axis) == "auto"; }

const std::string& Params::text(const std::string& axis) { return read(axis); }

std::int64_t Params::integer(const std::string& axis) {
    read(axis);
    return point_.integer(axis);
}

std::size_t Params::count(const std::string& axis) { return static_cast<std::size_t>(integer(axis)); }

double Params::real(const std::string& axis) {
    read(axis);
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
        throw Unsupported("axis '" + axis + "' is " + found + "; " + reason + ", so only " + std::to_string(value) + " is possible");
    return value;
}

void Params::record(const std::string& axis, const std::string& value) { point_.set(axis, value); }

std::vector<std::string> Params::unread() const {
    std::vector<std::string> out;
    for (const auto& [axis, value] : point_.values())
        if (read_.count(axis) == 0) out.push_back(axis);
    return out;
}

Point resolve(const Experiment& experiment, const Request& request) {
    Params params(request.point);
    if (experiment.resolve) experiment.resolve(request, params);
    return params.resolved();
}

Setup set_up(const Experiment& experiment, const Request& request) {
    Params params(request.point);
    Setup out = experiment.setup(request, params);
    if (has_build_options_axis(experiment, request.point)) {
        const auto& options = params.text(build_options_axis().name);
        if (options != "none") out.defines.push_back(options);
    }
    if (const auto unread = params.unread(); !unread.empty())
        throw Error(Blame::result, "'" + experiment.id(request.variant) + "' does not read axis '" + join(unread, "', '") +
                                       "'; Axis::only says which variants have an axis");
    out.point = params.resolved();
    return out;
}

}  // namespace cllab::model
