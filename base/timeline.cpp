#include "base/timeline.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"

namespace mf {
namespace {

constexpr std::size_t kTrackEvents = 4096;  // that a thread keeps before it writes them itself
constexpr std::chrono::milliseconds kPace{100};
constexpr int kHost = 1, kDevice = 2;  // processes, as the format has them

std::string json_string(std::string_view text) { return json_text(std::string(text)); }

// Microseconds with the nanoseconds behind the point: the format's unit.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::int64_t ns_of(Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

// Timelines that live one after another may lie at one address.
std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::int64_t ns_of(double seconds) { return std::llround(seconds * 1e9); }

// Of the calling thread, which gives its track back when it ends.
struct OwnTrack {
  std::string name = "thread";
  std::uint64_t of = 0;  // the timeline's number
  std::shared_ptr<Timeline::Track> track;

  ~OwnTrack() { release(); }
  void release();
};

OwnTrack& own() {
  thread_local OwnTrack track;
  return track;
}

}  // namespace

struct Timeline::Event {
  char kind = 'B';  // B and E: begin and end; X: with its duration; C: a counter
  std::int64_t at_ns = 0;
  std::int64_t for_ns = 0;
  double value = 0;
  std::string name;
  std::string facts;  // JSON, or empty
};

struct Timeline::Track {
  int process = kHost;
  int number = 0;
  std::string name;
  std::atomic<bool> taken{true};
  std::mutex mutex;
  std::vector<Event> events;
  std::string described;  // the range that the facts are about
  std::string facts;
};

// The array. Whoever writes several events holds the mutex, so that those of a track stay in order.
struct Timeline::File {
  std::mutex mutex;
  int descriptor = -1;
  bool first = true;
  std::string text;
  std::string failure;

  explicit File(const std::string& path)
      : descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor >= 0) return;
    const int error = errno;
    const std::string advice = advice_on(error);
    fail(ErrorKind::io, "{}: cannot be written: {}{}", path, std::strerror(error),
         advice.empty() ? "" : "; " + advice);
  }
  ~File() { ::close(descriptor); }

  void put(const std::string& event) {
    text += first ? "[\n" : ",\n";
    first = false;
    text += event;
  }

  void write() {
    const char* from = text.data();
    std::size_t left = failure.empty() ? text.size() : 0;
    while (left > 0) {
      const ssize_t done = ::write(descriptor, from, left);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) {
        failure = std::strerror(errno);
        break;
      }
      from += done;
      left -= static_cast<std::size_t>(done);
    }
    text.clear();
  }
};

namespace {

void OwnTrack::release() {
  if (track) track->taken = false;
  track.reset();
  of = 0;
}

std::string metadata(const char* what, int process, int number, const Json& arguments) {
  return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{}}})", what, process,
                     number, json_text(arguments));
}

}  // namespace

std::atomic<Timeline*> Timeline::current_{nullptr};

Timeline::Timeline(const std::string& path) : number_(next_number()) {
  const auto refuse = [&] {
    fail(ErrorKind::usage, "{}: this process writes another timeline", path);
  };
  if (current() != nullptr) refuse();  // before the file, which may be that one's, is emptied
  file_ = std::make_unique<File>(path);
  Timeline* none = nullptr;
  if (!current_.compare_exchange_strong(none, this)) refuse();
  name_thread("main");
  {
    const std::lock_guard lock(file_->mutex);
    file_->put(metadata("process_name", kHost, 0, {{"name", "mfbench"}}));
    file_->put(metadata("process_sort_index", kHost, 0, {{"sort_index", kHost}}));
    file_->write();
  }
  try {
    writer_ = std::thread([this] { run(); });
  } catch (...) {
    current_ = nullptr;
    throw;
  }
}

Timeline::~Timeline() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ends_.notify_one();
  writer_.join();
  current_ = nullptr;
  flush();
  own().release();
  const std::lock_guard lock(file_->mutex);
  file_->text = "\n]\n";
  file_->write();
}

void Timeline::run() {
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, kPace, [this] { return ended_; })) {
    lock.unlock();
    flush();
    lock.lock();
  }
}

void Timeline::name_thread(std::string name) { own().name = std::move(name); }

Timeline::Track& Timeline::own_track() {
  OwnTrack& mine = own();
  if (mine.of != number_) {
    mine.release();
    mine.track = take_track(mine.name, kHost);
    mine.of = number_;
  }
  return *mine.track;
}

