// A case of a device algorithm with a stand-in for the device: the runner's groups of epochs,
// marks, phases, memory and failures, on any machine.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <memory>

#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "base/timeline.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/run/prepared.hpp"
#include "harness/run/runner.hpp"
#include "harness/test/fake_device.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;

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

TEST(DeviceCase, OnlyTheLeastMemoryIsRefusedSurely) {
  AlgorithmInfo info = fake_info();
  info.name = "fake_that_streams";
  info.memory = [](const Params&) {
    return MemoryUse{.device = {.rating = 16}, .least_device = BytesOf{.row = 100}};
  };
  const RegisterInfo that_streams(info);
  const Spec spec =
      spec_from(R"({"datasets": ["like:ml-100k"], "algorithms": ["fake_that_streams"]})");
  const CaseSizes sizes = {{10, 20, 1'000'000}};
  EXPECT_EQ(device_bytes(spec.cases[0], sizes), 16e6);
  const double least = 3000 / kPlanFactor;
  EXPECT_FALSE(refuse_surely(spec.cases[0], sizes, 0, least).has_value());
  const auto refusal = refuse_surely(spec.cases[0], sizes, 0, least - 1);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->status, Status::oom);
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

TEST(HostThreads, AllForTheDeviceOrAClosedFormElseOneUnlessAsked) {
  const Spec spec = spec_from(
      R"({"datasets": ["like:ml-100k"], "algorithms": ["ebgtg", "sgd_serial",
          {"name": "hogwild", "threads": 3}, "popular"]})");
  EXPECT_EQ(threads_of(spec.cases[0]), hardware_threads());
  EXPECT_EQ(threads_of(spec.cases[1]), 1);
  EXPECT_EQ(threads_of(spec.cases[2]), 3);
  EXPECT_EQ(threads_of(spec.cases[3]), hardware_threads());
}

}  // namespace
}  // namespace mf
