#include "harness/results/compare/compare_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/counted.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/experiment/metric_keys.hpp"
#include "harness/experiment/status.hpp"

namespace mf {
namespace {

// "contended: 1 of 3, 0 of 3"
std::string contended_text(const Compared& one) {
  return fmt::format("contended: {} of {}, {} of {}", one.first.contended, one.first.runs,
                     one.second.contended, one.second.runs);
}

std::string verdict_text(const Compared& one) {
  if (one.verdict == Verdict::contended) return contended_text(one);
  if (one.verdict != Verdict::too_few) return kVerdicts.of(one.verdict);
  const int first = one.missing(one.first);
  const int second = one.missing(one.second);
  if (first == second) return fmt::format("too few runs: {} more a side", first);
  std::vector<std::string> needed;
  if (first > 0) needed.push_back(fmt::format("{} more in the first", first));
  if (second > 0) needed.push_back(fmt::format("{} more in the second", second));
  return "too few runs: " + join(needed);
}

std::string runs_text(const Compared& one) {
  const auto side = [](const Side& s) {
    return s.never == 0 ? std::to_string(s.runs) : fmt::format("{} ({} never)", s.runs, s.never);
  };
  if (one.pairs == 0) return side(one.first) + " and " + side(one.second) + " runs";
  const std::string pairs = counted(one.pairs, "pair");
  if (one.first.runs == one.pairs && one.second.runs == one.pairs) return pairs;
  return fmt::format("{} of {} and {} runs", pairs, one.first.runs, one.second.runs);
}

using Format = std::function<std::string(double)>;

std::string interval_text(const Compared& one, const Format& format) {
  if (!one.interval) return "";
  return "[" + format(one.interval->low) + ", " + format(one.interval->high) + "]";
}

std::string line_text(const std::string& name, const Compared& one, const Format& format,
                      const std::string& verdict, const std::string& rest) {
  std::string line = fmt::format("    {:<15} {:>9} {:<22} {:<26} {:<10}  {}", name,
                                 one.value ? format(*one.value) : "-", interval_text(one, format),
                                 runs_text(one), verdict, rest);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string seconds_text(const Compared& one) {
  const auto side = [](const Side& s) {
    if (!s.middle) return std::string("-");
    return std::isinf(*s.middle) ? "never" : short_seconds(*s.middle);
  };
  return side(one.first) + " -> " + side(one.second);
}

std::string answer_text(const Comparison& row) {
  if (row.targets_differ) return "to the end; the targets of the runs differ";
  if (!row.target) return "to the end";
  return "to " + row.target->metric.label() + " " + fmt::format("{:g}", row.target->value);
}

std::string counts_text(const StatusCounts& counts) {
  std::vector<std::string> words;
  for (const auto& [status, count] : counts) words.push_back(fmt::format("{} {}", count, status));
  return join(words);
}

bool all_completed(const StatusCounts& counts) {
  return counts.size() == 1 && counts.begin()->first == kStatuses.of(Status::completed);
}

// No time, so no ratio: there is an answer, but it does not wait for training.
bool needs_no_training(const Comparison& row) {
  return row.target_time.first.runs + row.target_time.second.runs == 0 && row.answer_time.value;
}

std::string known_or_not(const Origins& origins) {
  return origins.known() ? origins_text(origins) : "unknown processes";
}

std::string row_text(const Comparison& row) {
  const Format ratio = [](double value) { return fmt::format("{:.3f}", value); };
  const Format difference = [&](double value) { return row.metric.format_difference(value); };
  std::string text = one_line(row.label) + ": " + headline(row) + "\n";
  const auto time = [&](const std::string& name, const Compared& one, const std::string& rest) {
    const bool judged = &one == &row.epoch_time || &one == &row.answer_time;
    text += line_text(name, one, ratio, judged ? verdict_text(one) : "", rest);
  };
  time("epoch time", row.epoch_time, seconds_text(row.epoch_time));
  time("answer time", row.answer_time, seconds_text(row.answer_time) + " " + answer_text(row));
  if (row.target) {
    time("train to target", row.target_time,
         needs_no_training(row) ? "0 s: the initial factors meet it"
                                : seconds_text(row.target_time));
  }
  if (row.file_to_model.value) {
    time("file to model", row.file_to_model, seconds_text(row.file_to_model));
  }
  text += line_text(row.metric.label(), row.quality, difference, verdict_text(row.quality), "");
  if (!row.methods.empty()) {
    text += fmt::format("    epochs of {} do different work: the answer time compares them\n",
                        row.methods);
  }
  if (!row.differs.empty()) text += "    they differ in " + one_line(row.differs) + "\n";
  if (row.first_origins.known() || row.second_origins.known()) {
    text += fmt::format("    made by {}; the second by {}\n", known_or_not(row.first_origins),
                        known_or_not(row.second_origins));
  }
  if (!all_completed(row.first) || !all_completed(row.second)) {
    text += fmt::format("    runs: {}; in the second {}\n", counts_text(row.first),
                        counts_text(row.second));
  }
  return text;
}

std::string folder_text(const char* name, const FolderSummary& folder) {
  const std::string side = folder.side.empty() ? "" : ", " + folder.side;
  return fmt::format("{:<7} {}: {}, mfbench {}, {}\n", name, one_line(folder.folder + side),
                     counted(folder.files, "file"), one_line(join(folder.commits)),
                     one_line(join(folder.machines)));
}

std::string unmatched_text(const char* where, const std::vector<Unmatched>& all) {
  if (all.empty()) return "";
  std::string text = fmt::format("only in the {}:\n", where);
  for (const auto& one : all) {
    text += fmt::format("    {} ({}): {}\n", one_line(one.label), counts_text(one.runs),
                        one_line(one.differs));
  }
  return text;
}

std::string left_out_text(const char* where, const FolderSummary& folder) {
  if (folder.left_out.empty()) return "";
  std::string text = fmt::format("left out of the {}:\n", where);
  for (const auto& line : folder.left_out) text += "    " + one_line(line) + "\n";
  return text;
}

std::string tally(const std::vector<Comparison>& rows, const Compared Comparison::*number) {
  std::vector<std::string> words;
  for (const auto& [name, verdict] : kVerdicts.table) {
    const auto count = std::count_if(rows.begin(), rows.end(), [&, v = verdict](const auto& row) {
      return (row.*number).verdict == v;
    });
    if (count > 0) words.push_back(fmt::format("{} {}", count, name));
  }
  return join(words);
}

Json side_json(const Side& side) {
  return {{"runs", side.runs},
          {"never", side.never},
          {"median", number_or_null(side.median)},
          {"middle", number_or_null(side.middle)}};
}

Json compared_json(const Compared& one, const char* value, bool judged) {
  Json json = {{value, number_or_null(one.value)},
               {"low", one.interval ? number_or_null(one.interval->low) : Json()},
               {"high", one.interval ? number_or_null(one.interval->high) : Json()},
               {"pairs", one.pairs},
               {"first", side_json(one.first)},
               {"second", side_json(one.second)}};
  if (!judged) return json;
  json["p"] = number_or_null(one.p);
  json["p_adjusted"] = number_or_null(one.p_adjusted);
  json["verdict"] = kVerdicts.of(one.verdict);
  json["contended"] = {{"first", one.first.contended}, {"second", one.second.contended}};
  json["runs_missing"] = {{"first", one.missing(one.first)}, {"second", one.missing(one.second)}};
  return json;
}

Json target_json(const std::optional<TargetSpec>& target) {
  return target ? to_json(*target) : Json();
}

Json row_json(const Comparison& row) {
  Json quality = compared_json(row.quality, "difference", true);
  quality["metric"] = row.metric.key();
  return {{"label", row.label},
          {"dataset", row.dataset},
          {"on_device", row.on_device},
          {"files", row.files},
          {"differs", row.differs},
          {"verdict", headline(row)},
          {"epoch_time", compared_json(row.epoch_time, "ratio", true)},
          {"answer_time", compared_json(row.answer_time, "ratio", true)},
          {"file_to_model", compared_json(row.file_to_model, "ratio", false)},
          {"energy", compared_json(row.energy, "ratio", false)},
          {"over_baseline",
           {{"first", compared_json(row.over_first, "ratio", false)},
            {"second", compared_json(row.over_second, "ratio", false)}}},
          {"target", target_json(row.target)},
          {"targets_differ", row.targets_differ},
          {"target_time", row.target ? compared_json(row.target_time, "ratio", false) : Json()},
          {"quality", quality},
          {"runs", {{"first", row.first}, {"second", row.second}}},
          {"hosts_differ", differ_in_hosts(row.first_origins, row.second_origins)},
          {"origins",
           {{"first", to_json(row.first_origins)}, {"second", to_json(row.second_origins)}}}};
}

Json folder_json(const FolderSummary& folder, const std::vector<Unmatched>& only) {
  Json only_here = Json::array();
  for (const auto& one : only) {
    only_here.push_back({{"label", one.label}, {"runs", one.runs}, {"differs", one.differs}});
  }
  return {{"folder", folder.folder},     {"side", folder.side.empty() ? Json() : Json(folder.side)},
          {"files", folder.files},       {"commits", folder.commits},
          {"machines", folder.machines}, {"left_out", folder.left_out},
          {"only_here", only_here},      {"origins", to_json(folder.origins)}};
}

// Runs that ended without a result.
int failures(const StatusCounts& counts) {
  int sum = 0;
  for (const auto& [name, count] : counts) {
    const Status status = kStatuses.parse(name, "status");
    if (status == Status::diverged || is_failure(status)) sum += count;
  }
  return sum;
}

bool has(const Comparison& row, Complaint complaint) {
  const auto is = [&](const Compared& one) {
    switch (complaint) {
      case Complaint::slower:
        return one.verdict == Verdict::slower;
      case Complaint::worse:
        return one.verdict == Verdict::worse;
      case Complaint::undecided:
        return one.verdict == Verdict::ambiguous || one.verdict == Verdict::too_few ||
               one.verdict == Verdict::contended || one.verdict == Verdict::unlike;
      default:
        return false;
    }
  };
  if (complaint == Complaint::failed) return failures(row.second) > failures(row.first);
  return is(row.epoch_time) || is(row.answer_time) || is(row.quality);
}

}  // namespace

std::string short_seconds(double seconds) {
  const struct {
    double size;
    const char* unit;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (const auto& [size, unit] : units) {
    const double value = seconds / size;
    if (value < 0.9995 && size > 1e-6) continue;
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
  }
  return "";
}

std::string headline(const Comparison& row) {
  const std::string epoch = kVerdicts.of(row.epoch_time.verdict);
  const std::string answer = kVerdicts.of(row.answer_time.verdict);
  std::string text = epoch == answer ? epoch : "epochs " + epoch + ", answer " + answer;
  if (differ_in_hosts(row.first_origins, row.second_origins)) text += " on different hosts";
  const std::string metric = row.metric.label();
  switch (row.quality.verdict) {
    case Verdict::better:
    case Verdict::worse:
      return text + " at " + kVerdicts.of(row.quality.verdict) + " " + metric;
    case Verdict::same:
      return text;
    default:
      // With too few runs the times say so, too.
      return row.quality.verdict == row.epoch_time.verdict
                 ? text
                 : text + ", " + metric + " " + kVerdicts.of(row.quality.verdict);
  }
}

namespace {

constexpr const char* kContended =
    "contended: runs of a time while other programs took part of the machine (of the first, of the "
    "second); their\nresults say why, no verdict is given; --allow-contended gives it, --rerun "
    "measures again\n";

// The meaning of the word, if it was used.
std::string contended_note(const ComparisonReport& report) {
  const bool any = std::any_of(report.rows.begin(), report.rows.end(), [](const auto& row) {
    return row.epoch_time.verdict == Verdict::contended ||
           row.answer_time.verdict == Verdict::contended;
  });
  return any ? kContended : "";
}

// Times of --allow-contended, which have a verdict like any other.
std::string allowed_note(const ComparisonReport& report) {
  std::string text;
  for (const auto& row : report.rows) {
    for (const auto& [name, one] :
         {std::pair("epoch", &row.epoch_time), {"answer", &row.answer_time}}) {
      if (one->first.contended + one->second.contended == 0) continue;
      if (one->verdict == Verdict::contended) continue;
      text += fmt::format("{}, {} time: {}\n", one_line(row.label), name, contended_text(*one));
    }
  }
  return text.empty() ? "" : "judged although other programs took part of the machine:\n" + text;
}

constexpr const char* kShared =
    "runs of one process share its state, so that a time has as many independent values as "
    "processes:\n`mfbench run --apart` has one for each case\n";

std::string hosts_text(const Origins& origins) {
  return one_line(join(std::vector<std::string>(origins.hosts.begin(), origins.hosts.end())));
}

bool shares_processes(const Origins& origins) {
  return origins.known() && std::ssize(origins.processes) + origins.unknown < origins.runs;
}

// Names the variation outside the intervals, as all runs of a side share it.
std::string origins_note(const ComparisonReport& report) {
  const Origins& first = report.first.origins;
  const Origins& second = report.second.origins;
  std::string text;
  const bool shared = std::any_of(report.rows.begin(), report.rows.end(), [](const auto& row) {
    return shares_processes(row.first_origins) || shares_processes(row.second_origins);
  });
  if (shared) text += kShared;
  if (differ_in_hosts(first, second)) {
    text += fmt::format(
        "warning: the sides are of different hosts ({}; the second {}): ratios of times are "
        "also the hosts' differences\n",
        hosts_text(first), hosts_text(second));
  }
  return text;
}

}  // namespace

std::string to_text(const ComparisonReport& report) {
  std::string text = folder_text("first", report.first) + folder_text("second", report.second);
  text += fmt::format(
      "second over first, values as differences; intervals of {:g} % each; verdicts with Holm's "
      "correction over all rows\nsame: times within {:g} %, values within {:g} %\n\n",
      100 * kLevel, 100 * report.options.margin, 100 * report.options.quality_margin);
  for (const auto& row : report.rows) text += row_text(row);
  text += unmatched_text("first", report.only_first) + unmatched_text("second", report.only_second);
  text += left_out_text("first", report.first) + left_out_text("second", report.second);
  text += fmt::format(
      "\n{}: epoch time {}; answer time {}; quality {}\n", counted(std::ssize(report.rows), "row"),
      tally(report.rows, &Comparison::epoch_time), tally(report.rows, &Comparison::answer_time),
      tally(report.rows, &Comparison::quality));
  return text + contended_note(report) + allowed_note(report) + origins_note(report);
}

Json to_json(const ComparisonReport& report) {
  Json rows = Json::array();
  for (const auto& row : report.rows) rows.push_back(row_json(row));
  return {{"first", folder_json(report.first, report.only_first)},
          {"second", folder_json(report.second, report.only_second)},
          {"level", kLevel},
          {"margin", report.options.margin},
          {"quality_margin", report.options.quality_margin},
          {"ignored", report.options.ignored},
          {"allow_contended", report.options.allow_contended},
          {"rows", rows}};
}

bool has(const ComparisonReport& report, Complaint complaint) {
  if (complaint == Complaint::missing) return !report.only_first.empty();
  return std::any_of(report.rows.begin(), report.rows.end(),
                     [&](const Comparison& row) { return has(row, complaint); });
}

}  // namespace mf
