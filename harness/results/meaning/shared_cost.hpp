// Work that a case was spared because an earlier case of the same run had done it: its cost, and
// the clock of the case that did it (harness/run/data/shared_ledger.hpp keeps the book).
#pragma once

#include <string>
#include <vector>

#include "base/json/json_fwd.hpp"
#include "base/json/names.hpp"

namespace mf {

// The clocks of a case whose products may outlive it.
enum class SharedClock { start, load, prepare, transfer };
inline constexpr Names kSharedClocks{
    std::to_array<Named<SharedClock>>({{"start", SharedClock::start},
                                       {"load", SharedClock::load},
                                       {"prepare", SharedClock::prepare},
                                       {"transfer", SharedClock::transfer}})};

struct SharedCost {
  std::string name;    // of the loan: "ratings", "split", "upload"; letters and '_'
  double seconds = 0;  // that making it took
  SharedClock clock = SharedClock::load;
};

using SharedCosts = std::vector<SharedCost>;

// The footer's "shared": {"load": {"ratings_s": 1.5, "split_s": 0.25}, "transfer": ...}; {} if
// nothing was lent. For costs of one name on one clock, the sum.
Json to_json(const SharedCosts& costs);

// By a footer: the seconds lent on a clock; 0 if unknown.
double shared_seconds(const Json& footer, SharedClock clock);

}  // namespace mf
