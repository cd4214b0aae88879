#include "harness/run/show/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/json/json_values.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/compare/compared_case.hpp"
#include "harness/results/compare/headline.hpp"
#include "harness/results/files/case_json.hpp"
#include "harness/results/files/load_json.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/results/meaning/ranges.hpp"
#include "harness/run/show/run_time.hpp"

namespace mf {
namespace {

// ---- the line for a case that has ended ----

bool is_contended(const CaseResult& result) { return !contention_text(result.contention).empty(); }

std::string seconds_text(const std::optional<Answer>& answer) {
  return answer && answer->answer_s ? format_seconds(*answer->answer_s) : "-";
}

// The ranking metric to show. A trial shows the metric that judges it. A case shows the metric of
// its target, or the metric by which its parameters were tuned.
Metric shown_metric(const ResultFile& file, Metric judged) {
  for (const char* of : {"trial", "target", "tuned"}) {
    const auto asked = find_metric(text_at(file.header, {of, "metric"}).value_or(""));
    if (asked && asked->is_ranking() && last_of(file, *asked)) return *asked;
  }
  return judged;
}

// The metric at the epoch of the headline.
std::optional<double> metric_at(const ResultFile& file, Metric metric,
                                const std::optional<Headline>& headline) {
  for (const Json& point : file.trace) {
    if (headline && integer_at(point, {"epoch"}) == headline->at.epoch) {
      return number_at(point, {metric.key().c_str()});
    }
  }
  return std::nullopt;
}

std::string time_text(const ResultFile& file, Metric metric) {
  const auto target = named_target(file.header);
  if (!target) return fmt::format("answer {:>8}", seconds_text(answer_at_end(file)));
  const std::string value = (target->metric == metric ? "" : target->metric.label() + " ") +
                            fmt::format("{:g}", target->value);
  const auto reached = answer_at(file, *target);
  return reached ? fmt::format("to {} in {:>8}", value, seconds_text(reached))
                 : fmt::format("to {} {:>11}", value, "never");
}

// "rmse 0.5406 to 0.6 in 12.1 ms", or the time of the answer if the spec names no target; empty for
// a case that did not complete.
std::string numbers_text(const std::optional<ResultFile>& file) {
  if (!file || file->status() != Status::completed) return "";
  const Metric judged = judged_by(*file);
  const Metric metric = shown_metric(*file, judged);
  const auto value = metric_at(*file, metric, headline_of(*file, judged));
  return fmt::format("{} {:>7}  {}", metric.label(), value ? metric.format(*value) : "-",
                     time_text(*file, metric));
}

// During training. With a validation part, its value: a user would choose by a test value.
Metric watched_metric(const Case& item) {
  if (const auto judge = find_metric(text_at(item.trial, {"metric"}).value_or(""))) return *judge;
  const Metric main = main_metric(item);
  return has_validation(item) ? on_validation(main) : main;
}

// "completed", "contended", "error: why".
std::string ending_text(const CaseResult& result) {
  const std::string& status = kStatuses.of(result.status);
  if (result.status != Status::completed) return one_line(status + ": " + result.reason);
  return is_contended(result) ? "contended" : status;
}

std::optional<Colour> ending_colour(const CaseResult& result) {
  if (is_failure(result.status)) return Colour::red;
  if (result.status != Status::completed || is_contended(result)) return Colour::yellow;
  return std::nullopt;
}

// ---- progress ----

constexpr double kLogSeconds = 10;  // a plain log hears from a long case this often
constexpr double kRedrawSeconds = 0.05;
constexpr std::size_t kLeastTitle = 12;

std::string padded(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, columns_of(text)), ' ');
}

// Shared by the terminal and the log: the current case and epoch.
class TextProgress : public Progress {
 public:
  explicit TextProgress(std::FILE* out) : out_(out) {}

  void begin_run(const std::vector<const Case*>& to_come, const RanBefore& before) override {
    time_.begin_run(to_come, before);
    widest_ = 0;
    for (const Case* item : to_come) {
      widest_ = std::max(widest_, columns_of(one_line(item->title)));
    }
  }

  void begin_case(const Case& item, std::size_t index, std::size_t count) override {
    time_.begin_case(item, index, count);
    epochs_ = item.stop.epochs;
    metric_ = watched_metric(item);
    const std::string all = std::to_string(count);
    count_ = fmt::format("[{:>{}}/{}]", index, all.size(), all);
    title_ = one_line(item.title);
    widest_ = std::max(widest_, columns_of(title_));
    quality_.reset();
    told_ = 0;
    last_ = Clock::now();
  }

  void end_case(const CaseResult& result, const std::string& path) override {
    time_.end_case();
    const std::size_t room = columns();
    const std::string ending = cut_to(ending_text(result), std::max(room, 2 * kLeastTitle) / 2);
    const auto colour = ending_colour(result);
    std::string text = start_of_line(path, room - std::min(room, columns_of(ending) + 2));
    text += "  " + (colour ? in_colour(out_, *colour, ending) : ending);
    line(text);
    for (std::size_t k = told_; k < result.warnings.size(); ++k) {
      line(folded("  warning: " + one_line(result.warnings[k]), columns(), 4));
    }
  }

  void warning(const std::string& text) override {
    ++told_;
    line(folded(count_ + " " + title_ + ": warning: " + one_line(text), columns(), 4));
  }

 protected:
  virtual void line(const std::string& text) = 0;
  // How wide a line may be.
  virtual std::size_t columns() const { return kAnyWidth; }

