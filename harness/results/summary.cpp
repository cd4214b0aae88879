#include "harness/results/summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/files/held_folder.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/experiment/frozen_targets.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/compare/headline.hpp"
#include "harness/results/compare/origins.hpp"
#include "harness/results/compare/winner.hpp"
#include "harness/results/files/load_json.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/results/files/stored_results.hpp"
#include "harness/results/meaning/stats.hpp"
#include "harness/results/meaning/text_table.hpp"

namespace mf {
namespace {

// A configuration on a data set; numbers of its seeds.
struct Row {
  std::string data, name, algorithm;
  Metric metric;
  // Headline, last epoch (of a saved model), and best on the test part.
  std::vector<double> quality, last, best_seen;
  bool restarts = false;                        // each evaluated point is a separate run
  std::vector<double> train, answer;            // to the end
  std::vector<double> train_to, answer_to;      // to the target, infinite if it was missed
  std::vector<double> file_to, file_to_target;  // file to model, at the end and at the target
  bool summed = false;                          // one of these times is a sum of clocks
  std::vector<std::string> contended;           // the reasons, of each case that was
  Origins origins;
  std::vector<double> start, load;  // of the cases of a device
  std::vector<double> cpu;          // seconds of all threads in training
  Json params;                      // without the threads
  bool one_thread = false;
  int on_test = 0;            // cases whose rules watched the test part
  int ranked_validation = 0;  // cases that ranked test items among validation items
  std::map<std::string, int> status;
  int seeds() const {
    return std::accumulate(status.begin(), status.end(), 0,
                           [](int sum, const auto& one) { return sum + one.second; });
  }
};

void add_known(std::vector<double>& numbers, const std::optional<double>& value) {
  if (value) numbers.push_back(*value);
}

// Who did not come to the end never answers there.
void add_times(Row& row, const ResultFile& file, const std::optional<TargetSpec>& target) {
  const bool completed = file.status() == Status::completed;
  const auto end = answer_at_end(file);
  if (completed && end) add_known(row.answer, end->answer_s);
  if (completed && end) add_known(row.file_to, end->file_to_model_s);
  if (!completed) row.answer.push_back(kNever);
  if (!completed) row.file_to.push_back(kNever);
  if (const auto before = file_to_training(file)) row.summed = row.summed || before->summed;
  if (!target) return;
  const auto reached = answer_at(file, *target);
  row.train_to.push_back(reached ? reached->train_s : kNever);
  row.answer_to.push_back(reached ? reached->answer_s.value_or(kNever) : kNever);
  row.file_to_target.push_back(reached ? reached->file_to_model_s.value_or(kNever) : kNever);
}

void add_to(Row& row, const ResultFile& file, const std::optional<TargetSpec>& target) {
  const auto status = file.status();
  ++row.status[status ? kStatuses.of(*status) : "unfinished"];
  if (!status || !has_run(*status)) return;
  if (const auto found = headline_of(file, row.metric)) row.quality.push_back(found->at.value);
  if (const auto found = last_of(file, row.metric)) row.last.push_back(found->value);
  row.restarts = row.restarts || restarts(file.header);
  if (const auto best = best_seen(file, row.metric)) row.best_seen.push_back(best->value);
  row.on_test += rules_on_test(file.header).empty() ? 0 : 1;
  row.ranked_validation += row.metric.is_ranking() && ranked_validation(file.header) ? 1 : 0;
  if (text_at(file.header, {"algorithm", "hardware"}) == "cuda") {
    add_known(row.start, number_at(file.footer, {"clocks", "start_s"}));
    add_known(row.load, number_at(file.footer, {"clocks", "load_s"}));
  }
  if (*status == Status::completed) {
    add_known(row.train, number_at(file.footer, {"clocks", "train_s"}));
    add_known(row.cpu, number_at(file.footer, {"host_load", "train", "cpu_s"}));
  }
  row.origins.add(origin_of(value_at(file.header, {"environment"})));
  const std::string shared = contention_text(contention_in(file.footer));
  if (!shared.empty()) row.contended.push_back(shared);
  add_times(row, file, target);
}

std::vector<Row> rows_of(const std::string& folder, const Spec& spec,
                         const std::optional<TargetSpec>& target) {
  std::vector<Row> rows;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const Case& item : spec.cases) {
    const auto file = read_result_file(folder + "/" + item.id + ".jsonl");
    if (!file || !file->header.is_object()) continue;
    const auto [at, added] = places.try_emplace({item.data_name, item.name}, rows.size());
    if (added) {
      rows.push_back({});
      rows.back().data = item.data_name;
      rows.back().name = item.name;
      rows.back().algorithm = item.algorithm;
      rows.back().metric = main_metric(item);
      rows.back().params = item.params.to_json();
      rows.back().one_thread = rows.back().params.value("threads", 0) == 1;
      rows.back().params.erase("threads");
    }
    add_to(rows[at->second], *file, target);
  }
  return rows;
}

// ---- cells ------------------------------------------------------------------------------------

std::string seconds_cell(const std::vector<double>& numbers) {
  const auto middle = median(numbers);
  return middle && std::isfinite(*middle) ? format_seconds(*middle) : "-";
}

// The metric is named beside its values if it is not the same for all.
std::string quality_cell(const Row& row, bool with_name) {
  const auto quality = median(row.quality);
  if (!quality) return "-";
  return (with_name ? row.metric.label() + " " : "") + row.metric.format(*quality);
}

std::string value_cell(const Row& row, const std::vector<double>& values) {
  const auto middle = median(values);
  return middle ? row.metric.format(*middle) : "-";
}

// Whether a validation part chose another epoch than the last.
bool any_earlier(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return row.last != row.quality; });
}

