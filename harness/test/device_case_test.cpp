// A case of a device algorithm with a stand-in for the device: the runner's groups of epochs,
// marks, phases, memory and failures, on any machine.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "base/timeline.hpp"
#include "harness/device/device_sampler.hpp"
#include "harness/device/nvml.hpp"
#include "harness/results/compare/compare.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/run/prepared.hpp"
#include "harness/run/runner.hpp"
#include "harness/run/training_clock.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::spec_from;
using testing::TempFolder;

constexpr double kEpochSeconds = 20e-6;
constexpr double kEpochJoules = 3;

// A stream whose time passes as work is queued on it.
class FakeDevice : public DeviceClock {
 public:
  int compute() override { return capability; }
  DeviceStream stream() override { return reinterpret_cast<DeviceStream>(this); }
  std::int64_t mark() noexcept override {
    marks_.push_back(now);
    return std::ssize(marks_) - 1;
  }
  void wait() noexcept override { ++waits; }
  void synchronize() override {
    wait();
    pending = false;
    if (fails) fail(ErrorKind::device, "an illegal memory access was encountered");
  }
  double seconds(std::int64_t from, std::int64_t to) override { return marks_[to] - marks_[from]; }
  void clear_marks(std::int64_t) override { marks_.clear(); }
  void expect_memory(std::int64_t bytes) override { expected = bytes; }
  bool begins_cold() const override { return cold; }
  std::int64_t free_bytes() override {
    ++asked_for_memory;
    return free;
  }
  std::int64_t peak_bytes() override { return 12345; }
  DeviceTells tells() const override { return {has_nvml, has_nvml}; }
  DeviceReading reading() noexcept override {
    ++readings;
    if (!has_nvml) return {};
    return {1e9 + 1e3 * static_cast<double>(readings), 400.0, 50.0, slowdowns};
  }
  std::optional<double> energy_j() noexcept override {
    return has_nvml ? std::optional(7e6 + joules) : std::nullopt;
  }

  std::optional<std::vector<DeviceProcess>> others() override { return other_processes; }

  std::uint64_t slowdowns = 0;
  std::optional<std::vector<DeviceProcess>> other_processes;
  double now = 0;
  int capability = 90;
  bool pending = false;  // work was queued since the last synchronize()
  bool fails = false;
  bool has_nvml = true;
  bool cold = false;
  std::atomic<int> readings = 0;  // asked for by the sampler's thread, too
  double joules = 0;
  std::int64_t waits = 0;
  std::int64_t expected = 0;
  std::int64_t free = std::int64_t{1} << 40;
  static inline int asked_for_memory = 0;

 private:
  std::vector<double> marks_;
};

struct Group {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
std::vector<Group> groups;
std::int64_t expected_memory = 0;  // when the last algorithm was prepared

class FakeAlgorithm : public Algorithm {
 public:
  explicit FakeAlgorithm(const Params& params)
      : fail_at_(params.integer("fail_at")), sleep_ms_(params.integer("sleep_ms")) {}
  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    device_ = reinterpret_cast<FakeDevice*>(context.stream);
    nnz_ = train.nnz();
    model_ = initial;
    const PhaseScope transfer(context.phases, "transfer");
    device_->pending = true;
    expected_memory = device_->expected;
  }
  std::int64_t run_epochs(const EpochArgs& first, std::int64_t count, Context& context) override {
    groups.push_back({first.epoch, count});
    return Algorithm::run_epochs(first, count, context);
  }
  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    device_->pending = true;
    const PhaseScope phase(context.phases, "solve");
    device_->now += kEpochSeconds;
    device_->joules += kEpochJoules;
    for (const auto until = Clock::now() + std::chrono::milliseconds(sleep_ms_);
         Clock::now() < until;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (args.epoch == fail_at_) device_->fails = true;
    return nnz_;
  }
  FactorView factors() override {
    device_->joules += 1000;  // not of training
    EXPECT_FALSE(device_->pending) << "factors are asked for before the device has done its work";
    return model_.view();
  }
  Work work_per_epoch() const override {
    EXPECT_FALSE(device_->pending) << "prepare has not been waited for";
    return {};
  }

 private:
  std::int64_t fail_at_;
  std::int64_t sleep_ms_;
  FakeDevice* device_ = nullptr;
  std::int64_t nnz_ = 0;
  Model model_;
};

