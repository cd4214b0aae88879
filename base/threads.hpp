// Threads that stay alive between calls, so that an epoch of a millisecond does not pay for
// starting them. Our own rather than OpenMP: ThreadSanitizer understands it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/host/cpus.hpp"

namespace mf {

// How many threads can run at once: usable_cpus(), and not more than the cgroup's quota.
int hardware_threads();

// All threads that compute belong to a team.
class ThreadTeam {
 public:
  // When its threads are started: an owner that may never use them need not pay for them.
  enum class Start { now, first_run };

  // Throws Error(memory) if the system starts no more threads, as run() does for those that it
  // starts.
  explicit ThreadTeam(int threads, Start start = Start::now);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }

  // Calls body(t) for t in [0, size()), one thread each (the caller is thread 0), and waits for
  // all. The first exception is rethrown here. Not re-entrant.
  void run(const std::function<void(int)>& body);

  // Calls body(begin, end) over chunks of [0, count) taken in order by free threads. The cut into
  // chunks depends only on `chunk`, never on the number of threads.
  void for_chunks(std::int64_t count, std::int64_t chunk,
                  const std::function<void(std::int64_t, std::int64_t)>& body);
  // Calls body(i) for each i in [0, count), in such chunks.
  template <class Body>
  void for_each(std::int64_t count, std::int64_t chunk, const Body& body) {
    for_chunks(count, chunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) body(i);
    });
  }

 private:
  bool is_started() const { return size_ == 1 || !workers_.empty(); }
  void start();
  void join();
  void worker(int index);
  void call(int index);

  int size_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(int)>* body_ = nullptr;
  std::uint64_t generation_ = 0;
  int running_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
};

}  // namespace mf
