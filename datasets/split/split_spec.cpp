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
    case Kind::folds:
      json["folds"] = folds;
      json["fold"] = fold;
      break;
    case Kind::by_time:
      json["by_time"] = cut_date.empty() ? Json(before_cut) : Json(cut_date);
      break;
    case Kind::leave_last:
      json["leave_last"] = leave_last;
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
  if (kind == Kind::leave_last) json["validation"] = validation_last;
  if (!needs_times()) json["seed"] = seed;  // splits by time draw nothing
  return json;
}

}  // namespace mf
