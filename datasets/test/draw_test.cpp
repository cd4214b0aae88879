#include "datasets/split/draw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "datasets/ratings/dataset.hpp"
#include "testing/rank_threads.hpp"

namespace mf {
namespace {

// The smallest keys among the ratings labelled kTrain. It follows the definition: it sorts all.
void draw_by_sorting(std::vector<std::uint8_t>& labels, double fraction, std::uint8_t part,
                     const Keys& keys) {
  std::vector<std::pair<std::uint64_t, std::size_t>> eligible;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == kTrain) eligible.emplace_back(keys(static_cast<std::int64_t>(i)), i);
  }
  std::sort(eligible.begin(), eligible.end());
  const auto count = std::llround(fraction * static_cast<double>(eligible.size()));
  for (std::int64_t k = 0; k < count; ++k)
    labels[eligible[static_cast<std::size_t>(k)].second] = part;
}

// Draws from all, half or a few ratings, also with keys that are not uniform.
TEST(Draw, FindsTheLargestKeyWhereverItLies) {
  const Keys keys(3, Purpose::test);
  for (const std::int64_t n : {1, 7, 3000, 600'000}) {
    for (const auto& from : std::vector<std::function<bool(std::int64_t)>>{
             [](std::int64_t) { return true; }, [](std::int64_t i) { return i % 2 == 0; },
             [](std::int64_t i) { return i % 1000 == 6; }, [](std::int64_t) { return false; },
             [&](std::int64_t i) { return keys(i) >> 62 == 2; }}) {
      Labels labels(n);
      std::vector<std::uint64_t> all;
      for (std::int64_t i = 0; i < n; ++i) {
        labels[i] = from(i) ? kTrain : kTest;
        if (from(i)) all.push_back(keys(i));
      }
      std::sort(all.begin(), all.end());
      for (const double share : {0.0, 0.001, 0.1, 0.5, 1.0}) {
        const std::int64_t count = share_of(share)(std::ssize(all));
        std::optional<std::uint64_t> expected;
        if (count > 0) expected = all[static_cast<std::size_t>(count - 1)];
        for (const int ranks : {1, 3}) {
          for (const auto& error : test::in_rank_threads(ranks, [&](Communicator& of) {
                 ThreadTeam team(2);
                 EXPECT_EQ(draw(stored_labels(labels), n * of.rank() / ranks,
                                n * (of.rank() + 1) / ranks, share_of(share), keys, team, of),
                           expected)
                     << n << " " << share << " " << all.size();
               }))
            EXPECT_EQ(error, "");
        }
      }
    }
  }
}

TEST(Draw, TakesTheSmallestKeys) {
  ThreadTeam team(2);
  Communicator self;
  for (const std::int64_t n : {1, 2, 3, 70, 1000, 300'000}) {
    for (const double fraction : {0.0, 1e-6, 0.001, 0.2, 0.5, 0.9999, 1.0}) {
      if (n > 1000 && fraction != 0.2) continue;  // several chunks of work: slow to sort
      std::vector<std::uint8_t> expected(static_cast<std::size_t>(n), kTrain);
      Labels labels(n, kTrain);
      const auto draw = [&](const Keys& keys, std::uint8_t part) {
        const auto last =
            mf::draw(stored_labels(labels), 0, n, share_of(fraction), keys, team, self);
        LabelBlock scratch;
        for (std::int64_t i = 0; i < n; i += kLabelBlock) {
          const std::int64_t end = std::min(i + kLabelBlock, n);
          const auto* const now =
              drawn_labels(stored_labels(labels), last, keys, kTrain, part)(i, end, scratch);
          std::copy_n(now, end - i, labels.begin() + i);
        }
        draw_by_sorting(expected, fraction, part, keys);
        ASSERT_TRUE(std::ranges::equal(labels, expected)) << n << " " << fraction;
      };
      draw(Keys(static_cast<std::uint64_t>(n), Purpose::test), kTest);
      draw(Keys(3, Purpose::validation), kValidation);
    }
  }
}

}  // namespace
}  // namespace mf
