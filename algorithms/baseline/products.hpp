// X, with x_ui 1 if user u was observed with item i, as lists of both sides. The rows of one side
// are the objects that are compared, the other side has their features: products of objects are
// elements of X^T X for items, of X X^T for users.
#pragma once

#include <cstdint>

#include "datasets/ratings/ratings.hpp"

namespace mf::baseline {

enum class Side { users, items };

// The number of products of pairs of objects over all their features.
double count_products(const Ratings& train, Side objects = Side::items);

class Products {
 public:
  // Without the pairs whose value is not above 0.
  struct Lists {
    AlignedVector<std::int64_t> offsets = {0};
    AlignedVector<std::int32_t> of;

    Lists() = default;
    Lists(View<const std::int64_t> all_offsets, View<const std::int32_t> all,
          View<const float> values);
    std::int64_t size() const { return std::ssize(offsets) - 1; }
    View<const std::int32_t> row(std::int64_t r) const {
      return {of.data() + offsets[r], offsets[r + 1] - offsets[r]};
    }
  };

  Products() = default;
  Products(const Ratings& train, Side objects, int threads);

  std::int64_t n_objects() const { return features_.size(); }
  std::int64_t n_features() const { return objects_.size(); }
  // Ascending.
  View<const std::int32_t> features(std::int64_t object) const { return features_.row(object); }
  View<const std::int32_t> objects(std::int64_t feature) const { return objects_.row(feature); }
  const Lists& features() const { return features_; }  // of all objects
  const Lists& objects() const { return objects_; }    // of all features

  // Calls add(i, f) for the objects i < end of each of these features f, in their order; the
  // objects of a feature ascend.
  template <class Add>
  void for_products(View<const std::int32_t> features, std::int64_t end, const Add& add) const {
    for (const auto f : features) {
      for (const auto i : objects(f)) {
        if (i >= end) break;
        add(i, f);
      }
    }
  }

 private:
  Lists features_, objects_;
};

}  // namespace mf::baseline
