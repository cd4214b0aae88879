// A case of a device algorithm with a stand-in for the device. A test program includes it once.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "base/clock.hpp"
#include "base/json/json.hpp"
#include "harness/run/runner.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::spec_from;
using testing::TempFolder;

constexpr double kEpochSeconds = 20e-6;
constexpr double kEpochJoules = 3;

// A stream on which time passes as work is queued.
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
  std::atomic<int> readings = 0;  // also taken by the sampler's thread
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

inline AlgorithmInfo fake_info() {
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

inline Spec small_spec(const std::string& rest) {
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

inline Done run(const Options& options) {
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
inline Done run_on(const std::function<void(FakeDevice&)>& change, const std::string& rest = "") {
  return run({.rest = rest, .open = [=] {
                auto device = std::make_unique<FakeDevice>();
                change(*device);
                return device;
              }});
}

inline double number(const Json& json, const char* key) { return json[key].get<double>(); }

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace
}  // namespace mf
