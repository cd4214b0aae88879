// Limits of memory, read from trees made up here as the kernel writes them.
#include "base/host/memory_limit.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "testing/test_support.hpp"

namespace mf {
namespace {

using test::write_file;

constexpr std::int64_t kMiB = 1 << 20;

std::string mib(std::int64_t count) { return std::to_string(count * kMiB); }

class Machine {
 public:
  // 16 GiB, 12 GiB available, no limits.
  Machine() {
    file("proc/meminfo",
         "MemTotal:       16777216 kB\nMemFree:         1048576 kB\n"
         "MemAvailable:   12582912 kB\n");
    limits("unlimited", "unlimited");
    file("proc/self/status", "Name:\tmfbench\nVmSize:\t  102400 kB\nVmData:\t   51200 kB\n");
  }
  void file(const std::string& path, const std::string& text) { write_file(folder_ / path, text); }
  void limits(const std::string& address_space, const std::string& data) {
    file("proc/self/limits",
         "Limit                     Soft Limit           Hard Limit           Units     \n"
         "Max data size             " +
             data +
             "            unlimited            bytes     \n"
             "Max address space         " +
             address_space + "   unlimited            bytes     \n");
  }
  void groups(const std::string& cgroup, const std::string& mountinfo) {
    file("proc/self/cgroup", cgroup);
    file("proc/self/mountinfo", mountinfo);
  }
  // One of version 2.
  void group(const std::string& name, const std::string& max, std::int64_t current,
             const std::string& stat = "") {
    const std::string at = "sys/fs/cgroup" + name;
    file(at + "/memory.max", max + "\n");
    file(at + "/memory.current", std::to_string(current) + "\n");
    file(at + "/memory.stat", "anon 1\n" + stat);
  }
  MemoryLimit limit() const { return memory_limit(folder_ / ""); }