AlgorithmInfo fake_info() {
  AlgorithmInfo info;
  info.name = "fake_device";
  info.family = "test";
  info.hardware = Hardware::cuda;
  info.params = {ParamSpec::integer("factors", 4, 1, 1024, ""),
                 ParamSpec::choice("model", "biased", {"biased"}, ""),
                 ParamSpec::integer("fail_at", 0, 0, 1000, ""),
                 ParamSpec::integer("sleep_ms", 0, 0, 1000, "")};
  info.min_compute = 80;
  info.memory = [](const Params&) { return MemoryUse{.device = {.fixed = 1e6}}; };
  return info;
}

const RegisterInfo registered(fake_info());
const RegisterFactory registered_factory("fake_device", [](const Params& params) {
  return std::make_unique<FakeAlgorithm>(params);
});

Spec small_spec(const std::string& rest) {
  return spec_from(R"({"name": "t", "datasets": [{"like": "ml-100k", "scale": 0.05}])" + rest +
                   "}");
}

struct Done {
  CaseResult result;
  ResultFile file;
  std::string ranges;  // "<case<load>load..."
};

struct Options {
  std::string algorithm = R"({"name": "fake_device"})";
  std::string rest = {};
  std::optional<ProfileWindow> profile = {};
  double watch_pace_s = 0;
  std::function<std::unique_ptr<DeviceClock>()> open = [] {
    return std::make_unique<FakeDevice>();
  };
};

Done run(const Options& options) {
  const TempFolder folder;
  const Spec spec = small_spec(options.rest + R"(, "algorithms": [)" + options.algorithm + "]");
  groups.clear();
  Done done;
  RunOptions settings;
  settings.profile = options.profile;
  settings.watch_pace_s = options.watch_pace_s;
  settings.open_device = options.open;
  settings.on_range = [&](const std::string& name, bool begins) {
    done.ranges += (begins ? "<" : ">") + name;
  };
  DataStore store;
  const auto progress = make_progress(ProgressMode::quiet, stdout);
  const std::string path = folder / "a.jsonl";
  done.result = run_case({spec, spec.cases.at(0), path, {}}, settings, store, *progress);
  done.file = *read_result_file(path);
  return done;
}

// A case on a device that is changed before it is used.
Done run_on(const std::function<void(FakeDevice&)>& change, const std::string& rest = "") {
  return run({.rest = rest, .open = [=] {
                auto device = std::make_unique<FakeDevice>();
                change(*device);
                return device;
              }});
}

double number(const Json& json, const char* key) { return json[key].get<double>(); }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(DeviceCase, TheDeviceKnowsWhatMemoryIsToComeBeforeTheCaseIsPrepared) {
  expected_memory = 0;
  const Done done = run({});
  const double planned = number(done.file.footer, "planned_device_bytes");
  EXPECT_GT(planned, 1e6);
  EXPECT_EQ(expected_memory, static_cast<std::int64_t>(planned));
}

TEST(DeviceCase, AsksTheDriverOnceForFreeMemory) {
  FakeDevice::asked_for_memory = 0;
  EXPECT_EQ(run({}).result.status, Status::completed);
  EXPECT_EQ(FakeDevice::asked_for_memory, 1);
}

// A first call pays for the kernels that it loads.
TEST(DeviceCase, ACallOfAKindIsMadeOnceBeforeItIsTimed) {
  const auto epochs = [](const char* params, bool cold) {
    const Done done = run({.algorithm = std::string(R"({"name": "fake_device", )") + params + "}",
                           .rest = R"(, "stop": {"epochs": 2})",
                           .open = [=] {
                             auto device = std::make_unique<FakeDevice>();
                             device->cold = cold;
                             return device;
                           }});
    EXPECT_EQ(done.result.status, Status::completed) << done.result.reason;
    EXPECT_EQ(count_of(done.ranges, "<epoch"), 2) << "none of it is on the clocks of the case";
    std::int64_t count = 0;
    for (const Group& group : groups) count += group.count;
    return count;
  };
  EXPECT_EQ(epochs(R"("factors": 5)", false), 2);
  EXPECT_EQ(epochs(R"("factors": 5)", true), 3);
  EXPECT_EQ(epochs(R"("factors": 5)", true), 2) << "the process has called it";
  EXPECT_EQ(epochs(R"("factors": 6)", true), 3);
}

