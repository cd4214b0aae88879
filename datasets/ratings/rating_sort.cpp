// Users are grouped, groups into up to a thousand buckets of about equal numbers of ratings. One
// pass counts the ratings of each group, one moves them to their buckets, where a rating is one
// element: the index of its user within the bucket and that of its item in one key, and its value.
// Each bucket is then sorted by that key inside a cache, and written out as columns. So the memory
// sees 4 bytes a rating read to count, 12 read and 8 written to move, 8 read and 12 written to
// sort.
#include "datasets/ratings/rating_sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "base/pages.hpp"
#include "datasets/ratings/bucket_sort.hpp"

namespace mf {
namespace {

constexpr int kGroupBits = 13;                      // groups: their counters stay in a cache
constexpr std::int64_t kMaxBuckets = 1024;          // a line of each is written at a time
constexpr std::int64_t kBucketRatings = 32 * 1024;  // twice, within an L2 cache

// A rating whose key is of 32 bits, and one that needs more.
struct Short {
  static constexpr std::int64_t kLine = 8;  // of them are whole cache lines
  static constexpr int kKeyBits = 32;
  std::uint32_t low;
  float value;

  std::uint64_t key() const { return low; }
  static Short of(std::uint64_t key, float value) {
    return {static_cast<std::uint32_t>(key), value};
  }
};
struct Long {
  static constexpr std::int64_t kLine = 16;
  std::uint32_t low, high;
  float value;

  std::uint64_t key() const { return std::uint64_t{high} << 32 | low; }
  static Long of(std::uint64_t key, float value) {
    return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32), value};
  }
};
static_assert(sizeof(Short) == 8 && sizeof(Long) == 12);

struct BucketPlan {
  int group_shift = 0;                   // users >> group_shift are groups
  int item_bits = 0;                     // of a key; its upper bits are the user's
  int key_bits = 0;                      // of the longest key
  std::int64_t chunk = 0;                // ratings that are counted and moved together
  std::vector<std::uint16_t> of_group;   // bucket
  std::vector<std::int32_t> first_user;  // of each bucket; then the number of users
  std::vector<std::int64_t> first;       // rating of each bucket; then the number of ratings
  std::vector<std::vector<std::int64_t>> cursors;  // of each chunk: where its next of a bucket goes

  std::int64_t count() const { return std::ssize(first_user) - 1; }
};

// How many ratings of each group each chunk has.
using GroupCounts = std::vector<std::vector<std::int64_t>>;

GroupCounts count_groups(View<const std::int32_t> ids, const IdIndex& users, const BucketPlan& plan,
                         std::int64_t n_groups, ThreadTeam& team) {
  GroupCounts counts(static_cast<std::size_t>((ids.size() + plan.chunk - 1) / plan.chunk));
  team.for_chunks(ids.size(), plan.chunk, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> own(static_cast<std::size_t>(n_groups), 0);
    users.with([&](const auto& index) {
      for (std::int64_t i = begin; i < end; ++i)
        ++own[static_cast<std::size_t>(index(ids[i]) >> plan.group_shift)];
    });
    counts[static_cast<std::size_t>(begin / plan.chunk)] = std::move(own);
  });
  return counts;
}

// Where the ratings of each group begin; then their number.
std::vector<std::int64_t> group_offsets(const GroupCounts& counts, std::int64_t n_groups) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(n_groups) + 1, 0);
  for (const auto& own : counts) {
    for (std::size_t g = 0; g < own.size(); ++g) offsets[g + 1] += own[g];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

void set_cursors(BucketPlan& plan, const GroupCounts& counts) {
  std::vector<std::int64_t> at(plan.first.begin(), plan.first.end() - 1);
  for (const auto& own : counts) {
    plan.cursors.push_back(at);
    for (std::size_t g = 0; g < own.size(); ++g) at[plan.of_group[g]] += own[g];
  }
}

BucketPlan plan_buckets(const RawRatings& raw, const IdIndex& users, const IdIndex& items,
                        ThreadTeam& team) {
  const std::int64_t count = std::ssize(raw.values);
  BucketPlan plan;
  plan.chunk = std::max<std::int64_t>(count / (4 * team.size()) + 1, 1 << 14);
  const auto last_user = static_cast<std::uint32_t>(users.size() - 1);
  plan.group_shift = std::max(0, static_cast<int>(std::bit_width(last_user)) - kGroupBits);
  const std::int64_t n_groups = (last_user >> plan.group_shift) + 1;
  const GroupCounts counts = count_groups(raw.users, users, plan, n_groups, team);
  const auto offsets = group_offsets(counts, n_groups);
  // cut_rows leaves a run up to a group short of its target: two neighbours always exceed it, so
  // there are at most 2 * count / target + 1 runs.
  const auto cuts = cut_rows(offsets, std::max(kBucketRatings, 2 * count / (kMaxBuckets - 1) + 1));
  plan.of_group.resize(static_cast<std::size_t>(n_groups));
  std::int64_t most_users = 1;
  for (std::size_t b = 0; b < cuts.size(); ++b) {
    const std::int64_t first = std::int64_t{cuts[b]} << plan.group_shift;
    plan.first_user.push_back(
        static_cast<std::int32_t>(std::min(first, std::int64_t{users.size()})));
    plan.first.push_back(offsets[static_cast<std::size_t>(cuts[b])]);
    if (b == 0) continue;
    most_users = std::max<std::int64_t>(most_users, plan.first_user[b] - plan.first_user[b - 1]);
    std::fill(plan.of_group.begin() + cuts[b - 1], plan.of_group.begin() + cuts[b],
              static_cast<std::uint16_t>(b - 1));
  }
  plan.item_bits = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(items.size() - 1)));
  plan.key_bits =
      plan.item_bits + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most_users - 1)));
  set_cursors(plan, counts);
  return plan;
}

