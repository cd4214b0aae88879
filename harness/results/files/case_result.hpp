// The measurements of a case: the points of its trace, its end, and the rest of its footer.
// docs/results.md has the keys.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.hpp"
#include "datasets/ratings/dataset.hpp"
#include "harness/device/contention.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/evaluate/prediction.hpp"
#include "harness/evaluate/user_groups.hpp"
#include "harness/experiment/metric.hpp"
#include "harness/experiment/status.hpp"
#include "harness/results/meaning/epoch_times.hpp"
#include "harness/results/meaning/shared_cost.hpp"

namespace mf {

// A line of the trace: the state of a case after an epoch.
struct TracePoint {
  std::int64_t epoch = 0;
  std::int64_t updates = 0;
  double passes = 0;
  double train_s = 0;
  std::optional<double> train_device_s;  // nothing on the CPU
  std::optional<double> train_energy_j;  // nothing on the CPU and without NVML
  double epoch_s = 0;                    // mean of the last group of epochs
  double evaluate_s = 0;
  double wall_s = 0;
  bool by_program = false;              // its own RMSE, of the part that it was given
  std::optional<double> learning_rate;  // nothing at epoch 0
  MetricValues metrics;

  // Absent for a part without ratings.
  void set_errors(MetricPart part, const Accuracy& errors);

  Json to_json() const;
};

// A metric over the trace of a case.
struct MetricSummary {
  double final_value = 0;
  double best = std::numeric_limits<double>::quiet_NaN();  // of the epochs after epoch 0
  std::int64_t best_epoch = 0;
};

struct CaseResult {
  Status status = Status::error;
  std::string reason;
  std::int64_t epochs = 0;
  std::int64_t updates = 0;
  double train_s = 0;
  double wall_s = 0;
  std::int64_t best_epoch = 0;  // of the case's main metric
  std::map<Metric, MetricSummary> metrics;
  bool bad_data = false;                  // its data failed: malformed, missing, cut
  bool unsaved_model = false;             // it was trained, and its model could not be written
  std::optional<std::string> files_mark;  // of its files (mark_of_files), if their data are bad
  Contention contention;                  // processes that shared the machine
  std::vector<std::string> warnings;      // why its numbers say less than they seem to
  bool device_failed = false;             // nothing more can run on the device in this process
  bool ranks_failed = false;              // one of several ranks has ended: so must the run
};

struct CaseMeasures {
  SharedCosts shared;
  LoadSeconds load_parts;  // parts of the load clock, and
  double split_s = 0;
  std::optional<bool> from_cache;         // CaseData::from_cache; empty: nothing was loaded
  std::optional<double> file_to_model_s;  // only in the first case of a process
  std::optional<double> trivial_error;    // Reference::trivial; empty if none was computed
  std::optional<double> train_device_s;
  // The estimate before it was prepared, and the measured peak.
  std::optional<double> planned_host_bytes, planned_device_bytes;
  std::optional<std::int64_t> peak_device_bytes;
  EpochTimes epochs;
  std::optional<double> train_energy_j;                // of all ranks
  std::vector<std::optional<double>> energy_of_ranks;  // of several, by rank
  std::vector<DeviceReading> readings;                 // within epochs
  std::vector<DeviceReading> after;                    // right after the groups before evaluations
  std::vector<UserGroup> user_groups;
  // For the last evaluation, if items are ranked.
  MetricValues cold_ranking;
  std::optional<std::int64_t> tied_users;
  // The machine while initial factors were made and `prepare` ran, and from the first epoch to the
  // last; empty if that did not happen.
  std::optional<HostLoad> prepare_host_load, train_host_load;
  std::optional<DeviceLoad> device_load;
  Json peer;       // Foreign::finish()
  Json exchanged;  // OnRanks::exchanged()
  Json ranks;      // of several ranks: the others' reports; else null
};

}  // namespace mf
