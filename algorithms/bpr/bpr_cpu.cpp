// bpr_cpu: random triples of an epoch (draws.hpp), cut among threads that share the
// rows without locks (Niu et al., Hogwild, NIPS 2011). One thread is the serial method.
//
// A triple reads and writes three rows, 24 f bytes, at random; 18 f + 10 FLOPs. It waits for
// memory, so a batch is drawn first, step by step, each step fetching the next one's data, and rows
// are fetched kAhead triples before they are used.
//
// Many items j to a pair are scored in runs of kRun, whose rows are fetched while they are drawn.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "algorithms/bpr/observed_pairs.hpp"
#include "algorithms/bpr/settings.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/rows.hpp"
#include "base/clones.hpp"

namespace mf::bpr {
namespace {

// Data races on the rows are the design of Hogwild, so code that touches them is not instrumented.
// Clang refuses the attribute beside clones, which a build for ThreadSanitizer does not have.
#ifdef __SANITIZE_THREAD__
#define MF_RACY __attribute__((no_sanitize("thread")))
#else
#define MF_RACY
#endif

constexpr std::int64_t kLanes = kLineBytes / std::int64_t{sizeof(float)};
using Lanes [[gnu::vector_size(kLineBytes), gnu::may_alias]] = float;

constexpr int kBatch = 128;                            // triples that are drawn together
constexpr int kAhead = 4;                              // triples from the fetch of rows to use
constexpr int kRun = 32;                               // items j of a pair that are drawn together
constexpr std::int64_t kChunk = 32 * kBatch;           // that a thread takes at a time
constexpr std::int64_t kPoll = std::int64_t{1} << 22;  // between looks at stop_requested

struct Scores {
  float item, other;
};

MF_CLONES MF_RACY Scores score(const float* p, const float* q_item, const float* q_other,
                               std::int64_t stride) {
  Lanes item = {}, other = {};
  for (std::int64_t k = 0; k < stride; k += kLanes) {
    const Lanes user = *reinterpret_cast<const Lanes*>(p + k);
    item += user * *reinterpret_cast<const Lanes*>(q_item + k);
    other += user * *reinterpret_cast<const Lanes*>(q_other + k);
  }
  Scores sums{};
  for (std::int64_t l = 0; l < kLanes; ++l) {
    sums.item += item[l];
    sums.other += other[l];
  }
  return sums;
}

struct Shrinks {
  float p, q;
};

// p . q and q . q. Lanes are added up in halves: a chain of four additions, not of sixteen.
MF_CLONES MF_RACY void products(const float* p, const float* q, std::int64_t stride, float& with,
                                float& square) {
  Lanes sums[2] = {};
  for (std::int64_t k = 0; k < stride; k += kLanes) {
    const Lanes row = *reinterpret_cast<const Lanes*>(q + k);
    sums[0] += row * *reinterpret_cast<const Lanes*>(p + k);
    sums[1] += row * row;
  }
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t l = 0; l < half; ++l) {
      sums[0][l] += sums[0][l + half];
      sums[1][l] += sums[1][l + half];
    }
  }
  with = sums[0][0];
  square = sums[1][0];
}

// sum += gain q; q += rate gain p - shrink q, all with old values.
MF_CLONES MF_RACY void pull_row(const float* p, float* q, float* sum, std::int64_t stride,
                                float gain, float rate, float shrink) {
  for (std::int64_t k = 0; k < stride; k += kLanes) {
    Lanes& row = *reinterpret_cast<Lanes*>(q + k);
    const Lanes old = row;
    *reinterpret_cast<Lanes*>(sum + k) += gain * old;
    row = old + rate * gain * *reinterpret_cast<const Lanes*>(p + k) - shrink * old;
  }
}

// p += rate sum - shrink p, with the p that the sum is of; sum becomes 0.
MF_CLONES MF_RACY void step_user(float* p, const float* old, float* sum, std::int64_t stride,
                                 float rate, float shrink) {
  for (std::int64_t k = 0; k < stride; k += kLanes) {
    Lanes& of_pulls = *reinterpret_cast<Lanes*>(sum + k);
    *reinterpret_cast<Lanes*>(p + k) +=
        rate * of_pulls - shrink * *reinterpret_cast<const Lanes*>(old + k);
    of_pulls = Lanes{};
  }
}

