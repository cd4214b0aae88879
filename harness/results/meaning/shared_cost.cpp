#include "harness/results/meaning/shared_cost.hpp"

#include "base/json/json_values.hpp"

namespace mf {

Json to_json(const SharedCosts& costs) {
  Json json = Json::object();
  for (const SharedCost& one : costs) {
    Json& seconds = json[kSharedClocks.of(one.clock)][one.name + "_s"];
    seconds = one.seconds + (seconds.is_null() ? 0.0 : seconds.get<double>());
  }
  return json;
}

double shared_seconds(const Json& footer, SharedClock clock) {
  const std::string name = kSharedClocks.of(clock);
  const Json& lent = value_at(footer, {"shared", name.c_str()});
  if (!lent.is_object()) return 0;
  double sum = 0;
  for (const auto& [key, seconds] : lent.items()) {
    if (seconds.is_number()) sum += seconds.get<double>();
  }
  return sum;
}

}  // namespace mf
