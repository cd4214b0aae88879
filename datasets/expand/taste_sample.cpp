#include "datasets/expand/taste_sample.hpp"

#include <algorithm>
#include <cmath>

#include "base/portable_math.hpp"

namespace mf::expand {
namespace {

constexpr int kSweeps = 40;
constexpr std::int64_t kChunk = 32;
constexpr double kNoiseFreedom = 10;  // of the prior of a user's noise, around the mean noise

// Streams of random numbers: one a row in each half of a sweep, and one a sweep for the priors.
class Streams {
 public:
  Streams(std::uint64_t seed, const Ratings& ratings)
      : seed_(seed), rows_(std::uint64_t{1} + ratings.n_users() + ratings.n_items()) {}
  Rng row(int sweep, std::int64_t k) const {
    return Rng(seed_,
               static_cast<std::uint64_t>(sweep) * rows_ + 1 + static_cast<std::uint64_t>(k));
  }
  Rng priors(int sweep) const { return Rng(seed_, static_cast<std::uint64_t>(sweep) * rows_); }

 private:
  std::uint64_t seed_, rows_;
};

// Gamma of a shape from 1 on and the scale 1 (Marsaglia and Tsang 2000).
double draw_gamma(double shape, Rng& rng) {
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = rng.normal();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = 1 - rng.uniform();
    if (portable::log(u) < 0.5 * x * x + d * (1 - v + portable::log(v))) return d * v;
  }
}

void draw_prior(const std::vector<double>& rows, Rng rng, Prior& prior) {
  const auto n = static_cast<double>(rows.size()) / kFactors;
  for (int k = 0; k < kFactors; ++k) {
    double sum = 0;
    for (std::size_t at = k; at < rows.size(); at += kFactors) sum += rows[at];
    prior.mean[k] = sum / n + rng.normal() / std::sqrt(prior.precision[k] * n);
    double squares = 0.05;  // a weak prior: of a factor that no row has
    for (std::size_t at = k; at < rows.size(); at += kFactors) {
      const double away = rows[at] - prior.mean[k];
      squares += away * away;
    }
    prior.precision[k] = 2 * draw_gamma((n + 1) / 2, rng) / squares;
  }
}

std::vector<double> first_rows(std::int64_t n, int large, Rng rng) {
  std::vector<double> rows(static_cast<std::size_t>(n * kFactors));
  for (double& value : rows) value = 0.1 * rng.normal();
  // One factor of each side begins as the other's bias; signs would otherwise have to be found.
  for (std::size_t at = static_cast<std::size_t>(large); at < rows.size(); at += kFactors) {
    rows[at] += 0.5;
  }
  return rows;
}

double dot(const double* a, const double* b) {
  double sum = 0;
  for (int k = 0; k < kFactors; ++k) sum += a[k] * b[k];
  return sum;
}

void draw_items(const Csc& columns, const Streams& streams, int sweep, std::int64_t n_users,
                const Prior& prior, TasteSample& sample, ThreadTeam& team) {
  team.for_chunks(
      columns.item_offsets.size() - 1, kChunk, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          RowPosterior row(prior);
          for (std::int64_t k = columns.item_offsets[i]; k < columns.item_offsets[i + 1]; ++k) {
            const std::int32_t u = columns.users[k];
            row.add(&sample.users[u * std::int64_t{kFactors}],
                    static_cast<double>(columns.values[k]) - sample.mean, sample.precision[u]);
          }
          row.solve();
          Rng rng = streams.row(sweep, n_users + i);
          row.draw(rng, &sample.items[i * kFactors]);
        }
      });
}

void draw_users(const Ratings& ratings, const Streams& streams, int sweep, TasteSample& sample,
                ThreadTeam& team) {
  const auto offsets = ratings.user_offsets();
  team.for_chunks(ratings.n_users(), kChunk, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t u = first; u < last; ++u) {
      Rng rng = streams.row(sweep, u);
      sample
          .posterior(u, ratings.items().part(offsets[u], offsets[u + 1]),
                     ratings.values().part(offsets[u], offsets[u + 1]))
          .draw(rng, &sample.users[u * kFactors]);
    }
  });
}

