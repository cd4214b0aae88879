#include "harness/run/show/run_time.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace mf {
namespace {

std::string kind_of(const Case& item) { return item.algorithm + '\n' + item.data.label(); }

}  // namespace

double seconds_of_clock() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

RunTime::RunTime(std::function<double()> now) : now_(std::move(now)), start_(now_()) {}

std::optional<double> RunTime::Mean::value() const {
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

// Times of trials tell nothing about the cases: trials have fewer epochs.
void RunTime::begin_run(const std::vector<const Case*>& to_come, const RanBefore& before) {
  before_ = before;
  of_kind_.clear();
  of_all_ = {before.seconds, before.cases};
  to_come_.clear();
  for (const Case* item : to_come) ++to_come_[kind_of(*item)];
}

void RunTime::begin_case(const Case& item, std::size_t index, std::size_t count) {
  stop_ = item.stop;
  kind_ = kind_of(item);
  index_ = index;
  count_ = count;
  case_start_ = trained_from_ = now_();
  case_share_ = 0;
  if (is_trial(item)) {
    to_come_ = {{kind_, static_cast<std::int64_t>(count - index)}};
  } else if (const auto own = to_come_.find(kind_); own != to_come_.end() && own->second > 0) {
    --own->second;
  }
}

void RunTime::end_case() {
  const double took_s = now_() - case_start_;
  for (Mean* mean : {&of_kind_[kind_], &of_all_}) {
    mean->sum += took_s;
    ++mean->count;
  }
}

void RunTime::epoch(std::int64_t epoch, double train_s) {
  if (epoch == 0) trained_from_ = now_();
  const auto part = [](double done, double all) { return all > 0 ? done / all : 0; };
  case_share_ = part(static_cast<double>(epoch), static_cast<double>(stop_.epochs));
  if (stop_.train_seconds) case_share_ = std::max(case_share_, part(train_s, *stop_.train_seconds));
  if (stop_.wall_seconds && epoch > 0)
    case_share_ = std::max(case_share_, part(now_() - case_start_, *stop_.wall_seconds));
  case_share_ = std::min(case_share_, 1.0);
}

std::optional<double> RunTime::expected_s(const std::string& kind) const {
  const auto found = of_kind_.find(kind);
  return found == of_kind_.end() ? of_all_.value() : found->second.value();
}

// By its epochs, and before the first by the cases like it. Rules may end it earlier.
std::optional<double> RunTime::case_left_s() const {
  if (case_share_ > 0) return (now_() - trained_from_) * (1 - case_share_) / case_share_;
  const auto expected = expected_s(kind_);
  if (!expected) return std::nullopt;
  return std::max(0.0, *expected - (now_() - case_start_));
}

// A case unlike all that have ended is expected to take as long as the one that runs.
std::optional<double> RunTime::left_s() const {
  const auto of_case = case_left_s();
  if (!of_case) return std::nullopt;
  double left = *of_case;
  const double whole = now_() - case_start_ + left;
  for (const auto& [kind, cases] : to_come_) {
    left += static_cast<double>(cases) * (kind == kind_ ? whole : expected_s(kind).value_or(whole));
  }
  return left;
}

double RunTime::share() const {
  if (count_ == 0) return 0;
  return (static_cast<double>(index_ - 1) + case_share_) / static_cast<double>(count_);
}

}  // namespace mf
