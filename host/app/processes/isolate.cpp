// Isolation by fork: the parent never calls OpenCL, so a child starts from a clean process and may crash or hang in a
// driver without taking the run along. Child to parent: one JSON object a line for what is worth a record, and a page
// of shared memory for where it is now, because a message before each sample would wake the parent and disturb the
// timing.
#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "app/processes/ahead.hpp"
#include "app/processes/supervision.hpp"
#include "core/units.hpp"
#include "json/read.hpp"

namespace cllab::model {
// Facts cross from the child that asked the drivers to the parent that must not.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Device, selector, platform, platform_version, name, vendor, driver, device_version,
                                   c_version, type, implementation, compute_units, clock_mhz, global_bytes,
                                   max_alloc_bytes, local_bytes, constant_bytes, reported_cache_bytes, host_cache_bytes,
                                   host_cache_levels, last_level_bytes, cacheline_bytes, max_group, max_group_promised,
                                   max_items, preferred_multiple, base_align_bytes, images, fp64, fp16,
                                   local_is_dedicated, little_endian, unified_memory, image2d_max_width,
                                   image2d_max_height, extensions, compute_capability, identity)
}  // namespace cllab::model

namespace cllab::app {
namespace {

class InChildProcesses : public Runner {
public:
    InChildProcesses(double timeout_seconds, std::function<std::unique_ptr<run::Share>()> share)
        : timeout_seconds_(timeout_seconds), share_(std::move(share)) {}

    std::vector<model::Device> devices(const std::vector<std::string>& selectors,
                                       std::vector<std::string>* troubles) override {
        const auto lines = in_child(
            [&](const HandOver& hand_over) {
                std::vector<std::string> seen;
                hand_over(nlohmann::json(Here().devices(selectors, &seen))
                              .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
                for (const auto& trouble : seen) hand_over(trouble);
            },
            "while the devices were listed (`cllab devices` names the driver)", timeout_seconds_, timeout_seconds_);
        if (troubles) troubles->assign(lines.begin() + 1, lines.end());
        return devices_ = nlohmann::json::parse(lines.at(0)).get<std::vector<model::Device>>();
    }

    void expect(const run::RunRequest& like, const std::string& selector, bool more) override {
        const auto known = standing_.find(selector);
        const auto device =
            std::find_if(devices_.begin(), devices_.end(), [&](const auto& d) { return d.selector == selector; });
        const auto pays = [&] { return Ahead::pays(*device, std::thread::hardware_concurrency()); };
        if (!more || share_ || known == standing_.end() || device == devices_.end() || !pays()) return ahead_.reset();
        if (!ahead_) ahead_.emplace(like, selector, known->second);
    }

    void run(const run::RunRequest& request, const std::string& selector, const Events& events,
             const std::set<run::CellNumber>& already) override {
        auto finished = already;
        auto rest = request;
        for (bool over = false; !over;) {
            const bool waits = ahead_ && already.empty() && finished.empty() && request.settings.arrangement;
            if (auto worker = waits ? ahead_->give(request, standing_.at(selector).last_use) : nullptr) {
                try {
                    over = look_after(std::move(worker), rest, selector, events, finished);
                    continue;
                } catch (const DeviceLost&) {
                    if (!finished.empty()) throw;
                    ahead_.reset();  // a process made now says what it was
                }
            }
            auto worker = std::make_unique<Worker>();
            const auto share = share_ ? share_() : nullptr;
            worker->child = std::make_unique<Child>([&](int fd) {
                Here here;
                // The timer is what it was and the device as warm (host/README.md, rules 3 and 4); the programs of
                // an arrangement are of the bytes that the first one's driver gave.
                if (const auto known = standing_.find(selector); rest.settings.goes_on && known != standing_.end())
                    here.inherit(selector, known->second);
                if (rest.settings.arrangement) here.keep_programs();
                carry_out(here, rest, selector, finished, events.measures, *worker->position, fd, share.get());
            });
            over = look_after(std::move(worker), rest, selector, events, finished);
        }
    }

private:
    /// As Supervision::watch, and keeps what the process knows of the device.
    bool look_after(std::unique_ptr<Worker> worker, run::RunRequest& rest, const std::string& selector,
                    const Events& events, std::set<run::CellNumber>& finished) {
        Supervision supervision(std::move(worker), rest, selector, timeout_seconds_, events, finished);
        const bool over = supervision.watch();
        if (const auto& now = supervision.standing()) {
            auto& known = standing_[selector];
            auto programs = std::move(known.programs);  // what was built from them is not told again
            known = *now;
            known.programs.merge(programs);
        }
        return over;
    }

    double timeout_seconds_;
    std::function<std::unique_ptr<run::Share>()> share_;
    std::map<std::string, device::Standing> standing_;  ///< by selector
    std::vector<model::Device> devices_;                ///< those asked for last
    std::optional<Ahead> ahead_;
};

}  // namespace

std::unique_ptr<Runner> in_child_processes(double timeout_seconds, std::function<std::unique_ptr<run::Share>()> share) {
    return std::make_unique<InChildProcesses>(timeout_seconds, std::move(share));
}

std::vector<std::string> in_child(const std::function<void(const HandOver&)>& work, const std::string& doing,
                                  double first_seconds, double seconds) {
    Child child([&](int fd) {
        work([&](const std::string& line) { send(fd, Message{{"line", line}}); });
        send(fd, Message{{"finished", true}});
    });
    std::vector<std::string> out;
    const Position no_position;
    for (std::string line;;) {
        const double limit = out.empty() ? first_seconds : seconds;
        switch (child.next(line, limit, no_position)) {
            case Child::Event::line: {
                const auto message = parse_json<Message>(line);
                if (message.contains("error")) rethrow(message);
                if (message.contains("interrupted")) throw run::Interrupted{};
                if (message.contains("finished")) return out;
                out.push_back(message.at("line").get<std::string>());
                break;
            }
            case Child::Event::silent:
                if (interrupted()) throw run::Interrupted{};
                throw DeviceLost(doing + " nothing happened for " + format_significant(limit, 3) + " s");
            case Child::Event::ended:
                throw DeviceLost(doing + " " + death(child.reap()));
        }
    }
}

}  // namespace cllab::app
