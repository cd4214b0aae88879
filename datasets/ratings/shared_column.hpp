// A column beside the ratings of a matrix, one entry for each in its order; or none. Copies share
// the entries.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/aligned.hpp"
#include "base/view.hpp"

namespace mf {

template <class T>
struct SharedColumn {
  View<const T> all;
  std::shared_ptr<const void> owner;

  SharedColumn() = default;
  SharedColumn(AlignedVector<T> column)  // NOLINT: a vector is a column
      : SharedColumn(std::make_shared<const AlignedVector<T>>(std::move(column))) {}
  SharedColumn(View<const T> views, std::shared_ptr<const void> of)
      : all(views), owner(std::move(of)) {}
  bool empty() const { return all.empty(); }

 private:
  explicit SharedColumn(std::shared_ptr<const AlignedVector<T>> column)
      : SharedColumn(*column, column) {}
};

}  // namespace mf
