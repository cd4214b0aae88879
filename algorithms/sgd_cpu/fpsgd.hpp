// FPSGD, the algorithm of LIBMF: W.-S. Chin, Y. Zhuang, Y.-C. Juan, C.-J. Lin, "A Fast Parallel
// Stochastic Gradient Method for Matrix Factorization in Shared Memory Systems", ACM TIST 6(1),
// 2015.
#pragma once

#include <deque>
#include <vector>

#include "algorithms/core/ranks/ranked.hpp"
#include "algorithms/sgd_cpu/block_grid.hpp"
#include "algorithms/sgd_cpu/block_scheduler.hpp"
#include "algorithms/sgd_cpu/ring.hpp"
#include "algorithms/sgd_cpu/row_store.hpp"
#include "algorithms/sgd_cpu/settings.hpp"

namespace mf::sgd_cpu {

class Fpsgd : public Algorithm, public OnRanks {
 public:
  explicit Fpsgd(const Params& params);

  void prepare(const Ratings& train, const Model& initial, Context& context) override;
  std::int64_t run_epoch(const EpochArgs& args, Context& context) override;
  void gather_factors(Context&) override { ring_.gather(rows_); }
  // Puts the rows back into the order of the users and items, on the threads of the last call.
  FactorView factors() override;
  Work work_per_epoch() const override { return work_; }
  Json facts() const override;

  const BlockGrid& grid() const { return grid_; }

 private:
  // The blocks of an item part with this rank's users.
  struct RingPart {
    RingPart(const BlockGrid& grid, std::int32_t first_stripe, std::int32_t stripes,
             BlockOrder order);

    std::vector<std::int32_t> blocks;  // of the grid
    BlockScheduler scheduler;
  };
  GridShape plan(const Ratings& train, const Context& context) const;
  // False if it was asked to stop.
  bool run_part(RingPart& part, const Step& step, Context& context, std::int64_t& updates);

  Params params_;
  Settings settings_;
  BlockOrder order_;
  Work work_;
  ThreadTeam* team_ = nullptr;
  BlockGrid grid_;
  std::deque<RingPart> parts_;  // one per rank; a single rank has all blocks
  Ring ring_;
  RowStore rows_;     // in the order of the grid
  RowStore ordered_;  // in the order of the users and items, for factors()
};

}  // namespace mf::sgd_cpu
