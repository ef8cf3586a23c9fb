#include "inspect/tools/offline.hpp"

#include <algorithm>
#include <iterator>
#include <regex>
#include <set>

#include "core/error.hpp"
#include "core/kernel_text.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/cuda.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/kept_code.hpp"

namespace cllab::inspect {
namespace {

struct Found {
    const InstructionSet& set;
    OfflineTarget target;
};

Found find_target(const std::string& name) {
    std::vector<std::string> names;
    for (const auto* set : isa::all()) {
        if (!set->offline) continue;
        for (auto& target : set->offline->targets()) {
            if (target.name == name) return {*set, std::move(target)};
            names.push_back(std::move(target.name));
        }
    }
    throw Error(Blame::usage,
                "unknown target '" + name + "'; " + did_you_mean(name, names, "`cllab isa --targets` lists them"));
}

/// "sub_group_broadcast" of "_Z19sub_group_broadcastij".
std::string plain_name(const std::string& symbol) {
    if (!symbol.starts_with("_Z")) return symbol;
    const auto digits = symbol.find_first_not_of("0123456789", 2);
    return digits == 2 || digits == std::string::npos ? symbol : symbol.substr(digits, number_at(symbol, 2));
}

/// The undefined functions that a linker's log names: "lld: error: undefined hidden symbol: helper", "f(int)",
/// "undefined reference to `helper'".
std::vector<std::string> undefined_in(const std::string& log) {
    static const std::regex said("undefined (?:(?:hidden )?symbol: |reference to `)([^ ('\\n]+)");
    return {std::sregex_token_iterator(log.begin(), log.end(), said, 1), std::sregex_token_iterator()};
}

/// The error message for called functions that are not defined; empty if there are none.
std::string refusal_of(const std::vector<std::string>& symbols, const std::string& text) {
    if (symbols.empty()) return {};
    std::set<std::string> names;
    for (const auto& symbol : symbols) names.insert("'" + plain_name(symbol) + "'");
    const bool is_inline = std::ranges::any_of(symbols, [&](const auto& symbol) {
        return std::regex_search(text, std::regex("\\binline\\b[^;{}]*\\b" + plain_name(symbol) + "\\s*\\("));
    });
    return "error: the code calls " + join({names.begin(), names.end()}, ", ") +
           ", which neither the text nor the target's library defines" +
           (is_inline ? "; a function that is `inline` and not `static` has no code of its own: write `static inline`"
                      : "") +
           "\n";
}

/// Number of places where a compiler rejects the text. Without any, the problem is in the code made from it.
std::ptrdiff_t errors_in(const std::string& log) {
    static const std::regex place(":[0-9]+:[0-9]+: (?:fatal )?error: ");
    return std::distance(std::sregex_iterator(log.begin(), log.end(), place), std::sregex_iterator());
}

/// Without a function of the text the kernel is rejected. Without a library function its code is kept, with that call.
void judge(OfflineBuild& build, const std::vector<std::string>& undefined, const std::string& text) {
    std::vector<std::string> own;
    std::set<std::string> others;
    // The text's own functions have their plain names; only the compiler makes names that begin with an underscore.
    for (const auto& symbol : undefined)
        if (symbol.starts_with("_"))
            others.insert(plain_name(symbol));
        else
            own.push_back(symbol);
    if (!own.empty()) build.ok = false, build.log = refusal_of(own, text) + build.log;
    if (others.empty()) return;
    build.lacking = "calls " + join({others.begin(), others.end()}, ", ") +
                    ", which nothing here defines: its code shows the calls, and there are no registers";
}

/// Compiles one text for one target.
class Compilation {
public:
    Compilation(const Found& found, const std::string& text, std::vector<std::string> options,
                std::chrono::milliseconds limit, const ChosenCompiler& by)
        : found_(found), text_(text), options_(std::move(options)), limit_(limit), by_(by) {
        const auto is_standard = [](std::string_view option) { return option.find("-cl-std=") != option.npos; };
        for (const auto& addition : found_.set.offline->additions)
            if (!is_standard(addition.options) || std::ranges::none_of(options_, is_standard))
                additions_.push_back(addition);
    }