std::shared_ptr<Timeline::Track> Timeline::take_track(const std::string& name, int process) {
  const std::lock_guard lock(tracks_mutex_);
  for (const auto& track : tracks_) {
    bool taken = false;
    if (track->process == process && track->name == name &&
        track->taken.compare_exchange_strong(taken, true)) {
      return track;
    }
  }
  auto made = std::make_shared<Track>();
  made->process = process;
  made->number = static_cast<int>(tracks_.size()) + 1;
  made->name = name;
  made->events.reserve(kTrackEvents);
  {
    const std::lock_guard file(file_->mutex);
    if (process == kDevice) {
      file_->put(metadata("process_name", kDevice, 0, {{"name", "device"}}));
      file_->put(metadata("process_sort_index", kDevice, 0, {{"sort_index", kDevice}}));
    }
    file_->put(metadata("thread_name", process, made->number, {{"name", name}}));
    file_->put(
        metadata("thread_sort_index", process, made->number, {{"sort_index", made->number}}));
  }
  tracks_.push_back(made);
  return made;
}

Timeline::Track& Timeline::stream_track(std::string_view stream) {
  {
    const std::lock_guard lock(tracks_mutex_);
    for (const auto& track : tracks_) {
      if (track->process == kDevice && track->name == stream) return *track;
    }
  }
  return *take_track(std::string(stream), kDevice);
}

void Timeline::add(Track& track, Event event) {
  bool full = false;
  {
    const std::lock_guard lock(track.mutex);
    if (event.kind == 'B' && event.name == track.described) {
      event.facts = std::exchange(track.facts, {});
      track.described.clear();
    }
    track.events.push_back(std::move(event));
    full = track.events.size() >= kTrackEvents;
  }
  if (!full) return;
  const std::lock_guard lock(file_->mutex);
  write_track(track);
  file_->write();
}

void Timeline::begin(std::string_view name) {
  Event event;
  event.name = name;
  event.at_ns = ns_of(Clock::now() - origin_);
  add(own_track(), std::move(event));
}

void Timeline::end() {
  Event event;
  event.kind = 'E';
  event.at_ns = ns_of(Clock::now() - origin_);
  add(own_track(), std::move(event));
}

void Timeline::describe_next(std::string name, const Json& facts) {
  Track& track = own_track();
  const std::lock_guard lock(track.mutex);
  track.described = std::move(name);
  track.facts = json_text(facts);
}

void Timeline::counter(std::string_view name, double value) {
  if (!std::isfinite(value)) return;  // JSON has no such number
  Event event;
  event.kind = 'C';
  event.at_ns = ns_of(Clock::now() - origin_);
  event.name = name;
  event.value = value;
  add(own_track(), std::move(event));
}

void Timeline::device_range(std::string_view stream, std::string_view name, Clock::time_point start,
                            double from_s, double seconds) {
  Event event;
  event.kind = 'X';
  event.at_ns = ns_of(start - origin_) + ns_of(from_s);
  event.for_ns = ns_of(seconds);
  event.name = name;
  add(stream_track(stream), std::move(event));
}

void Timeline::write_track(Track& track) {
  {
    const std::lock_guard lock(track.mutex);
    if (track.events.empty()) return;  // most are, ten times a second: no new buffer for them
  }
  std::vector<Event> events;
  events.reserve(kTrackEvents);
  {
    const std::lock_guard lock(track.mutex);
    events.swap(track.events);
  }
  for (const Event& event : events) {
    std::string text = fmt::format(R"({{"ph":"{}","pid":{},"tid":{},"ts":{})", event.kind,
                                   track.process, track.number, microseconds(event.at_ns));
    if (event.kind != 'E') text += R"(,"name":)" + json_string(event.name);
    if (event.kind == 'X') text += R"(,"dur":)" + microseconds(event.for_ns);
    if (event.kind == 'C') text += fmt::format(R"(,"args":{{"value":{}}})", event.value);
    if (!event.facts.empty()) text += R"(,"args":)" + event.facts;
    file_->put(text + "}");
  }
}

void Timeline::flush() {
  std::vector<std::shared_ptr<Track>> tracks;
  {
    const std::lock_guard lock(tracks_mutex_);
    tracks = tracks_;
  }
  const std::lock_guard lock(file_->mutex);
  for (const auto& track : tracks) {
    write_track(*track);
    file_->write();
  }
}

std::string Timeline::failure() const {
  const std::lock_guard lock(file_->mutex);
  return file_->failure;
}

}  // namespace mf
