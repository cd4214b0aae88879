// FPSGD, the algorithm of LIBMF: W.-S. Chin, Y. Zhuang, Y.-C. Juan, C.-J. Lin, "A Fast Parallel
// Stochastic Gradient Method for Matrix Factorization in Shared Memory Systems", ACM TIST 6(1),
// 2015.
#pragma once

#include <optional>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/sgd_cpu/block_grid.hpp"
#include "algorithms/sgd_cpu/block_scheduler.hpp"
#include "algorithms/sgd_cpu/row_store.hpp"
#include "algorithms/sgd_cpu/settings.hpp"

namespace mf::sgd_cpu {

class Fpsgd : public Algorithm {
 public:
  explicit Fpsgd(const Params& params);

  void prepare(const Ratings& train, const Model& initial, Context& context) override;
  std::int64_t run_epoch(const EpochArgs& args, Context& context) override;
  // Puts the rows back into the order of the users and items, on the threads of the last call.
  FactorView factors() override;
  Work work_per_epoch() const override { return work_; }

  const BlockGrid& grid() const { return grid_; }

 private:
  Settings settings_;
  BlockOrder order_;
  std::int64_t grid_users_, grid_items_;
  const Ratings* train_ = nullptr;
  Work work_;
  ThreadTeam* team_ = nullptr;
  BlockGrid grid_;
  std::optional<BlockScheduler> scheduler_;
  RowStore rows_;     // in the order of the grid
  RowStore ordered_;  // in the order of the users and items, for factors()
};

}  // namespace mf::sgd_cpu
