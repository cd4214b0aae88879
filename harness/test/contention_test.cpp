// Contended runs: the counters of made-up systems, the rule, and its reports in a run, a result and
// a comparison.
#include "harness/device/contention.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/threads.hpp"
#include "harness/device/nvml.hpp"
#include "harness/results/files/load_json.hpp"
#include "harness/results/summary.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::result_of;
using testing::run_one;
using testing::spec_from;
using testing::TempFolder;

// ---- counters -----------------------------------------------------------------------------------

void put(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text << "\n";
}

// A system of four CPUs; of each line only the fields that count differ from 0.
struct System {
  TempFolder folder;
  std::string root = folder / "";
  std::string proc = folder / "proc";
  std::string sys = folder / "sys";
  OwnUse own;

  HostCounters read(std::vector<int> usable = {0, 1}) const {
    return HostProbe(std::move(usable), root).read(own);
  }
  void stat(const std::string& text) const { put(proc + "/stat", text); }
  void waited(int thread, const std::string& text) const {
    put(proc + "/self/task/" + std::to_string(thread) + "/schedstat", text);
  }
};

TEST(HostProbe, CountsWhatTheUsableCpusAndTheMachineDid) {
  const System system;
  // user nice system idle iowait irq softirq steal guest guest_nice, in hundredths of a second
  system.stat(
      "cpu  1000 200 300 9000 500 10 20 70 0 0\n"
      "cpu0 100 20 30 900 50 1 2 7 0 0\n"
      "cpu1 200 0 0 900 50 0 0 3 0 0\n"
      "cpu2 700 180 270 900 50 9 18 60 0 0\n"
      "cpu3 0 0 0 900 50 0 0 0 0 0\n"
      "intr 12345 1 2 3\nctxt 5\n");
  const HostCounters now = system.read();
  EXPECT_EQ(now.machine_cpus, 4);
  EXPECT_NEAR(*now.busy_s, 15.3, 1e-9) << "not idle, iowait and steal";
  EXPECT_NEAR(*now.usable_busy_s, 1.53 + 2.0, 1e-9);
  EXPECT_NEAR(*now.usable_steal_s, 0.10, 1e-9);
}

TEST(HostProbe, ReadsTheWaitsOfEachThreadAndTheLoad) {
  const System system;
  system.waited(7, "1000000000 250000000 12");
  system.waited(9, "5 2000000000 3");
  put(system.proc + "/loadavg", "1.25 0.80 0.50 2/301 4711");
  const HostCounters now = system.read();
  EXPECT_EQ(now.waits, (std::map<int, ThreadWait>{{7, {0.25, 12}}, {9, {2.0, 3}}}));
  EXPECT_EQ(now.load, 1.25);
}

