#include "datasets/ratings/rating_parts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include "base/host/pages.hpp"

namespace mf {
namespace {

template <class Element>
struct MakeElement;
template <>
struct MakeElement<ShortElement> {
  const BucketPlan& plan;
  int item_bits = plan.item_bits();
  ShortElement operator()(std::size_t bucket, std::int32_t user, std::int32_t item,
                          float value) const {
    const auto own = static_cast<std::uint32_t>(user - plan.first_user(bucket));
    return {own << item_bits | static_cast<std::uint32_t>(item), value};
  }
};
template <>
struct MakeElement<LongElement> {
  const BucketPlan& plan;
  LongElement operator()(std::size_t, std::int32_t user, std::int32_t item, float value) const {
    return {static_cast<std::uint32_t>(item), static_cast<std::uint32_t>(user), value};
  }
};

// Before other threads read what copy_line wrote.
void finish_lines() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

// In one store, so that it can be loaded again before that has reached the cache.
void store(const ShortElement& element, ShortElement* to) {
  const auto word = std::bit_cast<std::uint64_t>(element);
  std::memcpy(to, &word, sizeof word);
}
void store(const LongElement& element, LongElement* to) { *to = element; }

// Past the cache, where nobody reads it soon: a line that is written there is read first, and what
// waits for that holds up all that is written after it.
void copy_line(const ShortElement* from, ShortElement* to) {
#ifdef __x86_64__
  for (std::int64_t k = 0; k < ShortElement::kLine; ++k) {
    long long word = 0;
    std::memcpy(&word, from + k, sizeof word);
    _mm_stream_si64(reinterpret_cast<long long*>(to + k), word);
  }
#else
  std::memcpy(to, from, ShortElement::kLine * sizeof *to);
#endif
}
void copy_line(const LongElement* from, LongElement* to) {
  std::memcpy(to, from, LongElement::kLine * sizeof *to);  // of a known size: no call
}

}  // namespace

void Arena::expect(std::int64_t bytes) {
  constexpr std::int64_t kMost = std::int64_t{64} << 20;
  region_ = std::clamp(bytes / kPiece * kPiece, 16 * kPiece, kMost);
}

void* Arena::take() {
  const std::lock_guard lock(mutex_);
  if (regions_.empty() || used_ == region_) {
    regions_.emplace_back(region_);
    used_ = 0;
  }
  void* const piece = regions_.back().data() + used_;
  used_ += kPiece;
  return piece;
}

void Arena::give_back(ThreadTeam& team) {
  team.for_chunks(std::ssize(regions_), 1, [&](std::int64_t r, std::int64_t) {
    auto& region = regions_[static_cast<std::size_t>(r)];
    give_back_pages(region.data(), region.size());
  });
  regions_.clear();
}

template <class Element>
Blocks<Element>::Blocks(const BucketPlan& plan, Arena& arena)
    : plan_(plan),
      arena_(arena),
      counts_(static_cast<std::size_t>(plan.count()), 0),
      next_(static_cast<std::size_t>(plan.count()), nullptr),
      lines_(plan.count()) {}

template <class Element>
Element* Blocks<Element>::new_block(std::size_t bucket) {
  if (piece_end_ - piece_ < Element::kBlock) {
    piece_ = static_cast<Element*>(arena_.take());
    piece_end_ = piece_ + Arena::kPiece / static_cast<std::int64_t>(sizeof(Element));
  }
  Element* const block = std::exchange(piece_, piece_ + Element::kBlock);
  made_.emplace_back(static_cast<std::uint16_t>(bucket), block);
  return block;
}

// The line of the bucket's last rating.
template <class Element>
void Blocks<Element>::write_line(std::size_t bucket, std::int64_t count) {
  constexpr std::int64_t kLine = Element::kLine;
  if ((counts_[bucket] - 1) % Element::kBlock < kLine) next_[bucket] = new_block(bucket);
  const Line& line = lines_[static_cast<std::int64_t>(bucket)];
  if (count == kLine) {
    copy_line(line.all.data(), next_[bucket]);
  } else {
    std::copy_n(line.all.data(), count, next_[bucket]);
  }
  next_[bucket] += kLine;
}

template <class Element>
void Blocks<Element>::add(const RatingBatch& batch) {
  constexpr std::size_t kLine = Element::kLine;
  const MakeElement<Element> make{plan_};
  std::int64_t* const counts = counts_.data();
  Line* const lines = lines_.data();
  const RatingBatch own = batch;
  plan_.with([&](const auto& bucket_of) {
    for (std::int64_t i = 0; i < own.count; ++i) {
      const std::size_t bucket = bucket_of(own.users[i]);
      const auto place = static_cast<std::size_t>(counts[bucket]++) % kLine;
      store(make(bucket, own.users[i], own.items[i], own.values[i]), &lines[bucket].all[place]);
      if (place == kLine - 1) write_line(bucket, Element::kLine);
    }
  });
}

template <class Element>
void Blocks<Element>::close() {
  for (std::size_t b = 0; b < counts_.size(); ++b) {
    if (const std::int64_t left = counts_[b] % Element::kLine; left > 0) write_line(b, left);
  }
  finish_lines();
  lines_ = {};
  next_ = {};
  first_block_.assign(counts_.size() + 1, 0);
  for (const auto& [bucket, block] : made_) ++first_block_[bucket + std::size_t{1}];
  std::partial_sum(first_block_.begin(), first_block_.end(), first_block_.begin());
  std::vector<std::int64_t> at = first_block_;
  blocks_.resize(made_.size());
  for (const auto& [bucket, block] : made_) {
    blocks_[static_cast<std::size_t>(at[bucket]++)] = block;
  }
  made_ = {};
}

template class Blocks<ShortElement>;
template class Blocks<LongElement>;

void RatingPart::add(const RatingBatch& batch) {
  if (batch.count == 0) return;
  const IdRange users = range_of(batch.users, batch.count);
  const IdRange items = range_of(batch.items, batch.count);
  users_.add(users);
  items_.add(items);
  count_ += batch.count;
  if (users.max <= all_.users_.greatest_with_room() &&
      items.max <= all_.items_.greatest_with_room()) {
    all_.users_.mark(batch.users, batch.count);
    all_.items_.mark(batch.items, batch.count);
  } else {
    marked_ = false;
  }
  if (!long_ && all_.buckets_.fits(users, items)) {
    if (!short_) short_ = std::make_unique<Blocks<ShortElement>>(all_.buckets_, all_.arena_);
    short_->add(batch);
    return;
  }
  if (!long_) {
    if (short_) short_->close();
    long_ = std::make_unique<Blocks<LongElement>>(all_.buckets_, all_.arena_);
  }
  long_->add(batch);
}

void RatingPart::close() {
  if (long_) {
    long_->close();
  } else if (short_) {
    short_->close();
  }
}

std::int64_t RatingPart::count(std::size_t bucket) const {
  return (short_ ? short_->count(bucket) : 0) + (long_ ? long_->count(bucket) : 0);
}

void RatingParts::plan(RatingSample sample, std::int64_t parts) {
  const IdRange users = range_of(sample.users.data(), std::ssize(sample.users));
  arena_.expect(sample.count * std::int64_t{sizeof(ShortElement)});
  // Room for more than was seen: twice as many ids are as likely as not where ids are few.
  const auto room = [](std::int32_t max) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(
        2 * std::int64_t{std::max(max, 0)} + 4096, std::numeric_limits<std::int32_t>::max()));
  };
  users_ = IdIndex(room(users.max));
  items_ = IdIndex(room(sample.items.max));
  buckets_ = BucketPlan(std::move(sample));
  for (std::int64_t p = 0; p < parts; ++p) {
    parts_.push_back(std::make_unique<RatingPart>(*this));
  }
}