 private:
  TempFolder folder_;
};

const char* const kSecond = "29 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";

void expect(const MemoryBound& bound, std::int64_t mib, const std::string& by) {
  EXPECT_EQ(bound.bytes, mib * kMiB) << bound.by;
  EXPECT_EQ(bound.by, by);
}

struct MemoryLimits : ::testing::Test {
  Machine machine;
};

TEST_F(MemoryLimits, WithoutLimitsItIsTheMachines) {
  expect(machine.limit().total, 16384, "MemTotal");
  expect(machine.limit().available, 12288, "MemAvailable");
}

TEST_F(MemoryLimits, AGroupLeavesItsMaximumWithoutWhatItCannotDrop) {
  machine.groups("0::/box\n", kSecond);
  machine.group("/box", mib(2048), 1024 * kMiB,
                "inactive_file " + mib(500) + "\nactive_file " + mib(200) + "\nslab_reclaimable " +
                    mib(50) + "\nfile_dirty " + mib(90) + "\nfile_writeback " + mib(10) + "\n");
  expect(machine.limit().total, 2048, "/sys/fs/cgroup/box/memory.max");
  expect(machine.limit().available, 2048 - (1024 - 500 - 200 - 50 + 90 + 10),
         "/sys/fs/cgroup/box/memory.max");
}

TEST_F(MemoryLimits, EveryLevelAroundTheProcessCounts) {
  machine.groups("0::/slice/box/job\n", kSecond);
  machine.group("/slice", mib(3000), 2900 * kMiB);
  machine.group("/slice/box", "max", 800 * kMiB);
  machine.group("/slice/box/job", mib(1000), 100 * kMiB);
  machine.group("/other", mib(1), 0);
  expect(machine.limit().total, 1000, "/sys/fs/cgroup/slice/box/job/memory.max");
  expect(machine.limit().available, 100, "/sys/fs/cgroup/slice/memory.max");
}

TEST_F(MemoryLimits, AFullGroupLeavesNothing) {
  machine.groups("0::/box\n", kSecond);
  machine.group("/box", mib(100), 101 * kMiB);
  expect(machine.limit().available, 0, "/sys/fs/cgroup/box/memory.max");
}

TEST_F(MemoryLimits, MaxIsNone) {
  machine.groups("0::/box\n", kSecond);
  machine.group("/box", "max", 1024 * kMiB);
  expect(machine.limit().total, 16384, "MemTotal");
}

// A container without a namespace of groups: the mount begins at its own group.
TEST_F(MemoryLimits, ThePathBeginsAtTheRootOfTheMount) {
  machine.groups("0::/docker/abc/inner\n",
                 "29 22 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  machine.group("", mib(700), 0);
  machine.group("/inner", mib(600), 0);
  expect(machine.limit().total, 600, "/sys/fs/cgroup/inner/memory.max");
}

TEST_F(MemoryLimits, AGroupThatCannotBeSeenHasTheLimitsOfTheMount) {
  for (const char* path : {"0::/../..\n", "0::/elsewhere\n"}) {
    machine.groups(path, "29 22 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    machine.group("", mib(700), 0);
    expect(machine.limit().total, 700, "/sys/fs/cgroup/memory.max");
  }
}

TEST_F(MemoryLimits, VersionOneHasOtherNamesAndANumberForNone) {
  machine.groups(
      "9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n",
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
      "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "35 31 0:32 / /sys/fs/cgroup/my\\040memory rw,relatime shared:3 - cgroup cgroup rw,memory\n");
  const std::string at = "sys/fs/cgroup/my memory/a";
  machine.file(at + "/memory.limit_in_bytes", mib(900));
  machine.file(at + "/memory.usage_in_bytes", mib(500));
  machine.file(at + "/memory.stat", "inactive_file 1\ntotal_inactive_file " + mib(300) +
                                        "\ntotal_active_file " + mib(100) + "\n");
  machine.file(at + "/b/memory.limit_in_bytes", "9223372036854771712");
  const std::string by = "/sys/fs/cgroup/my memory/a/memory.limit_in_bytes";
  expect(machine.limit().total, 900, by);
  expect(machine.limit().available, 800, by);
}

TEST_F(MemoryLimits, OfTheProcess) {
  machine.limits(mib(400), "unlimited");
  expect(machine.limit().total, 400, "ulimit -v");
  expect(machine.limit().available, 300, "ulimit -v");
  machine.limits(mib(400), mib(60));
  expect(machine.limit().total, 60, "ulimit -d");
  expect(machine.limit().available, 10, "ulimit -d");
}

TEST_F(MemoryLimits, NothingIsKnownWithoutFilesAndNothingEndsByNonsense) {
  const TempFolder empty;
  EXPECT_EQ(memory_limit(empty / "").total.bytes, 0);
  EXPECT_TRUE(memory_limit(empty / "").total.by.empty());
  machine.groups("garbage\n0:\n0::/box", "1 2 3\n- cgroup2\n" + std::string(kSecond));
  machine.group("/box", "nonsense", 0, "active_file\n\n");
  expect(machine.limit().total, 16384, "MemTotal");
}

// This process, as it is.
TEST_F(MemoryLimits, FollowsTheLimitOfThisProcess) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &old), 0);
  if (old.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "this process has a ulimit -v already";
  EXPECT_NE(memory_limit().available.by, "ulimit -v");
  // A sanitizer has taken many TiB already.
  std::int64_t pages = 0;
  ASSERT_TRUE(std::ifstream("/proc/self/statm") >> pages);
  const std::int64_t most = pages * sysconf(_SC_PAGESIZE) + (std::int64_t{8} << 30);
  const rlimit small{static_cast<rlim_t>(most), old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  const MemoryLimit limited = memory_limit();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &old), 0);
  EXPECT_LE(limited.total.bytes, most);
  EXPECT_LE(limited.available.bytes, std::int64_t{8} << 30);
  EXPECT_GT(limited.available.bytes, 0);
}

}  // namespace
}  // namespace mf