TEST(HostProbe, ReadsTheQuotaOfEitherVersionOfControlGroups) {
  {
    const System system;
    put(system.proc + "/self/cgroup", "0::/batch/job");
    put(system.proc + "/self/mountinfo", "29 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
    put(system.sys + "/fs/cgroup/batch/cpu.stat",
        "usage_usec 5\nnr_periods 9\nnr_throttled 4\nthrottled_usec 1500000");
    put(system.sys + "/fs/cgroup/batch/job/cpu.stat",
        "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0");
    EXPECT_EQ(system.read().throttled_s, 1.5) << "that of a group above counts";
    EXPECT_EQ(system.read().throttled_periods, 4);
  }
  {
    const System system;
    put(system.proc + "/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/docker/abc\n0::/");
    put(system.proc + "/self/mountinfo",
        "31 25 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct");
    put(system.sys + "/fs/cgroup/cpu,cpuacct/cpu.stat",
        "nr_periods 100\nnr_throttled 7\nthrottled_time 2500000000");
    EXPECT_EQ(system.read().throttled_s, 2.5) << "a container sees its own group as the root";
    EXPECT_EQ(system.read().throttled_periods, 7);
  }
}

TEST(HostProbe, ReadsClocksAndSlowdownsForHeat) {
  const System system;
  const std::string cpus = system.sys + "/devices/system/cpu/cpu";
  for (const char* cpu : {"0", "1"}) {
    put(cpus + cpu + "/cpufreq/scaling_cur_freq", "2400000");
    put(cpus + cpu + "/thermal_throttle/core_throttle_count", "3");
    put(cpus + cpu + "/thermal_throttle/package_throttle_count", "10");
  }
  put(cpus + "2/thermal_throttle/core_throttle_count", "1000");
  EXPECT_EQ(system.read().clocks_hz, (std::vector{2.4e9, 2.4e9}));
  EXPECT_EQ(system.read().heat_slowdowns, 16) << "a package counts once; CPU 2 is not ours";
}

TEST(HostProbe, HasNothingWhereTheSystemTellsNothing) {
  const System system;
  for (const char* junk : {"", "cpu\ncpu0\ncpux y\n", "\xff\xfe"}) {
    system.stat(junk);
    system.waited(7, "x");
    put(system.proc + "/self/cgroup", "::\n\n3");
    put(system.proc + "/loadavg", "");
    const HostCounters now = system.read();
    EXPECT_FALSE(now.usable_busy_s || now.throttled_s || now.heat_slowdowns || now.load);
    EXPECT_TRUE(now.waits.empty() && now.clocks_hz.empty());
    const HostLoad load = host_load(now, now, 2, 1);
    EXPECT_FALSE(load.others_cpus || load.wait_s() || load.steal_share || load.cpu_share());
    EXPECT_FALSE(host_contention(load, 2)) << "unknown, which is not: alone";
  }
}

TEST(HostLoad, IsWhatLiesBetween) {
  System system;
  system.stat("cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\ncpu2 0 0 0 0 0");
  system.waited(7, "0 1000000000 1");
  system.own = {10, 100, 20};
  HostCounters before = system.read();
  system.stat(
      "cpu 700 0 0 0 0 0 0 0\ncpu0 200 0 0 0 0 0 0 10\ncpu1 190 0 0 0 0 0 0 0\ncpu2 310 0 0 0 0");
  system.waited(7, "0 1500000000 1");
  system.waited(8, "0 250000000 1");
  system.own = {13, 130, 60};
  HostCounters after = system.read();
  before.at_s = 50;
  after.at_s = 52;
  const HostLoad load = host_load(before, after, 2, 2);
  EXPECT_EQ(load.span_s, 2);
  EXPECT_EQ(load.own.cpu_s, 3);
  EXPECT_EQ(load.own.involuntary, 40);
  EXPECT_EQ(load.own_cpus, 1.5);
  EXPECT_NEAR(*load.cpu_share(), 0.75, 1e-12) << "3 s of two threads in 2 s";
  EXPECT_NEAR(*load.others_cpus, (7 - 3) / 2.0, 1e-12);
  EXPECT_NEAR(*load.others_usable_cpus, (3.9 - 3) / 2.0, 1e-12);
  EXPECT_NEAR(*load.steal_share, 0.1 / 4.0, 1e-12);
  EXPECT_NEAR(*load.wait_s(), 0.75, 1e-12);
  EXPECT_NEAR(*load.longest_wait_s(), 0.5, 1e-12);
}

// For this process on this machine: facts that must hold anywhere.
TEST(HostProbe, ReadsThisMachine) {
  const HostProbe probe(usable_cpus());
  const HostCounters before = probe.read();
  double sum = 0;
  for (int i = 1; own_use().cpu_s - before.own.cpu_s < 0.05; ++i) sum += 1.0 / i;
  const HostLoad load = host_load(before, probe.read(), probe.usable_cpus(), 1);
  EXPECT_GT(sum, 0);
  EXPECT_GE(load.own.cpu_s, 0.05);
  EXPECT_GE(load.span_s, 0.049);
  EXPECT_EQ(load.usable_cpus, static_cast<int>(usable_cpus().size()));
  if (load.machine_cpus > 0) {
    EXPECT_GE(load.machine_cpus, load.usable_cpus);
  }
}

// ---- the rule -----------------------------------------------------------------------------------

// One that has the machine of two CPUs to itself.
HostLoad quiet(int threads) {
  HostLoad load;
  load.span_s = load.clock_s = 4;
  load.threads = threads;
  load.machine_cpus = load.usable_cpus = 2;
  load.own_cpus = threads;
  load.own.cpu_s = load.span_s * threads;
  load.others_cpus = load.others_usable_cpus = 0.05;
  load.waits = {{0.03, 20}, {0.01, 10}};
  load.steal_share = 0.002;
  load.throttled_s = 0;
  load.heat_slowdowns = 0;
  return load;
}

std::string words(const Reasons& reasons) { return reasons ? join(*reasons, "; ") : "unknown"; }

TEST(HostContention, OwnThreadsAreNoContention) {
  EXPECT_EQ(words(host_contention(quiet(1), 2)), "");
  EXPECT_EQ(words(host_contention(quiet(2), 2)), "") << "both CPUs are ours";
  HostLoad idle = quiet(2);
  idle.own.cpu_s = 0.1;  // its threads wait for each other
  idle.own_cpus = 0.025;
  idle.own.involuntary = 0;
  EXPECT_EQ(words(host_contention(idle, 2)), "");
  HostLoad many = quiet(2);
  many.threads = 8;
  many.waits.assign(8, {3, 100});
  EXPECT_EQ(words(host_contention(many, 2)), "") << "eight threads on two CPUs wait for each other";
}

TEST(HostContention, SaysWhoTookTheMachine) {
  HostLoad load = quiet(2);
  load.waits[1] = {0.9, 0};
  EXPECT_EQ(words(host_contention(load, 2)), "a thread waited 900.0 ms of 4.0 s for a CPU");
  load = quiet(1);
  load.others_usable_cpus = 1;
  EXPECT_EQ(words(host_contention(load, 2)), "other programs kept 1.0 of 2 CPUs busy");
  load = quiet(8);
  load.others_usable_cpus = 0.9;
  load.own_cpus = 1.1;
  EXPECT_TRUE(contains(words(host_contention(load, 2)), "kept 0.9 of 2")) << "of many threads, too";
  load = quiet(1);
  load.steal_share = 0.12;
  EXPECT_EQ(words(host_contention(load, 2)), "the hypervisor took 12 % of the CPUs' time");
  load = quiet(1);
  load.throttled_s = 0.5;
  EXPECT_EQ(words(host_contention(load, 2)), "the group's CPU quota held it for 500.0 ms");
  load = quiet(1);
  load.heat_slowdowns = 9;
  EXPECT_EQ(words(host_contention(load, 2)), "CPUs slowed down for heat 9 times");
}

TEST(HostContention, HasThresholds) {
  const ContentionLimits& limits = kContentionLimits;
  const auto contended = [](const HostLoad& load) { return !host_contention(load, 64)->empty(); };
  HostLoad load = quiet(2);
  load.waits = {{0.99 * limits.wait_share * load.span_s, 0}};
  EXPECT_FALSE(contended(load));
  load.waits = {{1.01 * limits.wait_share * load.span_s, 0}};
  EXPECT_TRUE(contended(load));
  load.waits = {{0.4, 4000}};
  EXPECT_FALSE(contended(load)) << "it was woken 4000 times";
  load.waits = {{0.4, 100}};
  EXPECT_TRUE(contended(load)) << "each of its turns came late";
  load.span_s = 0.01;  // a share of nothing: a moment
  load.waits = {{0.9 * limits.least_wait_s, 0}};
  load.others_usable_cpus = 2;
  EXPECT_FALSE(contended(load)) << "nor is a span of one tick judged by ticks";
  load = quiet(4);
  load.usable_cpus = 64;
  load.others_usable_cpus = 0.9 * limits.others_share * 64;
  EXPECT_FALSE(contended(load)) << "some of a large machine: there is room";
  load.own_cpus = 60;
  EXPECT_TRUE(contended(load)) << "there is none";
}

TEST(DeviceContention, IsOfOtherProcessesAndOfSlowdowns) {
  DeviceLoad load;
  EXPECT_EQ(words(device_contention(load)), "unknown");
  load.others.emplace();
  EXPECT_EQ(words(device_contention(load)), "");
  load.others->push_back({7, 1e9, 0.0});
  EXPECT_EQ(words(device_contention(load)), "") << "it holds memory and does nothing";
  load.others->push_back({8, 1e9, 0.4});
  EXPECT_EQ(words(device_contention(load)), "2 other processes used the GPU for 40 % of the time");
  load.others = {{{9, std::nullopt, std::nullopt}}};
  EXPECT_EQ(words(device_contention(load)),
            "1 other process on the GPU; the driver does not say how busy");
  load.others.reset();
  for (int i = 0; i < 8; ++i) count_slowdowns(load, 0x4);  // its own power limit
  EXPECT_EQ(words(device_contention(load)), "");
  for (int i = 0; i < 2; ++i) count_slowdowns(load, 0x20 | 0x4);
  EXPECT_EQ(words(device_contention(load)),
            "the GPU was slowed down (sw_thermal_slowdown) for 20 % of the time");
  const Json json = device_load_json(load);
  EXPECT_EQ(json["slowdown_readings"], 10);
  EXPECT_EQ(json["slowdowns"], (Json{{"sw_power_cap", 1.0}, {"sw_thermal_slowdown", 0.2}}));
  EXPECT_TRUE(json["other_processes"].is_null());
}

TEST(Contention, OfADeviceMarksTheHostsClocksApart) {
  HostLoad busy = quiet(2);
  busy.waits[0] = {2, 0};
  DeviceLoad single;
  single.others.emplace();
  const Contention of_gpu = contention_of({{"training", busy}}, 2, single, true);
  EXPECT_EQ(words(of_gpu.times), "");
  EXPECT_EQ(words(of_gpu.host), "training: a thread waited 2.0 s of 4.0 s for a CPU");
  const Contention of_cpu =
      contention_of({{"prepare", quiet(2)}, {"training", busy}}, 2, {}, false);
  EXPECT_EQ(words(of_cpu.times), "training: a thread waited 2.0 s of 4.0 s for a CPU");
  EXPECT_FALSE(of_cpu.host);
  EXPECT_FALSE(contention_of({}, 2, {}, false).times) << "nothing ran";
  for (const Contention& one : {of_gpu, of_cpu, Contention{}}) {
    Json footer;
    set_contention(footer, one);
    EXPECT_EQ(contention_in(footer).times, one.times);
    EXPECT_EQ(contention_in(footer).host, one.host);
  }
  EXPECT_FALSE(contention_in(Json{{"type", "footer"}}).times) << "unknown";
}

// ---- NVML ---------------------------------------------------------------------------------------

std::string fake_nvml() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libfake_nvml.so")
      .string();
}

