// Internal: ratings on their way from a file to the matrix, in the memory of one copy. A reader
// gives them by and by, in parts that threads fill beside each other; here they lie in buckets of
// users (bucket_plan.hpp), in the order of the file in each, with the ids of the file.
//
// An element is 8 bytes, or 12 from where a part meets ids that do not fit. Whole cache lines of
// them go to blocks of about a KiB, so that nobody has to count first where each will be.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"
#include "datasets/ratings/ids/id_index.hpp"
#include "datasets/ratings/sort/bucket_plan.hpp"

namespace mf {

// A rating whose key is of 32 bits, and one that needs more.
struct ShortElement {
  static constexpr std::int64_t kLine = 8;     // of them are whole cache lines
  static constexpr std::int64_t kBlock = 128;  // about a KiB of lines
  static constexpr int kKeyBits = 32;
  std::uint32_t low;
  float value;

  std::uint64_t key() const { return low; }
  static ShortElement of(std::uint64_t key, float value) {
    return {static_cast<std::uint32_t>(key), value};
  }
};
struct LongElement {
  static constexpr std::int64_t kLine = 16;
  static constexpr std::int64_t kBlock = 96;
  std::uint32_t low, high;
  float value;

  std::uint64_t key() const { return std::uint64_t{high} << 32 | low; }
  static LongElement of(std::uint64_t key, float value) {
    return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32), value};
  }
};
static_assert(sizeof(ShortElement) == 8 && sizeof(LongElement) == 12);

// A few thousand ratings beside each other, with ids of the file from 0 on.
struct RatingBatch {
  const std::int32_t* users;
  const std::int32_t* items;
  const float* values;
  std::int64_t count;
};

// Memory for blocks, in pieces that threads take. Large regions lie on huge pages; what nobody has
// taken is not touched.
class Arena {
 public:
  static constexpr std::int64_t kPiece = std::int64_t{1} << 16;  // bytes

  // To hold about `bytes`.
  void expect(std::int64_t bytes);
  void* take();  // kPiece bytes on a cache line
  void give_back(ThreadTeam& team);

 private:
  std::mutex mutex_;
  std::vector<AlignedVector<std::byte>> regions_;
  std::int64_t region_ = kPiece;  // bytes
  std::int64_t used_ = 0;         // of the last one
};

// The elements of a part that are of one size, in blocks of one bucket each.
template <class Element>
class Blocks {
 public:
  struct Block {
    const Element* begin;
    std::int64_t count;
  };

  Blocks(const BucketPlan& plan, Arena& arena);
  void add(const RatingBatch& batch);
  // Writes what is left of whole lines. Nothing is added afterwards.
  void close();

  std::int64_t count(std::size_t bucket) const { return counts_[bucket]; }
  std::int64_t blocks(std::size_t bucket) const {
    return first_block_[bucket + 1] - first_block_[bucket];
  }
  Block block(std::size_t bucket, std::int64_t k) const {
    return {blocks_[static_cast<std::size_t>(first_block_[bucket] + k)],
            std::min(Element::kBlock, counts_[bucket] - k * Element::kBlock)};
  }

 private:
  struct alignas(64) Line {
    std::array<Element, static_cast<std::size_t>(Element::kLine)> all;
  };

  void write_line(std::size_t bucket, std::int64_t count);
  Element* new_block(std::size_t bucket);

  const BucketPlan& plan_;
  Arena& arena_;
  std::vector<std::int64_t> counts_;  // of each bucket
  std::vector<Element*> next_;        // where the next line of each goes
  AlignedVector<Line> lines_;         // what is not written yet
  Element* piece_ = nullptr;          // what is free of the last one
  Element* piece_end_ = nullptr;
  std::vector<std::pair<std::uint16_t, Element*>> made_;  // blocks with their buckets, as they came
  std::vector<std::int64_t> first_block_;                 // of each bucket, in blocks_
  std::vector<Element*> blocks_;
};

class RatingParts;

class RatingPart {
 public:
  explicit RatingPart(RatingParts& all) : all_(all) {}
  // In the order of the file.
  void add(const RatingBatch& batch);
  void close();

  std::int64_t count(std::size_t bucket) const;
  std::int64_t count() const { return count_; }
  const IdRange& users() const { return users_; }
  const IdRange& items() const { return items_; }
  bool all_marked() const { return marked_; }
  const Blocks<ShortElement>* first() const { return short_.get(); }  // may be none
  const Blocks<LongElement>* then() const { return long_.get(); }     // may be none

 private:
  RatingParts& all_;
  std::int64_t count_ = 0;
  IdRange users_, items_;
  bool marked_ = true;
  std::unique_ptr<Blocks<ShortElement>> short_;
  std::unique_ptr<Blocks<LongElement>> long_;
};

class RatingParts {
 public:
  RatingParts() = default;
  RatingParts(const RatingParts&) = delete;
  RatingParts& operator=(const RatingParts&) = delete;

  // Once, before any part is asked for.
  void plan(RatingSample sample, std::int64_t parts);
  // Each part by one thread at a time; first come those of the begin of the file.
  RatingPart& part(std::int64_t p) { return *parts_[static_cast<std::size_t>(p)]; }
  std::int64_t count() const { return std::ssize(parts_); }
  std::int64_t ratings() const;  // in all parts, which are closed

  const BucketPlan& buckets() const { return buckets_; }
  // Those of all parts, once they are closed and finish_ids was called.
  const IdIndex& users() const { return users_; }
  const IdIndex& items() const { return items_; }
  void finish_ids(ThreadTeam& team);
  // The memory of all ratings.
  void give_back(ThreadTeam& team) { arena_.give_back(team); }

 private:
  friend class RatingPart;
  template <class Element>
  void mark_blocks(const Blocks<Element>* blocks);
  void mark_again(ThreadTeam& team, const IdRange& users, const IdRange& items);

  BucketPlan buckets_;
  Arena arena_;
  IdIndex users_, items_;
  std::vector<std::unique_ptr<RatingPart>> parts_;
};

// The ids of an element in a bucket of the plan.
inline std::pair<std::int32_t, std::int32_t> ids_of(const ShortElement& e, std::int32_t first_user,
                                                    int item_bits) {
  return {first_user + static_cast<std::int32_t>(e.low >> item_bits),
          static_cast<std::int32_t>(e.low & ((std::uint32_t{1} << item_bits) - 1))};
}
inline std::pair<std::int32_t, std::int32_t> ids_of(const LongElement& e, std::int32_t, int) {
  return {static_cast<std::int32_t>(e.high), static_cast<std::int32_t>(e.low)};
}

}  // namespace mf
