// What a case did not have to do because an earlier case of the same run had: what making it had
// cost, and on which clock of the case that made it (harness/run/data/shared_ledger.hpp keeps the
// book).
#pragma once

#include <string>
#include <vector>

#include "base/json/json_fwd.hpp"
#include "base/json/names.hpp"

namespace mf {

// Those of the case's clocks on which something can be made that outlives it.
enum class SharedClock { start, load, prepare, transfer };
inline constexpr Names kSharedClocks{
    std::to_array<Named<SharedClock>>({{"start", SharedClock::start},
                                       {"load", SharedClock::load},
                                       {"prepare", SharedClock::prepare},
                                       {"transfer", SharedClock::transfer}})};

struct SharedCost {
  std::string name;    // of what was lent: "ratings", "split", "upload"; letters and '_'
  double seconds = 0;  // that making it took
  SharedClock clock = SharedClock::load;
};

using SharedCosts = std::vector<SharedCost>;

// The footer's "shared": {"load": {"ratings_s": 1.5, "split_s": 0.25}, "transfer": ...}; {} where
// nothing was lent. For costs of one name on one clock, the sum.
Json to_json(const SharedCosts& costs);

// By a footer: what was lent of a clock; 0 where it is not known.
double shared_seconds(const Json& footer, SharedClock clock);

}  // namespace mf
