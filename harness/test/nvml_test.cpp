#include "harness/device/nvml.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace mf {
namespace {

// The library lies beside this program.
std::string fake_nvml() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libfake_nvml.so")
      .string();
}

TEST(Nvml, AnswersInUnitsWithoutPrefixes) {
  const auto nvml = open_nvml("0000:3B:00.0", fake_nvml());
  ASSERT_NE(nvml, nullptr);
  EXPECT_EQ(nvml->driver_version(), "580.95.05");
  EXPECT_DOUBLE_EQ(*nvml->power_limit_w(), 700);
  EXPECT_DOUBLE_EQ(*nvml->power_w(), 412.5);
  EXPECT_DOUBLE_EQ(*nvml->sm_clock_hz(), 1980e6);
  EXPECT_DOUBLE_EQ(*nvml->temperature_c(), 54);
  const double before = *nvml->energy_j();
  EXPECT_NEAR(*nvml->energy_j() - before, 2.5, 1e-9);
}

TEST(Nvml, HasNoAnswerWhereTheDeviceHasNone) {
  const auto nvml = open_nvml("0000:3B:00.0", fake_nvml());
  ASSERT_NE(nvml, nullptr);
  ::setenv("NVML_FAKE_ENERGY", "no", 1);
  EXPECT_FALSE(nvml->energy_j());
  ::unsetenv("NVML_FAKE_ENERGY");
  EXPECT_EQ(open_nvml("0000:00:00.0", fake_nvml()), nullptr) << "another device";
}

TEST(Nvml, IsAbsentWithoutItsLibraryAndWithALibraryThatIsAnother) {
  EXPECT_EQ(open_nvml("0000:00:00.0", "libno-such-library.so.1"), nullptr);
  EXPECT_EQ(open_nvml("0000:00:00.0", "libz.so.1"), nullptr);
}

}  // namespace
}  // namespace mf