TEST(DeviceCase, ShortEpochsRunInGroupsThatEndAtEvaluations) {
  const Done done = run({.rest = R"(, "evaluate": {"every": 100}, "stop": {"epochs": 250})"});
  EXPECT_EQ(done.result.status, Status::completed);
  EXPECT_EQ(done.result.epochs, 250);
  std::int64_t next = 1;
  std::int64_t last = 0;
  for (const Group& group : groups) {
    EXPECT_EQ(group.first, next);
    EXPECT_LE(group.count, last == 0 ? 1 : 8 * last);
    EXPECT_EQ((group.first - 1) / 100, (group.first + group.count - 2) / 100) << "crosses";
    next += group.count;
    last = group.count;
  }
  EXPECT_EQ(next, 251);
  EXPECT_LT(groups.size(), 125u);
  ASSERT_EQ(done.file.trace.size(), 4u);
  EXPECT_EQ(done.file.trace[2]["epoch"], 200);
  EXPECT_EQ(count_of(done.ranges, "<epoch"), groups.size()) << "one range a group";
  EXPECT_EQ(count_of(done.ranges, "<solve"), 250u);
}

TEST(DeviceCase, ReportsTheDevicesOwnClock) {
  const Done done = run({.rest = R"(, "evaluate": {"every": 10}, "stop": {"epochs": 50})"});
  const Json& footer = done.file.footer;
  EXPECT_NEAR(number(footer["clocks"], "train_device_s"), 50 * kEpochSeconds, 1e-12);
  EXPECT_NEAR(number(footer["phases"]["solve"], "device_s"), 50 * kEpochSeconds, 1e-12);
  EXPECT_NEAR(number(footer["phases"]["epoch"], "device_s"), 50 * kEpochSeconds, 1e-12);
  EXPECT_EQ(footer["phases"]["solve"]["count"], 50);
  EXPECT_FALSE(footer["phases"]["evaluate"].contains("device_s"));
  EXPECT_NEAR(number(done.file.trace[1], "train_device_s"), 10 * kEpochSeconds, 1e-12);
  EXPECT_EQ(done.file.trace[0]["train_device_s"], 0);
  EXPECT_EQ(footer["peak_device_bytes"], 12345);
  const Json& clock = footer["sm_clock_seen_hz"];
  EXPECT_EQ(number(clock, "samples") - number(clock, "in_epochs"), 5)
      << "one an evaluation, none before the first epoch";
  EXPECT_LT(number(clock, "min"), number(clock, "max"));
  EXPECT_GE(number(clock, "median"), number(clock, "min"));
}

TEST(DeviceCase, ReadsTheDeviceWithinEpochs) {
  const Done done = run({.algorithm = R"({"name": "fake_device", "sleep_ms": 100})",
                         .rest = R"(, "stop": {"epochs": 3})"});
  for (const char* key : {"sm_clock_seen_hz", "power_seen_w", "temperature_seen_c"}) {
    const Json& seen = done.file.footer[key];
    EXPECT_GE(seen["in_epochs"], 3) << key << ": 100 ms an epoch, a reading each 20 ms";
    EXPECT_EQ(number(seen, "samples") - number(seen, "in_epochs"), 3) << key;
  }
  EXPECT_EQ(done.file.footer["power_seen_w"]["median"], 400);
  EXPECT_EQ(done.file.footer["temperature_seen_c"]["max"], 50);
}

TEST(DeviceCase, IsMarkedWhereOtherProcessesUsedTheDevice) {
  const auto with = [](const std::vector<DeviceProcess>& others, std::uint64_t slowdowns) {
    const auto change = [&](FakeDevice& device) {
      device.other_processes = others;
      device.slowdowns = slowdowns;
    };
    return run_on(change, R"(, "stop": {"epochs": 3})").file.footer;
  };
  Json footer = with({}, 0x4);
  EXPECT_EQ(footer["contended"], false);
  EXPECT_EQ(footer["device_load"]["other_processes"], 0);
  EXPECT_EQ(footer["device_load"]["slowdowns"]["sw_power_cap"], 1);
  EXPECT_FALSE(footer["host_load"]["train"].is_null());
  footer = with({{7, 2e9, 0.5}}, 0);
  EXPECT_EQ(footer["contended"], true);
  EXPECT_EQ(footer["contended_by"][0], "1 other process used the GPU for 50 % of the time");
  EXPECT_EQ(footer["device_load"]["other_memory_bytes"], 2e9);
  EXPECT_EQ(footer["device_load"]["other_sm_share"], 0.5);
  footer = with({}, 0x40);
  EXPECT_EQ(footer["contended"], true);
}

