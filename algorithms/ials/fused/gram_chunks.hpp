// The rows of a Gram matrix in chunks: it is summed in fp32 over a chunk, in double over chunks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mf::ials {

inline constexpr std::int64_t kMostGramChunks = 256;  // as many as keep the device busy
inline constexpr std::int64_t kFewestChunkRows = 128;

// The rest has fewer rows than a chunk, or than there are chunks. cuBLAS would pick a kernel by
// their number, as row_product.hpp says; launch_sum_gram adds them.
struct GramChunks {
  std::int64_t count;
  std::int64_t rows;  // of each
  std::int64_t rest;  // rows
};

constexpr std::int64_t most_gram_chunks(std::int64_t rows) {
  return std::min(kMostGramChunks, rows / kFewestChunkRows);
}

constexpr GramChunks gram_chunks(std::int64_t rows) {
  const std::int64_t count = most_gram_chunks(rows);
  const std::int64_t of_each = std::max(kFewestChunkRows, rows / kMostGramChunks);
  return {count, of_each, rows - count * of_each};
}

}  // namespace mf::ials
