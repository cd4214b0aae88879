// Tastes of the users of a real set: factors of its ratings, drawn from their posterior. A fit
// would be smoother than the truth; a draw is spread as the truth may be, and so are the residuals
// left.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::expand {

inline constexpr int kFactors = 32;

// For every row of one side: independent Gaussians, a mean and a precision a factor. Means take the
// place of biases, so that the tastes an item meets and its popularity go together.
struct Prior {
  std::vector<double> mean = std::vector<double>(kFactors, 0.0);
  std::vector<double> precision = std::vector<double>(kFactors, 5.0);
};

// The Gaussian posterior of a row of factors, from the ratings that are added.
class RowPosterior {
 public:
  explicit RowPosterior(const Prior& prior);
  void add(const double* other, double rating, double precision);
  void solve();                            // after the last one is added
  void draw(Rng& rng, double* row) const;  // as often as wanted

 private:
  std::vector<double> matrix_;  // lower triangle, row by row; after solve() its Cholesky factor
  std::vector<double> mean_;
};

struct TasteSample {
  double mean = 0;            // of the ratings; the factors model the rest
  std::vector<double> users;  // rows of kFactors
  std::vector<double> items;
  Prior user_prior;
  std::vector<double> precision;  // of the noise of each user

  double predict(const double* user, std::int32_t item) const;
  // For a user with these ratings of these items.
  RowPosterior posterior(std::int64_t user, View<const std::int32_t> items,
                         View<const float> values) const;
};

// By Gibbs sampling (Salakhutdinov and Mnih 2008, with diagonal precisions and a noise of each
// user's own). The same for any number of threads. Takes 20 bytes a rating while it runs.
TasteSample draw_tastes(const Ratings& ratings, std::uint64_t seed, ThreadTeam& team);

}  // namespace mf::expand
