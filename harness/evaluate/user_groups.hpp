// The error by groups of users: users in the order of their ids, cut into groups of equal size.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json/json_fwd.hpp"
#include "datasets/split/split.hpp"
#include "harness/evaluate/evaluator.hpp"

namespace mf {

struct UserGroup {
  std::int32_t first_user = 0;  // dense indices
  std::int32_t last_user = 0;   // the last of the group
  Accuracy test;
  Accuracy train;
};

// `groups` groups, or one per user if there are fewer users. `model` is a host view. For a sampler,
// whose draws `evaluator` has taken, the groups of their mean.
std::vector<UserGroup> evaluate_user_groups(const Evaluator& evaluator, const FactorView& model,
                                            const Split& split, std::int64_t groups,
                                            ThreadTeam& team);

// The footer's "user_groups": RMSE is null if a group has no rating.
Json to_json(const std::vector<UserGroup>& groups);

}  // namespace mf
