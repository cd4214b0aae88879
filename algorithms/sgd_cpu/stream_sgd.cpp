#include "algorithms/sgd_cpu/stream_sgd.hpp"

#include <atomic>
#include <functional>

#include "algorithms/core/registry.hpp"
#include "algorithms/sgd_cpu/shuffle.hpp"
#include "base/rng.hpp"

namespace mf::sgd_cpu {
namespace {

// Ratings a thread takes at a time: long enough to hide the counter, short enough to share fairly.
constexpr std::int64_t kChunk = 8192;
// Updates between two looks at stop_requested.
constexpr std::int64_t kPoll = std::int64_t{1} << 18;

// Keeps the orders apart from the initial factors, which draw from the plain seed.
constexpr std::uint64_t kOrderSalt = 0x6f72646572ULL;

// Threads take chunks of [0, count) in order until all are taken or thread 0, the only one to ask,
// is told to stop. Returns how many ratings were taken.
std::int64_t for_each_chunk(std::int64_t count, ThreadTeam& team,
                            const std::function<bool()>& stop_requested,
                            const std::function<void(std::int64_t, std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> done{0};
  std::atomic<bool> stop{false};
  team.run([&](int thread) {
    std::int64_t own = 0;
    std::int64_t since_poll = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      const std::int64_t begin = next.fetch_add(kChunk, std::memory_order_relaxed);
      if (begin >= count) break;
      const std::int64_t size = std::min(kChunk, count - begin);
      body(begin, size);
      own += size;
      since_poll += size;
      if (thread == 0 && since_poll >= kPoll && stop_requested) {
        since_poll = 0;
        if (stop_requested()) stop = true;
      }
    }
    done += own;
  });
  return done;
}

constexpr std::int64_t kDrawChunk = 65536;  // ratings that share a stream of draws

void draw_by_users(const Ratings& train, std::uint64_t seed, std::int64_t epoch, ThreadTeam& team,
                   AlignedVector<Rating>& to) {
  const auto offsets = train.user_offsets();
  std::vector<std::int32_t> users;
  for (std::int32_t u = 0; u < train.n_users(); ++u) {
    if (offsets[u] < offsets[u + 1]) users.push_back(u);
  }
  const std::int64_t nnz = train.nnz();
  team.for_chunks(nnz, kDrawChunk, [&](std::int64_t begin, std::int64_t end) {
    Rng rng(seed, (static_cast<std::uint64_t>(epoch) << 32) |
                      static_cast<std::uint64_t>(begin / kDrawChunk));
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int32_t user = users[((epoch - 1) * nnz + k) % std::ssize(users)];
      const auto count = static_cast<std::uint64_t>(offsets[user + 1] - offsets[user]);
      to[k] = train[offsets[user] + static_cast<std::int64_t>(rng.below(count))];
    }
  });
}

}  // namespace

void fill_epoch_order(const Ratings& train, StreamOrder order, std::uint64_t seed,
                      std::int64_t epoch, ThreadTeam& team, AlignedVector<Rating>& to) {
  const std::int64_t nnz = train.nnz();
  if (std::ssize(to) != nnz) to = AlignedVector<Rating>(nnz);
  const auto rating = [&](std::int64_t i) { return train[i]; };
  if (order == StreamOrder::shuffled) {
    shuffle_into(to.data(), nnz, rating, mix64(seed ^ kOrderSalt),
                 static_cast<std::uint64_t>(epoch), team);
    return;
  }
  if (order == StreamOrder::users) {
    draw_by_users(train, mix64(seed ^ kOrderSalt), epoch, team, to);
    return;
  }
  team.for_each(nnz, 65536, [&](std::int64_t i) { to[i] = rating(i); });
}

StreamSgd::StreamSgd(const Params& params, Threads threads)
    : settings_(read_settings(params)),
      order_(params.choice("order", kStreamOrders)),
      threads_(threads) {}

void StreamSgd::prepare(const Ratings& train, const Model& initial, Context& context) {
  check_initial(settings_.model, settings_.factors, train, initial);
  train_ = &train;
  work_ = epoch_work(settings_, rated_shape(train, context));
  rows_ = RowStore(initial, {}, {}, {0, initial.n_users}, {0, initial.n_items}, team(context));
  // For an order that is drawn this only touches the pages, off the training clock.
  fill_epoch_order(train, StreamOrder::sequential, context.seed, 0, team(context), ratings_);
}

std::int64_t StreamSgd::run_epoch(const EpochArgs& args, Context& context) {
  if (order_ != StreamOrder::sequential) {
    const PhaseScope phase(context.phases, "order");
    fill_epoch_order(*train_, order_, context.seed, args.epoch, team(context), ratings_);
  }
  const PhaseScope phase(context.phases, "sgd");
  const StreamKernel kernel = settings_.kernels().stream;
  const Rows rows = rows_.rows();
  const Step step = step_at(args.learning_rate, settings_.reg, rows_.mean());
  return for_each_chunk(train_->nnz(), team(context), context.stop_requested,
                        [&](std::int64_t begin, std::int64_t size) {
                          kernel(rows, step, ratings_.data() + begin, size);
                        });
}

namespace {

const RegisterFactory kSerial("sgd_serial", [](const Params& params) {
  return std::make_unique<StreamSgd>(params, StreamSgd::Threads::one);
});
const RegisterFactory kHogwild("hogwild", [](const Params& params) {
  return std::make_unique<StreamSgd>(params, StreamSgd::Threads::all);
});

}  // namespace
}  // namespace mf::sgd_cpu
