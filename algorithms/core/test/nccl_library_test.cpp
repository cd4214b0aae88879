// Another library stands for NCCL's: its symbols are named here.
#include "algorithms/core/ranks/nccl_library.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "testing/test_support.hpp"

namespace mf {
namespace {

TEST(NcclLibrary, IsTheOneThatIsNamed) {
  test::Environment environment;
  environment.set("MFBENCH_NCCL", "libm.so.6");
  const auto found = load_nccl(std::to_array({"cos", "cbrt"}));
  EXPECT_EQ(found.why, "");
  ASSERT_EQ(found.addresses.size(), 2U);
  const auto cbrt = reinterpret_cast<double (*)(double)>(found.addresses[1]);
  EXPECT_DOUBLE_EQ(cbrt(27), 3);
}

TEST(NcclLibrary, SaysWhatAnOldOneLacks) {
  test::Environment environment;
  environment.set("MFBENCH_NCCL", "libm.so.6");
  EXPECT_EQ(load_nccl(std::to_array({"cos", "ncclSend", "ncclRecv"})).why,
            "NCCL cannot be used: found no ncclSend in libm.so.6, expected NCCL 2.14 or newer");
}

TEST(NcclLibrary, SaysWhatToDoWhereThereIsNone) {
  test::Environment environment;
  environment.set("MFBENCH_NCCL", "/nowhere/libnccl.so.9");
  const std::string why = load_nccl({}).why;
  EXPECT_HAS(why, "/nowhere/libnccl.so.9");
  EXPECT_HAS(why, "name the library in MFBENCH_NCCL");
}

TEST(NcclLibrary, DefaultsHoldUnlessTheUserSaysOtherwise) {
  test::Environment environment;
  for (const auto& [name, ours, theirs] :
       {std::tuple{"NCCL_NVLS_ENABLE", "0", "1"}, {"NCCL_P2P_DIRECT_DISABLE", "1", "0"}}) {
    environment.set(name, theirs);
    set_nccl_defaults();
    EXPECT_STREQ(std::getenv(name), theirs);
    ::unsetenv(name);
    set_nccl_defaults();
    EXPECT_STREQ(std::getenv(name), ours);
  }
}

}  // namespace
}  // namespace mf
