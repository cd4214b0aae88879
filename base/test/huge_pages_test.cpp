#include "base/host/huge_pages.hpp"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <new>
#include <string>

#include "base/aligned.hpp"

namespace mf {
namespace {

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// The line "VmFlags: rd wr ..." of the mapping that the address lies in.
std::string flags_at(std::uintptr_t address) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
      here = begin <= address && address < end;
    if (here && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

TEST(HugePages, LargeArraysAreAlignedAndAskForThem) {
  AlignedVector<std::int32_t> large(std::int64_t{3} << 20);
  EXPECT_EQ(address_of(large.data()) % kHugePage, 0U);
  large[0] = 1;
  large[std::ssize(large) - 1] = 2;
  const std::string flags = flags_at(address_of(large.data()));
  if (flags.empty()) GTEST_SKIP() << "/proc/self/smaps has no flags";
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good())
    GTEST_SKIP() << "this system has no huge pages";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
}

TEST(HugePages, SmallArraysAreAlignedToCacheLines) {
  const AlignedVector<std::int32_t> small(1000);
  EXPECT_EQ(address_of(small.data()) % 64, 0U);
  void* const array = allocate_array(kLargeArray - 1, 256);
  EXPECT_EQ(address_of(array) % 256, 0U);
  free_array(array, kLargeArray - 1, 256);
}

TEST(HugePages, MoreThanThereIsIsRefused) {
  EXPECT_THROW(AlignedAllocator<std::int64_t>().allocate(~std::size_t{0} / 4), std::bad_alloc);
#if defined(MF_SANITIZED)
  GTEST_SKIP() << "the sanitizers end a program that asks for so much";
#else
  EXPECT_THROW(allocate_array(~std::size_t{0} / 4, 64), std::bad_alloc);
#endif
}

}  // namespace
}  // namespace mf
