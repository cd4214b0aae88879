// Bands and columns from sums of counts, then a sort by block of ratings in a random order.
#include "algorithms/cumf_sgd/device_grid.hpp"

#include "algorithms/core/cuda/sort_ratings.cuh"
#include "algorithms/cumf_sgd/grid.hpp"

namespace mf::cumf_sgd {
namespace {

struct SetPart {
  const std::int64_t* before;
  std::int64_t parts, nnz;
  std::int32_t* part;

  __device__ void operator()(std::int64_t row) const {
    part[row] = static_cast<std::int32_t>(part_of_row(before[row], parts, nnz));
  }
};

struct BlockOf {
  const std::int32_t* band_of;
  const std::int32_t* column_of;
  std::uint32_t columns;

  __device__ std::uint32_t operator()(std::int32_t user, std::int32_t item) const {
    return static_cast<std::uint32_t>(band_of[user]) * columns +
           static_cast<std::uint32_t>(column_of[item]);
  }
};

struct PutApart {
  std::int32_t* users;
  std::int32_t* items;
  float* values;

  __device__ void operator()(std::int64_t i, const Rating& rating) const {
    users[i] = rating.user;
    items[i] = rating.item;
    values[i] = rating.value;
  }
};

struct BlockAt {
  BlockOf block_of;
  const std::int32_t* users;
  const std::int32_t* items;

  __device__ std::uint32_t operator()(std::int64_t i) const { return block_of(users[i], items[i]); }
};

}  // namespace

DeviceGrid make_device_grid(cuda::DeviceRatings& ratings, std::int64_t bands, std::int64_t columns,
                            std::uint64_t seed, cudaStream_t stream) {
  const cuda::RatingsOfRows rows = ratings.rows();
  const std::int64_t nnz = rows.nnz;
  const std::int64_t n_items = ratings.n_items();
  cuda::StreamBuffer<std::int32_t> band_of(rows.rows, stream), column_of(n_items, stream);
  cuda::for_each_index(rows.rows, SetPart{rows.offsets, bands, nnz, band_of.data()}, "bands",
                       stream);
  cuda::StreamBuffer<std::int64_t> before(n_items, stream);
  if (n_items > 0) {
    cuda::exclusive_sums(ratings.item_counts(stream), before.data(), n_items, stream);
  }
  cuda::for_each_index(n_items, SetPart{before.data(), columns, nnz, column_of.data()}, "columns",
                       stream);
  const BlockOf block_of = {band_of.data(), column_of.data(), static_cast<std::uint32_t>(columns)};
  cuda::RatingSorter<std::uint32_t> sorter(rows, block_of, cuda::bits_of(bands * columns),
                                           grid_order(nnz, seed), stream);
  DeviceGrid grid{cuda::DeviceBuffer<std::int32_t>(nnz), cuda::DeviceBuffer<std::int32_t>(nnz),
                  cuda::DeviceBuffer<float>(nnz),
                  cuda::DeviceBuffer<std::int64_t>(bands * columns + 1)};
  sorter.copy(PutApart{grid.users.data(), grid.items.data(), grid.values.data()});
  cuda::find_begins(BlockAt{block_of, grid.users.data(), grid.items.data()}, nnz, 1,
                    bands * columns, grid.offsets.data(), stream);
  return grid;
}

}  // namespace mf::cumf_sgd
