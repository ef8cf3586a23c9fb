// `cllab isa --target`: compiles cells for absent processors. Uses no device. The compilers also tell which kernels a
// user's text has.
#include <algorithm>
#include <mutex>

#include "app/code/isa_code.hpp"
#include "app/program.hpp"
#include "app/screen/streams.hpp"
#include "core/grouped.hpp"
#include "core/kernel_text.hpp"
#include "core/parallel.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "device/quirks.hpp"
#include "device/spirv.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/tools/dump.hpp"
#include "model/params.hpp"
#include "model/registry.hpp"
#include "model/work.hpp"
#include "run/executor.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

std::vector<model::Device> devices_of(const IsaOptions& invocation) {
    return mapped(invocation.targets, [&](const auto& target) {
        return inspect::offline_device(target, invocation.build_options, invocation.compiler);
    });
}

/// Parses a parameter without a compiler. It knows the type only if it is a built-in one, as in "__local float4* t".
model::Parameter parameter_of(const std::string& text) {
    std::string spaced;
    for (const char c : text.substr(0, text.find('['))) spaced += in_name(c) ? c : ' ';
    model::Parameter out;
    std::vector<std::string> type;
    for (const auto& word : split(spaced, ' ')) {
        if (word == "local" || word == "__local") out.kind = model::Parameter::Kind::local;
        static const std::string qualifiers[] = {"", "local", "__local", "const", "volatile", "restrict"};
        if (std::ranges::find(qualifiers, word) == std::end(qualifiers)) type.push_back(word);
    }
    if (type.empty()) return out;
    out.name = type.back();
    type.pop_back();
    out.type = model::builtin_type(join(type, " ")).value_or(model::ElementType{join(type, " ")});
    return out;
}

/// The kernels of a text, in its order, from the programs that the targets' compilers made.
model::Introspection kernels_of(const std::string& text, const std::vector<const inspect::OfflineProgram*>& made) {
    std::vector<std::string> names;
    model::Introspection out;
    for (const auto* program : made) {
        for (const auto& [name, piece] : program->kernels) names.push_back(name);
        for (const auto& [name, log] : program->refused) names.push_back(name);
        out.built = out.built || program->log.empty();
    }
    const auto texts = kernels_in(text);
    if (!out.built && !texts.empty()) {  // each kernel's own build reports the error
        out.built = true;
        for (const auto& kernel : texts) names.push_back(kernel.name);
    }
    if (!out.built) out.log = made.front()->log;
    for (const auto& kernel : texts) {
        if (!std::erase(names, kernel.name)) continue;
        auto& signature = out.kernels.emplace_back();
        signature.name = kernel.name;
        std::ranges::transform(kernel.parameters, std::back_inserter(signature.parameters), parameter_of);
    }
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    for (const auto& name : names) out.kernels.push_back({name, {}});  // defined by macros
    return out;
}

/// Sets the kernel's file and the line of its name; line 1 if a macro or header defines it.
void name_place(const model::Cell& cell, const run::KernelSource& source, const std::string& entry, CellCode& out) {
    const auto& own = cell.variant->own;
    out.file = own ? own->path : source.origin != "embedded" ? source.origin : "cl/" + cell.experiment->family + ".cl";
    const auto text = own                           ? cllab::read_file(out.file).value_or("")
                      : source.origin != "embedded" ? cllab::read_file(source.origin).value_or("")
                                                    : std::string(model::embedded_kernel(cell.experiment->family));
    const auto kernels = kernels_in(text);
    const auto kernel = std::ranges::find(kernels, entry, &KernelText::name);
    out.line = 1;
    if (kernel == kernels.end()) return;
    auto named = text.rfind(entry + "(", kernel->body);
    if (named == text.npos) named = text.rfind(entry, kernel->body);
    out.line +=
        static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(named), '\n'));
}

