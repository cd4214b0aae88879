#include "harness/results/meaning/older_clocks.hpp"

#include <algorithm>

#include "base/json/json_values.hpp"
#include "harness/results/meaning/ranges.hpp"

namespace mf {
namespace {

bool may_hold(const Json& json) { return json.is_null() || json.is_object(); }

void move_packing_to_prepare(Json& footer) {
  const auto packing = number_at(footer, {"load_parts", "pack_s"});
  const auto load = number_at(footer, {"clocks", "load_s"});
  const auto prepare = number_at(footer, {"clocks", "prepare_s"});
  if (!packing || !load || !prepare) return;
  footer["load_parts"].erase("pack_s");
  footer["clocks"]["load_s"] = *load - *packing;
  footer["clocks"]["prepare_s"] = *prepare + *packing;
  if (*packing > 0 && may_hold(value_at(footer, {"phases"})))
    footer["phases"][kPackPhase] = {{"seconds_s", *packing}, {"count", 1}};
  const auto lent = number_at(footer, {"shared", "load", "packed_s"});
  if (!lent || !may_hold(value_at(footer, {"shared", "prepare"}))) return;
  footer["shared"]["load"].erase("packed_s");
  footer["shared"]["prepare"]["packed_s"] = *lent;
}

// The phase may include the start of a process that was on the clock `start`. So the algorithm
// keeps at least its own phases.
void free_peer_of_its_files(Json& footer) {
  const auto writing = number_at(footer, {"phases", "hand_over", "seconds_s"});
  const auto prepare = number_at(footer, {"clocks", "prepare_s"});
  if (!writing || !prepare) return;
  double own = 0;
  for (const char* phase : {"convert", "initial_factors"})
    own += number_at(footer, {"phases", phase, "seconds_s"}).value_or(0);
  const double freed = std::max(0.0, std::min(*writing, *prepare - own));
  footer["clocks"]["prepare_s"] = *prepare - freed;
  if (const auto rest = number_at(footer, {"clocks", "rest_s"}))
    footer["clocks"]["rest_s"] = *rest + freed;
  Json& phases = footer["phases"];
  phases[kForPeerPhase] = std::move(phases["hand_over"]);
  phases.erase("hand_over");
  if (value_at(footer, {"shared", "prepare"}).is_object())
    footer["shared"]["prepare"].erase("training_files_s");
}

}  // namespace

void read_by_todays_rules(Json& footer) {
  move_packing_to_prepare(footer);
  free_peer_of_its_files(footer);
}

}  // namespace mf
