// The quality of a result in one number: the test value at the epoch that the validation part
// chose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/experiment/metric.hpp"
#include "harness/results/files/result_file.hpp"

namespace mf {

struct ValueAt {
  double value = 0;
  std::int64_t epoch = 0;
};

struct Headline {
  Metric metric;
  ValueAt at;
  // The metric whose best value chose the epoch. Empty: no validation part was evaluated, and the
  // epoch is the last evaluated one.
  std::optional<Metric> chosen_by;
};

// The metric that a case is judged by: the first main metric, of a trial on the validation part,
// that its trace has.
Metric judged_by(const ResultFile& file);

// Empty if the metric was not computed there or is not a number, and for a case that should have
// trained but has only the initial model.
std::optional<Headline> headline_of(const ResultFile& file, Metric metric);

// At the last evaluated epoch, which is the saved model's; empty as in headline_of().
std::optional<ValueAt> last_of(const ResultFile& file, Metric metric);

// The best of all evaluated epochs, chosen on the very ratings that it is measured on. Epoch 0, the
// initial model, is not among them.
std::optional<ValueAt> best_seen(const ResultFile& file, Metric metric);

// The rules of a case that watched the test part; of a trial none.
std::vector<std::string> rules_on_test(const Json& header);

// Whether items of the test part were ranked among the same user's items of the validation part.
// Older versions did so, and their files have no "ranking.seen".
bool ranked_validation(const Json& header);

}  // namespace mf
