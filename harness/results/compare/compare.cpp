#include "harness/results/compare/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/experiment/case_names.hpp"

namespace mf {
namespace {

const std::string kSize = "params.factors";  // always shown, and first

std::string value_or_any(const Configuration& configuration, const std::string& name) {
  const auto at = configuration.find(name);
  return at == configuration.end() ? "any" : setting_text(at->second);
}

std::string short_name(const std::string& name, const std::set<std::string>& shown) {
  const std::string word = leaf(name);
  const auto alike = std::count_if(shown.begin(), shown.end(),
                                   [&](const std::string& other) { return leaf(other) == word; });
  return alike > 1 || word == "kind" ? name : word;
}

// "fpsgd factors=50 reg=0.05 on ml-1m": the factors, and the settings that differ among the
// configurations of an algorithm on one data set. A name loses its section (params.reg) if it stays
// clear.
class CaseLabels {
 public:
  explicit CaseLabels(const std::vector<const ComparedCase*>& cases) {
    std::map<std::pair<std::string, std::string>, std::vector<const Configuration*>> groups;
    for (const auto* one : cases) {
      const Configuration& own = one->configuration;
      groups[{value_or_any(own, "algorithm"), value_or_any(own, "dataset")}].push_back(&own);
    }
    for (const auto& [group, configurations] : groups) {
      std::map<std::string, std::multiset<std::string>> values;  // by setting
      for (const auto* own : configurations) {
        for (const auto& [name, value] : *own) values[name].insert(value.dump());
      }
      for (const auto& [name, found] : values) {
        const bool same = found.count(*found.begin()) == configurations.size();
        if (!same || name == kSize) shown_[group.first].insert(name);
      }
    }
  }

  std::string of(const Configuration& configuration) const {
    const std::string algorithm = value_or_any(configuration, "algorithm");
    std::set<std::string> shown;
    if (shown_.contains(algorithm)) shown = shown_.at(algorithm);
    std::string label = algorithm;
    const auto add = [&](const std::string& name) {
      const auto at = configuration.find(name);
      if (at == configuration.end()) return;
      label += " " + short_name(name, shown) + "=" + setting_text(at->second);
    };
    add(kSize);
    for (const auto& name : shown) {
      if (name != kSize) add(name);
    }
    return label + " on " + value_or_any(configuration, "dataset");
  }

 private:
  std::map<std::string, std::set<std::string>> shown_;  // by algorithm
};

StatusCounts count_statuses(const Runs& runs) {
  StatusCounts counts;
  for (const auto& [repeat, one] : runs) ++counts[kStatuses.of(one->status)];
  return counts;
}

// From the nearest configuration of the same algorithm on the same data set.
std::string difference_from_nearest(const Configuration& own, const Groups& others) {
  std::optional<std::vector<std::string>> fewest;
  for (const auto& [key, runs] : others) {
    const Configuration& other = runs.begin()->second->configuration;
    const auto value = [](const Configuration& all, const std::string& name) {
      const auto at = all.find(name);
      return at == all.end() ? std::string("absent") : setting_text(at->second);
    };
    if (value(own, "algorithm") != value(other, "algorithm") ||
        value(own, "dataset") != value(other, "dataset")) {
      continue;
    }
    Configuration both = own;
    both.insert(other.begin(), other.end());
    std::vector<std::string> differing;
    for (const auto& [name, unused] : both) {
      if (value(own, name) == value(other, name)) continue;
      differing.push_back(
          fmt::format("{} {} against {}", name, value(own, name), value(other, name)));
    }
    if (!fewest || differing.size() < fewest->size()) fewest = differing;
  }
  return fewest ? join(*fewest, "; ") : "the algorithm is not there on this data set";
}

std::vector<Unmatched> find_unmatched(const Groups& own, const Groups& others,
                                      const CaseLabels& labels) {
  std::vector<Unmatched> all;
  for (const auto& [key, runs] : own) {
    if (others.count(key) > 0) continue;
    const Configuration& configuration = runs.begin()->second->configuration;
    all.push_back({labels.of(configuration), count_statuses(runs),
                   difference_from_nearest(configuration, others)});
  }
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.label < y.label; });
  return all;
}

Numbers numbers_of(const Runs& runs,
                   const std::function<std::optional<double>(const ComparedCase&)>& number) {
  Numbers all;
  for (const auto& [repeat, one] : runs) {
    const auto value = has_run(one->status) ? number(*one) : std::nullopt;
    if (value && !std::isnan(*value)) all[repeat] = *value;
  }
  return all;
}

int count_contended(const Runs& runs, const Numbers& counted,
                    bool (ComparedCase::*contended)() const) {
  int count = 0;
  for (const auto& [repeat, one] : runs) {
    count += counted.count(repeat) > 0 && (one->*contended)() ? 1 : 0;
  }
  return count;
}

bool equal_targets(const std::optional<TargetSpec>& x, const std::optional<TargetSpec>& y) {
  if (!x || !y) return !x && !y;
  return x->metric == y->metric && x->value == y->value;
}

bool was_computed(const Runs& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const auto& run) { return run.second->has_target_metric; });
}

