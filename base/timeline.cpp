#include "base/timeline.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/files/files.hpp"
#include "base/json/json.hpp"

namespace mf {
namespace {

constexpr std::int64_t kPaceNs = 100'000'000;
constexpr int kHost = 1, kDevice = 2;  // processes of the trace format

thread_local std::string own_track = "thread";

std::string named(std::string_view name) { return ",\"name\":" + json_text(std::string(name)); }

// The format's unit, with the nanoseconds behind the point.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

}  // namespace

std::atomic<Timeline*> Timeline::current_{nullptr};

Timeline::Timeline(const std::string& path) : file_(std::fopen(path.c_str(), "we"), std::fclose) {
  if (!file_) fail(ErrorKind::io, "{}: cannot be written: {}", path, last_cause());
  std::fputs("[\n", file_.get());
  name_thread("main");
  current_ = this;
}

Timeline::~Timeline() {
  current_ = nullptr;
  std::fputs("\n]\n", file_.get());
}

void Timeline::name_thread(std::string name) { own_track = std::move(name); }

std::int64_t Timeline::now_ns() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - origin_).count();
}

// The time is taken under the mutex if it is not given, so events stay in order.
void Timeline::put(char kind, int process, const std::string& track, std::int64_t at_ns,
                   const std::string& rest) {
  const std::lock_guard lock(mutex_);
  // By its name in the lambda below: Clang before 16 has no structured bindings there.
  const auto added = tracks_.try_emplace({process, track}, tracks_.size() + 1);
  const auto place = added.first;
  const bool is_new = added.second;
  const auto text = [&](char of, const std::string& more) {
    const char* between = std::exchange(first_, false) ? "" : ",\n";
    const std::string event = fmt::format(R"({}{{"ph":"{}","pid":{},"tid":{}{}}})", between, of,
                                          process, place->second, more);
    std::fputs(event.c_str(), file_.get());
  };
  if (is_new) {
    const std::string name = process == kHost ? "mfbench" : "device";
    text('M', named("process_name") + fmt::format(R"(,"args":{{"name":"{}"}})", name));
    text('M', named("thread_name") + fmt::format(R"(,"args":{{"name":{}}})", json_text(track)));
  }
  const std::int64_t now = now_ns();
  text(kind, ",\"ts\":" + microseconds(at_ns < 0 ? now : at_ns) + rest);
  if (now - flushed_ns_ < kPaceNs) return;
  flushed_ns_ = now;
  if (std::fflush(file_.get()) != 0 && error_ == 0) error_ = errno;
}

void Timeline::begin(std::string_view name) { put('B', kHost, own_track, -1, named(name)); }

void Timeline::end() { put('E', kHost, own_track, -1, ""); }

void Timeline::device_range(std::string_view stream, std::string_view name, Clock::time_point start,
                            double from_s, double seconds) {
  const auto ns = [](double s) { return std::llround(s * 1e9); };
  const auto at = std::chrono::duration<double>(start - origin_).count() + from_s;
  put('X', kDevice, std::string(stream), ns(at),
      named(name) + ",\"dur\":" + microseconds(ns(seconds)));
}

std::string Timeline::flush() {
  const std::lock_guard lock(mutex_);
  if (std::fflush(file_.get()) != 0 && error_ == 0) error_ = errno;
  return error_ == 0 ? "" : std::strerror(error_);
}

}  // namespace mf