bool any_restarts(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.restarts; });
}

// "142.9 ms +" if each point has the time of a separate run; `aligned`: others leave room for that.
std::string time_cell(const Row& row, const std::vector<double>& numbers, bool aligned) {
  return seconds_cell(numbers) + (row.restarts ? " +" : aligned ? "  " : "");
}

// "3.1 s ~" if the time is a sum of clocks.
std::string file_cell(const Row& row, const std::vector<double>& numbers) {
  return time_cell(row, numbers, false) + (row.summed ? " ~" : "");
}

std::string range_cell(const Row& row) {
  if (row.quality.empty()) return "-";
  const auto [low, high] = std::minmax_element(row.quality.begin(), row.quality.end());
  return fmt::format("[{}, {}]", row.metric.format(*low), row.metric.format(*high));
}

// The name of a baseline without factors that is better on the same data, or empty.
std::string better_floor(const Row& row, const std::vector<Row>& rows) {
  for (const Row& floor : rows) {
    if (floor.algorithm != "bias" && floor.algorithm != "popular") continue;
    if (floor.data != row.data || floor.metric != row.metric) continue;
    const auto least = median(floor.quality), own = median(row.quality);
    if (least && own && row.metric.is_better(*least, *own)) return floor.algorithm;
  }
  return "";
}

// How many times the CPU seconds of the same with one thread its threads take, if above 2: they
// wait for each other.
std::optional<double> excess(const Row& row, const std::vector<Row>& rows) {
  for (const Row& one : rows) {
    if (row.one_thread || !one.one_thread || one.data != row.data) continue;
    if (one.algorithm != row.algorithm || one.params != row.params) continue;
    const auto least = median(one.cpu), own = median(row.cpu);
    if (least && own && *own > 2 * *least) return *own / *least;
  }
  return std::nullopt;
}

std::string status_cell(const Row& row, const std::vector<Row>& rows) {
  std::vector<std::string> words;
  const std::string completed = kStatuses.of(Status::completed);
  for (const auto& [name, count] : row.status)
    if (name != completed || row.status.size() > 1)
      words.push_back(fmt::format("{} {}", count, name));
  const auto missed = std::count(row.train_to.begin(), row.train_to.end(), kNever);
  if (missed > 0) words.push_back(fmt::format("{} missed the target", missed));
  if (row.on_test > 0) words.push_back(fmt::format("{} watched the test part", row.on_test));
  if (row.ranked_validation > 0)
    words.push_back(fmt::format("{} with seen: train", row.ranked_validation));
  if (!row.contended.empty()) words.push_back(fmt::format("{} contended", row.contended.size()));
  const std::string floor = better_floor(row, rows);
  if (!floor.empty()) words.push_back("loses to " + floor);
  if (const auto times = excess(row, rows))
    words.push_back(fmt::format("{:.1f} x the CPU time of one thread", *times));
  return join(words);
}

