#include "base/host/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/host/cpu_topology.hpp"
#include "base/threads.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

using Places = std::vector<std::vector<int>>;

// Two nodes with two cores each, siblings numbered as Linux does: 0-3, then 4-7.
std::string two_nodes(const TempFolder& folder, const char* siblings = "core_cpus_list") {
  const std::string sys = folder / "sys";
  for (int cpu = 0; cpu < 8; ++cpu) {
    const int core = cpu % 4;
    test::write_file(
        sys + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + siblings,
        std::to_string(core) + "," + std::to_string(core + 4));
  }
  test::write_file(sys + "/devices/system/node/online", "0-1");
  test::write_file(sys + "/devices/system/node/has_memory", "0-1");
  test::write_file(sys + "/devices/system/node/node0/cpulist", "0-1,4-5");
  test::write_file(sys + "/devices/system/node/node1/cpulist", "2-3,6-7");
  return sys;
}

const std::vector<int> kEight = {0, 1, 2, 3, 4, 5, 6, 7};

TEST(CpuList, IsReadAndWritten) {
  EXPECT_EQ(parse_cpu_list("0-2,7"), (std::vector{0, 1, 2, 7}));
  EXPECT_EQ(cpu_list_text({0, 1, 2, 7}), "0-2,7");
  EXPECT_EQ(cpu_list_text({3}), "3");
  for (const char* none : {"", "x", "-1", "0-", "3-1", "0-99999999999", "0-99999999"}) {
    EXPECT_LE(parse_cpu_list(none).size(), 1u) << none;
  }
}

TEST(SysfsTopology, KnowsSiblingsAndNodes) {
  for (const char* file : {"core_cpus_list", "thread_siblings_list"}) {
    const TempFolder one;
    const CpuTopology found = find_topology(kEight, two_nodes(one, file));
    ASSERT_EQ(found.threads.size(), 8u);
    EXPECT_EQ(found.threads[6].cpu, 6);
    EXPECT_EQ(found.threads[6].core, 2) << file;
    EXPECT_EQ(found.threads[6].node, 1);
    EXPECT_EQ(found.nodes, (std::vector{0, 1}));
  }
}

TEST(SysfsTopology, WithoutItsFilesEachCpuIsACoreOfItsOwn) {
  const TempFolder folder;
  const CpuTopology found = find_topology({1, 5}, folder / "nothing");
  ASSERT_EQ(found.threads.size(), 2u);
  EXPECT_EQ(found.threads[1].core, 5);
  EXPECT_EQ(found.nodes, std::vector{0});
}

TEST(Placement, DealsThreadsToHardwareThreadsCoresAndNodes) {
  const TempFolder folder;
  const CpuTopology machine = find_topology(kEight, two_nodes(folder));
  EXPECT_EQ(cpus_of_threads(machine, Pin::none, 4), Places{});
  EXPECT_EQ(cpus_of_threads(machine, Pin::threads, 6), (Places{{0}, {1}, {2}, {3}, {4}, {5}}));
  EXPECT_EQ(cpus_of_threads(machine, Pin::cores, 3), (Places{{0, 4}, {1, 5}, {2, 6}}));
  EXPECT_EQ(cpus_of_threads(machine, Pin::cores, 5).back(), (std::vector{0, 4})) << "once more";
  const std::vector<int> first = {0, 4, 1, 5};
  const std::vector<int> second = {2, 6, 3, 7};
  EXPECT_EQ(cpus_of_threads(machine, Pin::nodes, 4), (Places{first, first, second, second}));
  EXPECT_EQ(cpus_of_threads(machine, Pin::nodes, 1), (Places{first}));
}

TEST(Placement, TakesNoCpuThatMayNotBeUsed) {
  const TempFolder folder;
  const CpuTopology machine = find_topology({1, 3, 7}, two_nodes(folder));
  EXPECT_EQ(cpus_of_threads(machine, Pin::threads, 4), (Places{{1}, {3}, {7}, {1}}));
}

TEST(Placement, RefusesWhatIsNoMemoryPolicy) {
  Placement placement;
  for (const char* wrong : {"", "local", "node", "node:", "node:-1", "node:1x", "node:99999999"}) {
    EXPECT_THROW(set_memory(placement, wrong), Error) << wrong;
  }
  for (const char* right : {"first-touch", "interleave", "node:3"}) {
    set_memory(placement, right);
    EXPECT_EQ(memory_text(placement), right);
  }
}

TEST(PlacementScope, BindsTheThreadsOfATeamAndSetsTheCallerFree) {
  const auto before = affinity_of_this_thread();
  const int usable = hardware_threads();
  {
    const PlacementScope scope({Pin::threads, MemoryPolicy::first_touch, 0});
    ThreadTeam team(3);
    const auto seen = team.cpus();
    EXPECT_EQ(seen, cpus_of_threads(scope.topology(), Pin::threads, 3));
    std::set<int> distinct;
    for (const auto& cpus : seen) {
      ASSERT_EQ(cpus.size(), 1u);
      EXPECT_TRUE(std::count(before.begin(), before.end(), cpus[0])) << cpus[0];
      distinct.insert(cpus[0]);
    }
    EXPECT_EQ(distinct.size(), std::min<std::size_t>(3, before.size()));
    EXPECT_EQ(hardware_threads(), usable) << "the caller is bound to one";
    ThreadTeam later(3, ThreadTeam::Start::first_run);
    EXPECT_EQ(later.cpus(), seen) << "not started yet";
    later.run([](int) {});
    EXPECT_EQ(later.cpus(), seen);
    ThreadTeam inner(2);
    EXPECT_EQ(inner.cpus().size(), 2u);
    if (before.size() > 1) {
      EXPECT_NE(inner.cpus()[0], inner.cpus()[1]) << "not what the caller is bound to";
    }
  }
  EXPECT_EQ(affinity_of_this_thread(), before);
  ThreadTeam team(2);
  EXPECT_EQ(team.cpus(), (Places{before, before})) << "without a scope nothing is bound";
}

TEST(PlacementScope, PlacesMemoryForThisThreadAndItsTeams) {
  if (memory_seen().empty()) GTEST_SKIP() << "the kernel does not say where memory lies";
  ASSERT_EQ(memory_seen(), "first-touch");
  const int node = find_topology(affinity_of_this_thread()).nodes.front();
  for (const std::string& text : {std::string("interleave"), "node:" + std::to_string(node)}) {
    Placement placement;
    set_memory(placement, text);
    const PlacementScope scope(placement);
    EXPECT_EQ(memory_seen(), text);
    ThreadTeam team(2);
    std::vector<std::string> seen(2);
    team.run([&](int t) { seen[static_cast<std::size_t>(t)] = memory_seen(); });
    EXPECT_EQ(seen, (std::vector{text, text}));
  }
  EXPECT_EQ(memory_seen(), "first-touch");
  EXPECT_THROW(PlacementScope({Pin::none, MemoryPolicy::node, 999}), Error);
  EXPECT_EQ(memory_seen(), "first-touch");
}

}  // namespace
}  // namespace mf
