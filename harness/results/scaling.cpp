#include "harness/results/scaling.hpp"

#include <fmt/core.h>

#include <map>
#include <utility>
#include <vector>

#include "algorithms/core/ranks/ranks.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/results/meaning/shared_cost.hpp"
#include "harness/results/meaning/stats.hpp"
#include "harness/results/text_table.hpp"

namespace mf {
namespace {

// For the seeds that completed.
struct Times {
  std::vector<double> train, answer, load_and_answer;
};

// By the number of processes.
using Counts = std::map<int, Times>;

struct Scaled {
  std::string data, name, unit;
  Counts counts;
};

// "als factors=8" of "als ranks=2 factors=8".
std::string without_count(std::string name) {
  for (const auto& param : {ranks_param(), devices_param()}) {
    const std::size_t at = name.find(" " + param.name + "=");
    if (at != name.npos) name.erase(at, name.find(' ', at + 1) - at);
  }
  return name;
}

void add(Times& times, const ResultFile& file) {
  if (file.status() != Status::completed) return;
  const auto answer = answer_at_end(file);
  const auto load = number_at(file.footer, {"clocks", "load_s"});
  if (!answer || !answer->answer_s || !load) return;
  times.train.push_back(answer->train_s);
  times.answer.push_back(*answer->answer_s);
  times.load_and_answer.push_back(*load + shared_seconds(file.footer, SharedClock::load) +
                                  *answer->answer_s);
}

std::vector<Scaled> scaled_of(const std::string& folder, const Spec& spec) {
  std::vector<Scaled> all;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const Case& item : spec.cases) {
    const auto file = read_result_file(folder + "/" + item.id + ".jsonl");
    if (!file || !file->header.is_object()) continue;
    const std::pair key = {item.data_name, without_count(item.name)};
    const auto [at, added] = places.try_emplace(key, all.size());
    if (added) all.push_back({key.first, key.second, "ranks", {}});
    Scaled& one = all[at->second];
    if (devices_of(item.params) > 1) one.unit = "devices";
    add(one.counts[ranks_of(item.params)], *file);
  }
  return all;
}

// "88 %"; empty on one.
std::string efficiency_cell(double on_one, double time, int count) {
  return count == 1 ? "" : fmt::format("{:.0f} %", 100 * on_one / (count * time));
}

std::vector<Cells> lines_of(const Scaled& of) {
  const auto one = of.counts.find(1);
  if (of.counts.size() < 2 || one == of.counts.end() || one->second.train.empty()) return {};
  const auto on_one = [&](std::vector<double> Times::*which) {
    return *median(one->second.*which);
  };
  std::vector<Cells> lines;
  for (const auto& [count, times] : of.counts) {
    if (times.train.empty()) continue;
    const double train = *median(times.train);
    const double answer = *median(times.answer);
    const double whole = *median(times.load_and_answer);
    lines.push_back(
        {of.data, of.name, fmt::format("{} {}", count, of.unit), format_seconds(train),
         efficiency_cell(on_one(&Times::train), train, count), format_seconds(answer),
         efficiency_cell(on_one(&Times::answer), answer, count), format_seconds(whole),
         count == 1 ? "" : fmt::format("{:.2f} x", on_one(&Times::load_and_answer) / whole)});
  }
  return lines.size() > 1 ? lines : std::vector<Cells>();
}

}  // namespace

std::string scaling_table(const std::string& folder, const Spec& spec, std::size_t room) {
  std::vector<Cells> lines;
  for (const Scaled& one : scaled_of(folder, spec)) {
    for (Cells& line : lines_of(one)) lines.push_back(std::move(line));
  }
  if (lines.empty()) return "";
  const std::vector<Column> columns = {
      {"data set", true}, {"algorithm", true},   {"on", true},   {"train", false, 10},
      {"efficiency"},     {"answer", false, 10}, {"efficiency"}, {"load + answer", false, 10},
      {"of one"}};
  return "\n" + table_text(columns, lines, room) +
         "efficiency: the time on one over that on K, over K\n";
}

}  // namespace mf
