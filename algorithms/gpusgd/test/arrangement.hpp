// The ratings in the order in which the blocks are worked on, diagonal by diagonal, by a sort on
// the host: what device_arrangement.hpp makes on the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "algorithms/gpusgd/facts.hpp"
#include "algorithms/gpusgd/schedule.hpp"
#include "algorithms/gpusgd/settings.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::gpusgd {

struct Arrangement {
  Cut cut;
  std::vector<Rating> ratings;
  std::vector<std::int64_t> offsets;  // slot s (slot_of) has the ratings from offsets[s] on
  // Scheme::grouped: slot s has the groups from first_group[s] on, group g the ratings from
  // group_begins[g] on.
  std::vector<std::int64_t> first_group, group_begins;
  BlockCounts counts;
};

inline Arrangement arrange(const Settings& settings, const Ratings& train) {
  const bool grouped = settings.scheme == Scheme::grouped;
  const auto cut_of = grouped ? square_cut : rectangular_cut;
  Arrangement made;
  made.cut = cut_of(train.n_users(), train.n_items(), settings.blocks);
  for (std::int64_t i = 0; i < train.nnz(); ++i) made.ratings.push_back(train[i]);
  const auto key = [&](const Rating& r) {
    return std::tuple(slot_of_rating(made.cut, r.user, r.item),
                      grouped ? group_of(r.user, r.item, made.cut.rows) : 0);
  };
  std::stable_sort(made.ratings.begin(), made.ratings.end(),
                   [&](const Rating& a, const Rating& b) { return key(a) < key(b); });
  const std::int64_t l = made.cut.blocks;
  std::int64_t at = 0;
  for (std::int64_t tag = 0; tag < l; ++tag) {
    std::int64_t longest = 0;
    for (std::int64_t slot = tag * l; slot < (tag + 1) * l; ++slot) {
      made.offsets.push_back(at);
      made.first_group.push_back(std::ssize(made.group_begins));
      std::int64_t steps = 0;
      while (at < train.nnz() && std::get<0>(key(made.ratings[at])) == slot) {
        const std::int64_t begin = at++;
        if (!grouped) {
          steps += steps_of_tree(settings.factors);
          continue;
        }
        const auto group = key(made.ratings[begin]);
        while (at < train.nnz() && key(made.ratings[at]) == group) ++at;
        made.group_begins.push_back(begin);
        steps += steps_of_group(at - begin, settings.threads_per_block);
      }
      made.counts.blank += steps == 0 ? 1 : 0;
      made.counts.steps += steps;
      longest = std::max(longest, steps);
    }
    made.counts.serial += longest;
  }
  made.offsets.push_back(at);
  made.first_group.push_back(std::ssize(made.group_begins));
  made.group_begins.push_back(at);
  return made;
}

}  // namespace mf::gpusgd
