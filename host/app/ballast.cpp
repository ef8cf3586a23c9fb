#include "app/ballast.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/text.hpp"
#include "inspect/isa/nvidia.hpp"
#include "model/params.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

constexpr const char* parameter = "cllab_ballast";

bool is_part_of_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Whether `word` stands in `text` as a word of its own.
bool has_word(std::string_view text, std::string_view word) {
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const auto end = at + word.size();
        if ((at == 0 || !is_part_of_a_name(text[at - 1])) && (end == text.size() || !is_part_of_a_name(text[end]))) return true;
    }
    return false;
}

/// The place of the parenthesis that closes the one at `open`.
std::optional<std::size_t> closing(const std::string& text, std::size_t open) {
    int depth = 0;
    for (auto i = open; i < text.size(); ++i) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0) return i;
    }
    return std::nullopt;
}

}  // namespace

std::size_t local_arguments(const model::Setup& setup) {
    std::size_t out = 0;
    for (const auto& argument : setup.args)
        if (const auto* local = std::get_if<model::Local>(&argument)) out += local->size_bytes;
    return out;
}

std::optional<std::string> with_local_parameter(const std::string& text, const std::vector<std::string>& names) {
    std::string out;
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (at > 0 && is_part_of_a_name(text[at - 1])) continue;
        const auto name = std::find_if(names.begin(), names.end(), [&](const auto& n) { return text.compare(at, n.size(), n) == 0; });
        if (name == names.end()) continue;
        const auto open = text.find_first_not_of(" \t\r\n", at + name->size());
        if (open == std::string::npos || text[open] != '(') continue;
        // What stands in front of it, back to the statement or function before, makes it a kernel and no call.
        const auto before = text.find_last_of(";{}", at) + 1;  // of none: npos, and one more is 0
        const auto head = std::string_view(text).substr(before, at - before), line = head.substr(head.rfind('\n') + 1);
        if (line.find("//") != std::string_view::npos || (!has_word(head, "kernel") && !has_word(head, "__kernel"))) continue;
        const auto close = closing(text, open);
        if (!close) continue;
        const auto own = trim(std::string_view(text).substr(open + 1, *close - open - 1));
        const bool none = own.empty() || own == "void";
        out += text.substr(done, (none ? open + 1 : *close) - done) + (none ? "" : ", ") + "__local uint* " + parameter;
        done = *close;
    }
    if (done == 0) return std::nullopt;
    return out + text.substr(done);
}

std::variant<Residency, std::string> plan_ballast(const model::Record& record, const model::Device& device, std::size_t arguments) {
    if (!device.is_gpu()) return "a CPU runs one group a core at a time";
    if (device.compute_capability == 0 || !record.code.registers)
        return "how many groups a unit holds is known on NVIDIA only, where the compiler tells registers";
    const auto group = static_cast<std::size_t>(record.work.group);
    if (group == 0 || record.work.launches > 1) return "an operation is several launches, or its groups are the driver's choice";
    const auto local = record.code.local_bytes.value_or(0) + static_cast<std::int64_t>(arguments);
    const auto waves = [&](std::size_t bytes) {
        const inspect::KernelNeeds needs{*record.code.registers, 0, local + static_cast<std::int64_t>(bytes), 32, group};
        const auto found = inspect::nvidia_occupancy("sm_" + std::to_string(device.compute_capability), needs);
        return found ? found->waves : 0;
    };
    const auto before = waves(0);
    if (before == 0) return "how many groups a unit of this processor holds is not known";
    const double wave_of_group = std::max(1.0, std::ceil(record.work.group / 32));
    if (record.work.groups * wave_of_group < 2.0 * before * device.compute_units) return "so few groups are there that all are resident at once, or nearly so";
    constexpr std::size_t step = 1024;
    for (std::size_t bytes = step; bytes + static_cast<std::size_t>(local) <= device.local_bytes; bytes += step) {
        const auto after = waves(bytes);
        if (after > 0 && 4 * after <= 3 * before) return Residency{before, after, bytes};
    }
    return "no local memory that a group may ask for leaves a unit fewer than " + std::to_string(before) + " waves";
}

std::optional<Ballasted> with_ballast(const model::Cell& cell, const model::Setup& setup, const run::Settings& settings, const model::Device& device,
                                      std::size_t bytes) {
    if (!setup.steps.empty() || local_arguments(setup) + bytes > device.local_bytes) return std::nullopt;
    const auto built = run::build_text(cell, setup, device, settings.cl_dir, settings.build_options);
    if (built.options.find("-x cuda") != std::string::npos) return std::nullopt;
    const auto text = with_local_parameter(built.text, {cell.experiment->entry(*cell.variant), "KERNEL"});
    if (!text) return std::nullopt;
    const auto changed = std::make_shared<model::Experiment>(*cell.experiment);
    changed->setup = [base = cell.experiment->setup, bytes](const model::Request& request, model::Params& params) {
        auto out = base(request, params);
        out.args.push_back(model::Local{parameter, bytes});
        return out;
    };
    Ballasted out{changed, cell};
    out.cell.experiment = changed.get();
    out.cell.options.clear();  // they are among those that are stored
    out.cell.stored = std::make_shared<const model::StoredBuild>(model::StoredBuild{*text, built.options});
    return out;
}

}  // namespace cllab::app
