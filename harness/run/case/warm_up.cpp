#include "harness/run/case/warm_up.hpp"

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/ranks/communicator.hpp"
#include "harness/experiment/schedule.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/prepared.hpp"

namespace mf {
namespace {

// Rows and columns of a few ratings up to all, which algorithms give to different kernels.
constexpr std::int32_t kUsers = 600, kItems = 400, kLengths = 23;

Ratings small_problem(bool implicit) {
  Ratings::Arrays arrays;
  arrays.user_offsets.push_back(0);
  for (std::int32_t user = 0; user < kUsers; ++user) {
    for (std::int32_t item = 0; item < kItems; ++item) {
      if ((31 * user + 17 * item) % kLengths > user % kLengths) continue;
      arrays.users.push_back(user);
      arrays.items.push_back(item);
      arrays.values.push_back(implicit ? 1.0F : static_cast<float>(1 + (user + item) % 5));
    }
    arrays.user_offsets.push_back(std::ssize(arrays.users));
    arrays.user_ids.push_back(user);
  }
  for (std::int32_t item = 0; item < kItems; ++item) arrays.item_ids.push_back(item);
  return Ratings(std::move(arrays));
}

// The settings that choose kernels and their sizes: all parameters but real numbers.
std::string kind_of_call(const Case& item) {
  Json params = item.params.to_json();
  for (const ParamSpec& param : find_algorithm(item.algorithm).params) {
    if (param.type == ParamSpec::Type::number) params.erase(param.name);
  }
  return item.algorithm + canonical(params);
}

void run_small_problem(const Case& item, DeviceClock& device, Communicator* group) {
  const Ratings train = small_problem(is_implicit(item));
  const RatingFacts facts = facts_of(train, 1);
  PreparedCase::Lent lent{&device, nullptr, {}};
  lent.ranks = {group, nullptr};
  PreparedCase prepared(item, train, facts, std::move(lent));
  prepared.run_epochs({1, Schedule(item.schedule).rate(1)}, 1);
  prepared.gather_factors();
  prepared.synchronize();
}

}  // namespace

void warm_up(const Case& item, DeviceClock& device, Communicator* group) {
  if (!device.begins_cold() || has_own_process(item)) return;
  static std::mutex mutex;
  static std::set<std::pair<int, std::string>> called;  // by rank
  std::unique_lock lock(mutex);
  if (!called.emplace(group != nullptr ? group->rank() : 0, kind_of_call(item)).second) return;
  lock.unlock();
  try {
    run_small_problem(item, device, group);
  } catch (const Error& error) {
    if (group != nullptr || error.kind() == ErrorKind::device) throw;
  }
}

}  // namespace mf
