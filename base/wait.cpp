#include "base/wait.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace mf {
namespace {

thread_local const WaitScope::Check* current = nullptr;

}  // namespace

WaitScope::WaitScope(Check check) : check_(std::move(check)), outer_(current) { current = &check_; }

WaitScope::~WaitScope() { current = outer_; }

void wait_a_moment(const std::string& what) {
  constexpr auto kMoment = std::chrono::milliseconds(50);
  std::this_thread::sleep_for(kMoment);
  if (current != nullptr && *current) (*current)(what);
}

}  // namespace mf