struct Variable {
  const char* name;
  Variable(const char* key, const std::string& value) : name(key) {
    ::setenv(key, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name); }
};

TEST(Nvml, ListsProcessesWithMemoryAndUse) {
  const auto nvml = open_nvml("0000:3B:00.0", fake_nvml());
  ASSERT_NE(nvml, nullptr);
  const Variable pids("NVML_FAKE_PROCESSES", "100 200 300");
  auto found = nvml->processes(1000);
  ASSERT_TRUE(found && found->size() == 3);
  EXPECT_EQ((*found)[1].pid, 200);
  EXPECT_EQ((*found)[1].memory_bytes, 200e6);
  EXPECT_FALSE((*found)[2].memory_bytes) << "not available";
  EXPECT_DOUBLE_EQ(*(*found)[1].sm_share, 0.3) << "the mean of the samples since then: 20 and 40";
  EXPECT_EQ((*found)[0].sm_share, 0) << "without a sample";
  EXPECT_EQ(nvml->slowdowns(), 0x24u);
  const Variable no_use("NVML_FAKE_USE", "no");
  EXPECT_FALSE(nvml->processes(1000)->front().sm_share) << "no answer is no zero";
  std::string many;
  for (int i = 1; i <= 200; ++i) many += std::to_string(i) + " ";
  const Variable more("NVML_FAKE_PROCESSES", many);
  EXPECT_EQ(nvml->processes(0)->size(), 200u) << "more than there was room for";
}

