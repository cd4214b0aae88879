// Runs one case: the readable loop of the harness.
//
//   load -> split -> initial factors -> prepare -> [ run_epochs -> evaluate -> trace ]* -> footer
//
// Five clocks that never overlap (load, prepare, transfer, train, evaluate) and the wall.
// run_epochs is the only call on the training clock: one epoch at a time on the CPU, on a device
// groups of short ones.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/json.hpp"
#include "datasets/dataset.hpp"
#include "datasets/split.hpp"
#include "harness/device_clock.hpp"
#include "harness/profile.hpp"
#include "harness/result_file.hpp"
#include "harness/spec.hpp"

namespace mf {

struct TracePoint {
  std::int64_t epoch = 0;
  std::int64_t updates = 0;
  double passes = 0;
  double train_s = 0;
  std::optional<double> train_device_s;  // nothing on the CPU
  double epoch_s = 0;                    // mean of the last group of epochs
  double evaluate_s = 0;
  double wall_s = 0;
  double test_rmse = 0;
  double test_mae = 0;
  double train_rmse = 0;       // NaN where not evaluated
  double validation_rmse = 0;  // NaN where not evaluated
  double learning_rate = 0;    // NaN at epoch 0

  Json to_json() const;
};

struct CaseResult {
  std::string status;  // completed, diverged, oom, timeout, skipped, error, interrupted
  std::string reason;
  std::int64_t epochs = 0;
  std::int64_t updates = 0;
  double train_s = 0;
  double wall_s = 0;
  double final_test_rmse = 0;  // NaN where never evaluated
  double best_test_rmse = 0;
  std::int64_t best_epoch = 0;
  bool device_failed = false;  // nothing more can run on the device in this process
};

// A data set cut for a case, and the seconds it took.
struct CaseData {
  std::shared_ptr<const Dataset> dataset;
  std::shared_ptr<const Split> split;
  double load_s = 0;
};

// Keeps the last data set and split: neighbours in a spec mostly share them.
class DataStore {
 public:
  CaseData get(const Case& item);

 private:
  std::string dataset_key_;
  std::string split_key_;
  std::shared_ptr<const Dataset> dataset_;
  std::shared_ptr<const Split> split_;
};

struct RunHooks {
  std::function<void(const TracePoint&)> on_trace;
  // 0: go on; 1: end after the running epoch (Ctrl-C); 2: give the running epoch up.
  std::function<int()> interrupted;
  // Named ranges as they begin and end, for tests of the annotation.
  std::function<void(const std::string&, bool)> on_range;
  // In place of the machine's device, for tests.
  std::function<std::unique_ptr<DeviceClock>()> open_device;
};

struct RunSettings {
  std::string spec_name, spec_hash, baseline;
  std::optional<double> target_rmse;
  std::string command_line;
  std::string model_folder;  // the model is exported there after the last epoch; empty: not at all
  std::optional<ProfileWindow> profile;
};

// Never throws for what belongs to the case (out of memory, an algorithm's error): that is its
// status. Throws Error(io) where the result cannot be written.
CaseResult run_case(const Case& item, DataStore& store, const RunSettings& settings,
                    const RunHooks& hooks, ResultWriter& writer);

// Host threads of a case: its parameter `threads` (0: all of the machine); without one, all for an
// algorithm of the device, which prepares with them, and 1 for the others.
int threads_of(const Case& item);

// Bytes of the host model with `factors` per row.
double model_bytes(const Params& params, const ProblemShape& shape);

}  // namespace mf
