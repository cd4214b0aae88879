#include "base/threads.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/host/control_groups.hpp"
#include "base/thread_range.hpp"

namespace mf {

int hardware_threads() {
  static const auto quota = cpus_of_groups();  // all cases of a run have the same threads
  int count = static_cast<int>(usable_cpus().size());
  if (quota) count = std::min(count, *quota);
  return std::max(count, 1);
}

ThreadTeam::ThreadTeam(int threads, Start start) : size_(std::max(threads, 1)) {
  if (start == Start::now) this->start();
}

void ThreadTeam::start() {
  stop_ = false;  // a start that failed set it
  workers_.reserve(static_cast<std::size_t>(size_ - 1));
  try {
    for (int t = 1; t < size_; ++t) {
      workers_.emplace_back([this, t, silent = is_silent] {
        is_silent = silent;
        worker(t);
      });
    }
  } catch (const std::system_error& error) {  // a limit of the system, or no memory for a stack
    const auto started = workers_.size() + 1;
    join();
    fail(ErrorKind::memory,
         "thread {} of {} could not be started: {}; ask for fewer, or raise the limits of memory "
         "and processes (ulimit -v, -u)",
         started + 1, size_, error.code().message());
  } catch (...) {
    join();
    throw;
  }
}

ThreadTeam::~ThreadTeam() { join(); }

void ThreadTeam::join() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& thread : workers_) thread.join();
  workers_.clear();
}

void ThreadTeam::call(int index) {
  const ThreadRange range("work");
  try {
    (*body_)(index);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void ThreadTeam::worker(int index) {
  Timeline::name_thread("worker " + std::to_string(index));
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
      if (stop_) return;
      seen = generation_;
    }
    call(index);
    {
      const std::lock_guard lock(mutex_);
      --running_;
    }
    done_.notify_one();
  }
}

void ThreadTeam::run(const std::function<void(int)>& body) {
  if (!is_started()) start();
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    error_ = nullptr;
    running_ = size_ - 1;
    ++generation_;
  }
  wake_.notify_all();
  call(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return running_ == 0; });
  body_ = nullptr;
  if (error_) std::rethrow_exception(error_);
}

void ThreadTeam::for_chunks(std::int64_t count, std::int64_t chunk,
                            const std::function<void(std::int64_t, std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  run([&](int) {
    for (;;) {
      const std::int64_t begin = next.fetch_add(chunk);
      if (begin >= count) return;
      body(begin, std::min(begin + chunk, count));
    }
  });
}

}  // namespace mf
