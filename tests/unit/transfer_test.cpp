// transfer without a device: the order of its steps, what must come back, and the conclusions.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(transfer)

using namespace cllab;
using namespace cllab::test;
using model::Buffers, model::Bytes, model::Download, model::InOut, model::Launch, model::Setup, model::Upload;

namespace {

const Axes small{{"size", "4100"}, {"pieces", "3"}, {"rounds", "5"}};

/// "up src0", "kernel 0", "down dst0", each with its queue.
std::vector<std::pair<std::string, unsigned>> order_of(const Setup& setup) {
    std::vector<std::pair<std::string, unsigned>> out;
    for (const auto& step : setup.steps) {
        if (const auto* up = std::get_if<Upload>(&step)) out.emplace_back("up " + up->buffer, up->queue);
        if (const auto* launch = std::get_if<Launch>(&step))
            out.emplace_back("kernel " + launch->args.at(0), launch->queue);
        if (const auto* down = std::get_if<Download>(&step)) out.emplace_back("down " + down->buffer, down->queue);
    }
    return out;
}

std::map<std::string, Bytes> right_answer(const Setup& setup) {
    std::map<std::string, Bytes> out;
    for (const auto& argument : setup.args) {
        const auto* src = std::get_if<InOut>(&argument);
        if (!src) continue;
        out[src->name] = *src->data;
        auto& dst = out["dst" + src->name.substr(3)] = *src->data;
        for (std::size_t i = 0; i < dst.size(); i += 4) {
            std::uint32_t v = 0;
            std::memcpy(&v, &dst[i], 4);
            for (int r = 0; r < 5; ++r) v = v * 1664525u + 1013904223u;
            std::memcpy(&dst[i], &v, 4);
        }
    }
    return out;
}

std::string verdict(const Setup& setup, const std::map<std::string, Bytes>& contents) {
    Buffers buffers;
    for (const auto& [name, bytes] : contents) buffers.data[name] = bytes;
    return setup.check(buffers).value_or("");
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_transferred_word_is_checked) {
    for (const char* variant : {"blocking", "events", "queues"}) {
        const auto setup = set_up(std::string("transfer_") + variant, probe_cpu(), small);
        const auto right = right_answer(setup);
        BOOST_TEST(right.size() == 6u);
        BOOST_TEST(verdict(setup, right) == "");
        for (const auto& [name, bytes] : right) {
            auto wrong = right;
            wrong[name].back() ^= std::byte{1};
            BOOST_TEST(verdict(setup, wrong).starts_with(name + "["), name);
        }
    }
}

BOOST_AUTO_TEST_CASE(pieces_add_up_to_the_size) {
    const auto setup = set_up("transfer_events", probe_cpu(), small);
    std::size_t up = 0;
    for (const auto& argument : setup.args)
        if (const auto* src = std::get_if<InOut>(&argument)) up += src->data->size();
    BOOST_TEST(up == 4100u);
    BOOST_TEST(setup.work.bytes == 2.0 * 4100);
    BOOST_CHECK_THROW(set_up("transfer_events", probe_cpu(), {{"size", "8"}, {"pieces", "3"}}), Error);
}

BOOST_AUTO_TEST_CASE(pieces_run_in_order_on_one_queue_and_overlap_on_several) {
    using Order = std::vector<std::pair<std::string, unsigned>>;
    const Order one{{"up src0", 0},   {"kernel src0", 0}, {"down dst0", 0},   {"up src1", 0},  {"kernel src1", 0},
                    {"down dst1", 0}, {"up src2", 0},     {"kernel src2", 0}, {"down dst2", 0}};
    BOOST_TEST((order_of(set_up("transfer_events", probe_cpu(), small)) == one));
    BOOST_TEST((order_of(set_up("transfer_blocking", probe_cpu(), small)) == one));
    const Order two{{"up src0", 0}, {"kernel src0", 0}, {"up src1", 1},   {"kernel src1", 1}, {"down dst0", 0},
                    {"up src2", 0}, {"kernel src2", 0}, {"down dst1", 1}, {"down dst2", 0}};
    BOOST_TEST((order_of(set_up("transfer_queues", probe_cpu(), small)) == two));
    for (const char* queues : {"2", "3", "5", "16"}) {
        auto settings = small;
        settings.emplace_back("queues", queues);
        std::set<std::string> each;
        const auto order = order_of(set_up("transfer_queues", probe_cpu(), settings));
        for (const auto& [what, queue] : order) {
            BOOST_TEST(each.insert(what).second, what);
            BOOST_TEST(queue == std::stoul(what.substr(what.size() - 1)) % std::stoul(queues));
        }
        BOOST_TEST(each.size() == 9u);
    }
}

BOOST_AUTO_TEST_CASE(only_the_first_variant_waits_for_each_step) {
    BOOST_TEST(set_up("transfer_blocking", probe_cpu(), small).blocking);
    BOOST_TEST(!set_up("transfer_events", probe_cpu(), small).blocking);
    BOOST_TEST(!set_up("transfer_queues", probe_cpu(), small).blocking);
}

BOOST_AUTO_TEST_CASE(the_conclusion_has_rates_and_gains) {
    const Axes fixed{{"memory", "pinned"}, {"pieces", "8"}};
    auto blocking = curve_of("blocking", {{1e4, 4e-5}, {1e6, 5e-4}, {1e8, 4e-2}}, fixed);
    auto events = curve_of("events", {{1e4, 2e-5}, {1e6, 4e-4}, {1e8, 4e-2}}, fixed);
    auto queues = curve_of("queues", {{1e4, 2e-5}, {1e6, 3e-4}, {1e8, 2e-2}}, fixed);
    for (auto* c : {&blocking, &events, &queues})
        for (auto& s : c->samples) s.metrics = {{"upload", 1e-5 + s.x / 1e10}, {"download", 2e-5 + s.x / 5e9}};
    const auto found = concluded("transfer", {blocking, events, queues}, probe_cpu());
    require_finding(found, "up rate, pinned", 1e10);
    require_finding(found, "down rate, pinned", 5e9);
    require_finding(found, "up at half that rate, pinned", 1e6);
    require_finding(found, "gain of not waiting, pinned", 1);
    require_finding(found, "gain of several queues, pinned", 2);
    BOOST_TEST(!finding(concluded("transfer", {events}, probe_cpu()), "gain of several queues, pinned"));
}

BOOST_AUTO_TEST_SUITE_END()