// ---- tables -----------------------------------------------------------------------------------

std::string answers_table(const std::vector<Row>& rows, const std::optional<TargetSpec>& target,
                          std::size_t room) {
  const bool several = std::any_of(
      rows.begin(), rows.end(), [&](const Row& row) { return row.metric != rows.front().metric; });
  const Metric metric = rows.empty() ? kTestRmse : rows.front().metric;
  const std::string quality = several               ? "quality"
                              : metric == kTestRmse ? "test rmse"
                                                    : metric.label();
  std::vector<Column> columns = {
      {"data set", true}, {"algorithm", true}, {"seeds"}, {quality}, {"[min, max]", false, 16}};
  const bool earlier = any_earlier(rows);
  if (earlier) columns.push_back({"last epoch"});
  columns.push_back({"best on test"});
  columns.push_back({"train", false, 10});
  columns.push_back({"answer", false, 10});
  columns.push_back({"file to model"});
  if (target) {  // the winner's line has its metric
    for (const char* clock : {"train to", "answer to", "file to"})
      columns.push_back({fmt::format("{} {:g}", clock, target->value), false, 10});
  }
  columns.push_back({"status", true});
  const bool marked = any_restarts(rows);
  std::vector<Cells> lines;
  for (const Row& row : rows) {
    Cells cells = {row.data, row.name, std::to_string(row.seeds()), quality_cell(row, several),
                   range_cell(row)};
    if (earlier) cells.push_back(value_cell(row, row.last));
    cells.push_back(value_cell(row, row.best_seen));
    cells.push_back(time_cell(row, row.train, marked));
    cells.push_back(time_cell(row, row.answer, marked));
    cells.push_back(file_cell(row, row.file_to));
    if (target) {
      cells.push_back(time_cell(row, row.train_to, marked));
      cells.push_back(time_cell(row, row.answer_to, marked));
      cells.push_back(file_cell(row, row.file_to_target));
    }
    cells.push_back(status_cell(row, rows));
    lines.push_back(std::move(cells));
  }
  return table_text(columns, lines, room);
}

// The number of cases that other programs may have slowed, and the reason in the first. The result
// files have the others.
std::string contended_line(const std::vector<Row>& rows) {
  std::size_t contended = 0;
  int cases = 0;
  std::string why;
  for (const Row& row : rows) {
    cases += row.seeds();
    contended += row.contended.size();
    if (why.empty() && !row.contended.empty()) why = row.contended.front();
  }
  if (contended == 0) return "";
  return one_line(fmt::format("contended, {} of {} cases; of the first: {}", contended, cases,
                              why.substr(0, why.find(';'))));
}

// The first case of a process pays for the device's context and for ratings that others share: the
// longest start and load of all.
std::string start_line(const std::vector<Row>& rows) {
  double start = 0, load = 0;
  for (const Row& row : rows) {
    for (const double one : row.start) start = std::max(start, one);
    for (const double one : row.load) load = std::max(load, one);
  }
  if (start == 0) return "";
  return fmt::format("start and load, once for each process and in no answer: {} and {}\n",
                     format_seconds(start), format_seconds(load));
}

// How many processes and hosts ran a configuration, from the fewest to the most.
std::string origins_line(const std::vector<Row>& rows) {
  std::size_t few = 0, many = 0;
  std::set<std::string> hosts;
  for (const Row& row : rows) {
    const std::size_t count = row.origins.processes.size();
    if (count == 0) continue;
    few = few == 0 ? count : std::min(few, count);
    many = std::max(many, count);
    hosts.insert(row.origins.hosts.begin(), row.origins.hosts.end());
  }
  if (many == 0) return "";
  return fmt::format("processes behind each row: {}{}; hosts: {}\n",
                     few == many ? std::to_string(many) : fmt::format("{} to {}", few, many),
                     many == 1 ? " (--apart: one for each case)" : "", hosts.size());
}

