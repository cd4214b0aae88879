// Factors and biases, and a view of them wherever they are.
//
// biased model:  r_hat(u, i) = mu + b_u + c_i + p_u . q_i
// plain model:   r_hat(u, i) = p_u . q_i
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/core/initial_rule.hpp"
#include "base/aligned.hpp"
#include "base/json/names.hpp"

namespace mf {

class HistoryScores;
class Params;
class Ratings;
class ThreadTeam;

enum class ModelKind { biased, plain };
inline constexpr Names kModelKinds{
    std::to_array<Named<ModelKind>>({{"biased", ModelKind::biased}, {"plain", ModelKind::plain}})};

// By the parameter `model`; an algorithm without one is plain.
ModelKind model_kind(const Params& params);

// The memory of a view's numbers.
enum class Location { host, device };

// A read-only view of fp32 factors: element k of user u is p[u * p_stride + k], k in [0, factors).
// Bias pointers are null for the plain model; b_u = user_bias[u * user_bias_stride].
struct FactorView {
  Location location = Location::host;
  std::int32_t n_users = 0;
  std::int32_t n_items = 0;
  std::int32_t factors = 0;
  const float* p = nullptr;
  const float* q = nullptr;
  std::int64_t p_stride = 0;
  std::int64_t q_stride = 0;
  const float* user_bias = nullptr;
  const float* item_bias = nullptr;
  std::int64_t user_bias_stride = 1;
  std::int64_t item_bias_stride = 1;
  double mean = 0;  // mu; 0 for the plain model
  // For a sampler (AlgorithmInfo::samples): this is the k-th draw after burn-in. 0: no such draw.
  std::int64_t draw = 0;
  // For a model that scores users by their histories (history_scores.hpp); it has neither factors
  // nor biases. Null: it has.
  const HistoryScores* scores = nullptr;
};

// The shape of a model, without its numbers.
struct ModelShape {
  ModelKind kind = ModelKind::biased;
  std::int32_t n_users = 0;
  std::int32_t n_items = 0;
  std::int32_t factors = 0;
  double mean = 0;  // mu; not used by the plain model

  bool biased() const { return kind == ModelKind::biased; }
};

// A view of a model of this shape: rows of P and Q are `stride` numbers apart, biases one. A plain
// model's are ignored.
FactorView make_view(const ModelShape& shape, Location location, const float* p, const float* q,
                     std::int64_t stride, const float* user_bias = nullptr,
                     const float* item_bias = nullptr);

// How to make P and Q.
struct InitialRule {
  InitialRows users, items;
};

// Host storage of a model: rows packed (stride = factors).
struct Model : ModelShape {
  // If set, p and q are empty: their users make the elements, on the device (cuda/initial_rows.hpp)
  // or by make_rows().
  std::optional<InitialRule> rule;
  AlignedVector<float> p;          // n_users x factors
  AlignedVector<float> q;          // n_items x factors
  AlignedVector<float> user_bias;  // n_users, empty for the plain model
  AlignedVector<float> item_bias;  // n_items, empty for the plain model

  FactorView view() const;
};

// A model of the view's shape, its packed rows filled by
// copy(to, from, stride, count, width): `count` rows of `width` numbers, `stride` apart in `from`.
template <class Copy>
Model packed_model(const FactorView& view, Copy&& copy) {
  Model model;
  model.kind = view.user_bias == nullptr ? ModelKind::plain : ModelKind::biased;
  model.n_users = view.n_users;
  model.n_items = view.n_items;
  model.factors = view.factors;
  model.mean = view.mean;
  copy(model.p, view.p, view.p_stride, view.n_users, view.factors);
  copy(model.q, view.q, view.q_stride, view.n_items, view.factors);
  if (model.kind == ModelKind::biased) {
    copy(model.user_bias, view.user_bias, view.user_bias_stride, view.n_users, 1);
    copy(model.item_bias, view.item_bias, view.item_bias_stride, view.n_items, 1);
  }
  return model;
}

// Copies a host view.
Model copy_model(const FactorView& view);

struct InitSpec {
  InitKind kind = InitKind::normal;
  double scale = 0.1;
  std::uint64_t seed = 1;
};

// The level of the ratings before training: their mean mu and standard deviation d. A mean without
// a deviation is a level, too.
struct RatingLevel {
  RatingLevel(double mean_of_all, double deviation_of_all = 0)
      : mean(mean_of_all), deviation(deviation_of_all) {}

  double mean;
  double deviation;
};

// P and Q from different streams of (seed, row): the same for any number of threads. Biases start
// at 0, the mean of a biased model at the level's.
//
// Elements of InitKind::uniform are from U[0, 2 sqrt(mu / f)). If mu is not above d / 100, too
// small to start from, they are from U[c - h, c + h) with c = sqrt(|mu| / f) and h = max(c, sqrt(d
// / f)), Q's times the sign of mu: products start at mu as well.
Model initial_model(std::int32_t n_users, std::int32_t n_items, std::int32_t factors,
                    ModelKind kind, const RatingLevel& level, const InitSpec& init, int threads);

// The same with a rule instead of P and Q; make_rows() follows it.
Model model_to_make(std::int32_t n_users, std::int32_t n_items, std::int32_t factors,
                    ModelKind kind, const RatingLevel& level, const InitSpec& init);
void make_rows(Model& model, ThreadTeam& team);

// The start of an algorithm with these parameters (`factors`, `model`).
Model initial_model_of(const Params& params, const Ratings& train, const InitSpec& init,
                       int threads);
// The same with a rule, for prepare_algorithm(). `level` is of the values of `train`, found once
// for a split (datasets/ratings/rating_facts.hpp).
Model start_of(const Params& params, const Ratings& train, const RatingLevel& level,
               const InitSpec& init);

}  // namespace mf
