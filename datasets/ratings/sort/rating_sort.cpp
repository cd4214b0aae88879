// Each bucket is gathered from all parts into a cache, where a rating is one element: the index of
// its user within the bucket and that of its item in one key, and its value. It is sorted there by
// that key, and written out as columns. So the memory sees 8 bytes a rating read and 12 written.
#include "datasets/ratings/sort/rating_sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

namespace mf {
namespace {

constexpr int kMaxDigitBits = 12;
constexpr int kMaxDigits = 6;  // of 64 bits

// A digit of the keys, and how many have each of its values.
struct Digit {
  int shift = 0;
  int bits = 0;
  std::array<std::uint32_t, std::size_t{1} << kMaxDigitBits> counts;

  std::uint64_t mask() const { return (std::uint64_t{1} << bits) - 1; }
  std::uint64_t value_of(std::uint64_t key) const { return (key >> shift) & mask(); }
};

// Digits of some bits of the keys, least significant first, as few as there can be.
struct Digits {
  std::array<Digit, kMaxDigits> all;
  int count = 0;

  void cut(int begin, int end) {
    const int bits = end - begin;
    count = (bits + kMaxDigitBits - 1) / kMaxDigitBits;
    for (int d = 0; d < count; ++d) {
      Digit& digit = all[static_cast<std::size_t>(d)];
      const int from = bits * d / count;
      digit.shift = begin + from;
      digit.bits = bits * (d + 1) / count - from;
      std::fill_n(digit.counts.begin(), digit.mask() + 1, 0U);
    }
  }
};

// Where the buckets go.
struct Places {
  std::vector<std::int64_t> first;       // rating of each bucket; then the number of ratings
  std::vector<std::int32_t> first_user;  // index, of each bucket; then the number of users
  std::int64_t most = 0;                 // ratings of the largest
  std::int32_t most_users = 0;
};

Places places_of(RatingParts& parts, View<const std::int32_t> user_ids) {
  Places places;
  const std::int64_t buckets = parts.buckets().count();
  places.first = {0};
  places.first_user = {0};
  for (std::int64_t b = 0; b < buckets; ++b) {
    const auto at = static_cast<std::size_t>(b);
    std::int64_t count = 0;
    for (std::int64_t p = 0; p < parts.count(); ++p) count += parts.part(p).count(at);
    places.first.push_back(places.first.back() + count);
    places.most = std::max(places.most, count);
    const auto* const end = b + 1 < buckets ? std::lower_bound(user_ids.begin(), user_ids.end(),
                                                               parts.buckets().first_user(at + 1))
                                            : user_ids.end();
    places.first_user.push_back(static_cast<std::int32_t>(end - user_ids.begin()));
    places.most_users =
        std::max(places.most_users, places.first_user[at + 1] - places.first_user[at]);
  }
  return places;
}

// Sorts buckets, one after another, by way of memory that stays in a cache.
template <class Element>
class BucketSort {
 public:
  BucketSort(RatingParts& parts, View<const std::int32_t> user_ids, const Places& places,
             RawRatings& out, SortedRows& rows)
      : parts_(parts), user_ids_(user_ids), places_(places), out_(out), rows_(rows) {
    item_bits_ = static_cast<int>(
        std::bit_width(static_cast<std::uint32_t>(std::max(parts.items().size() - 1, 0))));
    // On huge pages, unless there is little: a bucket is gone through in all orders.
    constexpr auto kHuge = static_cast<std::int64_t>(kLargeArray / sizeof(Element)) + 1;
    const std::int64_t room = places.most < kHuge / 16 ? places.most : std::max(places.most, kHuge);
    gathered_.resize(room);
    spare_.resize(room);
  }

  // Sorts bucket b, writes its ratings and the ends of its rows. Returns whether a pair occurs
  // more than once.
  bool operator()(std::int64_t b) {
    const auto at = static_cast<std::size_t>(b);
    const std::int64_t count = places_.first[at + 1] - places_.first[at];
    if (count == 0) return false;  // nor has it users
    gather(at);
    const Element* const sorted = sort(gathered_.data(), spare_.data(), count);
    return write(sorted, places_.first[at], count, places_.first_user[at]);
  }

