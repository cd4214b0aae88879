// The memory that an algorithm takes, in a few numbers (AlgorithmInfo::memory), which `mfbench
// plan` multiplies by the sizes of a case. tests/test_plan.py compares it with the peaks of
// results/reference.
#pragma once

namespace mf {

// Bytes.
struct BytesOf {
  double preparing = 0;  // of a rating while the case is prepared
  double rating = 0;     // of a rating from then on
  double number = 0;     // of a number of P and Q
  double row = 0;        // of a user or item, beside its numbers
  double item_pair = 0;  // of a pair of items
  double batch_row = 0;  // of a row of the longer side, for as many rows as there is room for
  double fixed = 0;
};

struct MemoryUse {
  BytesOf host = {};  // beside the ratings, the initial factors included
  BytesOf device = {};
};

}  // namespace mf
