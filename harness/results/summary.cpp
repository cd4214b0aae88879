#include "harness/results/summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_values.hpp"
#include "base/text.hpp"
#include "harness/results/result_file.hpp"
#include "harness/results/standing_names.hpp"
#include "harness/results/stats.hpp"
#include "harness/spec/differences.hpp"

namespace mf {
namespace {

struct Row {
  Metric metric = Metric::test_rmse;
  std::vector<double> best, train, rate;
  std::map<std::string, int> status;
};

std::string with_settings(std::string label, const std::vector<Setting>& settings) {
  for (const auto& one : settings) {
    const Json& value = one.value;
    label += fmt::format(" {}={}", short_key(one, settings),
                         value.is_string() ? value.get<std::string>() : value.dump());
  }
  return label;
}

// {"ml-100k holdout=0.2", "sgd_serial factors=50 threads=2"}: with what differs among the cases of
// this data set and of this algorithm.
using RowKey = std::pair<std::string, std::string>;

RowKey row_key(const Case& item, const Differences& differing) {
  return {with_settings(item.data.label(), differing.split),
          with_settings(item.algorithm, differing.settings)};
}

void add_to(Row& row, const ResultFile& file) {
  const auto status = file.status();
  ++row.status[status ? kStatuses.of(*status) : "unfinished"];
  if (!status) return;
  if (const auto best = best_of(file.footer, row.metric)) row.best.push_back(*best);
  const auto train = number_at(file.footer, {"clocks", "train_s"});
  const auto updates = number_at(file.footer, {"updates"});
  if (!train) return;
  row.train.push_back(*train);
  if (updates && *train > 0 && *updates > 0) row.rate.push_back(*updates / *train);
}

std::string named(Metric metric, double value, bool with_name) {
  return (with_name ? label_of(metric) + " " : "") + format_metric(metric, value);
}

}  // namespace

std::string summary_table(const std::string& folder, const Spec& given) {
  const Spec spec = named_as_in(folder, given);
  const auto differing = differences(spec.cases);
  std::vector<RowKey> order;
  std::map<RowKey, Row> rows;
  for (std::size_t i = 0; i < spec.cases.size(); ++i) {
    const Case& item = spec.cases[i];
    const auto file = read_result_file(folder + "/" + item.id + ".jsonl");
    if (!file || !file->header.is_object()) continue;
    const RowKey key = row_key(item, differing[i]);
    if (rows.count(key) == 0) order.push_back(key);
    rows[key].metric = main_metric(item);
    add_to(rows[key], *file);
  }
  // The metric is named beside its values where it is not the same for all.
  bool all_rmse = true;
  for (const auto& [key, row] : rows) all_rmse = all_rmse && row.metric == Metric::test_rmse;
  const int best_width = all_rmse ? 9 : 20;
  std::size_t data_width = 8;
  std::size_t name_width = 9;
  for (const auto& [data, name] : order) {
    data_width = std::max(data_width, data.size());
    name_width = std::max(name_width, name.size());
  }
  const auto line = [&](const std::string& data, const std::string& name, const std::string& seeds,
                        const std::string& best, const std::string& band, const std::string& train,
                        const std::string& rate, const std::string& status) {
    return fmt::format("{:<{}}  {:<{}}  {:>5}  {:>{}}  {:>16}  {:>10}  {:>9}  {}\n", data,
                       data_width, name, name_width, seeds, best, best_width, band, train, rate,
                       status);
  };
  std::string text = line("data set", "algorithm", "seeds", all_rmse ? "best rmse" : "best",
                          "[min, max]", "train", "updates/s", "status");
  for (const auto& key : order) {
    const Row& row = rows[key];
    std::string status;
    int seeds = 0;
    for (const auto& [name, count] : row.status) {
      status += fmt::format("{}{} {}", status.empty() ? "" : ", ", count, name);
      seeds += count;
    }
    const auto best = median(row.best);
    const auto train = median(row.train);
    const auto rate = median(row.rate);
    const auto [low, high] = std::minmax_element(row.best.begin(), row.best.end());
    text += line(key.first, key.second, std::to_string(seeds),
                 best ? named(row.metric, *best, !all_rmse) : "-",
                 best ? fmt::format("[{}, {}]", format_metric(row.metric, *low),
                                    format_metric(row.metric, *high))
                      : "-",
                 train ? format_seconds(*train) : "-", rate ? format_count(*rate) : "-", status);
  }
  return text;
}

}  // namespace mf