 private:
  // With the dense indices; counts the values of digits, and sees what of the order is there.
  void gather(std::size_t bucket) {
    in_order_ = items_in_order_ = true;
    before_ = 0;
    const auto n_users =
        static_cast<std::uint32_t>(places_.first_user[bucket + 1] - places_.first_user[bucket]);
    key_bits_ = item_bits_ + static_cast<int>(std::bit_width(n_users - 1));
    digits_.cut(0, key_bits_);
    with_users(bucket, [&](const auto& user) {
      parts_.items().with([&](const auto& item) {
        Element* to = gathered_.data();
        for (std::int64_t p = 0; p < parts_.count(); ++p) {
          to = take(parts_.part(p).first(), bucket, user, item, to);
          to = take(parts_.part(p).then(), bucket, user, item, to);
        }
      });
    });
  }

  // Calls body(user) with a function from the ids of a bucket to indices within it.
  template <class Body>
  void with_users(std::size_t bucket, const Body& body) {
    constexpr std::int64_t kTable = std::int64_t{1} << 16;
    const std::int32_t first = places_.first_user[bucket];
    const auto ids = user_ids_.part(first, places_.first_user[bucket + 1]);
    if (std::int64_t{ids.back()} - ids.front() >= kTable) {
      body([this, first](std::int32_t id) { return parts_.users()(id) - first; });
      return;
    }
    users_.resize(std::max(std::ssize(users_), std::int64_t{ids.back()} - ids.front() + 1));
    for (std::int64_t u = 0; u < ids.size(); ++u) {
      users_[ids[u] - ids.front()] = static_cast<std::int32_t>(u);
    }
    body([table = users_.data(), least = ids.front()](std::int32_t id) {
      return table[id - least];
    });
  }

  template <class Source, class Users, class Items>
  Element* take(const Blocks<Source>* blocks, std::size_t bucket, const Users& users,
                const Items& items, Element* to) {
    if (blocks == nullptr) return to;
    const std::int64_t n = blocks->blocks(bucket);
    for (std::int64_t k = 0; k < n; ++k) {
      const auto block = blocks->block(bucket, k);
      if (k + 1 < n) fetch(blocks->block(bucket, k + 1));
      const std::int32_t first_id = parts_.buckets().first_user(bucket);
      switch (digits_.count) {
        case 0:
          take_block<0>(block, first_id, users, items, to);
          break;
        case 1:
          take_block<1>(block, first_id, users, items, to);
          break;
        case 2:
          take_block<2>(block, first_id, users, items, to);
          break;
        case 3:
          take_block<3>(block, first_id, users, items, to);
          break;
        default:
          take_block<kMaxDigits>(block, first_id, users, items, to);
      }
      to += block.count;
    }
    return to;
  }

  // A block lies anywhere: no processor foresees the next one.
  template <class Block>
  static void fetch(const Block& block) {
    const char* const begin = reinterpret_cast<const char*>(block.begin);
    const char* const end = reinterpret_cast<const char*>(block.begin + block.count);
    for (const char* line = begin; line < end; line += 64) __builtin_prefetch(line, 0, 0);
  }

  template <int kDigits, class Block, class Users, class Items>
  void take_block(const Block& block, std::int32_t first_id, const Users& users, const Items& items,
                  Element* to) {
    const int id_bits = parts_.buckets().item_bits();
    const int item_bits = item_bits_;
    const std::uint64_t item_mask = (std::uint64_t{1} << item_bits) - 1;
    const auto digits = static_cast<std::size_t>(kDigits == kMaxDigits ? digits_.count : kDigits);
    std::array<int, kMaxDigits> shift;
    std::array<std::uint64_t, kMaxDigits> mask;
    for (std::size_t d = 0; d < digits; ++d) {
      shift[d] = digits_.all[d].shift;
      mask[d] = digits_.all[d].mask();
    }
    std::uint64_t before = before_;
    bool in_order = true;
    bool items_in_order = true;
    for (std::int64_t i = 0; i < block.count; ++i) {
      const auto [user_id, item_id] = ids_of(block.begin[i], first_id, id_bits);
      const auto user = static_cast<std::uint32_t>(users(user_id));
      const std::uint64_t key =
          std::uint64_t{user} << item_bits | static_cast<std::uint32_t>(items(item_id));
      to[i] = Element::of(key, block.begin[i].value);
      for (std::size_t d = 0; d < digits; ++d) ++digits_.all[d].counts[(key >> shift[d]) & mask[d]];
      in_order &= before <= key;
      items_in_order &= (before & item_mask) <= (key & item_mask);
      before = key;
    }
    before_ = before;
    in_order_ &= in_order;
    items_in_order_ &= items_in_order;
  }

