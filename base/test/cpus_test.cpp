#include "base/host/cpus.hpp"

#include <gtest/gtest.h>

namespace mf {
namespace {

TEST(Cpus, AreWrittenAsRanges) {
  EXPECT_EQ(cpu_list_text({0, 1, 2, 7}), "0-2,7");
  EXPECT_EQ(cpu_list_text({3}), "3");
  EXPECT_FALSE(usable_cpus().empty());
}

}  // namespace
}  // namespace mf
