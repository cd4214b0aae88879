// Sums over the elements of all ranks that equal one process's to the last bit: elements are added
// up in blocks of a fixed length, and the sums of the blocks in order. A block is summed by the
// rank in whose part it begins, which gets the rest of it from the ranks after it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/ranks/communicator.hpp"
#include "base/view.hpp"

namespace mf {

// Elements [begin, end) of all: the blocks of one rank.
struct BlockRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

// `parts`: the offsets at which each rank's elements begin, and the end of the last.
inline BlockRange blocks_of(const PartOffsets& parts, int rank, std::int64_t block) {
  const auto next_block = [&](std::int64_t at) {
    return std::min((at + block - 1) / block * block, parts.back());
  };
  return {next_block(parts[rank]), next_block(parts[rank + 1])};
}

// The elements of the blocks of this rank that are not its own: they follow its own ones. All ranks
// together.
template <class T>
AlignedVector<T> rest_of_blocks(View<const T> own, const PartOffsets& parts, std::int64_t block,
                                Communicator& ranks) {
  const int rank = ranks.rank();
  const auto sent = [&](int from, int to) {  // elements of all
    const BlockRange of = blocks_of(parts, to, block);
    const std::int64_t begin = std::max(of.begin, parts[from]);
    return BlockRange{begin, std::max(begin, std::min(of.end, parts[from + 1]))};
  };
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const BlockRange blocks = blocks_of(parts, rank, block);
  AlignedVector<T> rest(
      std::max<std::int64_t>(0, blocks.end - std::max(blocks.begin, parts[rank + 1])));
  std::vector<Outgoing> sends;
  for (int to = 0; to < rank; ++to) {
    const BlockRange out = sent(rank, to);
    if (out.size() > 0)
      sends.push_back({to, own.data() + (out.begin - parts[rank]), out.size() * kBytes});
  }
  std::vector<Incoming> receives;
  for (int from = rank + 1; from < ranks.size(); ++from) {
    const BlockRange in = sent(from, rank);
    if (in.size() > 0)
      receives.push_back({from, rest.data() + (in.begin - parts[rank + 1]), in.size() * kBytes});
  }
  ranks.exchange(sends, receives);
  return rest;
}

// The sums of the blocks of all ranks, in order, on all.
template <class Sum>
std::vector<Sum> sums_of_all(const std::vector<Sum>& own, const PartOffsets& parts,
                             std::int64_t block, Communicator& ranks) {
  PartOffsets of_rank = {0};
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const BlockRange blocks = blocks_of(parts, rank, block);
    of_rank.push_back(of_rank.back() + (blocks.size() + block - 1) / block);
  }
  std::vector<Sum> all(static_cast<std::size_t>(of_rank.back()));
  std::copy(own.begin(), own.end(), all.begin() + of_rank[ranks.rank()]);
  ranks.all_gather(std::span(all), of_rank);
  return all;
}

}  // namespace mf