TEST(Nvml, KnowsOthersFromOneself) {
  using Processes = std::vector<DeviceProcess>;
  EXPECT_FALSE(others_of(std::nullopt, 1));
  EXPECT_FALSE(others_of(Processes{}, 1)) << "not even us: it is blind";
  EXPECT_TRUE(others_of(Processes{{1, {}, {}}}, 1)->empty());
  const Processes both = {{5, {}, 0.9}, {6, {}, 0.1}};
  EXPECT_EQ(others_of(both, 5)->front().pid, 6);
  EXPECT_EQ(others_of(both, 6)->front().pid, 5);
  EXPECT_EQ(others_of(both, 1)->front().pid, 6) << "in a container: the busiest is taken for us";
}

// ---- a run --------------------------------------------------------------------------------------

Spec spec_of(const std::string& algorithms) {
  return spec_from(R"({"name": "t", "datasets": [{"like": "ml-100k", "scale": 0.05}],
                     "stop": {"epochs": 2}, "algorithms": [)" +
                   algorithms + "]}");
}

// Counters of a machine with two CPUs on which others keep `others` of them busy, by a clock that
// goes on by a second each time it is asked.
std::function<HostCounters()> machine(double others) {
  return [others, at = 0.0]() mutable {
    HostCounters now;
    now.at_s = at += 1;
    now.own = own_use();
    now.machine_cpus = 2;
    now.busy_s = now.usable_busy_s = now.own.cpu_s + others * at;
    now.usable_steal_s = 0;
    return now;
  };
}

