#include "datasets/ratings/sort/bucket_plan.hpp"

#include <bit>
#include <limits>

namespace mf {
namespace {

constexpr int kGroupBits = 13;                      // groups: their table stays in a cache
constexpr std::int64_t kMaxBuckets = 1024;          // a line of each is written at a time
constexpr std::int64_t kBucketRatings = 32 * 1024;  // twice, within an L2 cache
// So many times the ratings that a bucket should have are too many for a group of users.
constexpr std::int64_t kUneven = 4;

int bits_of(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

}  // namespace

BucketPlan::BucketPlan(RatingSample sample) {
  std::vector<std::int32_t>& users = sample.users;
  std::sort(users.begin(), users.end());
  low_ = users.front();
  high_ = users.back();
  const std::int64_t wanted =
      std::clamp<std::int64_t>(sample.count / kBucketRatings, 1, kMaxBuckets);
  group(users, wanted);
  if (of_group_.empty()) cut(users, wanted);
  std::int64_t widest = 1;
  for (std::size_t b = 0; b < first_user_.size(); ++b) {
    const std::int64_t end =
        b + 1 < first_user_.size() ? first_user_[b + 1] : std::int64_t{high_} + 1;
    widest = std::max(widest, end - first_user_[b]);
  }
  const int user_bits = bits_of(widest - 1);
  if (user_bits + bits_of(std::max(sample.items.max, 0)) > 32) return;
  item_bits_ = std::min(32 - user_bits, 31);
  greatest_user_ = static_cast<std::int32_t>(
      std::min<std::int64_t>(first_user_.back() + (std::int64_t{1} << (32 - item_bits_)) - 1,
                             std::numeric_limits<std::int32_t>::max()));
}

// Buckets of whole groups, unless some group would be far too large a bucket.
void BucketPlan::group(const std::vector<std::int32_t>& users, std::int64_t wanted) {
  const std::int64_t count = std::ssize(users);
  group_shift_ = std::max(0, bits_of(std::int64_t{high_} - low_) - kGroupBits);
  std::vector<std::int64_t> counts(
      static_cast<std::size_t>(((std::int64_t{high_} - low_) >> group_shift_) + 1), 0);
  for (const std::int32_t user : users) {
    ++counts[static_cast<std::size_t>((std::int64_t{user} - low_) >> group_shift_)];
  }
  const std::int64_t target = (count + wanted - 1) / wanted;
  if (group_shift_ > 0 && *std::max_element(counts.begin(), counts.end()) > kUneven * target)
    return;
  std::int64_t in_bucket = target;  // the first group begins the first bucket
  for (std::size_t g = 0; g < counts.size(); ++g) {
    if (in_bucket + counts[g] / 2 >= target && std::ssize(first_user_) < wanted) {
      first_user_.push_back(
          static_cast<std::int32_t>(low_ + (static_cast<std::int64_t>(g) << group_shift_)));
      in_bucket = 0;
    }
    in_bucket += counts[g];
    of_group_.push_back(static_cast<std::uint16_t>(first_user_.size() - 1));
  }
}

// Buckets between equally many users of the sample, wherever they lie.
void BucketPlan::cut(const std::vector<std::int32_t>& users, std::int64_t wanted) {
  first_user_ = {low_};
  for (std::int64_t b = 1; b < wanted; ++b) {
    const std::int32_t user = users[static_cast<std::size_t>(b * std::ssize(users) / wanted)];
    if (user > first_user_.back()) first_user_.push_back(user);
  }
}

// The last bucket that begins at `user` or before it, or the first.
std::size_t BucketPlan::search(std::int32_t user) const {
  const auto next = std::upper_bound(first_user_.begin() + 1, first_user_.end(), user);
  return static_cast<std::size_t>(next - first_user_.begin()) - 1;
}

}  // namespace mf
