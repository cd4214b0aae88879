#include "harness/evaluate/user_groups.hpp"

#include <algorithm>

#include "base/json/json_values.hpp"

namespace mf {
namespace {

// Ratings are sorted by user, so a group's are one range.
Accuracy evaluate_users(const Evaluator& evaluator, const FactorView& model, const Ratings& part,
                        std::int64_t first, std::int64_t end, ThreadTeam& team) {
  if (part.nnz() == 0) return accuracy_of({}, 0);
  const auto offsets = part.user_offsets();
  return evaluator.evaluate_range(model, part, offsets[first], offsets[end], team);
}

}  // namespace

std::vector<UserGroup> evaluate_user_groups(const Evaluator& evaluator, const FactorView& model,
                                            const Split& split, std::int64_t groups,
                                            ThreadTeam& team) {
  const std::int64_t n_users = split.train.n_users();
  const std::int64_t count = std::min(groups, n_users);
  std::vector<UserGroup> out;
  for (std::int64_t g = 0; g < count; ++g) {
    const std::int64_t first = g * n_users / count;
    const std::int64_t end = (g + 1) * n_users / count;
    UserGroup group;
    group.first_user = static_cast<std::int32_t>(first);
    group.last_user = static_cast<std::int32_t>(end - 1);
    group.test = evaluate_users(evaluator, model, split.test, first, end, team);
    group.train = evaluate_users(evaluator, model, split.train, first, end, team);
    out.push_back(group);
  }
  return out;
}

Json to_json(const std::vector<UserGroup>& groups) {
  Json list = Json::array();
  for (const UserGroup& group : groups) {
    list.push_back({{"first_user", group.first_user},
                    {"last_user", group.last_user},
                    {"test_rmse", number_or_null(group.test.rmse)},
                    {"test_count", group.test.count},
                    {"train_rmse", number_or_null(group.train.rmse)},
                    {"train_count", group.train.count}});
  }
  return list;
}

}  // namespace mf