void compile(const IsaOptions& invocation, inspect::OfflinePrograms& programs, const model::Cell& cell,
             const std::string& target, const model::Device& device, CellCode& out) {
    if (const auto reason = run::missing_need(*cell.variant, device)) throw Unsupported(*reason);
    const model::Request request{*cell.variant, cell.point, device, 1, model::no_files};
    const model::Setup setup = [&] {
        static std::mutex one_at_a_time;  // variants of a point share the family's cache
        const std::lock_guard lock(one_at_a_time);
        return model::set_up(*cell.experiment, request);
    }();
    const auto entry = cell.experiment->entry(*cell.variant);
    const auto source = run::kernel_source(*cell.experiment, *cell.variant, invocation.cl_dir);
    name_place(cell, source, entry, out);
    if (const auto program = program_of_text(source.text);
        program && !(is_spirv(*program) && device.implementation == model::Implementation::intel_gpu))
        throw Unsupported(
            "the compiler for ", target,
            is_spirv(*program) ? " does not accept SPIR-V; only Intel's does" : " does not accept a compiled program");
    const std::string options = run::build_options(cell, setup, device, invocation.build_options);
    const auto required = required_group_in(source.text, entry, split(options, ' '));  // clang omits it from PTX
    const auto group =
        required && (*required)[0] > 0 ? model::Extent((*required)[0], (*required)[1], (*required)[2]) : setup.local;
    out.options = options;
    if (group.dims > 0) out.group = {group.size[0], group.size[1], group.size[2]};
    const inspect::LaunchSize launch{group, setup.global, static_cast<std::int64_t>(model::local_bytes_of(setup))};
    const auto built = programs.kernel(target, source.text, options, cell.variant->own != nullptr, entry, launch);
    if (!invocation.dumps.empty()) {
        const inspect::DumpRequest dump{run::dump_folder(invocation.dumps, device, cell),
                                        entry,
                                        source.text,
                                        options,
                                        built.log,
                                        inspect::as_bytes(built.binary),
                                        device,
                                        launch};
        inspect::write_sidecars(dump, built.ok ? built.analysis : inspect::read_code(dump));
    }
    if (!built.ok) {
        out.status = model::Status::build_failed;
        out.reason = built.log;
        return;
    }
    for (const auto& note : built.notes)
        out.notes.push_back((cell.variant->own ? cell.variant->own->path : cell.id) + " for " + target + ": " + note);
    if (!built.lacking.empty()) {
        out.notes.push_back(cell.id + " for " + target + " " + built.lacking);
        out.enough = "a text or a target whose library defines what it calls: it " + built.lacking;
    }
    if (!built.analysis.best())
        for (const auto& listing : built.analysis.disassembly.listings)
            if (!listing.refused || built.analysis.info.registers)
                out.notes.push_back((listing.refused ? target + ": " : "") + run::first_error(listing.note));
    out.isa = inspect::isa_text(built.analysis);
    out.summary = built.analysis.summary;
    out.stats = built.analysis.stats;
    for (const auto& line : inspect::check_work(built.analysis, setup.declared, setup.slope.has_value()).found)
        out.summary += line + "\n";
    if (const auto* counts = built.analysis.best()) out.counts = *counts;
    out.info = built.analysis.info;
    // Missing library functions are expected. Any other refusal of the assembler is an error of the kernel.
    if (built.lacking.empty() && !built.analysis.info.registers) out.reason = refusal_of(built.analysis);
    if (!out.reason.empty()) out.status = model::Status::build_failed;
    if (invocation.hot) out.hot = inspect::account(built.analysis, setup);
}

}  // namespace

int leave_out_missing_targets(IsaOptions& options, std::vector<CellCode>& left_out) {
    std::vector<Error> troubles;
    Strings there;
    for (const auto& target : options.targets) try {
            inspect::require_offline(target, options.compiler);
            inspect::offline_device(target, options.build_options, options.compiler);
            there.push_back(target);
        } catch (const Error& e) {
            troubles.push_back(e);
            auto& code = left_out.emplace_back(CellCode{.id = "", .where = target});
            code.status = model::Status::unsupported;
            code.reason = e.what();
            code.enough = inspect::missing_of(target);
        }
    if (there.empty() && !troubles.empty()) throw troubles.front();
    for (const auto& trouble : troubles) say(trouble.what());
    options.targets = there;
    return troubles.empty() ? 0 : exit_status(troubles.front().blame());
}

AskDevice ask_compilers(const IsaOptions& invocation, inspect::OfflinePrograms& programs) {
    return [&](const std::vector<AskedBuild>& builds) {
        const auto devices = devices_of(invocation);
        std::vector<std::vector<const inspect::OfflineProgram*>> made(builds.size());
        for (auto& of_build : made) of_build.resize(devices.size());
        each_in_parallel(builds.size() * devices.size(), [&](std::size_t i) {
            const auto& build = builds[i / devices.size()];
            const auto& device = devices[i % devices.size()];
            if (build.only_types || program_of_text(build.text)) return;
            made[i / devices.size()][i % devices.size()] =
                &programs.program(device.selector, build.text, options_on(device, build), true);
        });
        std::vector<model::Introspection> out;
        for (std::size_t i = 0; i < builds.size(); ++i) {
            const bool compiled = !builds[i].only_types && !program_of_text(builds[i].text);
            out.push_back(compiled ? kernels_of(builds[i].text, made[i])
                                   : device::kernels_of_program(builds[i].text).value_or(model::Introspection{}));
        }
        return out;
    };
}

std::vector<CellCode> code_for_target(const IsaOptions& invocation, inspect::OfflinePrograms& programs,
                                      const std::vector<model::Cell>& cells) {
    // Check all targets first: an unavailable one is reported before anything is compiled.
    const auto devices = devices_of(invocation);
    std::vector<CellCode> codes(devices.size() * cells.size());
    const auto missing = mapped(invocation.targets, inspect::missing_of);
    each_in_parallel(codes.size(), [&](std::size_t i) {
        const auto& cell = cells[i % cells.size()];
        const auto target = i / cells.size();
        CellCode& code = codes[i];
        code.id = cell.id + (cell.label.empty() ? "" : " " + cell.label);
        code.where = invocation.targets[target];
        code.own = cell.variant->own != nullptr;
        code.compiler = inspect::offline_compiler(code.where, invocation.compiler);
        code.enough = missing[target];
        try {
            compile(invocation, programs, cell, code.where, devices[target], code);
        } catch (const Unsupported& e) {
            code.status = model::Status::unsupported;
            code.reason = e.what();
        }
    });
    return codes;
}

}  // namespace cllab::app
