// The one main of the unit lane; every other file here is a suite.
#define BOOST_TEST_MODULE unit
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>
