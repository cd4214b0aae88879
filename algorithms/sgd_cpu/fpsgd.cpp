#include "algorithms/sgd_cpu/fpsgd.hpp"

#include <atomic>

#include "algorithms/core/rank_train.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"

namespace mf::sgd_cpu {
namespace {

// Keep the grid and the order of its blocks apart from each other and from the initial factors.
constexpr std::uint64_t kGridSalt = 0x67726964ULL;
constexpr std::uint64_t kScheduleSalt = 0x626c6f636b73ULL;

// The start of each `count` stripes, and the end.
RowCuts every(const std::vector<std::int64_t>& starts, std::int64_t count) {
  RowCuts cuts;
  for (std::int64_t at = 0; at < std::ssize(starts); at += count) cuts.push_back(starts[at]);
  return cuts;
}

// Updates of thread 0 between two looks at stop_requested.
constexpr std::int64_t kPoll = std::int64_t{1} << 18;

}  // namespace

Fpsgd::Fpsgd(const Params& params)
    : params_(params),
      settings_(read_settings(params)),
      order_(params.choice("block_order", kBlockOrders)) {}

// The same on all ranks, whose machines may differ.
GridShape Fpsgd::plan(const Ratings& train, const Context& context) const {
  Communicator* const ranks = group_of(context);
  const ProblemShape problem{train.n_users(), train.n_items(), all_ratings(train, context)};
  GridRequest request = grid_request(params_, problem, team_->size());
  if (ranks == nullptr) return plan_grid(request);
  request.ranks = ranks->size();
  GridShape shape = plan_grid(request);
  ranks->broadcast(shape);
  return shape;
}

namespace {

std::vector<std::int32_t> blocks_in(const BlockGrid& grid, std::int32_t first_stripe,
                                    std::int32_t stripes) {
  std::vector<std::int32_t> indices;
  for (std::int32_t index = 0; index < std::ssize(grid.blocks()); ++index) {
    const std::int32_t stripe = grid.blocks()[index].cell.item_stripe - first_stripe;
    if (stripe >= 0 && stripe < stripes) indices.push_back(index);
  }
  return indices;
}

std::vector<GridCell> cells_of(const BlockGrid& grid, const std::vector<std::int32_t>& indices) {
  std::vector<GridCell> cells;
  for (const std::int32_t index : indices) cells.push_back(grid.blocks()[index].cell);
  return cells;
}

}  // namespace

Fpsgd::RingPart::RingPart(const BlockGrid& grid, std::int32_t first_stripe, std::int32_t stripes,
                          BlockOrder order)
    : blocks(blocks_in(grid, first_stripe, stripes)),
      scheduler(cells_of(grid, blocks), grid.shape().users, grid.shape().items, order) {}

void Fpsgd::prepare(const Ratings& train, const Model& initial, Context& context) {
  check_initial(settings_.model, settings_.factors, train, initial);
  work_ = epoch_work(settings_, rated_shape(train, context));
  team_ = context.team;
  const GridShape shape = plan(train, context);
  Communicator* const group = group_of(context);
  const int ranks = group != nullptr ? group->size() : 1;
  const std::int64_t stripes = shape.users / ranks;
  {
    const PhaseScope phase(context.phases, "grid");
    const std::uint64_t seed = mix64(context.seed ^ kGridSalt);
    grid_ = group == nullptr
                ? BlockGrid(train, shape, seed, *team_)
                : BlockGrid(*slice_of_rank(train, context), shape, seed, *group, *team_);
  }
  ring_ = Ring(group, every(grid_.user_starts(), stripes),
               every(grid_.item_starts(), shape.items / ranks));
  const std::int32_t width = shape.items / ranks;
  for (int part = 0; part < ranks; ++part) parts_.emplace_back(grid_, part * width, width, order_);
  const PhaseScope phase(context.phases, "copy factors");
  rows_ = RowStore(initial, grid_.user_of_row(), grid_.item_of_row(), ring_.own_users(),
                   ring_.own_items(), *team_);
}

std::int64_t Fpsgd::run_epoch(const EpochArgs& args, Context& context) {
  team_ = context.team;
  const Step step = step_at(args.learning_rate, settings_.reg, rows_.mean());
  std::int64_t updates = 0;
  for (int stage = 0; stage < ring_.size(); ++stage) {
    RingPart& part = parts_[ring_.part()];
    part.scheduler.start_epoch(Rng(mix64(context.seed ^ kScheduleSalt) + ring_.place(),
                                   static_cast<std::uint64_t>(args.epoch)));
    bool done = run_part(part, step, context, updates);
    // A part of several may be too short for run_part to have asked.
    if (ring_.size() > 1 && context.stop_requested && context.stop_requested()) done = false;
    if (!ring_.pass_on(done, rows_, context.phases)) break;
  }
  return ring_.sum(updates);
}

bool Fpsgd::run_part(RingPart& part, const Step& step, Context& context, std::int64_t& updates) {
  const RunKernel kernel = settings_.kernels().runs;
  const Rows rows = rows_.rows();
  std::atomic<std::int64_t> done{0};
  bool stopped = false;  // only thread 0 writes it
  team_->run([&](int thread) {
    std::int64_t own = 0;
    std::int64_t since_poll = 0;
    auto index = part.scheduler.take();
    while (index) {
      const Block& block = grid_.blocks()[part.blocks[*index]];
      kernel(rows, step, grid_.runs_of(block), block.runs, grid_.ratings_of(block), block.ratings);
      own += block.ratings;
      since_poll += block.ratings;
      if (thread == 0 && since_poll >= kPoll && context.stop_requested) {
        since_poll = 0;
        stopped = context.stop_requested();
        if (stopped) part.scheduler.stop();
      }
      index = part.scheduler.swap(*index);
    }
    done += own;
  });
  updates += done;
  return !stopped;
}

FactorView Fpsgd::factors() {
  rows_.unpermute_into(ordered_, grid_.user_of_row(), grid_.item_of_row(), *team_);
  return ordered_.view();
}

Json Fpsgd::facts() const {
  if (ring_.size() == 1) return Algorithm::facts();
  std::int64_t ratings = 0;
  for (const Block& block : grid_.blocks()) ratings += block.ratings;
  return {{"grid_users", grid_.shape().users},
          {"grid_items", grid_.shape().items},
          {"own_users", ring_.own_users().size()},
          {"own_ratings", ratings}};
}

namespace {

const RegisterFactory kFpsgd("fpsgd",
                             [](const Params& params) { return std::make_unique<Fpsgd>(params); });

}  // namespace
}  // namespace mf::sgd_cpu
