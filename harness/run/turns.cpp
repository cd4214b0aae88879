#include "harness/run/turns.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace mf {
namespace {

constexpr double kLongest_s = 86'400;
constexpr double kQuiet_s = 2;                          // of waiting, before it is said
constexpr double kFirstLook_s = 0.05, kLastLook_s = 1;  // between two looks, ever longer

std::vector<std::string> keys_of(const std::vector<HeldWork>& held) {
  std::vector<std::string> keys;
  for (const auto& one : held) keys.push_back(one.key);
  return keys;
}

// Signals are heard of within a moment.
void pause(double seconds, const std::function<int()>& interrupted) {
  constexpr auto kMoment = std::chrono::milliseconds(50);
  const Clock::time_point start = Clock::now();
  do {
    std::this_thread::sleep_for(kMoment);
  } while (seconds_since(start) < seconds && (!interrupted || interrupted() == 0));
}

}  // namespace

std::vector<HeldWork> take_turns(std::vector<std::size_t> work, const Attempt& attempt,
                                 const Await& await) {
  std::vector<HeldWork> held;
  while (!work.empty()) {
    const std::size_t before = work.size();
    held.clear();
    for (const std::size_t index : work) {
      std::string key;
      const Turn turn = attempt(index, key);
      if (turn == Turn::stop) return {};
      if (turn == Turn::held) held.push_back({index, key});
    }
    work.clear();
    for (const auto& one : held) work.push_back(one.index);
    // While something was done here, others may have ended, too.
    if (held.size() == before && !await(held)) return held;
  }
  return held;
}

bool await_claims(const ClaimFolder& folder, const std::vector<HeldWork>& held, Rest rest,
                  const std::function<int()>& interrupted) {
  ClaimWatch watch(folder, keys_of(held));
  const Clock::time_point start = Clock::now();
  double next = kFirstLook_s;
  bool told = false;
  for (; !interrupted || interrupted() == 0; pause(next, interrupted)) {
    next = std::min(2 * next, kLastLook_s);
    const auto seen = watch.look();
    if (seen == ClaimWatch::Seen::free) return true;
    if (seen == ClaimWatch::Seen::held && rest == Rest::leave) return false;
    const double waited = seconds_since(start);
    if (waited > kLongest_s) {
      fail(ErrorKind::io,
           "{}: {} has held {} for a day; look at that process, then the same command goes on",
           folder.path(), watch.holder().process.to_text(), watch.key());
    }
    if (told || waited < kQuiet_s) continue;
    told = true;
    note("{}: waiting for {}, which {}", folder.path(), watch.holder().process.to_text(),
         rest == Rest::wait ? "holds " + watch.key()
                            : "has not been heard of yet: if it has ended, what it holds is taken");
  }
  return false;
}

Neighbours::Neighbours(const ClaimFolder& folder, bool tells) : folder_(folder), tells_(tells) {
  for (const auto& other : folder.holders()) meet(other);
}

void Neighbours::meet(const ClaimHolder& other) {
  if (other.process.pid == 0) return;  // it is about to say who it is
  if (other.about != folder_.about()) {
    fail(ErrorKind::io,
         "{}: another mfbench run is writing into this folder, of another spec: {}; wait for it or "
         "choose another with --out",
         folder_.path(), other.process.to_text());
  }
  if (!other.here || !here_.empty()) return;
  here_ = other.process.to_text();
  if (tells_) warn_of_neighbour(folder_.path(), here_);
}

void warn_of_neighbour(const std::string& folder, const std::string& who) {
  warn(
      "{}: {} runs cases of this spec on this machine, too: both take from each other's caches and "
      "memory bandwidth. Cases whose CPUs or GPU were shared are marked contended",
      folder, who);
}

}  // namespace mf
