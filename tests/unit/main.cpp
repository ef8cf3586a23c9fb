// The one main of the unit lane; every other file here is a suite.
#define BOOST_TEST_MODULE unit
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "inspect/tools/comgr.hpp"

bool init_unit_test();

int main(int argc, char** argv) {
    if (argc == 4 && std::strcmp(argv[1], "comgr-compile") == 0) return cllab::inspect::comgr_main(argv[2], argv[3]);
    return boost::unit_test::unit_test_main(&init_unit_test, argc, argv);
}
