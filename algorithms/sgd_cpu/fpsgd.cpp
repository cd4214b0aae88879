#include "algorithms/sgd_cpu/fpsgd.hpp"

#include <atomic>

#include "algorithms/core/registry.hpp"
#include "algorithms/core/rows.hpp"
#include "base/rng.hpp"

namespace mf::sgd_cpu {
namespace {

// Keep the grid and the order of its blocks apart from each other and from the initial factors.
constexpr std::uint64_t kGridSalt = 0x67726964ULL;
constexpr std::uint64_t kScheduleSalt = 0x626c6f636b73ULL;

// Updates of thread 0 between two looks at stop_requested.
constexpr std::int64_t kPoll = std::int64_t{1} << 18;

}  // namespace

Fpsgd::Fpsgd(const Params& params)
    : settings_(read_settings(params)),
      order_(params.choice("block_order", kBlockOrders)),
      grid_users_(params.integer("grid_users")),
      grid_items_(params.integer("grid_items")) {}

void Fpsgd::prepare(const Ratings& train, const Model& initial, Context& context) {
  check_initial(settings_.model, settings_.factors, train, initial);
  train_ = &train;
  work_ = epoch_work(settings_, rated_shape(train, context));
  team_ = context.team;
  const ProblemShape problem{train.n_users(), train.n_items(), train.nnz()};
  GridRequest request = grid_request(settings_.factors, problem, team_->size());
  request.grid_users = grid_users_;
  request.grid_items = grid_items_;
  request.keep_user_stripe = order_ == BlockOrder::local;
  const GridShape shape = plan_grid(request);
  {
    const PhaseScope phase(context.phases, "grid");
    grid_ = BlockGrid(train, shape, mix64(context.seed ^ kGridSalt), *team_);
  }
  scheduler_.emplace(grid_.cells(), shape.users, shape.items, order_);
  const PhaseScope phase(context.phases, "copy factors");
  rows_ = RowStore(initial, grid_.user_of_row(), grid_.item_of_row(), *team_);
}

std::int64_t Fpsgd::run_epoch(const EpochArgs& args, Context& context) {
  team_ = context.team;
  const RunKernel kernel = settings_.kernels().runs;
  const Rows rows = rows_.rows();
  const Step step = step_at(args.learning_rate, settings_.reg, rows_.mean());
  scheduler_->start_epoch(
      Rng(mix64(context.seed ^ kScheduleSalt), static_cast<std::uint64_t>(args.epoch)));
  std::atomic<std::int64_t> done{0};
  team_->run([&](int thread) {
    std::int64_t own = 0;
    std::int64_t since_poll = 0;
    auto index = scheduler_->take();
    while (index) {
      const Block& block = grid_.blocks()[*index];
      kernel(rows, step, grid_.runs_of(block), block.runs, grid_.ratings_of(block), block.ratings);
      own += block.ratings;
      since_poll += block.ratings;
      if (thread == 0 && since_poll >= kPoll && context.stop_requested) {
        since_poll = 0;
        if (context.stop_requested()) scheduler_->stop();
      }
      index = scheduler_->swap(*index);
    }
    done += own;
  });
  return done;
}

FactorView Fpsgd::factors() {
  rows_.unpermute_into(ordered_, grid_.user_of_row(), grid_.item_of_row(), *team_);
  return ordered_.view();
}

namespace {

const RegisterFactory kFpsgd("fpsgd",
                             [](const Params& params) { return std::make_unique<Fpsgd>(params); });

}  // namespace
}  // namespace mf::sgd_cpu