// A target of a metric that these cases lack is not theirs.
void set_target(Comparison& row, const Runs& first, const Runs& second) {
  row.target = first.begin()->second->target;
  for (const Runs* runs : {&first, &second}) {
    for (const auto& [repeat, one] : *runs) {
      row.targets_differ = row.targets_differ || !equal_targets(one->target, row.target);
    }
  }
  const bool computed = was_computed(first) || was_computed(second);
  if (row.targets_differ || !computed) row.target.reset();
}

// A run that ended early may have only the start of another metric.
Metric metric_of_runs(const Runs& first, const Runs& second) {
  std::optional<Metric> of_any;
  for (const Runs* runs : {&first, &second}) {
    for (const auto& [repeat, one] : *runs) {
      if (one->quality && one->status == Status::completed) return one->metric;
      if (one->quality && !of_any) of_any = one->metric;
    }
  }
  return of_any.value_or(Metric());
}

Origins origins_of(const Runs& runs) {
  Origins origins;
  for (const auto& [repeat, one] : runs) origins.add(one->origin);
  return origins;
}

std::string differing_methods(const ComparedCase& first, const ComparedCase& second) {
  const std::string &a = first.method, &b = second.method;
  return a == b || a.empty() || b.empty() ? "" : a + " and " + b;
}

std::set<std::string> contents_of(const Runs& runs) {
  std::set<std::string> contents;
  for (const auto& [repeat, one] : runs) {
    if (!one->content.empty()) contents.insert(one->content);
  }
  return contents;
}

// Values on other ratings are no better and no worse.
void refuse_verdict(Compared& quality) {
  quality.value.reset();
  quality.interval.reset();
  quality.p.reset();
  quality.verdict = Verdict::unlike;
}

Comparison compare_runs(const Runs& first, const Runs& second) {
  Comparison row;
  row.methods = differing_methods(*first.begin()->second, *second.begin()->second);
  row.first = count_statuses(first);
  row.second = count_statuses(second);
  row.first_origins = origins_of(first);
  row.second_origins = origins_of(second);
  set_target(row, first, second);
  row.metric = metric_of_runs(first, second);
  const auto both = [&](const auto& compare, const auto& number) {
    return compare(numbers_of(first, number), numbers_of(second, number));
  };
  using Number = std::optional<double>;
  const auto times = [&](const auto& number, bool (ComparedCase::*contended)() const) {
    Compared compared = both(compare_times, number);
    compared.first.contended = count_contended(first, numbers_of(first, number), contended);
    compared.second.contended = count_contended(second, numbers_of(second, number), contended);
    return compared;
  };
  row.epoch_time = times(
      [](const ComparedCase& one) {
        return one.status == Status::completed ? one.epoch_s : Number();
      },
      &ComparedCase::epochs_contended);
  const auto answer = [&](const ComparedCase& one) {
    return row.target ? one.at_target : one.at_end;
  };
  row.answer_time = times([&](const ComparedCase& one) { return Number(answer(one).answer_s); },
                          &ComparedCase::answer_contended);
  row.energy =
      both(compare_times, [&](const ComparedCase& one) { return Number(answer(one).energy_j); });
  row.file_to_model = both(
      compare_times, [&](const ComparedCase& one) { return Number(answer(one).file_to_model_s); });
  if (row.target) {
    row.target_time =
        both(compare_times, [&](const ComparedCase& one) { return Number(answer(one).train_s); });
  }
  row.quality = both(compare_values, [&](const ComparedCase& one) {
    const bool counts = one.status == Status::completed && one.metric == row.metric;
    return counts ? one.quality : Number();
  });
  const auto contents = contents_of(first), others = contents_of(second);
  if (!contents.empty() && !others.empty() && contents != others) refuse_verdict(row.quality);
  return row;
}

bool are_of_same_data(const Configuration& x, const Configuration& y) {
  return std::all_of(x.begin(), x.end(), [&](const auto& setting) {
    const std::string& name = setting.first;
    const bool counts = name.starts_with("dataset") || name.starts_with("split");
    return !counts || (y.contains(name) && y.at(name) == setting.second);
  });
}

// The baseline on the same data and to the same target; of several configurations, the one with as
// many factors. Empty if that leaves none or several.
Compared over_baseline(const Groups& groups, const Runs& own,
                       const std::optional<TargetSpec>& target, const ComparedSide& side) {
  const Configuration& all = own.begin()->second->configuration;
  std::vector<const Runs*> found;
  for (const auto& [key, runs] : groups) {
    const ComparedCase& any = *runs.begin()->second;
    const bool fits = is_of(any.configuration, side) && equal_targets(any.target, target);
    if (fits && are_of_same_data(all, any.configuration)) found.push_back(&runs);
  }
  if (found.size() > 1) {
    std::erase_if(found, [&](const Runs* runs) {
      const Configuration& other = runs->begin()->second->configuration;
      return value_or_any(other, kSize) != value_or_any(all, kSize);
    });
  }
  if (found.size() != 1) return {};
  const auto answer = [&](const ComparedCase& one) {
    return std::optional((target ? one.at_target : one.at_end).answer_s);
  };
  return compare_times(numbers_of(own, answer), numbers_of(*found[0], answer));
}

