// Internal: users in up to some thousand buckets of about equal numbers of ratings, planned by a
// sample of them. A bucket has the ids of users from one bound to the next, so that sorting each
// alone sorts all. A sample that misleads costs time alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "datasets/ratings/ids/id_index.hpp"

namespace mf {

// What is known before all ratings were seen.
struct RatingSample {
  std::vector<std::int32_t> users;  // of ratings from all over the file, at least one
  IdRange items;                    // of the same
  std::int64_t count = 0;           // about as many ratings as there are
};

class BucketPlan {
 public:
  BucketPlan() = default;
  explicit BucketPlan(RatingSample sample);

  std::int64_t count() const { return static_cast<std::int64_t>(first_user_.size()); }
  // The least id of bucket b, but for the first: the base of its keys.
  std::int32_t first_user(std::size_t b) const { return first_user_[b]; }

  // Calls body(bucket_of) with a function from ids of users to buckets: the quickest there is.
  template <class Body>
  void with(const Body& body) const {
    if (of_group_.empty()) {
      body([this](std::int32_t user) { return search(user); });
    } else {
      body([table = of_group_.data(), low = low_, high = high_,
            shift = group_shift_](std::int32_t user) -> std::size_t {
        return table[(std::clamp(user, low, high) - low) >> shift];
      });
    }
  }

  // A rating of 32 bits in its bucket: its user less first_user() above its item's lower bits. So
  // many for the item; 0 where users and items of the sample do not fit.
  int item_bits() const { return item_bits_; }
  bool fits(const IdRange& users, const IdRange& items) const {
    return item_bits_ > 0 && users.min >= low_ && users.max <= greatest_user_ &&
           items.max >> item_bits_ == 0;
  }

 private:
  std::size_t search(std::int32_t user) const;
  void group(const std::vector<std::int32_t>& users, std::int64_t wanted);
  void cut(const std::vector<std::int32_t>& users, std::int64_t wanted);

  std::int32_t low_ = 0, high_ = 0;      // of the users in the sample
  std::int32_t greatest_user_ = 0;       // that fits 32 bits
  int group_shift_ = 0;                  // users of equal (id - low) >> this are in one bucket
  std::vector<std::uint16_t> of_group_;  // bucket; none: by search
  std::vector<std::int32_t> first_user_;
  int item_bits_ = 0;
};

}  // namespace mf