constexpr const char* kSingleRuns =
    "+ runs from the start for each evaluated point, which has the time of its own run: a later "
    "one may have taken less\n";

constexpr const char* kSeenTrain =
    "seen: train: an older version ranked test items among the user's items of the validation "
    "part\n";

constexpr const char* kShort = "medians over the seeds; --explain explains columns and marks";

constexpr const char* kReading =
    "\nquality on the test part at the epoch that the validation part chose, or, without one, at "
    "the last;\nbest on test is chosen on what it is measured on, and no result\nmedians over the "
    "seeds; train: the epochs only, answer: prepare + transfer + train; file to model: from the "
    "start of the process to the model, without evaluations, ~ as the sum of the clocks; a seed "
    "that misses the "
    "target is infinitely late, and so is the answer of one that did not complete\n";

constexpr std::size_t kProse = 99;  // columns

std::string folded_lines(const std::string& text, std::size_t room) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += folded(line, room, 2) + "\n";
  return out;
}

// ---- the end of a race ------------------------------------------------------------------------

// Those that have run, with the headlines of this metric.
std::vector<Racer> racers_of(const std::vector<Row>& rows, Metric metric) {
  std::vector<Racer> racers;
  for (const Row& row : rows) {
    if (row.quality.empty() && row.answer.empty()) continue;
    racers.push_back({row.name, row.answer_to, {}, !row.contended.empty()});
    if (row.metric == metric) racers.back().quality = row.quality;
  }
  return racers;
}

// On the data set of this case.
std::string winner_on(const std::string& folder, Spec spec, const Case& one) {
  const Metric metric = main_metric(one);
  std::erase_if(spec.cases, [&](const Case& item) { return item.data_name != one.data_name; });
  auto target = target_of(spec);
  const bool named = target.has_value();
  auto racers = racers_of(rows_of(folder, spec, target), metric);
  if (racers.empty()) return "unknown: no case has run on " + one.data_name;
  if (!named) {
    const auto known = frozen_targets(one.data.label(), one.split.to_json());
    std::vector<double> frozen;
    if (known && known->metric == metric) frozen.assign(known->values.begin(), known->values.end());
    const auto levels = target_levels(racers, metric, {}, frozen);
    if (levels.empty()) return "unknown: no algorithm has a quality on " + one.data_name;
    target = TargetSpec{metric, levels.front()};
    racers = racers_of(rows_of(folder, spec, target), metric);
  }
  return winner_text(racers, {*target, one.data_name, named, metric});
}

}  // namespace

std::string summary_table(const std::string& folder, const Spec& given, std::size_t room,
                          bool explain) {
  const HeldFolder held(folder, Origin::found);
  const Spec spec = named_as_in(folder, given);
  const auto target = target_of(spec);
  const std::vector<Row> rows = rows_of(folder, spec, target);
  const std::string text = answers_table(rows, target, room);
  const std::string contended = folded_lines(contended_line(rows), room);
  if (!explain) return text + folded_lines(kShort, room) + contended;
  std::string notes = kReading;
  if (any_earlier(rows)) notes += "last epoch: of the model that --save-model keeps\n";
  if (any_restarts(rows)) notes += kSingleRuns;
  const auto seen_train = [](const Row& row) { return row.ranked_validation > 0; };
  if (std::any_of(rows.begin(), rows.end(), seen_train)) notes += kSeenTrain;
  notes += start_line(rows) + origins_line(rows);
  notes += fmt::format("rates, energy and frozen targets: mfbench plot table {}\n",
                       one_line(shell_word(folder)));
  return text + folded_lines(notes, std::min(room, kProse)) + contended;
}

std::string winners_text(const std::string& folder, const Spec& given) {
  constexpr std::size_t kShown = 3;
  const Spec spec = named_as_in(folder, given);
  std::set<std::string> names;
  std::vector<std::string> lines;
  for (const Case& item : spec.cases) {
    const bool added = names.insert(item.data_name).second;
    if (added && names.size() <= kShown) lines.push_back(winner_on(folder, spec, item));
  }
  if (names.size() > kShown) lines.push_back(fmt::format("and {} more", names.size() - kShown));
  return one_line(join(lines, "; "));  // names come from files
}

}  // namespace mf