MF_RACY void copy_row(const float* from, std::int64_t stride, float* to) {
  for (std::int64_t k = 0; k < stride; ++k) to[k] = from[k];
}

MF_CLONES MF_RACY void step_rows(float* p, float* q_item, float* q_other, std::int64_t stride,
                                 Gains<float> gain, const Shrinks& shrink) {
  for (std::int64_t k = 0; k < stride; k += kLanes) {
    Lanes& user = *reinterpret_cast<Lanes*>(p + k);
    Lanes& item = *reinterpret_cast<Lanes*>(q_item + k);
    Lanes& other = *reinterpret_cast<Lanes*>(q_other + k);
    const Lanes p_old = user, i_old = item, j_old = other;
    user = p_old + gain.item * i_old + gain.other * j_old - shrink.p * p_old;
    item = i_old + gain.item * p_old - shrink.q * i_old;
    other = j_old + gain.other * p_old - shrink.q * j_old;
  }
  p[0] = 1;
}

// Triples first, first + 1, ... of an epoch.
struct Batch {
  std::int64_t first = 0;
  int count = 0;
  std::array<Triple, kBatch> triples;
  AlignedVector<float> user, sum;  // of an update by pulls: p_u before it, and the pulls on it
};

void fetch(const void* at) { __builtin_prefetch(at, 0, 3); }

struct Draws {
  Pairs pairs;
  Negatives negatives = Negatives::uniform;
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;

  Rng rng(std::int64_t t, std::int64_t tries = 0) const {
    return rng_of(seed, pairs.count, epoch, t, tries);
  }
  // Item k of the triple, from 1.
  std::int32_t further(const Row& row, std::int64_t t, std::int64_t k) const {
    Further random(seed, pairs.count, epoch, t, k);
    return draw_other(pairs, row, negatives, random);
  }
};

void draw(const Draws& draws, Batch& batch) {
  const Pairs& pairs = draws.pairs;
  std::vector<Rng> rngs;
  std::array<std::int64_t, kBatch> at;
  rngs.reserve(kBatch);
  for (int k = 0; k < batch.count; ++k) {
    rngs.push_back(draws.rng(batch.first + k));
    at[k] = below(rngs[k], pairs.count);
    fetch(pairs.users + at[k]);
    fetch(pairs.items + at[k]);
    fetch(pairs.values + at[k]);
  }
  for (int k = 0; k < batch.count; ++k) {
    batch.triples[k] = {pairs.users[at[k]], pairs.items[at[k]], kNone, pairs.values[at[k]]};
    fetch(pairs.offsets + batch.triples[k].user);
  }
  for (int k = 0; k < batch.count; ++k) {
    const Row row = row_of(pairs, batch.triples[k].user);
    fetch(row.items + row.count / 2);
    fetch(row.items + row.count / 4);
    fetch(row.items + row.count / 4 * 3);
  }
  for (int k = 0; k < batch.count; ++k) {
    Triple& triple = batch.triples[k];
    triple.other = draw_other(pairs, row_of(pairs, triple.user), draws.negatives, rngs[k]);
  }
}

