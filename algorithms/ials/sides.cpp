#include "algorithms/ials/sides.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "algorithms/ials/observed.hpp"
#include "base/error.hpp"

namespace mf::ials {
namespace {

constexpr std::int64_t kPairsPerChunk = 1 << 16;

// How many pairs are observed. Throws at the first value, in the order of the ratings, that is
// none.
std::int64_t count_observed(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team) {
  std::atomic<std::int64_t> observed{0};
  std::atomic<std::int64_t> first_bad{train.nnz()};
  team.for_chunks(train.nnz(), kPairsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t own = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      const float value = train.values()[k];
      if (!is_confidence(value, loss.alpha)) {
        std::int64_t known = first_bad;
        while (k < known && !first_bad.compare_exchange_weak(known, k)) {
        }
        break;
      }
      own += value == 0 ? 0 : 1;
    }
    observed += own;
  });
  if (first_bad < train.nnz()) refuse_pair(train, first_bad, loss);
  return observed;
}

void weigh(View<const float> from, AlignedVector<float>& to, const ImplicitLoss& loss,
           ThreadTeam& team) {
  team.for_chunks(from.size(), kPairsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      to[k] = pair_weight(from[k], loss.alpha);
    }
  });
}

void drop_zeros(Csc& columns) {
  std::int64_t to = 0;
  std::int64_t begin = 0;
  for (std::int64_t item = 0; item + 1 < std::ssize(columns.item_offsets); ++item) {
    const std::int64_t end = columns.item_offsets[item + 1];
    for (std::int64_t k = begin; k < end; ++k) {
      if (columns.values[k] == 0) continue;
      columns.users[to] = columns.users[k];
      columns.values[to++] = columns.values[k];
    }
    columns.item_offsets[item + 1] = to;
    begin = end;
  }
  columns.users.resize(to);
  columns.values.resize(to);
}

}  // namespace

void refuse_pair(const Ratings& train, std::int64_t k, const ImplicitLoss& loss) {
  const Rating pair = train[k];
  const std::string user = train.user_text(pair.user);
  const std::string item = train.item_text(pair.item);
  if (std::isfinite(pair.value) && pair.value >= 0) {
    fail(ErrorKind::usage,
         "the value of user {} and item {} is {}; alpha {} times it is no normal number of fp32; "
         "scale the values, or change alpha",
         user, item, pair.value, loss.alpha);
  }
  fail(ErrorKind::usage,
       "the value of user {} and item {} is {}; implicit feedback takes finite values of 0 (not "
       "observed) and above",
       user, item, pair.value);
}

void Sides::copy_observed(const Ratings& train, std::int64_t observed) {
  user_offsets_.assign(train.n_users() + 1, 0);
  user_items_.resize(observed);
  user_weights_.resize(observed);
  std::int64_t to = 0;
  for (std::int64_t user = 0; user < train.n_users(); ++user) {
    for (std::int64_t k = train.user_offsets()[user]; k < train.user_offsets()[user + 1]; ++k) {
      if (train.values()[k] == 0) continue;
      user_items_[to] = train.items()[k];
      user_weights_[to++] = train.values()[k];
    }
    user_offsets_[user + 1] = to;
  }
  users_ = {user_offsets_, user_items_, user_weights_, "user"};
}

Sides::Sides(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team)
    : users_{train.user_offsets(), train.items(), train.values(), "user"} {
  const std::int64_t observed = count_observed(train, loss, team);
  columns_ = make_csc(train, team.size());
  if (observed < train.nnz()) {
    copy_observed(train, observed);
    drop_zeros(columns_);
  }
  if (loss.alpha == 1) return;
  user_weights_.resize(observed);
  weigh(users_.values, user_weights_, loss, team);
  users_.values = user_weights_;
  weigh(columns_.values, columns_.values, loss, team);
}

std::int64_t filled_rows(const als::Side& side) {
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < side.rows(); ++row) count += side.length(row) > 0 ? 1 : 0;
  return count;
}

AlignedVector<float> row_regs(const als::Side& side, std::int64_t others,
                              const ImplicitLoss& loss) {
  AlignedVector<float> regs(side.rows());
  for (std::int64_t row = 0; row < side.rows(); ++row) {
    regs[row] = static_cast<float>(loss.row_reg(side.length(row), others));
  }
  return regs;
}

}  // namespace mf::ials