  const Element* sort(Element* from, Element* to, std::int64_t count) {
    if (in_order_) return from;
    if (count > std::numeric_limits<std::uint32_t>::max()) {  // more than the digits can count
      std::stable_sort(from, from + count,
                       [](const Element& a, const Element& b) { return a.key() < b.key(); });
      return from;
    }
    if (items_in_order_) {
      digits_.cut(item_bits_, key_bits_);
      for (int d = 0; d < digits_.count; ++d) {
        Digit& digit = digits_.all[static_cast<std::size_t>(d)];
        for (std::int64_t i = 0; i < count; ++i) ++digit.counts[digit.value_of(from[i].key())];
      }
    }
    for (int d = 0; d < digits_.count; ++d) {
      pass(digits_.all[static_cast<std::size_t>(d)], from, to, count);
      std::swap(from, to);
    }
    return from;
  }

  static void pass(Digit& digit, const Element* from, Element* to, std::int64_t count) {
    std::uint32_t at = 0;
    for (std::uint64_t v = 0; v <= digit.mask(); ++v) at += std::exchange(digit.counts[v], at);
    const int shift = digit.shift;
    const std::uint64_t mask = digit.mask();
    std::uint32_t* const next = digit.counts.data();
    for (std::int64_t i = 0; i < count; ++i) {
      to[next[(from[i].key() >> shift) & mask]++] = from[i];
    }
  }

  bool write(const Element* sorted, std::int64_t begin, std::int64_t count,
             std::int32_t first_user) {
    const std::uint64_t mask = (std::uint64_t{1} << item_bits_) - 1;
    std::int32_t* const users = out_.users.data() + begin;
    std::int32_t* const items = out_.items.data() + begin;
    float* const values = out_.values.data() + begin;
    bool duplicates = false;
    std::uint64_t before = ~std::uint64_t{0};
    std::int32_t row = first_user;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t key = sorted[i].key();
      const std::int32_t user = first_user + static_cast<std::int32_t>(key >> item_bits_);
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

  RatingParts& parts_;
  View<const std::int32_t> user_ids_;
  const Places& places_;
  RawRatings& out_;
  SortedRows& rows_;
  int item_bits_ = 0;
  int key_bits_ = 0;  // of the bucket
  AlignedVector<Element> gathered_, spare_;
  AlignedVector<std::int32_t> users_;  // of the bucket: id less the least -> index
  Digits digits_;
  std::uint64_t before_ = 0;  // the key gathered last
  bool in_order_ = true, items_in_order_ = true;
};

template <class Element>
SortedRows sort_by(RatingParts& parts, View<const std::int32_t> user_ids, const Places& places,
                   RawRatings& out, ThreadTeam& team) {
  SortedRows rows;
  rows.user_offsets.resize(std::int64_t{places.first_user.back()} + 1);
  rows.user_offsets[0] = 0;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> duplicates{false};
  team.run([&](int) {
    BucketSort<Element> sort(parts, user_ids, places, out, rows);
    for (std::int64_t b = next++; b < parts.buckets().count(); b = next++) {
      if (sort(b)) duplicates = true;
    }
  });
  rows.duplicates = duplicates;
  parts.give_back(team);
  return rows;
}

}  // namespace

SortedRows sort_ratings(RatingParts& parts, View<const std::int32_t> user_ids, RawRatings& out,
                        ThreadTeam& team) {
  const Places places = places_of(parts, user_ids);
  const auto bits = [](std::int32_t n) {
    return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(std::max(n - 1, 0))));
  };
  return bits(parts.items().size()) + bits(places.most_users) <= ShortElement::kKeyBits
             ? sort_by<ShortElement>(parts, user_ids, places, out, team)
             : sort_by<LongElement>(parts, user_ids, places, out, team);
}

}  // namespace mf
