// A result file as a comparison sees it: the configuration, the seeds of each run, and the few
// numbers that a run gives.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/json/json.hpp"
#include "harness/device/contention.hpp"
#include "harness/experiment/metric.hpp"
#include "harness/experiment/status.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/compare/origins.hpp"
#include "harness/results/files/result_file.hpp"

namespace mf {

// Everything that decides a result but the seeds and the fold, by dotted name: "algorithm",
// "dataset", "dataset.content_hash", "params.factors", "split.holdout", "schedule.kind",
// "stop.epochs", "evaluate.every", ...
using Configuration = std::map<std::string, Json>;

Configuration configuration_of(const Json& header);

// By "target" and "target_rmse" of a header, or of the statements of a spec.json.
std::optional<TargetSpec> named_target(const Json& header);

// The same repeat of the same configuration in two folders makes a pair. With a seed in the split,
// that is another number than the seed; a split in folds has a fold, too.
using Repeat = std::pair<std::int64_t, Json>;  // seed, seed of the split or [seed, fold]

// Training seconds, answer seconds (prepare, transfer and training), and seconds from file to
// model.
struct AnswerTimes {
  double train_s = kNever;
  double answer_s = kNever;
  double file_to_model_s = kNever;
  double energy_j = std::nan("");  // of training; NaN: unknown
};

// A comparison's extract of a file, whose size does not depend on the length of the trace.
struct ComparedCase {
  std::string file;
  Configuration configuration;
  Configuration own;  // settings that --between took out of it: another value on the other side
  Repeat repeat;
  Status status = Status::error;
  bool on_device = false;
  std::string method;   // empty: unknown
  std::string content;  // hash of the data set's, whatever is ignored; empty: not loaded
  RunOrigin origin;
  std::optional<TargetSpec> target;
  bool has_target_metric = false;  // in its trace
  // kNever: it missed the target, or diverged or failed, and so has no answer.
  AnswerTimes at_target, at_end;
  Metric metric;
  std::optional<double> quality;  // of it, as headline_of() has it
  std::optional<double> epoch_s;  // steady; of one point only, the mean; unknown if it restarts
  Contention contention;          // processes that shared the machine; empty if unknown

  // Whether other programs may have slowed it: its epochs, and its answer, which on a device
  // includes the host's preparation.
  bool epochs_contended() const { return Contention::is(contention.times).value_or(false); }
  bool answer_contended() const {
    return epochs_contended() || Contention::is(contention.host).value_or(false);
  }
};

// The extract of a finished result; empty if its header names no seed.
std::optional<ComparedCase> compared_case(const std::string& path, const ResultFile& file,
                                          const std::optional<TargetSpec>& target);

}  // namespace mf
