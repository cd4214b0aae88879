#include "base/json/json.hpp"
#include "datasets/split/split.hpp"

namespace mf {

Json SplitSpec::to_json() const {
  Json json = Json::object();
  switch (kind) {
    case Kind::holdout:
      json["holdout"] = test_fraction;
      break;
    case Kind::leave_out:
      json["leave_out"] = leave_out;
      break;
    case Kind::users:
      json["users"] = user_fraction;
      json["fold_in"] = fold_in;
      break;
    case Kind::given:
      json["given"] = true;
      break;
  }
  json["validation"] = validation_fraction;
  json["seed"] = seed;
  return json;
}

}  // namespace mf