    OfflineProgram program(bool apart) {
        std::vector<Addition> useful;
        auto whole = attempt(text_, &useful);
        additions_ = useful;
        if (apart && !whole.timed_out && !whole.ok) kernels_ = kernels_in(text_);
        if (whole.ok) {
            take(std::move(whole));
        } else if (kernels_.size() == 1) {
            out_.refused[kernels_.front().name] = whole.log;
        } else if (!kernels_.empty() && attempt(without_bodies(text_, kernels_, ";")).ok) {
            halve(0, kernels_.size());
        } else {
            const auto seconds = format_exact(static_cast<double>(limit_.count()) / 1000);
            out_.log =
                (whole.timed_out ? "error: not compiled within " + seconds + " s (--timeout)\n" : "") + whole.log;
        }
        return std::move(out_);
    }

private:
    OfflineCode once(const std::string& text, const std::vector<std::string>& options) const {
        const auto& compiler = *found_.set.offline;
        const auto& target = found_.target.name;
        const auto make = [&] { return compiler.compile(target, text, options, limit_, by_); };
        auto made =
            device::asks_for_cuda(join(options, " "))
                ? make()
                : kept_code({compiler.driver, target, by_.name}, compiler.tools(target, by_), text, options, make);
        made.options.ptxas = by_.ptxas;
        // The options may have made the compiler produce something other than code.
        const bool is_code = isa::of(recognise(as_bytes(made.binary))) == &found_.set;
        if (made.ok && !is_code)
            made.log += "error: the compiler produced no code; build options: " + join(options, " ") + "\n";
        made.ok = made.ok && is_code;
        if (!made.ok) made.log = refusal_of(undefined_in(made.log), text) + made.log;
        return made;
    }

    /// Compiles the text, and if it has errors, tries the additions that it may need. Among failures the one with the
    /// fewest errors remains: the others complain about what an addition allows. `useful`: the additions that reduce
    /// the errors.
    OfflineCode attempt(const std::string& text, std::vector<Addition>* useful = nullptr) const {
        auto best = once(text, options_);
        constexpr std::ptrdiff_t most = 19;  // clang stops counting there
        const auto errors = errors_in(best.log);
        if (best.ok || errors == 0) return best;
        for (const auto& addition : additions_) {
            auto options = options_;
            std::ranges::copy(device::words_of(addition.options), std::back_inserter(options));
            auto next = once(text, options);
            if (next.ok)
                next.notes.push_back(std::string("compiled with ") + addition.words + ", which the text needs");
            if (useful && (errors >= most || errors_in(next.log) < errors)) useful->push_back(addition);
            if (next.ok || errors_in(next.log) < errors_in(best.log)) best = std::move(next);
            if (best.ok) return best;
        }
        return best;
    }

    /// Compiles kernels first .. last - 1, which do not compile together, by halves. Refuses single kernels that fail.
    void halve(std::size_t first, std::size_t last) {
        const auto middle = first + (last - first) / 2;
        for (const auto& [begin, end] : {std::pair(first, middle), std::pair(middle, last)}) {
            auto others = kernels_;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(begin),
                         others.begin() + static_cast<std::ptrdiff_t>(end));
            auto made = attempt(without_bodies(text_, others, ";"));
            if (made.ok)
                take(std::move(made));
            else if (end - begin == 1)
                out_.refused[kernels_[begin].name] = made.log;
            else
                halve(begin, end);
        }
    }

    void take(OfflineCode made) {
        for (const auto& name : kernel_names(as_bytes(made.binary))) out_.kernels.emplace(name, out_.pieces.size());
        for (auto& note : made.notes)
            if (std::ranges::find(out_.notes, note) == out_.notes.end()) out_.notes.push_back(std::move(note));
        out_.pieces.push_back({std::move(made.log), std::move(made.binary), std::move(made.options)});
    }

    const Found& found_;
    const std::string& text_;
    std::vector<std::string> options_;
    std::chrono::milliseconds limit_;
    const ChosenCompiler& by_;
    std::vector<Addition> additions_;  ///< options that may help
    std::vector<KernelText> kernels_;
    OfflineProgram out_;
};

}  // namespace

std::vector<OfflineTarget> offline_targets() {
    std::vector<OfflineTarget> targets;
    for (const auto* set : isa::all())
        if (set->offline)
            for (auto& target : set->offline->targets()) targets.push_back(std::move(target));
    return targets;
}

void require_offline(const std::string& target, const ChosenCompiler& by) {
    const auto found = find_target(target);
    const bool own = found.set.offline->implementation == model::Implementation::intel_gpu;
    if (own && !by.clang.empty())
        throw Error(Blame::environment, by.name, " cannot compile for ", target, "; only ocloc can");
    // A chosen clang reports by itself what it lacks.
    if (!found.target.available() && by.clang.empty())
        throw Error(Blame::environment, "cannot compile for " + target + " here: " + found.target.missing);
}

std::string missing_of(const std::string& target) {
    for (const auto& known : offline_targets())
        if (known.name == target) return known.missing;
    return {};
}

std::string offline_compiler(const std::string& target, const ChosenCompiler& by) {
    return find_target(target).set.offline->version(target, by);
}

