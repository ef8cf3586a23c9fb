#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "bench.hpp"
#include "core/random.hpp"
#include "device/program.hpp"
#include "inspect/binary/binary.hpp"

using namespace cllab;
using cllab::test::session;

BOOST_AUTO_TEST_SUITE(sessions)

BOOST_AUTO_TEST_CASE(binary_of_an_unbuilt_program_is_never_requested) {
    device::Built never;
    BOOST_TEST(device::program_binary(never).empty());
}

BOOST_AUTO_TEST_CASE(the_binary_of_a_built_program_has_a_known_kind) {
    const auto built = device::build(session(), "kernel void k(global uint* out) { out[get_global_id(0)] = 1; }", "");
    BOOST_REQUIRE(built.ok);
    const auto binary = device::program_binary(built);
    BOOST_TEST(!binary.empty());
    BOOST_TEST((inspect::recognise(binary) != inspect::Kind::unknown));
}

// A driver that works over a network ships one text to one device; files and shared contexts stay behind.
BOOST_AUTO_TEST_CASE(context_has_one_device_and_program_has_one_text) {
    BOOST_TEST(session().context().getInfo<CL_CONTEXT_DEVICES>().size() == 1u);
    const std::string text = "kernel void k(global uint* out) { out[get_global_id(0)] = 1; }";
    const auto built = device::build(session(), text, "");
    BOOST_REQUIRE(built.ok);
    BOOST_TEST(built.program.getInfo<CL_PROGRAM_SOURCE>() == text);
}

BOOST_AUTO_TEST_CASE(failed_build_returns_the_log_of_the_driver) {
    const auto built = device::build(session(), "kernel void k( {", "");
    BOOST_TEST(!built.ok);
    BOOST_TEST(!built.log.empty());
}

// What an arrangement builds from: the bytes of the process before it, where the driver is the faster for it.
BOOST_AUTO_TEST_CASE(known_program_is_built_from_bytes_or_else_from_text) {
    if (!device::KnownPrograms::pay(session().facts())) return;
    const std::string text = "kernel void k(global uint* out) { out[get_global_id(0)] = 28; }",
                      other = "kernel void k(global uint* out) { out[0] = 29; }";
    auto& known = session().programs();
    device::build(session(), text, "");
    BOOST_TEST(known.made().empty());  // nobody asked for it
    known.keep();
    device::build(session(), text, "");
    const auto made = known.made();
    BOOST_REQUIRE(made.size() == 1u);

    const auto is_of_text = [&](const std::string& of, const std::string& options) {
        const auto built = device::build(session(), of, options);
        BOOST_REQUIRE(built.ok);
        cl::Kernel kernel(built.program, "k");
        cl::Buffer out(session().context(), CL_MEM_READ_WRITE, 4);
        kernel.setArg(0, out);
        session().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NDRange(1));
        cl_uint value = 0;
        session().queue().enqueueReadBuffer(out, CL_TRUE, 0, 4, &value);
        BOOST_TEST(value == (of == text ? 28u : 29u));
        return !built.program.getInfo<CL_PROGRAM_SOURCE>().empty();
    };
    known.add(made);
    BOOST_TEST(!is_of_text(text, ""));
    BOOST_TEST(is_of_text(text, "-DOTHER=1"));
    BOOST_TEST(is_of_text(other, ""));
    const auto key = device::KnownPrograms::key_of(other, "");
    known.add({{key, std::vector<std::byte>(64)}});
    BOOST_TEST(is_of_text(other, ""));
    BOOST_TEST(known.find(key) == nullptr);
    BOOST_TEST(device::KnownPrograms::key_of("#  include \"a.h\"\n", "").empty());
}

BOOST_AUTO_TEST_CASE(the_audit_measures_order_step_and_agreement) {
    const auto& audit = session().timer();
    BOOST_TEST(audit.launches == 400u);
    BOOST_TEST(!audit.verdict.empty());
    if (session().facts().implementation == model::Implementation::pocl) {
        BOOST_TEST(audit.ordered);
        BOOST_TEST(audit.step_ns == 1u);
        BOOST_TEST(audit.tenfold > 5);
    }
}

BOOST_AUTO_TEST_CASE(device_state_of_another_process_is_reused) {
    device::Session after(cllab::test::found());
    BOOST_TEST(!after.device_state().has_value());  // nothing is known of a device that has done nothing
    device::DeviceState left;
    left.audit.launches = 7;  // no audit makes so few
    left.settled = true;
    left.last_use = Clock::now();
    after.inherit(left);
    BOOST_TEST(after.timer().launches == 7u);
    BOOST_TEST(after.settled().value_or(false));
    BOOST_TEST((after.last_wait() == left.last_use));
    BOOST_REQUIRE(after.device_state().has_value());
    BOOST_TEST(after.device_state()->audit.launches == 7u);
}

BOOST_AUTO_TEST_CASE(mapped_and_copied_transfers_give_equal_bytes) {
    for (const auto how : {model::Transfer::copied, model::Transfer::mapped, model::Transfer::host_pointer}) {
        device::GuardedBuffer buffer(session(), 5000, device::least_guard_bytes, how);
        model::Bytes out(5000), back(5000);
        model::poison(out, 99);
        buffer.arm(1);
        BOOST_TEST(device::upload(session(), buffer.buffer(), out, how) >= 0);
        BOOST_TEST(device::download(session(), buffer.buffer(), back, how) >= 0);
        BOOST_TEST((out == back));
        BOOST_TEST(!buffer.guard_damage("buffer").has_value());
    }
}

// Much data is copied, and poison made, where a CPU device has it: in a part of a buffer too, and of no whole number of
// pages.
BOOST_AUTO_TEST_CASE(large_transfers_arrive_complete_between_guards) {
    const std::size_t size = (9 << 20) + 24;
    device::GuardedBuffer buffer(session(), size, device::least_guard_bytes, model::Transfer::copied);
    buffer.arm(1);
    model::Bytes sent(size), back(size);
    fill_random(sent, 5);
    session().put(buffer.buffer(), sent);
    session().get(buffer.buffer(), back);
    BOOST_TEST((sent == back));
    const bool made = session().poison(buffer.buffer(), size, 9);
    BOOST_TEST((made || session().facts().implementation != model::Implementation::pocl));
    session().get(buffer.buffer(), back);
    if (made) model::poison(sent, 9);
    BOOST_TEST((sent == back));
    BOOST_TEST(!buffer.guard_damage("buffer").has_value());
}

// A driver that reports a read and makes none would leave another cell's results there.
BOOST_AUTO_TEST_CASE(reused_host_memory_loses_its_old_contents) {
    const std::size_t size = (2 << 20) + 24, page = 4096;
    const model::Bytes results(size, std::byte{7});
    session().reuse(model::Bytes(results));
    const auto again = session().host_memory(size);
    BOOST_REQUIRE(again.size() == size);
    for (std::size_t i = 0; i < size; i += page) {
        const auto length = std::min(page, size - i);
        BOOST_TEST(!std::equal(again.data() + i, again.data() + i + length, results.data()), i);
    }
}

BOOST_AUTO_TEST_SUITE_END()
