// How several processes on one folder share its work: each goes through all of it, takes what no
// other holds, and comes back to the rest.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/files/claim.hpp"

namespace mf {

struct HeldWork {
  std::size_t index;
  std::string key;  // of its claim
};

enum class Turn { over, held, stop };

// What `attempt` says of the work of this index; where it is held, by which claim.
using Attempt = std::function<Turn(std::size_t index, std::string& key)>;

// Asked when nothing is left but what others hold: whether to go through it again.
using Await = std::function<bool(const std::vector<HeldWork>& held)>;

// Returns what others hold still; nothing where an attempt said stop.
std::vector<HeldWork> take_turns(std::vector<std::size_t> work, const Attempt& attempt,
                                 const Await& await);

enum class Rest {
  leave,  // it is left to those who hold it once each is known to run, which takes a lease at most
  wait,   // all of it has to be over; after a day Error(io) is thrown
};

// Waits until some of it can be taken: true. `interrupted` ends waiting: false.
bool await_claims(const ClaimFolder& folder, const std::vector<HeldWork>& held, Rest rest,
                  const std::function<int()>& interrupted);

// Other processes in the folder: one that works on another spec is an Error(io), of those on this
// machine a warning is said once.
class Neighbours {
 public:
  // Meets those that are there now. `tells`: warns, too.
  Neighbours(const ClaimFolder& folder, bool tells);
  void meet(const ClaimHolder& other);
  const std::string& here() const { return here_; }  // who was met on this machine; or empty

 private:
  const ClaimFolder& folder_;
  const bool tells_;
  std::string here_;
};

void warn_of_neighbour(const std::string& folder, const std::string& who);

}  // namespace mf