// Moves ratings to their buckets by whole cache lines, which are filled beside each other first: a
// line of each of a thousand buckets is a thousand pages, more than a TLB holds.
template <class Element>
class Scatter {
 public:
  Scatter(const BucketPlan& plan, std::vector<std::int64_t> cursors, Element* target)
      : plan_(plan),
        cursors_(std::move(cursors)),
        first_(cursors_),
        lines_(std::ssize(cursors_)),
        target_(target) {}

  template <class Users, class Items>
  void operator()(const RawRatings& raw, std::int64_t begin, std::int64_t end, const Users& users,
                  const Items& items) {
    const int group_shift = plan_.group_shift;
    const int item_bits = plan_.item_bits;
    const std::uint16_t* const of_group = plan_.of_group.data();
    const std::int32_t* const first_user = plan_.first_user.data();
    const std::int32_t* const user_ids = raw.users.data();
    const std::int32_t* const item_ids = raw.items.data();
    const float* const values = raw.values.data();
    std::int64_t* const cursors = cursors_.data();
    Line* const lines = lines_.data();
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t user = users(user_ids[i]);
      const std::size_t bucket = of_group[user >> group_shift];
      const auto own = static_cast<std::uint64_t>(user - first_user[bucket]);
      const std::uint64_t key = own << item_bits | static_cast<std::uint32_t>(items(item_ids[i]));
      const std::size_t place = static_cast<std::size_t>(cursors[bucket]++) % kLine;
      lines[bucket].all[place] = Element::of(key, values[i]);
      if (place == kLine - 1) flush(bucket);
    }
    for (std::size_t b = 0; b < cursors_.size(); ++b) {
      if (cursors_[b] % kLine != 0) flush(b);
    }
  }

 private:
  static constexpr std::int64_t kLine = Element::kLine;
  struct alignas(64) Line {
    std::array<Element, static_cast<std::size_t>(kLine)> all;
  };

  // Copies what the line of the last rating holds, or as much of it as is this object's.
  void flush(std::size_t bucket) {
    const std::int64_t end = cursors_[bucket];
    const std::int64_t line_begin = (end - 1) / kLine * kLine;
    const Line& line = lines_[static_cast<std::int64_t>(bucket)];
    if (end - line_begin == kLine && first_[bucket] <= line_begin) {
      std::memcpy(target_ + line_begin, line.all.data(), sizeof line.all);  // of a known size
      return;
    }
    const std::int64_t begin = std::max(line_begin, first_[bucket]);
    if (begin < end)
      std::copy_n(line.all.data() + (begin - line_begin), end - begin, target_ + begin);
  }

  const BucketPlan& plan_;
  std::vector<std::int64_t> cursors_, first_;
  AlignedVector<Line> lines_;
  Element* target_;
};

// A digit of the keys.
struct Digit {
  int shift = 0;
  int bits = 0;
};

// Digits of bits [begin, end), least significant first, of at most 11 bits each.
void add_digits(std::vector<Digit>& digits, int begin, int end) {
  constexpr int kMaxBits = 11;
  const int bits = end - begin;
  const int passes = (bits + kMaxBits - 1) / kMaxBits;
  for (int p = 0; p < passes; ++p) {
    const int from = bits * p / passes;
    digits.push_back({begin + from, bits * (p + 1) / passes - from});
  }
}

// What of the order is there already, in the order of the file.
struct Order {
  bool whole = true;
  bool of_items = true;
};

template <class Element>
Order order_of(const Element* all, std::int64_t count, int item_bits) {
  const std::uint64_t items = (std::uint64_t{1} << item_bits) - 1;
  Order order;
  for (std::int64_t i = 1; i < count && (order.whole || order.of_items); ++i) {
    const std::uint64_t before = all[i - 1].key();
    const std::uint64_t key = all[i].key();
    order.whole = order.whole && before <= key;
    order.of_items = order.of_items && (before & items) <= (key & items);
  }
  return order;
}

