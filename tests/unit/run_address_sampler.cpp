// Executable memory as the sampler of addresses reads and keeps it.
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "run/address_sampler.hpp"

BOOST_AUTO_TEST_SUITE(address_sampler)

using namespace cllab;
using inspect::CodeRegion;

BOOST_AUTO_TEST_CASE(executable_regions_are_read_from_proc_maps) {
    const auto regions = run::executable_regions(
        "1000-3000 r-xp 00000000 08:01 12    /usr/lib/lib a.so\n"
        "3000-4000 r-xp 00002000 08:01 12    /usr/lib/lib a.so\n"
        "4000-5000 rw-p 00003000 08:01 12    /usr/lib/lib a.so\n"
        "6000-7000 --xp 00000000 00:00 0 \n"
        "7000-8000 rwxp 00000000 00:00 0 \n"
        "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n");
    BOOST_TEST_REQUIRE(regions.size() == 2u);
    BOOST_TEST(regions[0].address == 0x1000u);
    BOOST_TEST(regions[0].bytes.size() == 0x3000u);
    BOOST_TEST(regions[0].path == "/usr/lib/lib a.so");
    BOOST_TEST(regions[1].address == 0x7000u);
    BOOST_TEST(regions[1].path == "");
}

BOOST_AUTO_TEST_CASE(sampled_code_stays_readable_when_the_driver_unmaps_it) {
    constexpr std::size_t page = 4096;
    const auto map = [&](int fill) {
        void* at = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        BOOST_TEST_REQUIRE((at != MAP_FAILED));
        std::memset(at, fill, page);
        return static_cast<const std::byte*>(at);
    };
    const auto *kept = map(1), *unsampled = map(2), *gone = map(3);
    const auto address = [](const std::byte* at) { return reinterpret_cast<std::uint64_t>(at); };
    std::vector<CodeRegion> regions;
    for (const auto* at : {kept, unsampled, gone}) regions.push_back({address(at), {at, page}, "/lib/k.so"});
    ::munmap(const_cast<std::byte*>(gone), page);
    const std::vector<std::uint64_t> sampled{address(kept) + page - 1, address(gone)};
    const auto copies = run::copies_of_sampled(regions, sampled);
    ::munmap(const_cast<std::byte*>(kept), page);
    ::munmap(const_cast<std::byte*>(unsampled), page);
    BOOST_TEST_REQUIRE(copies.size() == 1u);
    BOOST_TEST(copies[0].address == address(kept));
    BOOST_TEST(copies[0].path == "/lib/k.so");
    BOOST_TEST(copies[0].bytes.size() == page);
    BOOST_TEST((copies[0].bytes.back() == std::byte{1}));
}

BOOST_AUTO_TEST_SUITE_END()
