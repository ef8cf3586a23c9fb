// The one main of the device lane; every other file here is a suite. Skipped (exit 77) when there is no device at all.
// CLLAB_TEST_DEVICE selects the device (default cpu), and
// CLLAB_TEST_BUILD_OPTIONS is appended to every build, e.g. -cl-opt-disable.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>
#include <cstdio>

#include "core/error.hpp"
#include "device/driver_settings.hpp"
#include "device/platforms.hpp"

int main(int argc, char** argv) {
    cllab::device::use_own_cache();
    cllab::device::pin_threads();
    try {
        cllab::device::discover();
    } catch (const cllab::Error& e) {
        std::fprintf(stderr, "skipped: %s\n", e.what());
        return 77;
    }
    return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
