// Bytes, for m users, n items and nnz ratings on K ranks: each reads 8 nnz / K of ratings and
// 12 (m + n) of offsets and ids, writes 8 to 12 nnz / K of parts, 24 m of offsets and 4 m of ids,
// and sends each other rank the lengths of its rows, m / K or a few times that. Rank 0 gets the
// others' test ratings packed, and writes 12 of each. Ranks of one machine share its memory: the
// floor is the time of one process, and (K - 1) 40 m bytes beside.
#include "harness/run/ranks/rank_load.hpp"

#include <optional>
#include <utility>

#include "algorithms/core/ranks/ranked.hpp"
#include "algorithms/core/registry.hpp"
#include "base/clock.hpp"
#include "datasets/load.hpp"
#include "datasets/ratings/rank_parts.hpp"
#include "datasets/ratings/select_parts.hpp"
#include "harness/evaluate/evaluator.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/plan/preflight.hpp"

namespace mf {
namespace {

// Moves a part to the ranks that evaluate it.
void place(Ratings& part, const PartOffsets& users, const PartOffsets& parts, bool all_evaluate,
           Communicator& ranks, ThreadTeam& team) {
  part = all_evaluate ? ratings_of_blocks(part, parts, kErrorBlock, ranks, team)
                      : ratings_on_rank_0(part, users, parts, ranks, team);
}

// Ratings are cut while they are read. If they are damaged, the second time says so and builds them
// again.
SplitSlice cut_slice(const Case& item, Communicator& ranks, int threads, CaseData& data,
                     ReadColumns columns = ReadColumns::when_cut) {
  try {
    DatasetSlice loaded = load_dataset_slice(item.data, ranks, threads, columns);
    data.ranks.read_whole = loaded.whole;
    data.load_parts = loaded.slice.data.load;
    data.info = std::make_shared<const DatasetInfo>(loaded.slice.data.info);
    const auto start = Clock::now();
    SplitSlice slice = make_split_slice(std::move(loaded.slice.data), item.split,
                                        loaded.slice.users, ranks, threads, users_column(item));
    data.split_s = seconds_since(start);
    return slice;
  } catch (const RankFault&) {
    throw;
  } catch (const Error& error) {  // of all
    if (error.kind() != ErrorKind::data || columns == ReadColumns::now) throw;
  }
  return cut_slice(item, ranks, threads, data, ReadColumns::now);
}

}  // namespace

std::string why_whole(const Case& item, bool saves_model) {
  if (is_implicit(item)) return "implicit feedback is evaluated on all that each user has";
  if (item.data.implicit) return "the rule of implicit feedback is applied to all ratings";
  if (item.evaluate.rank.value_or(false))
    return "ranking metrics look at all that each user has rated";
  if (item.evaluate.user_groups > 0)
    return "groups of users are made and evaluated of all training ratings";
  if (needs_train_errors(item)) return "the errors of the training part are found by rank 0";
  if (saves_model) return "a saved model has the rated items of each user";
  return "";
}

CaseData load_slice(const Case& item, Communicator& ranks, int threads) {
  std::optional<ThreadTeam> team;
  ranks.agree([&] {
    refuse_to_load(item);
    team.emplace(threads);
  });
  CaseData data;
  data.ranks.slices = true;
  const auto& of_ranks = find_algorithm(item.algorithm).ranks;
  data.ranks.all_evaluate = of_ranks && of_ranks->factors_on_all;
  SplitSlice slice = cut_slice(item, ranks, threads, data);
  const auto start = Clock::now();
  const auto place_part = [&](Ratings& part, const PartOffsets& parts) {
    place(part, slice.train.users, parts, data.ranks.all_evaluate, ranks, *team);
  };
  place_part(slice.split.test, slice.test_parts);
  place_part(slice.split.validation, slice.validation_parts);
  data.split_s += seconds_since(start);
  data.sizes = slice.sizes;
  data.test_parts = std::move(slice.test_parts);
  data.validation_parts = std::move(slice.validation_parts);
  data.facts = std::make_shared<const RatingFacts>(std::move(slice.facts));
  data.split = std::make_shared<const Split>(std::move(slice.split));
  data.slice = std::make_shared<const RatingSlice>(std::move(slice.train));
  return data;
}

void drop_training(CaseData& data) {
  data.slice.reset();
  if (data.split == nullptr) return;
  Split rest = *data.split;
  rest.train = no_ratings_of(share_ids(rest.test));
  rest.fold_in = no_ratings_of(share_ids(rest.test));
  data.split = std::make_shared<const Split>(std::move(rest));
}

}  // namespace mf
