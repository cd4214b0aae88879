// How many processors the control groups leave, read from trees made up here.
#include "base/host/control_groups.hpp"

#include <gtest/gtest.h>

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

TEST(ControlGroups, NoGroupSaysNothing) {
  EXPECT_EQ(Groups("", "").cpus(), std::nullopt);
  Groups none("0::/box\n", kSecond);
  none.file("sys/fs/cgroup/box/cpu.max", "max 100000\n");
  EXPECT_EQ(none.cpus(), std::nullopt);
}

TEST(ControlGroups, TheLeastOfEveryLevelAroundTheProcessCounts) {
  Groups groups("0::/slice/box/job\n", kSecond);
  groups.file("sys/fs/cgroup/slice/cpu.max", "250000 100000\n");
  groups.file("sys/fs/cgroup/slice/box/cpu.max", "max 100000\n");
  groups.file("sys/fs/cgroup/slice/box/job/cpu.max", "800000 100000\n");
  groups.file("sys/fs/cgroup/other/cpu.max", "100000 100000\n");
  EXPECT_EQ(groups.cpus(), 3);
}

TEST(ControlGroups, AContainersOwnGroupIsTheMount) {
  Groups groups("0::/\n", kSecond);
  groups.file("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(groups.cpus(), 1);
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