// For each user, given how far the factors are from the ratings.
void draw_noise(const Ratings& ratings, Rng rng, TasteSample& sample) {
  const auto offsets = ratings.user_offsets();
  std::vector<double> squares(static_cast<std::size_t>(ratings.n_users()), 0.0);
  double all = 0;
  for (std::int64_t u = 0; u < ratings.n_users(); ++u) {
    for (std::int64_t k = offsets[u]; k < offsets[u + 1]; ++k) {
      const double away = static_cast<double>(ratings.values()[k]) -
                          sample.predict(&sample.users[u * kFactors], ratings.items()[k]);
      squares[u] += away * away;
    }
    all += squares[u];
  }
  const double usual = std::max(all / static_cast<double>(ratings.nnz()), 1e-6);
  for (std::int64_t u = 0; u < ratings.n_users(); ++u) {
    const auto n = static_cast<double>(offsets[u + 1] - offsets[u]);
    sample.precision[u] =
        2 * draw_gamma((kNoiseFreedom + n) / 2, rng) / (kNoiseFreedom * usual + squares[u]);
  }
}

}  // namespace

RowPosterior::RowPosterior(const Prior& prior)
    : matrix_(std::size_t{kFactors} * kFactors, 0.0), mean_(kFactors) {
  for (int k = 0; k < kFactors; ++k) {
    matrix_[k * kFactors + k] = prior.precision[k];
    mean_[k] = prior.precision[k] * prior.mean[k];
  }
}

void RowPosterior::add(const double* other, double rating, double precision) {
  for (int k = 0; k < kFactors; ++k) {
    const double weighted = precision * other[k];
    double* row = &matrix_[std::size_t{kFactors} * k];
    for (int l = 0; l <= k; ++l) row[l] += weighted * other[l];
    mean_[k] += weighted * rating;
  }
}

void RowPosterior::solve() {
  const auto at = [&](int k, int l) -> double& { return matrix_[k * kFactors + l]; };
  for (int k = 0; k < kFactors; ++k) {
    for (int l = 0; l <= k; ++l) {
      double sum = at(k, l);
      for (int m = 0; m < l; ++m) sum -= at(k, m) * at(l, m);
      at(k, l) = l < k ? sum / at(l, l) : std::sqrt(std::max(sum, 1e-12));
    }
  }
  for (int k = 0; k < kFactors; ++k) {
    for (int l = 0; l < k; ++l) mean_[k] -= at(k, l) * mean_[l];
    mean_[k] /= at(k, k);
  }
}

// With L L' = A and L w = v, the solution of L' x = w + z has the mean A^-1 v and the covariance
// A^-1.
void RowPosterior::draw(Rng& rng, double* row) const {
  for (int k = 0; k < kFactors; ++k) row[k] = mean_[k] + rng.normal();
  for (int k = kFactors - 1; k >= 0; --k) {
    row[k] /= matrix_[k * kFactors + k];
    for (int l = 0; l < k; ++l) row[l] -= matrix_[k * kFactors + l] * row[k];
  }
}

double TasteSample::predict(const double* user, std::int32_t item) const {
  return mean + dot(user, &items[item * std::int64_t{kFactors}]);
}

RowPosterior TasteSample::posterior(std::int64_t user, View<const std::int32_t> rated,
                                    View<const float> values) const {
  RowPosterior row(user_prior);
  for (std::int64_t k = 0; k < rated.size(); ++k) {
    row.add(&items[rated[k] * std::int64_t{kFactors}], static_cast<double>(values[k]) - mean,
            precision[user]);
  }
  row.solve();
  return row;
}

TasteSample draw_tastes(const Ratings& ratings, std::uint64_t seed, ThreadTeam& team) {
  const Streams streams(seed, ratings);
  const Csc columns = make_csc(ratings, team.size());
  TasteSample sample;
  Prior item_prior;
  sample.mean = mean_rating(ratings, team);
  sample.users = first_rows(ratings.n_users(), 0, streams.priors(0));
  sample.items = first_rows(ratings.n_items(), 1, streams.row(0, 0));
  sample.precision.assign(static_cast<std::size_t>(ratings.n_users()), 1.0);
  draw_noise(ratings, streams.row(0, 1), sample);
  for (int sweep = 1; sweep <= kSweeps; ++sweep) {
    Rng rng = streams.priors(sweep);
    draw_items(columns, streams, sweep, ratings.n_users(), item_prior, sample, team);
    draw_prior(sample.items, Rng(rng()), item_prior);
    draw_users(ratings, streams, sweep, sample, team);
    draw_prior(sample.users, Rng(rng()), sample.user_prior);
    draw_noise(ratings, Rng(rng()), sample);
  }
  return sample;
}

}  // namespace mf::expand