std::int64_t RatingParts::ratings() const {
  std::int64_t sum = 0;
  for (const auto& part : parts_) sum += part->count();
  return sum;
}

template <class Element>
void RatingParts::mark_blocks(const Blocks<Element>* blocks) {
  if (blocks == nullptr) return;
  for (std::size_t b = 0; b < static_cast<std::size_t>(buckets_.count()); ++b) {
    for (std::int64_t k = 0; k < blocks->blocks(b); ++k) {
      const auto block = blocks->block(b, k);
      for (std::int64_t i = 0; i < block.count; ++i) {
        const auto [user, item] =
            ids_of(block.begin[i], buckets_.first_user(b), buckets_.item_bits());
        users_.mark(&user, 1);
        items_.mark(&item, 1);
      }
    }
  }
}

// Where ids came that nobody had made room for.
void RatingParts::mark_again(ThreadTeam& team, const IdRange& users, const IdRange& items) {
  users_ = IdIndex(users.max);
  items_ = IdIndex(items.max);
  team.for_chunks(count(), 1, [&](std::int64_t p, std::int64_t) {
    mark_blocks(part(p).first());
    mark_blocks(part(p).then());
  });
}

void RatingParts::finish_ids(ThreadTeam& team) {
  IdRange users;
  IdRange items;
  bool marked = true;
  for (const auto& part : parts_) {
    users.add(part->users());
    items.add(part->items());
    marked = marked && part->all_marked();
  }
  if (!marked) mark_again(team, users, items);
  users_.finish(users);
  items_.finish(items);
}

}  // namespace mf