TEST(DeviceCase, CountsTheEnergyOfTrainingAlone) {
  const Done done = run({.rest = R"(, "evaluate": {"every": 10}, "stop": {"epochs": 50})"});
  EXPECT_EQ(done.file.trace[0]["train_energy_j"], 0);
  EXPECT_EQ(done.file.trace[2]["train_energy_j"], 20 * kEpochJoules);
  EXPECT_EQ(done.file.footer["train_energy_j"], 50 * kEpochJoules);
}

// The driver takes milliseconds for each answer: many evaluations of short epochs ask once.
TEST(DeviceCase, AsksForEnergyAndClockSeldomOutsideOfEpochs) {
  Options options;
  options.watch_pace_s = 1e6;
  options.rest = R"(, "stop": {"epochs": 50})";
  int asked = 0;
  options.open = [&] {
    struct Counting : FakeDevice {
      explicit Counting(int& count) : asked(count) {}
      std::optional<double> energy_j() noexcept override {
        ++asked;
        return FakeDevice::energy_j();
      }
      int& asked;
    };
    return std::make_unique<Counting>(asked);
  };
  const Done done = run(options);
  EXPECT_EQ(done.file.trace.size(), 51U);
  EXPECT_EQ(asked, 1) << "before the first group; the end comes too soon after it";
  EXPECT_EQ(done.file.footer["power_seen_w"]["samples"].get<int>() -
                done.file.footer["power_seen_w"]["in_epochs"].get<int>(),
            1);
  // In between it is the power that was read, 400 W, over the training clock.
  const Json& point = done.file.trace[25];
  EXPECT_NEAR(point["train_energy_j"].get<double>(), 400 * point["train_s"].get<double>(), 1e-6);
}

TEST(DeviceCase, SaysNothingOfClockPowerAndEnergyWithoutNvml) {
  const Done done =
      run_on([](FakeDevice& device) { device.has_nvml = false; }, R"(, "stop": {"epochs": 3})");
  EXPECT_EQ(done.result.status, Status::completed);
  for (const char* key :
       {"sm_clock_seen_hz", "power_seen_w", "temperature_seen_c", "train_energy_j"}) {
    EXPECT_TRUE(done.file.footer.contains(key) && done.file.footer[key].is_null()) << key;
  }
  EXPECT_TRUE(done.file.trace[3]["train_energy_j"].is_null());
}

TEST(DeviceCase, TimesTheFirstEpochByItselfAlsoWhereLaterOnesRunInGroups) {
  const Done done = run({.algorithm = R"({"name": "fake_device", "sleep_ms": 1})",
                         .rest = R"(, "evaluate": {"every": 20}, "stop": {"epochs": 20})"});
  ASSERT_LT(groups.size(), 20u);
  const double first = number(done.file.footer, "first_epoch_s");
  const double steady = number(done.file.footer, "steady_epoch_s");
  EXPECT_GE(first, 1e-3);
  EXPECT_GE(steady, 1e-3);
  EXPECT_LT(first + steady, number(done.file.footer["clocks"], "train_s"));
}

// ---- the sampler --------------------------------------------------------------------------------

constexpr std::chrono::milliseconds kQuick{1};

void wait_until(const std::function<bool()>& reached) {
  while (!reached()) std::this_thread::sleep_for(kQuick);
}

TEST(DeviceSampler, KeepsWhatItReadsWithinEpochsAndNothingElse) {
  std::atomic<int> asked = 0;
  DeviceSampler sampler([&] { return DeviceReading{1e9 + ++asked, {}, {}}; }, kQuick);
  std::this_thread::sleep_for(20 * kQuick);
  EXPECT_EQ(asked, 0) << "nothing is read before the epochs";
  {
    const SampledEpochs epochs(&sampler);
    wait_until([&] { return sampler.readings().size() >= 3; });
  }
  const std::size_t kept = sampler.readings().size();
  const int read = asked;
  std::this_thread::sleep_for(20 * kQuick);
  EXPECT_EQ(sampler.readings().size(), kept);
  EXPECT_LE(asked, read + 1) << "one may have been under way";
  EXPECT_EQ(sampler.readings().front().sm_clock_hz, 1e9 + 1);
}