class BprCpu : public Algorithm {
 public:
  explicit BprCpu(const Settings& settings)
      : settings_(settings), stride_(row_stride(settings.factors, sizeof(float), kLineBytes)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, settings_.factors, train, initial);
    shape_ = initial;
    observed_ = std::make_unique<ObservedPairs>(
        train, ImplicitLoss{settings_.alpha, settings_.reg.p}, *context.team);
    work_ = epoch_work(settings_, observed_->pairs().count, observed_->rows());
    copy_rows(initial.p, initial.n_users, 1, p_, *context.team);
    copy_rows(initial.q, initial.n_items, 0, q_, *context.team);
    team_ = context.team;
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    if (settings_.many()) return run<Loss::ccl>(args, context);
    if (settings_.loss == Loss::bpr) return run<Loss::bpr>(args, context);
    if (settings_.loss == Loss::warp) return run<Loss::warp>(args, context);
    return run<Loss::logistic>(args, context);
  }

  FactorView factors() override {
    if (!settings_.cosine()) {
      return make_view(shape_, Location::host, p_.data(), q_.data(), stride_);
    }
    unit_q_.resize(q_.size());
    team_->for_each(shape_.n_items, 1024, [&](std::int64_t row) {
      const float* from = q_.data() + row * stride_;
      float of_square, square;
      products(from, from, stride_, of_square, square);
      const float scale = square > 0 ? 1 / std::sqrt(square) : 0.0F;
      for (std::int64_t k = 0; k < stride_; ++k) unit_q_[row * stride_ + k] = scale * from[k];
    });
    return make_view(shape_, Location::host, p_.data(), unit_q_.data(), stride_);
  }
  Work work_per_epoch() const override { return work_; }

 private:
  // Padded with zeros, which the update leaves zero.
  void copy_rows(const AlignedVector<float>& from, std::int64_t rows, float first,
                 AlignedVector<float>& to, ThreadTeam& team) const {
    to.resize(rows * stride_);
    team.for_each(rows, 1024, [&](std::int64_t row) {
      float* out = to.data() + row * stride_;
      std::copy_n(from.data() + row * settings_.factors, settings_.factors, out);
      std::fill(out + settings_.factors, out + stride_, 0.0F);
      if (!settings_.cosine()) out[0] = first;
    });
  }

  template <Loss kLoss>
  std::int64_t run(const EpochArgs& args, Context& context) {
    const std::int64_t count = observed_->pairs().count;
    const auto step = step_at(args.learning_rate, settings_.reg, 0);
    const Draws draws{observed_->pairs(), settings_.negatives, context.seed, args.epoch};
    const std::int64_t poll = std::max(kPoll / settings_.per_pair, 16 * kChunk);
    for (std::int64_t done = 0; done < count; done += poll) {
      if (context.stop_requested && context.stop_requested()) return done;
      const std::int64_t size = std::min(poll, count - done);
      context.team->for_chunks(size, kChunk, [&](std::int64_t begin, std::int64_t end) {
        Batch batch;
        if (settings_.many()) {
          batch.user.assign(stride_, 0.0F);
          batch.sum.assign(stride_, 0.0F);
        }
        for (std::int64_t t = done + begin; t < done + end; t += kBatch) {
          batch.first = t;
          batch.count = static_cast<int>(std::min<std::int64_t>(kBatch, done + end - t));
          draw(draws, batch);
          train<kLoss>(draws, batch, step);
        }
      });
    }
    return count;
  }

  template <Loss kLoss>
  void train(const Draws& draws, Batch& batch, const sgd::Step<float>& step) {
    for (int k = 0; k < std::min(kAhead, batch.count); ++k) fetch_rows(batch.triples[k]);
    for (int k = 0; k < batch.count; ++k) {
      if (k + kAhead < batch.count) fetch_rows(batch.triples[k + kAhead]);
      if (batch.triples[k].other == kNone) continue;
      if constexpr (kLoss == Loss::ccl) {
        update_by_pulls(draws, batch, k, step);
      } else {
        update<kLoss>(draws, batch.first + k, batch.triples[k], step);
      }
    }
  }

  template <Loss kLoss>
  void update(const Draws& draws, std::int64_t t, const Triple& triple,
              const sgd::Step<float>& step) {
    float* p = p_.data() + triple.user * stride_;
    float* q_item = q_.data() + triple.item * stride_;
    float* q_other = q_.data() + triple.other * stride_;
    Scores x = score(p, q_item, q_other, stride_);
    float weight = static_cast<float>(settings_.alpha) * triple.value;
    if constexpr (kLoss == Loss::warp) {
      const Row row = row_of(draws.pairs, triple.user);
      std::int64_t tries = 1;
      for (; x.item - x.other >= kMargin && tries < settings_.max_tries; ++tries) {
        Rng rng = draws.rng(t, tries);
        q_other = q_.data() + draw_other(draws.pairs, row, draws.negatives, rng) * stride_;
        x = score(p, q_item, q_other, stride_);
      }
      if (x.item - x.other >= kMargin) return;
      weight = rank_weight(draws.pairs.n_items - row.count, tries);
    }
    const Gains<float> gain = gains<kLoss>(x.item, x.other, weight);
    step_rows(p, q_item, q_other, stride_, {step.rate * gain.item, step.rate * gain.other},
              {step.shrink_p, step.shrink_q});
  }

  // ccl, and bpr with several items j.
  void update_by_pulls(const Draws& draws, Batch& batch, int at, const sgd::Step<float>& step) {
    const Triple& triple = batch.triples[at];
    const Row row = row_of(draws.pairs, triple.user);
    const float share = settings_.share();
    const auto margin = static_cast<float>(settings_.margin);
    const bool cosine = settings_.cosine();
    float* user = batch.user.data();
    float* q_item = q_.data() + triple.item * stride_;
    copy_row(p_.data() + triple.user * stride_, stride_, user);
    float x_item, of_item, of_user, x, square;
    products(user, user, stride_, x, of_user);
    products(user, q_item, stride_, x_item, of_item);
    Pull<float> item = cosine ? cosine_pull(x_item, of_user, of_item, 1.0F) : Pull<float>{};
    float of_pulls = item.user;
    std::array<float*, kRun> rows;
    for (std::int64_t k = 0; k < settings_.per_pair; k += kRun) {
      const auto count = static_cast<int>(std::min<std::int64_t>(kRun, settings_.per_pair - k));
      for (int j = 0; j < count; ++j) {
        const std::int32_t other =
            k + j == 0 ? triple.other : draws.further(row, batch.first + at, k + j);
        rows[j] = q_.data() + other * stride_;
        for (std::int64_t line = 0; line < std::min<std::int64_t>(stride_, 8 * kLanes);
             line += kLanes) {
          fetch(rows[j] + line);
        }
      }
      for (int j = 0; j < count; ++j) {
        products(user, rows[j], stride_, x, square);
        Pull<float> pull;
        float shrink = step.shrink_q;
        if (cosine) {
          pull = cosine_pull(x, of_user, square, -share, margin);
          if (pull.gain == 0) continue;
        } else {
          pull.gain = -share * sigmoid(x - x_item);
          item.gain -= pull.gain;
          shrink *= share;
        }
        of_pulls += pull.user;
        pull_row(user, rows[j], batch.sum.data(), stride_, pull.gain, step.rate,
                 step.rate * pull.row + shrink);
      }
    }
    pull_row(user, q_item, batch.sum.data(), stride_, item.gain, step.rate,
             step.rate * item.row + step.shrink_q);
    float* p = p_.data() + triple.user * stride_;
    step_user(p, user, batch.sum.data(), stride_, step.rate, step.rate * of_pulls + step.shrink_p);
    if (!cosine) p[0] = 1;
  }

  void fetch_rows(const Triple& triple) const {
    for (std::int64_t k = 0; k < std::min<std::int64_t>(stride_, 32 * kLanes); k += kLanes) {
      __builtin_prefetch(p_.data() + triple.user * stride_ + k, 1, 3);
      __builtin_prefetch(q_.data() + triple.item * stride_ + k, 1, 3);
      __builtin_prefetch(q_.data() + std::max(triple.other, 0) * stride_ + k, 1, 3);
    }
  }

  Settings settings_;
  std::int64_t stride_;
  ModelShape shape_;
  Work work_;
  std::unique_ptr<ObservedPairs> observed_;
  AlignedVector<float> p_, q_;
  AlignedVector<float> unit_q_;  // of ccl: what ranks
  ThreadTeam* team_ = nullptr;
};

const RegisterFactory kBpr("bpr_cpu", [](const Params& params) {
  return std::make_unique<BprCpu>(read_settings(params));
});

}  // namespace
}  // namespace mf::bpr
