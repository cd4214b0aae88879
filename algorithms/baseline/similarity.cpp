#include "algorithms/baseline/similarity.hpp"

#include <algorithm>
#include <cmath>

namespace mf::baseline {
namespace {

constexpr std::int64_t kObjectsPerChunk = 64;
constexpr std::int64_t kObjectsPerPoll = 1 << 14;  // between looks at `stop`

bool is_nearer(const Neighbour& a, const Neighbour& b) {
  return a.similarity != b.similarity ? a.similarity > b.similarity : a.object < b.object;
}

void divide_rows(SparseRows& w, ThreadTeam& team) {
  team.for_each(std::ssize(w.offsets) - 1, kObjectsPerChunk, [&](std::int64_t j) {
    double sum = 0;
    for (auto k = w.offsets[j]; k < w.offsets[j + 1]; ++k) sum += static_cast<double>(w.values[k]);
    const auto by = static_cast<float>(1 / sum);
    for (auto k = w.offsets[j]; k < w.offsets[j + 1]; ++k) w.values[k] *= by;
  });
}

SparseRows flatten(std::vector<std::vector<Neighbour>>& lists, ThreadTeam& team) {
  SparseRows w;
  for (const auto& list : lists) w.offsets.push_back(w.offsets.back() + std::ssize(list));
  w.columns.resize(w.offsets.back());
  w.values.resize(w.offsets.back());
  team.for_each(std::ssize(lists), kObjectsPerChunk, [&](std::int64_t j) {
    auto at = w.offsets[j];
    for (const Neighbour& one : lists[j]) {
      w.columns[at] = one.object;
      w.values[at++] = one.similarity;
    }
    lists[j] = {};
  });
  return w;
}

SparseRows transposed(const SparseRows& w, ThreadTeam& team) {
  const auto n = std::ssize(w.offsets) - 1;
  AlignedVector<std::int32_t> rows(w.offsets.back());
  team.for_each(n, kObjectsPerChunk, [&](std::int64_t j) {
    std::fill(rows.begin() + w.offsets[j], rows.begin() + w.offsets[j + 1],
              static_cast<std::int32_t>(j));
  });
  Csc csc = make_csc(rows, w.columns, w.values, static_cast<std::int32_t>(n), team.size());
  return {std::move(csc.item_offsets), std::move(csc.users), std::move(csc.values)};
}

}  // namespace

Rule knn_rule(const Params& params) {
  const double alpha = params.number("alpha");
  const double beta = params.number("beta");
  const double shrinkage = params.number("shrinkage");
  const auto weights = params.choice("feature_weights", kFeatureWeights);
  switch (params.choice("similarity", kKinds)) {
    case Kind::asymmetric:
      return {Rule::Form::product, alpha, 1 - alpha, shrinkage, weights};
    case Kind::jaccard:
      return {Rule::Form::sum, 1, 1, shrinkage, weights};
    case Kind::tversky:
      return {Rule::Form::sum, alpha, beta, shrinkage, weights};
    case Kind::dot:
      return {Rule::Form::product, 0, 0, shrinkage, weights};
    case Kind::cosine:
      break;
  }
  return {Rule::Form::product, .5, .5, shrinkage, weights};
}

Rule walk_rule(const Params& params) {
  return {Rule::Form::product, params.number("alpha"), params.number("beta"), 0,
          FeatureWeights::walk};
}

void keep_nearest(std::vector<Neighbour>& found, std::int64_t k) {
  if (std::ssize(found) <= k) return;
  std::nth_element(found.begin(), found.begin() + k, found.end(), is_nearer);
  found.resize(k);
}

float Similarity::weight_of(std::int64_t features) const {
  if (rule_.weights != FeatureWeights::bm25) return 1;
  const double length = static_cast<double>(features) / mean_features_;
  return static_cast<float>(2.2 / (1.2 * (.25 + .75 * length) + 1));
}

double Similarity::size_of(View<const std::int32_t> features) const {
  if (rule_.weights == FeatureWeights::walk) return static_cast<double>(features.size());
  double sum = 0;
  for (const auto f : features) sum += squares_[f];
  const auto weight = static_cast<double>(weight_of(features.size()));
  return weight * weight * sum;
}

double Similarity::part(double size, double by) const {
  if (rule_.form == Rule::Form::sum) return by * size;
  return by == .5 ? std::sqrt(size) : std::pow(size, by);
}

void Similarity::weigh(ThreadTeam& team) {
  const auto objects = products_.n_objects();
  squares_.assign(products_.n_features(), 1);
  double pairs = 0;
  for (std::int64_t f = 0; f < std::ssize(squares_); ++f) {
    const auto count = static_cast<double>(products_.objects(f).size());
    pairs += count;
    if (rule_.weights == FeatureWeights::walk) {
      squares_[f] = std::pow(std::max(count, 1.0), -rule_.a);
    } else if (rule_.weights != FeatureWeights::none) {
      const double weight = std::max(0.0, std::log(static_cast<double>(objects) / (1 + count)));
      squares_[f] = weight * weight;
    }
  }
  mean_features_ = pairs / static_cast<double>(objects);
  object_weights_.resize(objects);
  rows_.resize(objects);
  columns_.resize(objects);
  team.for_each(objects, 1024, [&](std::int64_t j) {
    const auto features = products_.features(j);
    const double size = size_of(features);
    object_weights_[j] = weight_of(features.size());
    rows_[j] = part(size, rule_.a);
    columns_[j] = part(size, rule_.b);
  });
}

void Similarity::find(View<const std::int32_t> features, Of of, Workspace& work) const {
  const auto objects = products_.n_objects();
  work.sums.resize(objects, 0);
  work.objects.resize(objects + 1);
  // Written whether it is new or not: a branch here is taken as often as not.
  std::int64_t count = 0;
  products_.for_products(features, objects, [&](std::int32_t i, std::int32_t f) {
    work.objects[count] = i;
    count += work.sums[i] == 0 && squares_[f] > 0 ? 1 : 0;
    work.sums[i] += squares_[f];
  });
  work.found.clear();
  const double size = size_of(features);
  const double mine = part(size, of == Of::rows ? rule_.a : rule_.b);
  const View<const double> theirs = parts(of == Of::rows ? Of::columns : Of::rows);
  const double weight = static_cast<double>(weight_of(features.size()));
  for (std::int64_t n = 0; n < count; ++n) {
    const auto i = work.objects[n];
    const double p = work.sums[i] * weight * static_cast<double>(object_weights_[i]);
    work.found.push_back({i, rule_.similarity(p, mine, theirs[i])});
    work.sums[i] = 0;
  }
}

std::vector<std::vector<Neighbour>> Similarity::find_nearest(
    std::int64_t k, Of of, ThreadTeam& team, const std::function<bool()>& stop) const {
  const auto objects = products_.n_objects();
  std::vector<std::vector<Neighbour>> nearest(objects);
  for (std::int64_t first = 0; first < objects; first += kObjectsPerPoll) {
    if (stop && stop()) break;
    const auto count = std::min(kObjectsPerPoll, objects - first);
    team.for_chunks(count, kObjectsPerChunk, [&](std::int64_t begin, std::int64_t end) {
      Workspace work;
      for (auto j = first + begin; j < first + end; ++j) {
        find(products_.features(j), of, work);
        std::erase_if(work.found, [j](const Neighbour& one) { return one.object == j; });
        keep_nearest(work.found, k);
        nearest[j] = std::vector(work.found.begin(), work.found.end());
      }
    });
  }
  return nearest;
}

SparseRows assemble(std::vector<std::vector<Neighbour>> nearest, Of of,
                    std::optional<Of> normalized, ThreadTeam& team) {
  SparseRows w = flatten(nearest, team);
  if (normalized == of) divide_rows(w, team);
  if (normalized && normalized != of) {
    w = transposed(w, team);
    divide_rows(w, team);
    w = transposed(w, team);
  }
  return of == Of::rows ? std::move(w) : transposed(w, team);
}

}  // namespace mf::baseline