TEST(ContendedRun, IsMarkedInTheResultTheLogAndTheSummary) {
  const TempFolder folder;
  const Spec spec = spec_of(R"({"name": "ruler", "sleep_ms": 0})");
  std::FILE* log = std::fopen((folder / "log").c_str(), "w+");
  for (const double others : {0.0, 1.5}) {
    const bool busy = others > 0;
    RunOptions options;
    options.folder = folder / (busy ? "busy" : "alone");
    options.read_host = machine(others);
    run_session(spec, options, *make_progress(ProgressMode::automatic, log));
    const Json footer = result_of(*options.folder, spec.cases[0]).footer;
    EXPECT_EQ(footer["contended"], busy);
    EXPECT_TRUE(footer["host_contended"].is_null()) << "a case of the CPU";
    EXPECT_EQ(footer["contended_by"].size(), busy ? 2u : 0u) << "prepare and training";
    EXPECT_NEAR(footer["host_load"]["train"]["others_cpus"].get<double>(), others, 1e-9);
    EXPECT_GE(footer["host_load"]["train"]["cpu_s"].get<double>(), 0);
    EXPECT_TRUE(footer["device_load"].is_null());
    const std::string table = summary_table(*options.folder, spec);
    EXPECT_EQ(contains(table, "1 contended"), busy) << table;
    EXPECT_EQ(contains(table, "other programs kept 1.5 of 2 CPUs busy"), busy) << table;
  }
  std::fclose(log);
  std::ifstream in(folder / "log");
  std::string first, second;
  std::getline(in, first);
  std::getline(in, second);
  EXPECT_FALSE(contains(first, "contended")) << first;
  EXPECT_HAS(second, "contended");
}

TEST(ContendedRun, OfACaseThatNeverTrainedIsUnknown) {
  const Spec refused = spec_of(R"({"name": "sgd_tiled", "factors": 32})");
  RunOptions options;
  options.open_device = []() -> std::unique_ptr<DeviceClock> {
    fail(ErrorKind::unsupported, "no device");
  };
  const ResultFile file = run_one(refused, options);
  EXPECT_EQ(file.status(), Status::skipped);
  for (const char* key : {"host_load", "device_load", "contended", "contended_by"}) {
    EXPECT_TRUE(file.footer.contains(key) && file.footer[key].is_null()) << key;
  }
}

}  // namespace
}  // namespace mf
