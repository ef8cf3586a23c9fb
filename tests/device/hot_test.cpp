// Which code ran, by sampling: on a device that is this host, with the system's means and with one after the other
// refused.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <thread>

#include "bench.hpp"

using namespace cllab;
using cllab::test::run_scratch;
using model::Status;

namespace {

/// Nearly all of its time is in the inner loop.
const char* const chain =
    "kernel void scratch_chain(global const uint* src, global uint* dst, int n) {\n"
    "    int i = get_global_id(0);\n"
    "    uint x = src[i];\n"
    "    for (int k = 0; k < 200; ++k) x = x * 1664525u + src[(i + k) % n];\n"
    "    dst[i] = 2 * src[i] + 1 + (x == 77u && src[i] == 78u);\n"
    "}\n";

std::vector<model::Record> run_chain(const run::Settings& settings) {
    return run_scratch(chain, {{"chain", ""}}, settings, nullptr, "16384",
                       [](const model::Variant&, model::Setup& setup) { setup.local = model::Extent(64); });
}

run::Settings sampled(double seconds) {
    run::Settings settings;
    settings.hot_seconds = seconds;
    return settings;
}

bool is_pocl() { return test::session().facts().implementation == model::Implementation::pocl; }

/// From here on, the system calls fail in this thread and in those that it starts, as in a container that forbids them.
void refuse(std::initializer_list<long> calls) {
    for (const long call : calls) {
        sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        sock_fprog program{4, code};
        BOOST_REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        BOOST_REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    }
}

model::Record with_refused(std::initializer_list<long> calls) {
    model::Record out;
    std::thread([&] {
        refuse(calls);
        out = run_chain(sampled(0.3)).front();
    }).join();
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hot_code,
                      *boost::unit_test::precondition([](boost::unit_test::test_unit_id) { return is_pocl(); }))

// Without optimisation the work-group function calls the kernel, which is the function that has the loop then.
BOOST_AUTO_TEST_CASE(hot_loop_is_found_in_the_function_of_the_local_size) {
    const test::Folder folder("hot");
    auto settings = sampled(0.1);
    settings.dumps = folder.path;
    const auto record = run_chain(settings).front();
    BOOST_TEST(record.reason == "");
    BOOST_REQUIRE(record.hot.has_value());
    const auto& hot = *record.hot;
    BOOST_TEST(hot.reason == "");
    BOOST_REQUIRE(hot.evidence == "sampled");
    BOOST_TEST(2 * hot.in_kernel > hot.samples);
    BOOST_TEST(hot.code.find("specialised for local size 64x1x1") != std::string::npos);
    BOOST_REQUIRE(hot.hottest());
    BOOST_TEST(hot.hottest()->function.starts_with("_pocl_kernel_scratch_chain"), hot.hottest()->function);
    BOOST_TEST(!hot.hottest()->loops.empty());
    double sum = 0;
    for (const auto& block : hot.blocks) {
        BOOST_TEST(block.begin < block.end);
        BOOST_TEST(block.instructions > 0u);
        sum += block.share;
    }
    BOOST_TEST(sum > 0.9);
    BOOST_TEST(sum < 1.0001);
    std::ifstream file(std::filesystem::path(record.dump) / "isa.txt");
    const std::string isa(std::istreambuf_iterator<char>(file), {});
    BOOST_TEST(isa.find("// hot: sampled, ") != std::string::npos);
    BOOST_TEST(isa.find(" % of the kernel's samples, 0x") != std::string::npos);
    BOOST_TEST(isa.find("<_pocl_kernel_scratch_chain_workgroup>:") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(nothing_is_sampled_without_the_option) {
    const auto record = run_chain({}).front();
    BOOST_TEST((record.status == Status::ok));
    BOOST_TEST(!record.hot.has_value());
}

BOOST_AUTO_TEST_CASE(operation_longer_than_the_pass_is_not_sampled) {
    const auto record = run_chain(sampled(1e-6)).front();
    BOOST_REQUIRE_MESSAGE(record.hot.has_value(), model::name(record.status) << ": " << record.reason);
    BOOST_TEST(!record.hot->known());
    BOOST_TEST(record.hot->reason.find("an operation takes ") == 0u);
}

BOOST_AUTO_TEST_CASE(cpu_timer_samples_if_perf_event_open_is_refused) {
    const auto record = with_refused({SYS_perf_event_open});
    BOOST_TEST(record.reason == "");
    BOOST_REQUIRE(record.hot.has_value());
    BOOST_TEST(record.hot->method == "SIGPROF");
    // The system's tick decides how many samples there are.
    if (record.hot->known())
        BOOST_TEST(record.hot->hottest()->function.starts_with("_pocl_kernel_scratch_chain"),
                   record.hot->hottest()->function);
    else
        BOOST_TEST(record.hot->reason.find("say nothing") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(record_explains_missing_samples_if_both_are_refused) {
    const auto record = with_refused({SYS_perf_event_open, SYS_timer_create});
    BOOST_TEST((record.status == Status::ok));
    BOOST_TEST(record.time.has_value());
    BOOST_REQUIRE(record.hot.has_value());
    BOOST_TEST(!record.hot->known());
    BOOST_TEST(record.hot->reason ==
               "perf_event_open is refused: Operation not permitted, and timers are refused: Operation not permitted");
}

BOOST_AUTO_TEST_SUITE_END()
