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
  Patience patience;
};

enum class Turn { over, held, stop };

// For held work, sets the key and the patience.
using Attempt = std::function<Turn(HeldWork& work)>;

// Called if others hold all that is left: whether to go through it again.
using Await = std::function<bool(const std::vector<HeldWork>& held)>;

// Returns the work that others still hold; nothing after an attempt said stop.
std::vector<HeldWork> take_turns(const std::vector<std::size_t>& work, const Attempt& attempt,
                                 const Await& await);

enum class Rest {
  leave,  // do not wait for processes that run, nor for others unless patience can end
  wait,   // all of it has to be over
};

// Waits until some of the work can be taken: true. `interrupted` ends waiting: false.
bool await_claims(const ClaimFolder& folder, const std::vector<HeldWork>& held, Rest rest,
                  const std::function<int()>& interrupted);

// Throws Error(io) if the holder of this claim works on another spec; one on this machine is noted.
void meet(const ClaimFolder& folder, const ClaimHolder& other, std::string& neighbour);

}  // namespace mf
