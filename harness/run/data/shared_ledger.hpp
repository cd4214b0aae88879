// The book of a run: products of cases that outlive them, and the later cases that borrow them.
//
// A keeper of products (DataStore; ratings that stay on the device) calls made() when a case makes
// it and used() when a case needs it, each time, even if it made it. A case's footer then lists its
// loans (results/meaning/shared_cost.hpp); its own products are on its own clocks.
#pragma once

#include <map>
#include <string>

#include "harness/results/meaning/shared_cost.hpp"

namespace mf {

// The source of a product, which is gone when its source is.
enum class SharedScope { run, dataset, split };

class SharedLedger {
 public:
  // From here on, products and uses belong to the next case.
  void begin_case();

  // The case has made it. `cost.name` names it among all that is shared.
  void made(const SharedCost& cost, SharedScope scope);

  // Whether no case of the run has ended yet.
  bool is_first_case() const { return !has(kFirstCase); }

  // The start that the first case of a run pays for the others on a device: its context, facts
  // about the machine. This one's start took `seconds`.
  void use_start(double seconds, bool on_device);

  // The case needs it. Throws std::logic_error if it was not made.
  void used(const std::string& name);

  bool has(const std::string& name) const { return entries_.count(name) != 0; }

  // It is gone.
  void forget(const std::string& name) { entries_.erase(name); }

  // Drops the products of this scope; with a data set its splits, too.
  void drop(SharedScope scope);

  // The products that the case has used and not made, each once.
  SharedCosts lent() const;

 private:
  static constexpr const char* kFirstCase = "first_case";
  struct Entry {
    SharedCost cost;
    SharedScope scope = SharedScope::run;
    bool own = true;  // made by this case
    bool used = false;
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace mf
