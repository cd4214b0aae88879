#include "algorithms/core/model.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/core/params.hpp"
#include "base/error.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/rating_facts.hpp"

namespace mf {
namespace {

// Streams of the initial factors; users and items must never share random numbers.
constexpr std::uint64_t kUserStream = std::uint64_t{1} << 40;
constexpr std::uint64_t kItemStream = std::uint64_t{2} << 40;

constexpr std::int64_t kRowsPerChunk = 4096;

// A mean below this share of the deviation is too small to start from: factors from it would start
// beside the saddle point P = Q = 0, or in it.
constexpr double kLeastMean = 0.01;

UniformRange uniform_range(const RatingLevel& level, std::int32_t factors, bool of_items) {
  if (level.mean > kLeastMean * level.deviation) {
    return {0, 2 * std::sqrt(level.mean / factors), 1};
  }
  const double middle = std::sqrt(std::abs(level.mean) / factors);
  const double half = std::max(middle, std::sqrt(level.deviation / factors));
  return {middle - half, 2 * half, of_items && level.mean < 0 ? -1.0 : 1.0};
}

void fill_rows(AlignedVector<float>& rows, std::int32_t count, const InitialRows& rule,
               ThreadTeam& team) {
  rows.resize(std::int64_t{count} * rule.factors);
  team.for_chunks(count, kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    float* out = rows.data() + begin * rule.factors;
    for (std::int64_t row = begin; row < end; ++row) {
      Rng rng = rule.row(row);
      for (std::int32_t k = 0; k < rule.factors; ++k) *out++ = rule.element(rng);
    }
  });
}

void copy_rows(AlignedVector<float>& out, const float* from, std::int64_t stride,
               std::int32_t count, std::int32_t width) {
  out.resize(std::int64_t{count} * width);
  for (std::int64_t row = 0; row < count; ++row) {
    std::copy_n(from + row * stride, width, out.data() + row * width);
  }
}

}  // namespace

FactorView make_view(const ModelShape& shape, Location location, const float* p, const float* q,
                     std::int64_t stride, const float* user_bias, const float* item_bias) {
  FactorView view;
  view.location = location;
  view.n_users = shape.n_users;
  view.n_items = shape.n_items;
  view.factors = shape.factors;
  view.p = p;
  view.q = q;
  view.p_stride = view.q_stride = stride;
  if (shape.biased()) {
    view.user_bias = user_bias;
    view.item_bias = item_bias;
    view.mean = shape.mean;
  }
  return view;
}

ModelKind model_kind(const Params& params) {
  return params.has("model") ? params.choice("model", kModelKinds) : ModelKind::plain;
}

FactorView Model::view() const {
  return make_view(*this, Location::host, p.data(), q.data(), factors, user_bias.data(),
                   item_bias.data());
}

Model copy_model(const FactorView& view) { return packed_model(view, copy_rows); }

Model model_to_make(std::int32_t n_users, std::int32_t n_items, std::int32_t factors,
                    ModelKind kind, const RatingLevel& level, const InitSpec& init) {
  Model model;
  model.kind = kind;
  model.n_users = n_users;
  model.n_items = n_items;
  model.factors = factors;
  model.mean = kind == ModelKind::biased ? level.mean : 0;
  model.rule = {{init.kind, init.scale, init.seed, kUserStream, factors,
                 uniform_range(level, factors, false)},
                {init.kind, init.scale, init.seed, kItemStream, factors,
                 uniform_range(level, factors, true)}};
  if (kind == ModelKind::biased) {
    model.user_bias.assign(n_users, 0.0F);
    model.item_bias.assign(n_items, 0.0F);
  }
  return model;
}

void make_rows(Model& model, ThreadTeam& team) {
  if (!model.rule) return;
  fill_rows(model.p, model.n_users, model.rule->users, team);
  fill_rows(model.q, model.n_items, model.rule->items, team);
  model.rule.reset();
}

Model initial_model(std::int32_t n_users, std::int32_t n_items, std::int32_t factors,
                    ModelKind kind, const RatingLevel& level, const InitSpec& init, int threads) {
  Model model = model_to_make(n_users, n_items, factors, kind, level, init);
  ThreadTeam team(threads);
  make_rows(model, team);
  return model;
}

Model start_of(const Params& params, const Ratings& train, const RatingLevel& level,
               const InitSpec& init) {
  const auto factors =
      params.has("factors") ? static_cast<std::int32_t>(params.integer("factors")) : 0;
  return model_to_make(train.n_users(), train.n_items(), factors, model_kind(params), level, init);
}

Model initial_model_of(const Params& params, const Ratings& train, const InitSpec& init,
                       int threads) {
  ThreadTeam team(threads);
  const MeanAndDeviation level = mean_and_deviation(train, team);
  Model model = start_of(params, train, {level.mean, level.deviation}, init);
  make_rows(model, team);
  return model;
}

}  // namespace mf
