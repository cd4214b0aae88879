// Factors and biases as the inner loops want them (see Rows): rows padded to whole cache lines, in
// any order of the users and items.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/core/model.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "algorithms/sgd_cpu/kernel.hpp"
#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf::sgd_cpu {

class RowStore {
 public:
  RowStore() = default;

  // Row x of these ranges holds user user_of_row[x] (item item_of_row[x]) of `initial`. Empty
  // views: the identity. The rest of the rows has no value and takes no memory, until it is
  // written.
  RowStore(const Model& initial, View<const std::int32_t> user_of_row,
           View<const std::int32_t> item_of_row, RowRange users, RowRange items, ThreadTeam& team);

  Rows rows();

  // The data of users (items): rows `stride` floats apart.
  struct Table {
    float* data;
    std::int64_t stride;
  };
  std::vector<Table> user_tables() { return tables(users_); }
  std::vector<Table> item_tables() { return tables(items_); }

  double mean() const { return shape_.biased() ? shape_.mean : 0; }

  // Only meaningful while the rows are in the order of the users and items.
  FactorView view() const;

  // The same numbers in the order of the users and items: row x goes to user_of_row[x].
  void unpermute_into(RowStore& to, View<const std::int32_t> user_of_row,
                      View<const std::int32_t> item_of_row, ThreadTeam& team) const;

 private:
  struct Side {
    AlignedVector<float> rows, bias;
  };
  std::vector<Table> tables(Side& side) const;

  ModelShape shape_;
  std::int64_t stride_ = 0;
  Side users_, items_;
};

}  // namespace mf::sgd_cpu