std::vector<OfflineTarget> tried_targets() {
    const std::string text = "kernel void k(global int* d) { d[get_global_id(0)] = 1; }\n";
    OfflinePrograms programs(std::chrono::seconds(60));
    auto out = offline_targets();
    each_in_parallel(out.size(), [&](std::size_t i) {
        auto& target = out[i];
        if (!target.available()) return;
        const auto built = programs.kernel(target.name, text, "", false, "k", {});
        const auto* best = built.analysis.best();
        std::string products;
        for (const auto& part : split(target.gives, ',')) {
            const auto what = trim(part);
            const bool listing = what == "GCN" || what == "SASS" || what == "machine code";
            const bool there = what == "registers" || what == "metadata" ? built.analysis.info.registers.has_value()
                               : listing                                 ? best && !best->isa->virtual_machine
                                                                         : !built.binary.empty();
            if (there) products += (products.empty() ? "" : ", ") + what;
        }
        if (products == target.gives) return;
        auto why = built.log;
        for (const auto& listing : built.analysis.disassembly.listings) why += listing.note + "\n";
        target.gives = products;
        target.missing = "a trial build made no more: " + one_line(why);
    });
    return out;
}

model::Device offline_device(const std::string& target, const std::string& options, const ChosenCompiler& by) {
    const Found found = find_target(target);
    model::Device device;
    device.selector = target;
    device.platform = "offline";
    device.name = target;
    device.c_version = "OpenCL C 1.2";
    device.type = model::DeviceType::gpu;
    device.compute_units = 64;
    device.global_bytes = 16ull << 30;
    device.max_alloc_bytes = 4ull << 30;
    device.constant_bytes = 64 << 10;
    device.last_level_bytes = 1 << 20;
    device.max_group = 256;
    device.max_group_promised = 1024;
    device.max_items = {device.max_group_promised, device.max_group_promised, 64};
    device.images = device.fp64 = device.local_is_dedicated = true;
    device.image2d_max_width = device.image2d_max_height = 16384;
    device.extensions = {"cl_khr_fp64", "cl_khr_byte_addressable_store", "cl_khr_global_int32_base_atomics",
                         "cl_khr_local_int32_base_atomics"};
    const auto& compiler = *found.set.offline;
    device.vendor = compiler.vendor;
    device.driver = compiler.driver;
    device.implementation = compiler.implementation;
    device.local_bytes = compiler.local_bytes;
    compiler.describe(device, target, device::words_of(options), by);
    return device;
}

const OfflineProgram& OfflinePrograms::program(const std::string& target, const std::string& text,
                                               const std::string& options, bool apart) {
    require_offline(target, by_);
    const Found found = find_target(target);
    auto all = device::words_of(options);
    std::erase_if(all, [](const auto& option) { return option.starts_with("-cl-nv-"); });
    auto key = all;
    key.insert(key.end(), {text, target});
    const auto made = [&] {
        const std::lock_guard lock(access_);
        auto& one = made_[std::move(key)];
        if (!one)
            one = std::make_shared<Lazy<OfflineProgram>>(
                [=, this] { return Compilation(found, text, all, limit_, by_).program(apart); });
        return one;
    }();
    return **made;
}

OfflineBuild OfflinePrograms::kernel(const std::string& target, const std::string& text, const std::string& options,
                                     bool apart, const std::string& entry, const LaunchSize& launch) {
    const auto& made = program(target, text, options, apart);
    const Found found = find_target(target);
    OfflineBuild build{false, made.log, {}, {}, made.notes};
    if (const auto refused = made.refused.find(entry); refused != made.refused.end()) build.log = refused->second;
    const auto known = made.kernels.find(entry);
    if (known != made.kernels.end() || (!apart && !made.pieces.empty())) {
        const auto& piece = made.pieces[known == made.kernels.end() ? 0 : known->second];
        build.log = piece.log;
        build.binary = piece.binary;
        build.analysis = analyse(as_bytes(build.binary), entry, build.log, launch, piece.options);
        // Without a tool that disassembles the code, its metadata still has the resources that it needs.
        build.ok = build.analysis.best() != nullptr || build.analysis.info.registers;
        if (const auto undefined = found.set.offline->undefined)
            judge(build, undefined(as_bytes(build.binary), entry), text);
        if (!build.ok)
            build.log += "error: no code of kernel '" + entry + "' was produced; build options: " + options + "\n";
    } else if (build.log.empty()) {
        build.log = "error: the code has no kernel '" + entry +
                    "': an #if of the source excludes it, or a macro gives it " +
                    "another name; build options: " + options + "\n";
    }
    return build;
}

}  // namespace cllab::inspect
