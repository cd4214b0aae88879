#include "harness/run/data/shared_ledger.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace mf {

void SharedLedger::begin_case() {
  for (auto& [name, entry] : entries_) entry.own = entry.used = false;
}

void SharedLedger::made(const SharedCost& cost, SharedScope scope) {
  entries_[cost.name] = {cost, scope, true, false};
}

void SharedLedger::used(const std::string& name) {
  const auto at = entries_.find(name);
  if (at == entries_.end()) {
    throw std::logic_error(fmt::format("{} is used as shared, but was not made", name));
  }
  at->second.used = true;
}

void SharedLedger::use_start(double seconds, bool on_device) {
  if (is_first_case()) made({kFirstCase, seconds, SharedClock::start}, SharedScope::run);
  if (on_device) used(kFirstCase);
}

void SharedLedger::drop(SharedScope scope) {
  std::erase_if(entries_, [&](const auto& one) { return one.second.scope >= scope; });
}

SharedCosts SharedLedger::lent() const {
  SharedCosts costs;
  for (const auto& [name, entry] : entries_) {
    if (entry.used && !entry.own) costs.push_back(entry.cost);
  }
  return costs;
}

}  // namespace mf
