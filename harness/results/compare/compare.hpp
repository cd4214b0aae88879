// Two result folders side by side: is the second faster, slower, the same, or can it not be told?
// docs/methodology.md says why it is computed like this.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/experiment/metric.hpp"
#include "harness/results/compare/compared_folder.hpp"
#include "harness/results/compare/compared_numbers.hpp"
#include "harness/results/compare/sides.hpp"

namespace mf {

struct CompareOptions {
  double margin = 0.02;           // times within 1 +- margin are the same
  double quality_margin = 0.002;  // and values of the metric within this share of the first's
  // Instead of the one that the results name.
  std::optional<TargetSpec> target = {};
  bool allow_contended = false;  // times are judged although other programs took part
  // Names of a Configuration, or sections of it: cases may differ there.
  std::vector<std::string> ignored = {};
  // Two algorithms, the first of the first folder, the second of the second, which may be one.
  std::optional<ComparedSides> between = {};
  std::optional<ComparedSide> baseline = {};  // an algorithm: its answers, over those on its side
};

using StatusCounts = std::map<std::string, int>;

// A configuration that both folders have.
struct Comparison {
  std::string label;  // algorithm, data set, and every parameter that differs
  std::string dataset;
  bool on_device = false;
  std::vector<std::string> files;  // of the second
  std::string differs;             // beside the algorithms: "params.reg 0.05 against 0.1"
  std::string methods;             // "als and sgd", whose epochs are different work; else empty
  StatusCounts first, second;      // how its runs ended
  Origins first_origins, second_origins;
  std::optional<TargetSpec> target;  // the target of an answer; empty: the end of a completed run
  bool targets_differ = false;       // so it is empty
  Metric metric;                     // NDCG@100 or the objective for implicit feedback
  Compared epoch_time;               // steady training seconds of an epoch, completed runs
  Compared answer_time;              // prepare, transfer and training until the answer
  Compared target_time;              // only training until the target: without a verdict
  Compared file_to_model;            // from the file until the answer: no verdict
  Compared energy;                   // of training until the answer: no verdict
  Compared over_first, over_second;  // the baseline's answer time over this, on each side
  Compared quality;                  // the headline of the metric, completed runs
};

// A configuration that only one folder has.
struct Unmatched {
  std::string label;
  StatusCounts runs;
  std::string differs;  // from the nearest of the other folder: "params.reg 0.05 against 0.1"
};

struct ComparisonReport {
  CompareOptions options;
  FolderSummary first, second;
  std::vector<Comparison> rows;
  std::vector<Unmatched> only_first, only_second;
};

// Cases match when their configurations are equal apart from ignored names; compared_numbers.hpp
// compares their times and qualities, verdicts with Holm's correction over all rows. Throws
// Error(usage) for a path that is not a folder, for an ignored name that no case has, and if
// ignoring leaves two cases of one seed alike.
ComparisonReport compare_results(const std::string& first, const std::string& second,
                                 const CompareOptions& options);

// The same of cases that have been read.
ComparisonReport compare_folders(ComparedFolder first, ComparedFolder second,
                                 const CompareOptions& options);

}  // namespace mf
