// Objective and ranking for factors in device memory. In a build without CUDA the constructors
// throw Error(unsupported).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "algorithms/core/device_stream.hpp"
#include "algorithms/core/model.hpp"
#include "base/aligned.hpp"
#include "base/host_device.hpp"
#include "base/view.hpp"
#include "harness/evaluate/implicit_objective.hpp"
#include "harness/evaluate/ranking.hpp"

namespace mf {

// The same sum as ImplicitObjective::evaluate, but the products of the observed pairs are rounded
// to single precision; sums are double, in an order that depends only on the sizes.
//
// Work at m = 138,000, n = 26,744, f = 128, nnz = 20 M: the Grams 5.4 GFLOP in double by cuBLAS,
// 0.1 ms; the pairs read 10 GB of rows of Y from the L2 cache, 1.2 ms at 8.7 TB/s.
class DeviceObjective {
 public:
  // Uploads the training part.
  DeviceObjective(const ImplicitObjective& objective, DeviceStream stream);
  ~DeviceObjective();
  DeviceObjective(const DeviceObjective&) = delete;
  DeviceObjective& operator=(const DeviceObjective&) = delete;

  // Queues the work beside the stream, after its work so far; the model stays until finish() has
  // waited for the sum.
  void begin(const FactorView& model, DeviceStream stream);
  double finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The place of a ranked user's row: a row of P; slot s of the folded-in rows as -1 - s; or nowhere,
// which is a row of zeros.
struct RankedRow {
  static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::min();
  MF_HD static constexpr std::int32_t folded(std::int32_t slot) { return -1 - slot; }
  MF_HD static constexpr std::int32_t slot_of(std::int32_t row) { return -1 - row; }
};

// The scores of DeviceRanking.
struct DeviceScores {
  FactorView model;          // in device memory
  View<const float> folded;  // host: slots x factors
  View<const float> items;   // host: n_items x (factors + 1) if users have an extra column
};

// rank_items on the device. cuBLAS computes scores in fp16 on tensor cores (narrow_rows.cuh). A
// block for each user selects candidates, and scores them again in fp32 if their order is open
// (top_items.cuh). Users with too many candidates are ranked by scores in fp32.
//
// Floor at 29,858 x 40,981 on an H200: 2.4 GB of scores written once and read once at 4.24 TB/s,
// 1.15 ms; beside it f = 64, 256, 1,024: 0.16, 0.63, 2.5 TFLOP at 740 TFLOP/s, .2, .8, 3.4 ms. One
// after another 1.4, 2.0, 4.6 ms.
class DeviceRanking {
 public:
  // `rows` and `extra`: for each ranked user; `extra` is empty if rows are only the factors.
  DeviceRanking(const RankedUsers& users, View<const std::int32_t> rows, View<const float> extra,
                DeviceStream stream);
  ~DeviceRanking();
  DeviceRanking(const DeviceRanking&) = delete;
  DeviceRanking& operator=(const DeviceRanking&) = delete;

  // As rank_items; waits for the stream.
  RankedItems rank(const DeviceScores& scores, DeviceStream stream,
                   AlignedVector<std::int32_t>* top = nullptr);
  // Of the last rank(): users by scores in fp32.
  std::int64_t ranked_exactly() const;

  // By a history a ranked user: the score of item i is the sum over its items j of W_ji, in fp32;
  // W: a row of n_items for each item that a history has, in device memory. Waits for the stream.
  //
  // Floor: a row of W a pair, 0.81 M x 164 kB = 133 GB on gowalla, 31 ms at 4.24 TB/s.
  RankedItems rank(const float* weights, std::int32_t n_items, const ItemLists& histories,
                   DeviceStream stream, AlignedVector<std::int32_t>* top = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Most bytes of scores on the device at a time; one user's if that is more.
inline constexpr std::int64_t kScoreBytes = std::int64_t{256} << 20;

// Rows of a Gram that are converted to double at a time.
inline constexpr std::int64_t kGramBlock = 8192;

// Users whose scores, of row_bytes each, are on the device at a time.
std::int64_t users_of_tile(std::int64_t n_users, std::int64_t row_bytes);

}  // namespace mf
