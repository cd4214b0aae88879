// Ends a wait for another process. The caller of work that may wait knows when to end it (a signal,
// a time limit); the wait itself knows its reason.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace mf {

// For this thread, until its end. Scopes may lie in one another: the inner one counts.
class WaitScope {
 public:
  // Called repeatedly during a wait, with its description ("the process 17, which holds x") and the
  // seconds so far; throws to end the wait.
  using Check = std::function<void(const std::string& what, double waited_s)>;
  explicit WaitScope(Check check);
  ~WaitScope();
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  Check check_;
  const Check* outer_;
};

// How long the environment says to wait: seconds from `least` to `most`, or the default if it says
// nothing. Throws Error(usage): "NAME: found "soon", expected `expected`".
struct SecondsRange {
  double by_default, least, most;
  const char* expected;
};
double seconds_of_environment(const char* name, const SecondsRange& range);

// Calls this thread's check, if it has one, which may throw.
void check_wait(const std::string& what, double waited_s);

// After a sleep of a moment.
void wait_a_moment(const std::string& what, double waited_s);

// Work that several threads do in pieces, which its caller waits for as for another process.
class WatchedWork {
 public:
  explicit WatchedWork(std::string what) : what_(std::move(what)) {}
  // Before each piece, by any thread: whether to do it. In the caller's thread, passes on an error
  // of its check; the others then have no more to do.
  bool goes_on();

 private:
  const std::string what_;
  const Clock::time_point begin_ = Clock::now();
  std::atomic<bool> given_up_{false};
};

}  // namespace mf
