#include "algorithms/core/algorithm.hpp"

#include "algorithms/core/ranks/ranked.hpp"
#include "base/json/json.hpp"

namespace mf {

std::int64_t Algorithm::run_epochs(const EpochArgs& first, std::int64_t count, Context& context) {
  std::int64_t updates = 0;
  EpochArgs args = first;
  for (; args.epoch < first.epoch + count; ++args.epoch) updates += run_epoch(args, context);
  return updates;
}

Json Algorithm::facts() const { return Json::object(); }

Json OnRanks::exchanged() const { return nullptr; }

}  // namespace mf
