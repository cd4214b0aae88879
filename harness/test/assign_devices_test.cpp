#include "harness/run/ranks/rank_world.hpp"

#include <gtest/gtest.h>

namespace mf {
namespace {

using Given = std::vector<std::optional<int>>;

TEST(AssignDevices, InTheirOrderWhereAllSeeAll) {
  const std::vector<std::string> four = {"a", "b", "c", "d"};
  EXPECT_EQ(assign_devices({{0, four}, {0, four}, {0, four}}), (Given{0, 1, 2}));
}

// Two machines whose devices cannot be told apart by their names.
TEST(AssignDevices, OfEachMachineItsOwn) {
  const std::vector<std::string> two = {"a", "b"};
  EXPECT_EQ(assign_devices({{0, two}, {0, two}, {1, two}, {1, two}}), (Given{0, 1, 0, 1}));
}

// As srun does with --gpus-per-task=1.
TEST(AssignDevices, OneEachWhereALauncherBindsThem) {
  EXPECT_EQ(assign_devices({{0, {"b"}}, {0, {"a"}}, {1, {"b"}}}), (Given{0, 0, 0}));
}

TEST(AssignDevices, NoneIsGivenTwice) {
  EXPECT_EQ(assign_devices({{0, {"a"}}, {0, {"a"}}}), (Given{0, std::nullopt}));
  EXPECT_EQ(assign_devices({{0, {"a", "b"}}, {0, {"a"}}, {0, {"a", "b"}}}),
            (Given{0, std::nullopt, 1}));
  EXPECT_EQ(assign_devices({{0, {}}}), (Given{std::nullopt}));
}

}  // namespace
}  // namespace mf