void adjust(const std::vector<Compared*>& family) {
  std::vector<double> p;
  std::vector<Compared*> tested;
  for (auto* one : family) {
    if (!one->p) continue;
    p.push_back(*one->p);
    tested.push_back(one);
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->p_adjusted = adjusted[i];
}

// Both times of all rows are one family, for a row is read by both; quality is another.
void judge_all(std::vector<Comparison>& rows, const CompareOptions& options) {
  std::vector<Compared*> times, qualities;
  for (auto& row : rows) {
    for (Compared* one : {&row.epoch_time, &row.answer_time}) {
      const bool contended = one->first.contended + one->second.contended > 0;
      if (contended && !options.allow_contended) {
        one->verdict = Verdict::contended;
      } else {
        times.push_back(one);
      }
    }
    qualities.push_back(&row.quality);
  }
  adjust(times);
  adjust(qualities);
  for (auto* one : times) {
    if (!one->p_adjusted || !one->value) continue;
    one->verdict = judge_time(*one->value, *one->interval, *one->p_adjusted, options.margin);
  }
  for (auto& row : rows) {
    Compared& one = row.quality;
    if (!one.p_adjusted || !one.value) continue;
    const double margin = options.quality_margin * std::abs(*one.first.middle);
    one.verdict = judge_quality(row.metric, *one.value, *one.interval, *one.p_adjusted, margin);
  }
}

// One side as its folder is read; of two algorithms, the cases of one.
class SideReading {
 public:
  SideReading(const std::string& path, const CompareOptions& options, std::size_t side)
      : path_(path), asked_(options.target) {
    folder_.summary.folder = path;
    if (!options.between) return;
    filter_.emplace((*options.between)[side]);
    folder_.summary.side = (*options.between)[side].text;
  }

  void take(const StoredCase& stored, const StoredSpec& beside) {
    if (!filter_ || filter_->keeps(stored.file.header)) {
      take_case(stored, beside, asked_, folder_);
    }
  }

  ComparedFolder done() {
    if (filter_) filter_->check(path_);
    return std::move(folder_);
  }

 private:
  std::string path_;
  std::optional<TargetSpec> asked_;
  std::optional<SideFilter> filter_;
  ComparedFolder folder_;
};

std::pair<ComparedFolder, ComparedFolder> read_both(const std::string& first,
                                                    const std::string& second,
                                                    const CompareOptions& options) {
  SideReading a(first, options, 0), b(second, options, 1);
  const bool one_folder = first == second;
  visit_listed_results(first, [&](const StoredCase& one, const StoredSpec& beside) {
    a.take(one, beside);
    if (one_folder) b.take(one, beside);
  });
  if (!one_folder) {
    visit_listed_results(
        second, [&](const StoredCase& one, const StoredSpec& beside) { b.take(one, beside); });
  }
  std::pair both(a.done(), b.done());
  if (options.between) refuse_shared(both.first, both.second, *options.between);
  return both;
}

}  // namespace

ComparisonReport compare_results(const std::string& first, const std::string& second,
                                 const CompareOptions& options) {
  auto [a, b] = read_both(first, second, options);
  return compare_folders(std::move(a), std::move(b), options);
}

ComparisonReport compare_folders(ComparedFolder a, ComparedFolder b,
                                 const CompareOptions& options) {
  std::vector<ComparedCase*> cases;
  for (ComparedFolder* folder : {&a, &b}) {
    for (auto& one : folder->cases) cases.push_back(&one);
  }
  place_unloaded(cases);
  drop_ignored(options.ignored, cases);
  if (options.between) set_beside(a, b, *options.between);
  const Groups of_first = group_by_configuration(a, options.ignored);
  const Groups of_second = group_by_configuration(b, options.ignored);
  const CaseLabels labels({cases.begin(), cases.end()});
  ComparisonReport report{options, a.summary, b.summary, {}, {}, {}};
  for (const auto& [key, runs] : of_first) {
    const auto partner = of_second.find(key);
    if (partner == of_second.end()) continue;
    const ComparedCase& any = *runs.begin()->second;
    Comparison row = compare_runs(runs, partner->second);
    row.label = labels.of(any.configuration);
    row.dataset = value_or_any(any.configuration, "dataset");
    row.on_device = any.on_device;
    for (const auto& [repeat, one] : partner->second) row.files.push_back(one->file);
    row.differs = differing_text(any, *partner->second.begin()->second);
    if (options.baseline) {
      row.over_first = over_baseline(of_first, runs, row.target, *options.baseline);
      row.over_second = over_baseline(of_second, partner->second, row.target, *options.baseline);
    }
    report.rows.push_back(std::move(row));
  }
  std::stable_sort(report.rows.begin(), report.rows.end(),
                   [](const auto& x, const auto& y) { return x.label < y.label; });
  judge_all(report.rows, options);
  report.only_first = find_unmatched(of_first, of_second, labels);
  report.only_second = find_unmatched(of_second, of_first, labels);
  return report;
}

}  // namespace mf
