// sgd_serial and hogwild: the ratings of an epoch in one order, cut among the threads. Serial is
// the case of one thread, so hogwild with one thread is the same computation bit for bit.
#pragma once

#include "algorithms/core/algorithm.hpp"
#include "algorithms/sgd_cpu/row_store.hpp"
#include "algorithms/sgd_cpu/settings.hpp"
#include "base/aligned.hpp"

namespace mf::sgd_cpu {

enum class StreamOrder {
  shuffled,    // every rating once, in an order drawn anew for each (seed, epoch)
  sequential,  // in their order, by user
  users,       // users in turn, one of its ratings each, drawn anew, as in cu2rec
};
inline constexpr Names kStreamOrders{
    std::to_array<Named<StreamOrder>>({{"shuffled", StreamOrder::shuffled},
                                       {"sequential", StreamOrder::sequential},
                                       {"users", StreamOrder::users}})};

// nnz ratings in the order of an epoch (numbered from 1), for any number of threads the same. With
// `users` the turns go on from epoch to epoch, users without ratings are left out, and a user with
// few ratings is trained as often as one with many.
void fill_epoch_order(const Ratings& train, StreamOrder order, std::uint64_t seed,
                      std::int64_t epoch, ThreadTeam& team, AlignedVector<Rating>& to);

class StreamSgd : public Algorithm {
 public:
  enum class Threads { one, all };
  StreamSgd(const Params& params, Threads threads);

  void prepare(const Ratings& train, const Model& initial, Context& context) override;
  std::int64_t run_epoch(const EpochArgs& args, Context& context) override;
  FactorView factors() override { return rows_.view(); }
  Work work_per_epoch() const override { return work_; }

 private:
  ThreadTeam& team(Context& context) { return threads_ == Threads::one ? own_ : *context.team; }

  Settings settings_;
  StreamOrder order_;
  Threads threads_;
  ThreadTeam own_{1};
  const Ratings* train_ = nullptr;
  Work work_;
  RowStore rows_;
  AlignedVector<Rating> ratings_;
};

}  // namespace mf::sgd_cpu