  // With the quality of the last evaluation.
  std::string state(const TracePoint& point) {
    if (const auto value = point.metrics[metric_]) quality_ = value;
    return fmt::format("epoch {}/{}  {} {}", point.epoch, epochs_, metric_.label(),
                       quality_ && std::isfinite(*quality_) ? metric_.format(*quality_) : "-");
  }

  // "12.3 s, left 48 s", of the run.
  std::string times() const {
    const auto left = time_.left_s();
    return format_seconds(time_.spent_s()) + ", left " + (left ? format_seconds(*left) : "?");
  }

  std::FILE* out_;
  std::string count_, title_;
  std::int64_t epochs_ = 0;
  RunTime time_;
  Metric metric_;
  std::optional<double> quality_;
  Clock::time_point last_ = Clock::now();

 private:
  // Up to the ending. Titles are cut, so that numbers stand below each other.
  std::string start_of_line(const std::string& path, std::size_t room) const {
    const std::string numbers = numbers_text(read_result_file(path));
    const std::size_t others = count_.size() + 1 + (numbers.empty() ? 0 : numbers.size() + 2);
    const std::size_t left = std::max(kLeastTitle, room - std::min(room, others));
    const std::size_t wide = std::min(widest_, left);
    const std::string start = count_ + " " + padded(cut_to(title_, wide), wide);
    return cut_to(numbers.empty() ? start : start + "  " + numbers, room);
  }

  std::size_t widest_ = 0;
  std::size_t told_ = 0;  // of the warnings of a case, which begin with these
};

class LogProgress : public TextProgress {
 public:
  using TextProgress::TextProgress;
  void trace(const TracePoint& point) override {
    time_.epoch(point.epoch, point.train_s);
    if (seconds_since(last_) < kLogSeconds) return;
    last_ = Clock::now();
    line(fmt::format("{} {}  {}  {}  {}", count_, title_, state(point), times(),
                     rate_text(static_cast<double>(point.updates), point.train_s)));
  }

 protected:
  void line(const std::string& text) override {
    fmt::print(out_, "{}\n", text);
    std::fflush(out_);
  }
};

// Below the lines of cases, one line of the run and its case is rewritten. If the terminal is lost,
// the run goes on without it.
class TerminalProgress : public TextProgress {
 public:
  using TextProgress::TextProgress;
  void begin_case(const Case& item, std::size_t index, std::size_t count) override {
    TextProgress::begin_case(item, index, count);
    show("preparing");
  }
  void trace(const TracePoint& point) override { epochs_done(point); }
  // The first epoch is always shown, because from then on the time left is known.
  void epochs_done(const TracePoint& point) override {
    time_.epoch(point.epoch, point.train_s);
    const std::string text = state(point);
    if (point.epoch > 1 && seconds_since(last_) < kRedrawSeconds) return;
    last_ = Clock::now();
    show(text);
  }

 protected:
  void line(const std::string& text) override { put(text + "\n"); }
  std::size_t columns() const override { return terminal_columns(out_).value_or(kAnyWidth); }

 private:
  // Cut on the right, where the less important part stands.
  void show(const std::string& state) {
    put(cut_to(fmt::format("{} {} {}  {}  {}", count_, bar(), times(), state, title_), columns()));
  }

  std::string bar() const {
    constexpr std::size_t kBar = 10;
    const auto full = static_cast<std::size_t>(time_.share() * kBar);
    return std::string(full, '#') + std::string(kBar - full, '-');
  }

  void put(const std::string& text) {
    const std::string all = clear_line(out_) + text;
    if (std::fputs(all.c_str(), out_) < 0 || std::fflush(out_) != 0) std::clearerr(out_);
  }
};

class JsonProgress : public Progress {
 public:
  explicit JsonProgress(std::FILE* out) : out_(out) {}
  void begin_case(const Case& item, std::size_t index, std::size_t count) override {
    case_id_ = item.id;
    line({{"type", "case_begins"}, {"case_id", item.id}, {"index", index}, {"count", count}});
  }
  void trace(const TracePoint& point) override {
    Json json = point.to_json();
    json["case_id"] = case_id_;
    line(json);
  }
  void end_case(const CaseResult& result, const std::string&) override {
    Json json = {{"type", "case_ends"},
                 {"case_id", case_id_},
                 {"status", kStatuses.of(result.status)},
                 {"reason", result.reason},
                 {"epochs", result.epochs},
                 {"updates", result.updates},
                 {"train_s", result.train_s},
                 {"wall_s", result.wall_s}};
    set_metrics(json, result);
    set_contention(json, result.contention);
    if (!result.warnings.empty()) json["warnings"] = result.warnings;
    line(json);
  }

 private:
  void line(const Json& json) {
    fmt::print(out_, "{}\n", json_text(json));
    std::fflush(out_);
  }
  std::FILE* out_;
  std::string case_id_;
};

}  // namespace

std::unique_ptr<Progress> make_progress(ProgressMode mode, std::FILE* out) {
  switch (mode) {
    case ProgressMode::json:
      return std::make_unique<JsonProgress>(out);
    case ProgressMode::quiet:
      return std::make_unique<Progress>();
    case ProgressMode::automatic:
      break;
  }
  if (is_terminal(out)) return std::make_unique<TerminalProgress>(out);
  return std::make_unique<LogProgress>(out);
}

}  // namespace mf
