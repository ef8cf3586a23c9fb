// The one main of the unit lane; every other file here is a suite.
#define BOOST_TEST_MODULE unit
#include <boost/test/unit_test.hpp>