template <class Element>
class BucketSort {
 public:
  BucketSort(const BucketPlan& plan, Element* elements, RawRatings& out, SortedRows& rows)
      : plan_(plan), elements_(elements), out_(out), rows_(rows) {}

  // Sorts bucket b, writes its ratings and the ends of its rows. Returns whether a pair occurs
  // more than once.
  bool operator()(std::int64_t b) const {
    const auto at = static_cast<std::size_t>(b);
    const std::int64_t begin = plan_.first[at];
    const std::int64_t count = plan_.first[at + 1] - begin;
    const std::int32_t n_users = plan_.first_user[at + 1] - plan_.first_user[at];
    AlignedVector<Element> spare(count);
    const Element* const sorted = sort(elements_ + begin, spare.data(), count, n_users);
    return write(sorted, begin, count, plan_.first_user[at]);
  }

 private:
  const Element* sort(Element* from, Element* to, std::int64_t count, std::int32_t n_users) const {
    const Order order = order_of(from, count, plan_.item_bits);
    std::vector<Digit> digits;
    if (order.whole) return from;
    if (!order.of_items) add_digits(digits, 0, plan_.item_bits);
    const auto user_bits =
        static_cast<int>(std::bit_width(static_cast<std::uint32_t>(n_users - 1)));
    add_digits(digits, plan_.item_bits, plan_.item_bits + user_bits);
    for (const Digit& digit : digits) {
      pass(digit, from, to, count);
      std::swap(from, to);
    }
    return from;
  }

  static void pass(const Digit& digit, const Element* from, Element* to, std::int64_t count) {
    const std::uint64_t mask = (std::uint64_t{1} << digit.bits) - 1;
    const auto value_of = [&](const Element& e) { return (e.key() >> digit.shift) & mask; };
    std::array<std::int64_t, 2048> next;
    std::fill_n(next.begin(), mask + 1, 0);
    for (std::int64_t i = 0; i < count; ++i) ++next[value_of(from[i])];
    std::int64_t at = 0;
    for (std::uint64_t d = 0; d <= mask; ++d) at += std::exchange(next[d], at);
    for (std::int64_t i = 0; i < count; ++i) to[next[value_of(from[i])]++] = from[i];
  }

  bool write(const Element* sorted, std::int64_t begin, std::int64_t count,
             std::int32_t first_user) const {
    const std::uint64_t mask = (std::uint64_t{1} << plan_.item_bits) - 1;
    std::int32_t* const users = out_.users.data() + begin;
    std::int32_t* const items = out_.items.data() + begin;
    float* const values = out_.values.data() + begin;
    bool duplicates = false;
    std::uint64_t before = ~std::uint64_t{0};
    std::int32_t row = first_user;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t key = sorted[i].key();
      const std::int32_t user = first_user + static_cast<std::int32_t>(key >> plan_.item_bits);
      for (; row < user; ++row) rows_.user_offsets[row + 1] = begin + i;
      users[i] = user;
      items[i] = static_cast<std::int32_t>(key & mask);
      values[i] = sorted[i].value;
      duplicates |= key == before;
      before = key;
    }
    rows_.user_offsets[row + 1] = begin + count;
    return duplicates;
  }

  const BucketPlan& plan_;
  Element* elements_;
  RawRatings& out_;
  SortedRows& rows_;
};

template <class Element>
SortedRows sort_by(const BucketPlan& plan, RawRatings& raw, const IdIndex& users,
                   const IdIndex& items, ThreadTeam& team) {
  const std::int64_t count = std::ssize(raw.values);
  AlignedVector<Element> elements(count);
  team.for_chunks(count, plan.chunk, [&](std::int64_t begin, std::int64_t end) {
    Scatter<Element> scatter(plan, plan.cursors[static_cast<std::size_t>(begin / plan.chunk)],
                             elements.data());
    users.with([&](const auto& user) {
      items.with([&](const auto& item) { scatter(raw, begin, end, user, item); });
    });
  });
  SortedRows rows;
  rows.user_offsets.resize(std::int64_t{users.size()} + 1);
  rows.user_offsets[0] = 0;
  const BucketSort<Element> sort(plan, elements.data(), raw, rows);
  std::atomic<bool> duplicates{false};
  team.for_chunks(plan.count(), 1, [&](std::int64_t b, std::int64_t) {
    if (sort(b)) duplicates = true;
  });
  rows.duplicates = duplicates;
  give_back_pages(elements.data(), static_cast<std::size_t>(count) * sizeof(Element), team);
  return rows;
}

}  // namespace

SortedRows sort_ratings(RawRatings& raw, const IdIndex& users, const IdIndex& items,
                        ThreadTeam& team) {
  const BucketPlan plan = plan_buckets(raw, users, items, team);
  return plan.key_bits <= Short::kKeyBits ? sort_by<Short>(plan, raw, users, items, team)
                                          : sort_by<Long>(plan, raw, users, items, team);
}

}  // namespace mf
