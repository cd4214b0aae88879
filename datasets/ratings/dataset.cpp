#include "datasets/ratings/dataset.hpp"

#include "base/json.hpp"

namespace mf {

Json ImplicitInfo::to_json() const {
  return {{"min_rating", rule.min_rating},
          {"value", kImplicitValueNames.of(rule.value)},
          {"ratings_dropped", ratings_dropped},
          {"users_dropped", users_dropped},
          {"items_dropped", items_dropped}};
}

}  // namespace mf
