// Records what a program did when, in a file that a browser draws: Chrome's trace format, an array
// of JSON events (https://ui.perfetto.dev opens it). Each name of a thread has a track of nested
// ranges, and so has each stream of a device. A killed program leaves all but its last tenth of a
// second, and an array that is not closed, which the format allows.
#pragma once

#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/ranks/silence.hpp"

namespace mf {

class Timeline {
 public:
  // Replaces the file; the calling thread is "main". Throws Error(io) if it cannot be written.
  explicit Timeline(const std::string& path);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // The one that lives, or null; null in a silent thread.
  static Timeline* current() noexcept {
    return is_silent ? nullptr : current_.load(std::memory_order_acquire);
  }

  // For the calling thread from now on: "worker 3".
  static void name_thread(std::string name);

  // A range of the calling thread.
  void begin(std::string_view name);
  void end();

  // A range of a device's stream, from `start`, which is the host's; an outer one before those in
  // it.
  void device_range(std::string_view stream, std::string_view name, Clock::time_point start,
                    double from_s, double seconds);

  // Writes the pending events; returns the reason if that failed, now or before.
  std::string flush();

 private:
  void put(char kind, int process, const std::string& track, std::int64_t at_ns,
           const std::string& rest);
  std::int64_t now_ns() const;

  static std::atomic<Timeline*> current_;
  const Clock::time_point origin_ = Clock::now();
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::mutex mutex_;
  std::map<std::pair<int, std::string>, int> tracks_;  // their numbers
  std::int64_t flushed_ns_ = 0;
  int error_ = 0;
  bool first_ = true;
};

}  // namespace mf
