#include "harness/results/meaning/ranges.hpp"

#include "base/json/json.hpp"
#include "base/thread_range.hpp"
#include "harness/device/device.hpp"

namespace mf {

void Ranges::begin(const char* name) {
  begin_thread_range(name);
  if (observer_) observer_(name, true);
  if (!marking_ && is_transfer(name)) device_->wait();
  open_.push_back({name, Clock::now(), std::nullopt});
  if (marking_) open_.back().mark = device_->mark();
}

void Ranges::end() {
  const Open range = open_.back();
  if (marking_ && range.mark) {
    marked_.push_back({range.name, *range.mark, device_->mark()});
  } else if (is_transfer(range.name)) {
    device_->wait();
  }
  const double seconds = seconds_since(range.start);
  open_.pop_back();
  add_seconds(range.name, seconds);
  end_thread_range();
  if (observer_) observer_(range.name, false);
}

// `name`: of the range that has just ended.
void Ranges::add_seconds(const std::string& name, double seconds) {
  if (inside(name)) return;
  Total& total = totals_[name];
  total.seconds += seconds;
  ++total.count;
  if (is_clock()) total.clock_seconds += seconds;
  if (name == "transfer" && inside("prepare")) transfer_s_ += seconds;
  if (name == "start" && inside("prepare") && !inside(kForPeerPhase)) nested_start_s_ += seconds;
  if (name == kForPeerPhase && inside("prepare")) for_peer_s_ += seconds;
}

void Ranges::add_beside(const std::string& name, double seconds) {
  totals_[name].seconds += seconds;
  totals_[name].clock_seconds += seconds;
  beside_s_ += seconds;
}

bool Ranges::inside(const std::string& name) const {
  return std::any_of(open_.begin(), open_.end(), [&](const Open& o) { return o.name == name; });
}

void Ranges::start_device_phases() noexcept {
  marked_.clear();
  marking_ = true;
  group_start_ = Clock::now();
  group_.begin = device_->mark();
}

std::int64_t Ranges::stop_device_phases() noexcept {
  group_.end = device_->mark();
  marking_ = false;
  return group_.end - group_.begin + 1;
}

double Ranges::resolve_device_phases(const std::string& whole) {
  if (Timeline* timeline = Timeline::current()) show_device_phases(*timeline, whole);
  for (const Marked& phase : marked_) {
    add_device_seconds(phase.name, device_->seconds(phase.begin, phase.end));
  }
  marked_.clear();
  const double seconds = device_->seconds(group_.begin, group_.end);
  add_device_seconds(whole, seconds);
  return seconds;
}

// The stream is empty when a group begins, so its first event comes within microseconds of the
// host's call.
void Ranges::show_device_phases(Timeline& timeline, const std::string& whole) {
  constexpr const char* kStream = "stream of the case";
  const auto show = [&](const std::string& name, std::int64_t begin, std::int64_t end) {
    timeline.device_range(kStream, name, group_start_, device_->seconds(group_.begin, begin),
                          device_->seconds(begin, end));
  };
  show(whole, group_.begin, group_.end);
  std::sort(marked_.begin(), marked_.end(),
            [](const Marked& a, const Marked& b) { return a.begin < b.begin; });
  for (const Marked& phase : marked_) show(phase.name, phase.begin, phase.end);
}

void Ranges::add_device_seconds(const std::string& name, double seconds) {
  std::optional<double>& sum = totals_[name].device_seconds;
  sum = sum.value_or(0) + seconds;
}

void Ranges::begin_profile() {
  profiling_ = true;
  start_profiler();
  if (observer_) observer_("profile", true);
}

void Ranges::end_profile() {
  if (!profiling_) return;
  profiling_ = false;
  stop_profiler();
  if (observer_) observer_("profile", false);
}

double Ranges::seconds(const std::string& name) const {
  const auto it = totals_.find(name);
  return it == totals_.end() ? 0 : it->second.seconds;
}

double Ranges::clock_seconds(const std::string& name) const {
  const auto it = totals_.find(name);
  return it == totals_.end() ? 0 : it->second.clock_seconds;
}

Json Ranges::to_json() const {
  Json json = Json::object();
  for (const auto& [name, total] : totals_) {
    json[name] = {{"seconds_s", total.seconds}, {"count", total.count}};
    if (total.device_seconds) json[name]["device_s"] = *total.device_seconds;
  }
  return json;
}

double evaluate_seconds(const Ranges& ranges) {
  return ranges.clock_seconds(kEvaluateRange) + ranges.clock_seconds(kEvaluatorRange) +
         ranges.clock_seconds(kWatchRange) + ranges.clock_seconds(kFactorsRange);
}

CaseClocks clocks_of(const Ranges& ranges, double train_s) {
  CaseClocks clocks;
  clocks.start_s = ranges.clock_seconds(kStartRange) + ranges.nested_start_s();
  clocks.load_s = ranges.clock_seconds(kLoadRange);
  clocks.transfer_s = ranges.transfer_s();
  clocks.prepare_s = ranges.clock_seconds(kPrepareRange) - clocks.transfer_s -
                     ranges.nested_start_s() - ranges.for_peer_s();
  clocks.train_s = train_s;
  clocks.evaluate_s = evaluate_seconds(ranges);
  clocks.save_s = ranges.clock_seconds(kSaveRange);
  clocks.beside_s = ranges.beside_s();
  return clocks;
}

}  // namespace mf
