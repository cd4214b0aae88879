#include "harness/run/progress.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/json_values.hpp"
#include "base/text.hpp"
#include "harness/results/case_json.hpp"
#include "harness/results/load_json.hpp"
#include "harness/results/ranges.hpp"

namespace mf {
namespace {

constexpr int kBarWidth = 16;
constexpr double kLogSeconds = 10;  // a plain log hears from a long case this often
constexpr double kRedrawSeconds = 0.05;

std::string bar(double share) {
  const int full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * kBarWidth));
  return fmt::format("{:#<{}}{:.<{}}", "", full, "", kBarWidth - full);
}

std::string rate_text(double updates, double seconds) {
  return seconds > 0 && updates > 0 ? format_count(updates / seconds) + " updates/s" : "-";
}

std::string value_text(Metric metric, std::optional<double> value) {
  return value && std::isfinite(*value) ? format_metric(metric, *value) : std::string("-");
}

struct FinalAndBest {
  std::optional<double> final_value, best;
};

FinalAndBest values_of(const CaseResult& result, Metric metric) {
  if (metric == Metric::test_rmse) return {result.final_test_rmse, result.best_test_rmse};
  const auto found = result.metrics.find(metric);
  if (found == result.metrics.end()) return {};
  return {found->second.final_value, found->second.best};
}

// Shared by the terminal and the log: where we are in which case.
class TextProgress : public Progress {
 public:
  explicit TextProgress(std::FILE* out) : out_(out) {}

  void begin_case(const Case& item, std::size_t index, std::size_t count) override {
    epochs_ = item.stop.epochs;
    metric_ = main_metric(item);
    title_ = fmt::format("[{}/{}] {}", index, count, item.id);
    start_ = last_ = Clock::now();
  }

  void end_case(const CaseResult& result) override {
    const bool completed = result.status == Status::completed;
    const std::string reason = completed ? "" : " (" + result.reason + ")";
    const std::string shared = contention_text(result.contention);
    const FinalAndBest values = values_of(result, metric_);
    line(fmt::format("{:<58} {:<11} {} {:>7}  best {:>7}  {:>9}  {}{}{}", title_,
                     kStatuses.of(result.status), label_of(metric_),
                     value_text(metric_, values.final_value), value_text(metric_, values.best),
                     format_seconds(result.train_s),
                     rate_text(static_cast<double>(result.updates), result.train_s), reason,
                     shared.empty() ? "" : "  contended: " + shared));
  }

 protected:
  virtual void line(const std::string& text) = 0;

  std::string state(const TracePoint& point) const {
    return fmt::format("epoch {}/{}  {} {}  {}  {}", point.epoch, epochs_, label_of(metric_),
                       value_text(metric_, point.value(metric_)),
                       rate_text(static_cast<double>(point.updates), point.train_s),
                       format_seconds(point.train_s));
  }

  std::string time_left(const TracePoint& point) const {
    if (point.epoch == 0) return "?";
    const double per_epoch = seconds_since(start_) / static_cast<double>(point.epoch);
    return format_seconds(per_epoch * static_cast<double>(epochs_ - point.epoch));
  }

  double share(const TracePoint& point) const {
    return epochs_ == 0 ? 1 : static_cast<double>(point.epoch) / static_cast<double>(epochs_);
  }

  std::FILE* out_;
  std::string title_;
  std::int64_t epochs_ = 0;
  Metric metric_ = Metric::test_rmse;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = Clock::now();
};

class LogProgress : public TextProgress {
 public:
  using TextProgress::TextProgress;
  void trace(const TracePoint& point) override {
    if (seconds_since(last_) < kLogSeconds) return;
    last_ = Clock::now();
    line(fmt::format("{}  {}  left {}", title_, state(point), time_left(point)));
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
    draw(title_ + "  preparing");
  }
  void trace(const TracePoint& point) override {
    if (seconds_since(last_) < kRedrawSeconds) return;
    last_ = Clock::now();
    // What may be cut off on a narrow terminal comes last.
    draw(fmt::format("{}  [{}] left {}  {}", title_, bar(share(point)), time_left(point),
                     state(point)));
  }

 protected:
  void line(const std::string& text) override {
    print(fmt::format("\r\x1b[K{}\n", one_line(text)));
  }

 private:
  void print(const std::string& text) {
    if (std::fputs(text.c_str(), out_) < 0 || std::fflush(out_) != 0) std::clearerr(out_);
  }

  void draw(const std::string& raw) {
    std::string text = one_line(raw);
    winsize size{};
    const bool known = ioctl(fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    text.resize(std::min<std::size_t>(text.size(), known ? size.ws_col - 1U : 100U));
    print(fmt::format("\r\x1b[K{}", text));
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
    set_rmse(json, result);
    if (!result.metrics.empty()) json["metrics"] = metrics_json(result);
    set_contention(json, result.contention);
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

class QuietProgress : public Progress {
 public:
  void begin_case(const Case&, std::size_t, std::size_t) override {}
  void trace(const TracePoint&) override {}
  void end_case(const CaseResult&) override {}
};

}  // namespace

std::unique_ptr<Progress> make_progress(ProgressMode mode, std::FILE* out) {
  switch (mode) {
    case ProgressMode::json:
      return std::make_unique<JsonProgress>(out);
    case ProgressMode::quiet:
      return std::make_unique<QuietProgress>();
    case ProgressMode::automatic:
      break;
  }
  if (isatty(fileno(out)) != 0) return std::make_unique<TerminalProgress>(out);
  return std::make_unique<LogProgress>(out);
}

}  // namespace mf
