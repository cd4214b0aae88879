#include "harness/results/meaning/older_clocks.hpp"

#include "base/json/json_values.hpp"

namespace mf {
namespace {

bool may_hold(const Json& json) { return json.is_null() || json.is_object(); }

}  // namespace

void move_packing_to_prepare(Json& footer) {
  const auto packing = number_at(footer, {"load_parts", "pack_s"});
  const auto load = number_at(footer, {"clocks", "load_s"});
  const auto prepare = number_at(footer, {"clocks", "prepare_s"});
  if (!packing || !load || !prepare) return;
  footer["load_parts"].erase("pack_s");
  footer["clocks"]["load_s"] = *load - *packing;
  footer["clocks"]["prepare_s"] = *prepare + *packing;
  if (*packing > 0 && may_hold(value_at(footer, {"phases"})))
    footer["phases"]["pack"] = {{"seconds_s", *packing}, {"count", 1}};
  const auto lent = number_at(footer, {"shared", "load", "packed_s"});
  if (!lent || !may_hold(value_at(footer, {"shared", "prepare"}))) return;
  footer["shared"]["load"].erase("packed_s");
  footer["shared"]["prepare"]["packed_s"] = *lent;
}

}  // namespace mf