TEST(DeviceSampler, DropsAReadingThatTheEpochsDidNotWaitFor) {
  std::atomic<bool> asked = false;
  std::atomic<bool> answered = false;
  const auto read = [&] {
    asked = true;
    wait_until([&] { return answered.load(); });
    return DeviceReading{1e9, {}, {}};
  };
  DeviceSampler sampler(read, kQuick);
  {
    const SampledEpochs epochs(&sampler);
    wait_until([&] { return asked.load(); });
  }  // ends while the driver has not answered
  sampler.begin_epochs();
  sampler.end_epochs();
  answered = true;
  std::this_thread::sleep_for(10 * kQuick);
  EXPECT_TRUE(sampler.readings().empty());
}

TEST(DeviceSampler, EndsWithItselfAtOnceAndAfterWhatWasThrownInAnEpoch) {
  const auto start = Clock::now();
  int asked = 0;
  {
    DeviceSampler sampler(
        [&] {
          return ++asked, DeviceReading{1e9, {}, {}};
        },
        std::chrono::hours(1));
    try {
      const SampledEpochs epochs(&sampler);
      fail(ErrorKind::device, "an epoch failed");
    } catch (const Error&) {
    }
  }
  EXPECT_LT(seconds_since(start), 60);
  EXPECT_EQ(asked, 0);
}

TEST(DeviceSampler, KeepsNothingWhereTheDriverHasNoAnswer) {
  std::atomic<int> asked = 0;
  DeviceSampler sampler([&] { return ++asked, DeviceReading{}; }, kQuick);
  const SampledEpochs epochs(&sampler);
  wait_until([&] { return asked >= 3; });
  EXPECT_TRUE(sampler.readings().empty());
}

TEST(DeviceCase, TransferBeginsAndEndsWithTheStreamEmpty) {
  const TempFolder folder;
  FakeDevice device;
  Ranges ranges;
  ranges.set_device(&device);
  {
    const PhaseScope transfer(&ranges, "transfer");
    EXPECT_EQ(device.waits, 1);
  }
  EXPECT_EQ(device.waits, 2);
  { const PhaseScope other(&ranges, "sort"); }
  EXPECT_EQ(device.waits, 2);
}

// The fake device's clock goes from mark to mark; the phases lie in the epoch as the marks do.
TEST(DeviceCase, TheTimelineShowsPhasesOfTheStreamWithinTheEpoch) {
  const TempFolder folder;
  const std::string path = folder / "t.json";
  FakeDevice device;
  Ranges ranges;
  ranges.set_device(&device);
  {
    const Timeline timeline(path);
    ranges.start_device_phases();
    device.now = 0.25;
    {
      const PhaseScope outer(&ranges, "solve");
      device.now = 0.5;
      { const PhaseScope inner(&ranges, "gather"); }
      device.now = 1;
    }
    device.now = 1.5;
    ranges.stop_device_phases();
    EXPECT_EQ(ranges.resolve_device_phases("epoch"), 1.5);
  }
  std::string seen;
  double begin = 0;
  for (const Json& event : read_json_file(path)) {
    if (event["ph"] != "X") continue;
    const std::string name = event["name"];
    if (name == "epoch") begin = number(event, "ts");
    EXPECT_EQ(event["pid"], 2);
    seen +=
        fmt::format("{} {:.0f} {:.0f}, ", name, number(event, "ts") - begin, number(event, "dur"));
  }
  EXPECT_EQ(seen, "epoch 0 1500000, solve 250000 750000, gather 500000 0, ");
}

