#include "algorithms/peer/observed.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace mf::peer {
namespace {

bool is_observed(float value) { return value > 0; }

template <class T>
AlignedVector<T> copy_of(View<const T> view) {
  return AlignedVector<T>(view.begin(), view.end());
}

}  // namespace

std::optional<Ratings> only_observed(const Ratings& train) {
  const auto values = train.values();
  if (std::all_of(values.begin(), values.end(), is_observed)) return std::nullopt;
  Ratings::Arrays kept;
  kept.user_ids = copy_of(train.user_ids());
  kept.item_ids = copy_of(train.item_ids());
  kept.user_names = train.user_names();
  kept.item_names = train.item_names();
  kept.user_offsets = {0};
  for (std::int64_t user = 0; user < train.n_users(); ++user) {
    for (std::int64_t i = train.user_offsets()[user]; i < train.user_offsets()[user + 1]; ++i) {
      if (!is_observed(values[i])) continue;
      kept.users.push_back(train.users()[i]);
      kept.items.push_back(train.items()[i]);
      kept.values.push_back(values[i]);
    }
    kept.user_offsets.push_back(static_cast<std::int64_t>(kept.values.size()));
  }
  return Ratings(std::move(kept));
}

}  // namespace mf::peer
