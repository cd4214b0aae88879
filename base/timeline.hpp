// What a program did when, as a file that a browser draws: Chrome's trace format, an array of JSON
// events (https://ui.perfetto.dev opens it). Every thread has a track of nested ranges; streams of
// a device have tracks of their own, and numbers that change have counters.
//
// Threads put events into bounded buffers of their own, which a thread of the timeline's writes ten
// times a second, and the thread itself where its buffer is full. So a program that is killed
// leaves a file that can be read but for its last tenth of a second; the array is then not closed,
// which the format allows.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/json_fwd.hpp"

namespace mf {

class Timeline {
 public:
  // Replaces the file; the calling thread is "main". Throws Error(io) where it cannot be written,
  // Error(usage) where another timeline lives: there is one of a process.
  explicit Timeline(const std::string& path);
  // Ends the array. No range may be open, but for threads that wait between theirs.
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // The one that lives, or null.
  static Timeline* current() noexcept { return current_.load(std::memory_order_acquire); }

  // Of the calling thread from now on: "worker 3". Threads that live one after another under one
  // name share a track.
  static void name_thread(std::string name);

  // A range of the calling thread.
  void begin(std::string_view name);
  // Facts, an object, about the range of that name which the calling thread begins next.
  void describe_next(std::string name, const Json& facts);
  void end();

  // A number from now on.
  void counter(std::string_view name, double value);

  // Ranges of a device's stream, from `start`, which is the host's. An outer one comes before those
  // in it. Threads may do this alternately, not at once.
  void device_range(std::string_view stream, std::string_view name, Clock::time_point start,
                    double from_s, double seconds);

  // Writes what is in the buffers.
  void flush();

  // Where writing failed, the reason: what came after is not in the file.
  std::string failure() const;

  struct Track;

 private:
  struct Event;
  struct File;

  Track& own_track();
  std::shared_ptr<Track> take_track(const std::string& name, int process);
  Track& stream_track(std::string_view stream);
  void add(Track& track, Event event);
  void write_track(Track& track);  // under file_'s mutex
  void run();

  static std::atomic<Timeline*> current_;
  const std::uint64_t number_;
  const Clock::time_point origin_ = Clock::now();
  std::unique_ptr<File> file_;
  mutable std::mutex tracks_mutex_;
  std::vector<std::shared_ptr<Track>> tracks_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::thread writer_;  // the last member: it uses all others
};

}  // namespace mf