TEST(DeviceCase, RatesThatChangeEachEpochRunOneByOne) {
  run({.rest = R"(, "evaluate": {"every": 20}, "stop": {"epochs": 20},
                     "schedule": {"kind": "exponential"})"});
  EXPECT_EQ(groups.size(), 20u);
}

TEST(DeviceCase, WithoutADeviceItIsSkippedWithTheReason) {
  Options options;
  options.open = []() -> std::unique_ptr<DeviceClock> {
    fail(ErrorKind::unsupported, "no CUDA-capable device is detected");
  };
  const Done done = run(options);
  EXPECT_EQ(done.result.status, Status::skipped);
  EXPECT_EQ(done.result.reason,
            "fake_device needs a CUDA device: no CUDA-capable device is detected");
  EXPECT_TRUE(done.file.footer["clocks"]["train_device_s"].is_null());
  EXPECT_TRUE(done.file.footer["sm_clock_seen_hz"].is_null());
}

TEST(DeviceCase, ADeviceThatIsTooOldIsSkippedWithTheReason) {
  const Done done = run_on([](FakeDevice& device) { device.capability = 75; });
  EXPECT_EQ(done.result.status, Status::skipped);
  EXPECT_EQ(done.file.footer["stop_reason"],
            "fake_device needs a device of compute capability 8.0; this one has 7.5");
}

TEST(DeviceCase, WhatDoesNotFitIsRefusedBeforeItIsAllocated) {
  const Done done = run_on([](FakeDevice& device) { device.free = 800'000; });
  EXPECT_EQ(done.result.status, Status::oom);
  EXPECT_TRUE(contains(done.result.reason, "on the device") &&
              contains(done.result.reason, "are free; use a smaller"))
      << done.result.reason;
  EXPECT_TRUE(groups.empty());
}

TEST(DeviceCase, TheTrainPartCountsWhereItIsEvaluated) {
  const auto bytes = [](const std::string& evaluate) {
    const Spec spec = spec_from(R"({"datasets": ["like:ml-100k"], "algorithms": ["fake_device"])" +
                                evaluate + "}");
    return device_bytes(spec.cases[0], {{10, 20, 5000}, 100});
  };
  EXPECT_NEAR(bytes(R"(, "evaluate": {"train": true})") - bytes(""), 12.0 * 5000, 20);
}

TEST(DeviceCase, MemoryIsTheMostOfPreparingAndTraining) {
  AlgorithmInfo info = fake_info();
  info.name = "fake_of_numbers";
  info.memory = [](const Params&) {
    return MemoryUse{
        .device = {.preparing = 30, .rating = 10, .number = 4, .row = 6, .batch_row = 1000}};
  };
  const RegisterInfo of_numbers(info);
  const Spec spec =
      spec_from(R"({"datasets": ["like:ml-100k"], "algorithms": ["fake_of_numbers"]})");
  const auto bytes = [&](const ProblemShape& shape, std::optional<double> free = {}) {
    return device_bytes(spec.cases[0], {shape, 100}, free);
  };
  EXPECT_EQ(bytes({10, 20, 1'000'000}), 30e6);
  const double trained = 10 * 50 + 30 * (4 * 4 + 6) + 12 * 100;
  EXPECT_EQ(bytes({10, 20, 50}), trained);
  EXPECT_EQ(bytes({10, 20, 50}, 1e9), trained + 20'000) << "as many rows as there are";
  EXPECT_EQ(bytes({10, 20, 50}, 10'000), 9000) << "as many as fit";
  const CaseSizes sizes = {{10, 20, 50}, 100};
  const double room = (kPlanFactor * trained + 16 * 50) / 0.9;
  EXPECT_TRUE(leaves_room_for_ratings(spec.cases[0], sizes, room + 1));
  EXPECT_FALSE(leaves_room_for_ratings(spec.cases[0], sizes, room - 1));
}

TEST(DeviceCase, AFailedDeviceIsAnErrorWithItsFooter) {
  const Done done = run({.algorithm = R"({"name": "fake_device", "fail_at": 3})"});
  EXPECT_EQ(done.result.status, Status::error);
  EXPECT_TRUE(done.result.device_failed);
  EXPECT_HAS(done.file.footer["stop_reason"].get<std::string>(), "illegal memory access");
  EXPECT_EQ(done.file.trace.size(), 3u) << "what was measured before stays";
}

TEST(DeviceCase, AFailedDeviceEndsTheRunAndTheSameCommandGoesOn) {
  const TempFolder folder;
  const Spec spec = small_spec(R"(, "algorithms": [{"name": "fake_device", "fail_at": [2, 0]}])");
  const auto progress = make_progress(ProgressMode::quiet, stdout);
  RunOptions options;
  options.folder = folder / "r";
  options.open_device = [] { return std::make_unique<FakeDevice>(); };
  try {
    run_session(spec, options, *progress);
    FAIL() << "the run went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_TRUE(contains(error.what(), "illegal memory access") &&
                contains(error.what(), "goes on with the next case") &&
                contains(error.what(), spec.cases[0].id))
        << error.what();
  }
  const SessionSummary again = run_session(spec, options, *progress);
  EXPECT_EQ(again.run, 1);
  EXPECT_EQ(again.failed, 1) << "the failed case stands";
}

TEST(Profile, RecordsItsEpochsAloneAndEvaluatesAtTheEnds) {
  Options options;
  options.profile = ProfileWindow{5, 7};
  options.rest = R"(, "stop": {"epochs": 3, "target_rmse": 100})";
  for (const char* name : {"fake_device", "ruler"}) {
    options.algorithm = std::string(R"({"name": ")") + name + R"("})";
    const Done done = run(options);
    EXPECT_EQ(done.result.status, Status::completed);
    EXPECT_EQ(done.result.reason, "profiled: 5 warm-up and 7 recorded epochs done");
    EXPECT_EQ(done.result.epochs, 12);
    EXPECT_EQ(done.file.trace.size(), 2u);
    EXPECT_EQ(done.file.header["profile"], (Json{{"warmup", 5}, {"epochs", 7}}));
    const auto begin = done.ranges.find("<profile");
    const auto end = done.ranges.find(">profile");
    ASSERT_TRUE(begin < end && end != std::string::npos);
    const std::string before = done.ranges.substr(0, begin);
    const std::string inside = done.ranges.substr(begin, end - begin);
    EXPECT_EQ(count_of(inside, "evaluate"), 0u);
    if (std::string(name) == "ruler") {
      EXPECT_EQ(count_of(before, "<epoch"), 5u);
      EXPECT_EQ(count_of(inside, "<epoch"), 7u);
    } else {
      EXPECT_EQ(count_of(before, "<solve"), 5u);
      EXPECT_EQ(count_of(inside, "<solve"), 7u);
    }
  }
}

TEST(Profile, MayStartAtTheFirstEpochAndEndsWhereTheCaseFails) {
  const Done done = run(
      {.algorithm = R"({"name": "fake_device", "fail_at": 2})", .profile = ProfileWindow{0, 4}});
  EXPECT_EQ(done.result.status, Status::error);
  EXPECT_LT(done.ranges.find("<profile"), done.ranges.find("<epoch"));
  EXPECT_EQ(count_of(done.ranges, ">profile"), 1u);
}

// The header of a run that was not profiled, and of one on the CPU.
TEST(Profile, IsNullWhereNothingWasProfiled) {
  const Done done = run({.algorithm = R"({"name": "ruler", "sleep_ms": 0})"});
  EXPECT_TRUE(done.file.header["profile"].is_null());
  EXPECT_TRUE(done.file.footer["clocks"]["train_device_s"].is_null());
  EXPECT_TRUE(done.file.footer["peak_device_bytes"].is_null());
  EXPECT_FALSE(done.file.footer["phases"]["epoch"].contains("device_s"));
}

TEST(Profile, NeverMixesWithMeasuredResults) {
  const TempFolder folder;
  const Spec spec =
      small_spec(R"(, "stop": {"epochs": 2}, "algorithms": [{"name": "ruler", "sleep_ms": 0}])");
  EXPECT_EQ(default_folder(spec, true), "results/runs/t-profile");
  const auto run_in = [&](const std::string& name, bool profile) {
    RunOptions options;
    if (profile) options.profile = ProfileWindow{};
    return testing::run_in(folder / name, spec, options).run;
  };
  EXPECT_EQ(run_in("measured", false), 1);
  EXPECT_EQ(run_in("profiled", true), 1);
  EXPECT_EQ(run_in("profiled", true), 1) << "profiled cases are run again";
  EXPECT_HAS(message_of([&] { run_in("measured", true); }), "of a measured run");
  EXPECT_HAS(message_of([&] { run_in("profiled", false); }), "of a profiled run");
  EXPECT_EQ(run_in("measured", false), 0) << "the measured result still stands";
}

TEST(HostThreads, AllForTheDeviceOneForTheCpuUnlessAsked) {
  const Spec spec = spec_from(
      R"({"datasets": ["like:ml-100k"], "algorithms": ["ebgtg", "sgd_serial",
          {"name": "hogwild", "threads": 3}]})");
  EXPECT_EQ(threads_of(spec.cases[0]), hardware_threads());
  EXPECT_EQ(threads_of(spec.cases[1]), 1);
  EXPECT_EQ(threads_of(spec.cases[2]), 3);
}

// Lies beside this program.
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
