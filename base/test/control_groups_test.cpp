// How many processors the control groups leave, read from trees made up here.
#include "base/host/control_groups.hpp"

#include <gtest/gtest.h>

#include <map>

#include "testing/test_support.hpp"

namespace mf {
namespace {

using test::TempFolder;
using test::write_file;

const char* const kSecond = "29 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
const char* const kFirst =
    "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "32 25 0:28 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n";

class Groups {
 public:
  Groups(const std::string& cgroup, const std::string& mountinfo) {
    file("proc/self/cgroup", cgroup);
    file("proc/self/mountinfo", mountinfo);
  }
  void file(const std::string& path, const std::string& text) { write_file(folder_ / path, text); }
  std::optional<int> cpus() const { return cpus_of_groups(folder_ / ""); }
  std::vector<ControlGroup> of(const std::string& controller) const {
    return control_groups(controller, folder_ / "");
  }

 private:
  TempFolder folder_;
};

// The least of every level around the process counts; a container's own group is the mount.
TEST(ControlGroups, VersionTwoLeavesTheLeastOfTheLevelsAround) {
  EXPECT_EQ(Groups("", "").cpus(), std::nullopt);
  const struct {
    const char* cgroup;
    std::map<std::string, const char*> max;
    std::optional<int> cpus;
  } cases[] = {{"0::/box\n", {{"box/", "max 100000\n"}}, std::nullopt},
               {"0::/\n", {{"", "50000 100000\n"}}, 1},
               {"0::/slice/box/job\n",
                {{"slice/", "250000 100000\n"},
                 {"slice/box/", "max 100000\n"},
                 {"slice/box/job/", "800000 100000\n"},
                 {"other/", "100000 100000\n"}},
                3}};
  for (const auto& one : cases) {
    Groups groups(one.cgroup, kSecond);
    for (const auto& [at, text] : one.max) groups.file("sys/fs/cgroup/" + at + "cpu.max", text);
    EXPECT_EQ(groups.cpus(), one.cpus) << one.cgroup;
  }
}

TEST(ControlGroups, VersionOneHasAFileForEachNumber) {
  Groups groups("5:memory:/m\n4:cpu,cpuacct:/a\n", kFirst);
  groups.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "200000\n");
  groups.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  groups.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  groups.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(groups.cpus(), 2);
  const auto memory = groups.of("memory");
  ASSERT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory[0].folder, "/sys/fs/cgroup/memory/m");
  EXPECT_EQ(memory[0].version, 1);
  EXPECT_EQ(memory[1].folder, "/sys/fs/cgroup/memory");
}

TEST(ControlGroups, WhatIsNoNumberIsNoLimit) {
  for (const char* text : {"", "-5 100000\n", "100000 0\n", "many 100000\n", "1e300 1\n"}) {
    Groups groups("0::/box\n", kSecond);
    groups.file("sys/fs/cgroup/box/cpu.max", text);
    EXPECT_EQ(groups.cpus(), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace mf
