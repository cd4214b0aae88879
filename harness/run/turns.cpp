#include "harness/run/turns.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace mf {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(250);
constexpr double kQuiet_s = 2;  // of waiting, before it is said

}  // namespace

std::vector<HeldWork> take_turns(const std::vector<std::size_t>& work, const Attempt& attempt,
                                 const Await& await) {
  std::vector<HeldWork> left;
  for (const std::size_t index : work) left.push_back({index, "", {}});
  while (!left.empty()) {
    std::vector<HeldWork> held;
    for (HeldWork& one : left) {
      const Turn turn = attempt(one);
      if (turn == Turn::stop) return {};
      if (turn == Turn::held) held.push_back(one);
    }
    const bool all = held.size() == left.size();
    left = std::move(held);
    // While something was done here, others may have ended, too.
    if (all && !await(left)) break;
  }
  return left;
}

bool await_claims(const ClaimFolder& folder, const std::vector<HeldWork>& held, Rest rest,
                  const std::function<int()>& interrupted) {
  const Clock::time_point start = Clock::now();
  bool told = false;
  while (!interrupted || interrupted() == 0) {
    std::string holder;  // of work that is worth waiting for
    for (const auto& one : held) {
      const auto now = folder.holder(one.key);
      // A claim that is free to this patience only is released here: then anyone can take it.
      const bool free = !now || (now->is_free(one.patience) && folder.take(one.key, one.patience));
      if (free) return true;
      if (rest == Rest::wait || (!now->runs && std::isfinite(one.patience.seconds))) {
        holder = fmt::format("{}, which holds {}", now->process.to_text(), one.key);
      }
    }
    if (holder.empty()) return false;
    if (!told && seconds_since(start) > kQuiet_s) {
      note("{}: waiting for {}; if it has ended, --retry takes its work", folder.path(), holder);
      told = true;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return false;
}

void meet(const ClaimFolder& folder, const ClaimHolder& other, std::string& neighbour) {
  if (other.process.pid == 0) return;  // not a claim of ours
  if (other.about != folder.about()) {
    fail(ErrorKind::io,
         "{}: another mfbench run is writing into this folder, of another spec: {}; wait for it, "
         "remove its {}* if it has ended, or choose another folder with --out",
         folder.path(), other.process.to_text(), kClaimPrefix);
  }
  if (other.process.on_same_host(own_process())) neighbour = other.process.to_text();
}

}  // namespace mf
