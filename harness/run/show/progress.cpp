#include "harness/run/show/progress.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/results/files/case_json.hpp"
#include "harness/results/files/load_json.hpp"
#include "harness/results/meaning/ranges.hpp"

namespace mf {
namespace {

constexpr double kLogSeconds = 10;  // a plain log hears from a long case this often
constexpr double kRedrawSeconds = 0.05;

std::string rate_text(double updates, double seconds) {
  return seconds > 0 && updates > 0 ? format_count(updates / seconds) + " updates/s" : "-";
}

std::string value_text(Metric metric, std::optional<double> value) {
  return value && std::isfinite(*value) ? metric.format(*value) : std::string("-");
}

// Of UTF-8: never cut within a character.
std::string first_columns(const std::string& text, std::size_t columns) {
  const auto continues = [](unsigned char byte) { return (byte & 0xC0U) == 0x80U; };
  std::size_t at = 0, seen = 0;
  for (; at < text.size(); ++at) {
    if (!continues(text[at]) && seen++ == columns) break;
  }
  return text.substr(0, at);
}

// Shared by the terminal and the log: where we are in which case.
class TextProgress : public Progress {
 public:
  explicit TextProgress(std::FILE* out) : out_(out) {}

  void begin_case(const Case& item, std::size_t index, std::size_t count) override {
    stop_ = item.stop;
    metric_ = main_metric(item);
    count_ = fmt::format("[{}/{}]", index, count);
    name_ = item.id;
    title_ = count_ + " " + name_;
    quality_.reset();
    start_ = trained_from_ = last_ = Clock::now();
  }

  void end_case(const CaseResult& result) override {
    const bool completed = result.status == Status::completed;
    const std::string reason = completed ? "" : " (" + result.reason + ")";
    const std::string shared = contention_text(result.contention);
    const auto found = result.metrics.find(metric_);
    const bool known = found != result.metrics.end();
    line(fmt::format("{:<58} {:<11} {} {:>7}  best seen {:>7}  {:>9}  {}{}{}", title_,
                     kStatuses.of(result.status), metric_.label(),
                     known ? value_text(metric_, found->second.final_value) : "-",
                     known ? value_text(metric_, found->second.best) : "-",
                     format_seconds(result.train_s),
                     rate_text(static_cast<double>(result.updates), result.train_s), reason,
                     shared.empty() ? "" : "  contended: " + shared));
    for (const auto& warning : result.warnings) line("  warning: " + warning);
  }

 protected:
  virtual void line(const std::string& text) = 0;

  // With the quality of the last evaluation.
  std::string state(const TracePoint& point) {
    if (const auto value = point.metrics[metric_]) quality_ = value;
    const auto left = seconds_left(point);
    return fmt::format("epoch {}/{}  {} {}  left {}  {}  {}", point.epoch, stop_.epochs,
                       metric_.label(), value_text(metric_, quality_),
                       left ? format_seconds(*left) : "?",
                       rate_text(static_cast<double>(point.updates), point.train_s),
                       format_seconds(point.train_s));
  }

  // The initial model has been evaluated: from here on the time is that of epochs.
  void note_start(const TracePoint& point) {
    if (point.epoch == 0) trained_from_ = Clock::now();
  }

  // By the epochs so far, and no longer than the limits of the case; other rules may end it before.
  std::optional<double> seconds_left(const TracePoint& point) const {
    if (point.epoch == 0) return std::nullopt;
    const double per_epoch = seconds_since(trained_from_) / static_cast<double>(point.epoch);
    double left = per_epoch * static_cast<double>(stop_.epochs - point.epoch);
    if (stop_.wall_seconds) left = std::min(left, *stop_.wall_seconds - seconds_since(start_));
    if (stop_.train_seconds && point.train_s > 0) {
      const double wall_of_train = seconds_since(trained_from_) / point.train_s;
      left = std::min(left, (*stop_.train_seconds - point.train_s) * wall_of_train);
    }
    return std::max(left, 0.0);
  }

  std::FILE* out_;
  std::string count_, name_, title_;
  StopSpec stop_;
  Metric metric_;
  std::optional<double> quality_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point trained_from_ = Clock::now();
  Clock::time_point last_ = Clock::now();
};

class LogProgress : public TextProgress {
 public:
  using TextProgress::TextProgress;
  void trace(const TracePoint& point) override {
    note_start(point);
    if (seconds_since(last_) < kLogSeconds) return;
    last_ = Clock::now();
    line(title_ + "  " + state(point));
  }

 protected:
  void line(const std::string& text) override {
    fmt::print(out_, "{}\n", one_line(text));
    std::fflush(out_);
  }
};

// A terminal that is gone is no reason to lose what is measured: it is not told any more.
class TerminalProgress : public TextProgress {
 public:
  using TextProgress::TextProgress;
  void begin_case(const Case& item, std::size_t index, std::size_t count) override {
    TextProgress::begin_case(item, index, count);
    live(title_ + "  preparing");
  }
  void trace(const TracePoint& point) override {
    note_start(point);
    epochs_done(point);
  }
  // The first epoch is always shown, because from then on the time left is known.
  void epochs_done(const TracePoint& point) override {
    const std::string text = state(point);
    if (point.epoch > 1 && seconds_since(last_) < kRedrawSeconds) return;
    last_ = Clock::now();
    live(count_ + " " + text + "  " + name_);
  }

 protected:
  void line(const std::string& text) override { put(one_line(text) + "\n"); }

 private:
  // Cut on the right, where what matters less stands.
  void live(const std::string& text) { put(first_columns(one_line(text), columns())); }

  // The last column stays empty: some terminals go to the next line when it is written.
  std::size_t columns() const {
    winsize size{};
    const bool known = ioctl(fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col - 1U : 100U;
  }

  void put(const std::string& text) {
    const std::string all = "\r\x1b[K" + text;
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
  void end_case(const CaseResult& result) override {
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
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  if (!dumb && isatty(fileno(out)) != 0) return std::make_unique<TerminalProgress>(out);
  return std::make_unique<LogProgress>(out);
}

}  // namespace mf
