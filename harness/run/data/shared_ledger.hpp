// The book of a run: what a case has made that outlives it, and which later case was lent it.
//
// Whoever keeps something for later cases (DataStore; ratings that stay on the device) calls made()
// when a case makes it and used() when a case needs it, each time, whoever made it. A case's footer
// then says what it was lent (results/meaning/shared_cost.hpp); what it made itself is on its own
// clocks.
#pragma once

#include <map>
#include <string>

#include "harness/results/meaning/shared_cost.hpp"

namespace mf {

// What a thing is made of; it is gone when that is.
enum class SharedScope { run, dataset, split };

class SharedLedger {
 public:
  // What is made and used from here on is of the next case.
  void begin_case();

  // The case has made it. `cost.name` names it among all that is shared.
  void made(const SharedCost& cost, SharedScope scope);

  // What the first case of a run pays for the others: context of the device, facts about the
  // machine. This one's start took `seconds`.
  void use_start(double seconds);

  // The case needs it. Throws std::logic_error where it was not made.
  void used(const std::string& name);

  bool has(const std::string& name) const { return entries_.count(name) != 0; }

  // It is gone.
  void forget(const std::string& name) { entries_.erase(name); }

  // What is of this scope is gone; with a data set its splits, too.
  void drop(SharedScope scope);

  // What the case has used and not made, each once.
  SharedCosts lent() const;

 private:
  struct Entry {
    SharedCost cost;
    SharedScope scope = SharedScope::run;
    bool own = true;  // made by this case
    bool used = false;
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace mf
