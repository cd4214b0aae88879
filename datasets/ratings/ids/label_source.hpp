// Labels, one byte a rating, by blocks: from an array, or computed anew each time they are needed,
// where that is cheaper than to write a byte a rating and to load it again.
#pragma once

#include <array>
#include <cstdint>

#include "base/view.hpp"

namespace mf {

inline constexpr std::int64_t kLabelBlock = 2048;

class LabelSource {
 public:
  using Block = std::array<std::uint8_t, kLabelBlock>;

  virtual ~LabelSource() = default;
  // The labels of [begin, end), which are at most kLabelBlock: in `scratch`, or where they are.
  virtual const std::uint8_t* block(std::int64_t begin, std::int64_t end, Block& scratch) const = 0;
};

class StoredLabels final : public LabelSource {
 public:
  // Those of the ratings from `first` on.
  explicit StoredLabels(View<const std::uint8_t> labels, std::int64_t first = 0)
      : labels_(labels), first_(first) {}
  const std::uint8_t* block(std::int64_t begin, std::int64_t, Block&) const override {
    return labels_.data() + (begin - first_);
  }

 private:
  View<const std::uint8_t> labels_;
  std::int64_t first_;
};

class SameLabel final : public LabelSource {
 public:
  explicit SameLabel(std::uint8_t label) { block_.fill(label); }
  const std::uint8_t* block(std::int64_t, std::int64_t, Block&) const override {
    return block_.data();
  }

 private:
  Block block_;
};

}  // namespace mf
