// Finds the block of each rating, then sorts ratings in random order by block. Bands and columns
// are cut by sums of counts, segments at given places.
#include "algorithms/cumf_sgd/device_grid.hpp"

#include "algorithms/core/cuda/ratings/sort_ratings.cuh"
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
  std::int32_t first_user = 0;

  __device__ void operator()(std::int64_t i, const Rating& rating) const {
    users[i] = first_user + rating.user;
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

struct SetSegment {
  const std::int64_t* cuts;
  std::uint32_t* segment;

  __device__ void operator()(std::int64_t item) const {
    std::uint32_t number = 0;
    while (item >= cuts[number + 1]) ++number;
    segment[item] = number;
  }
};

struct SegmentOf {
  const std::uint32_t* segment;

  __device__ std::uint32_t operator()(std::int32_t, std::int32_t item) const {
    return segment[item];
  }
};

struct SegmentAt {
  const std::uint32_t* segment;
  const std::int32_t* items;

  __device__ std::uint32_t operator()(std::int64_t i) const { return segment[items[i]]; }
};

}  // namespace

DeviceBlocks make_device_blocks(const cuda::RatingsOfRows& rows, std::int64_t first_user,
                                const std::vector<std::int64_t>& cuts, std::uint64_t seed,
                                cudaStream_t stream) {
  const std::int64_t nnz = rows.nnz;
  const std::int64_t n_items = cuts.back();
  const auto blocks = static_cast<std::int64_t>(cuts.size()) - 1;
  const auto where = cuda::upload(View<const std::int64_t>(cuts), stream);
  cuda::StreamBuffer<std::uint32_t> segment(n_items, stream);
  cuda::for_each_index(n_items, SetSegment{where.data(), segment.data()}, "segments", stream);
  cuda::RatingSorter<std::uint32_t> sorter(rows, SegmentOf{segment.data()}, cuda::bits_of(blocks),
                                           grid_order(nnz, seed), stream);
  DeviceBlocks made{cuda::DeviceBuffer<std::int32_t>(nnz), cuda::DeviceBuffer<std::int32_t>(nnz),
                    cuda::DeviceBuffer<float>(nnz), std::vector<std::int64_t>(blocks + 1)};
  sorter.copy(PutApart{made.users.data(), made.items.data(), made.values.data(),
                       static_cast<std::int32_t>(first_user)});
  cuda::DeviceBuffer<std::int64_t> offsets(blocks + 1);
  cuda::find_begins(SegmentAt{segment.data(), made.items.data()}, nnz, 1, blocks, offsets.data(),
                    stream);
  cuda::download(View<std::int64_t>(made.offsets), offsets.data(), stream);
  return made;
}

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
