#include "base/wait.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/error.hpp"

namespace mf {
namespace {

thread_local const WaitScope::Check* current = nullptr;

}  // namespace

WaitScope::WaitScope(Check check) : check_(std::move(check)), outer_(current) { current = &check_; }

WaitScope::~WaitScope() { current = outer_; }

void check_wait(const std::string& what, double waited_s) {
  if (current != nullptr && *current) (*current)(what, waited_s);
}

void wait_a_moment(const std::string& what, double waited_s) {
  constexpr auto kMoment = std::chrono::milliseconds(50);
  std::this_thread::sleep_for(kMoment);
  check_wait(what, waited_s);
}

bool WatchedWork::goes_on() {
  if (given_up_) return false;
  try {
    check_wait(what_, seconds_since(begin_));
  } catch (...) {
    given_up_ = true;
    throw;
  }
  return true;
}

double seconds_of_environment(const char* name, const SecondsRange& range) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return range.by_default;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !(seconds >= range.least && seconds <= range.most)) {
    fail(ErrorKind::usage, "{}: found \"{}\", expected {}", name, text, range.expected);
  }
  return seconds;
}

}  // namespace mf
