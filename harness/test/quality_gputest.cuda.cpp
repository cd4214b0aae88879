// Objective and ranking on the device against the host's.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/history_scores.hpp"
#include "harness/evaluate/quality.hpp"
#include "harness/test/quality_reference.hpp"
#include "harness/test/testing.hpp"
#include "testing/cuda/testing.hpp"

namespace mf {
namespace {

using cuda::DeviceBuffer;
using testing::one_thread;
using testing::random_ratings;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// A copy on the device, rows `stride` apart, NaN between them.
class OnDevice {
 public:
  explicit OnDevice(const Model& model, std::int64_t padding = 0)
      : view_(model.view()),
        p_(place(model.p, model.factors, padding)),
        q_(place(model.q, model.factors, padding)),
        user_bias_(cuda::upload(View<const float>(model.user_bias), nullptr)),
        item_bias_(cuda::upload(View<const float>(model.item_bias), nullptr)) {
    view_.location = Location::device;
    view_.p = p_.data();
    view_.q = q_.data();
    view_.p_stride = view_.q_stride = model.factors + padding;
    if (model.kind == ModelKind::biased) {
      view_.user_bias = user_bias_.data();
      view_.item_bias = item_bias_.data();
    }
  }
  const FactorView& view() const { return view_; }

 private:
  static DeviceBuffer<float> place(const AlignedVector<float>& rows, std::int64_t width,
                                   std::int64_t padding) {
    const std::int64_t count = std::ssize(rows) / width;
    std::vector<float> placed((count - 1) * (width + padding) + width, kNaN);
    for (std::int64_t r = 0; r < count; ++r) {
      std::copy_n(rows.begin() + r * width, width, placed.begin() + r * (width + padding));
    }
    return cuda::upload(View<const float>(placed), nullptr);
  }
  FactorView view_;
  DeviceBuffer<float> p_, q_, user_bias_, item_bias_;
};

// Small whole numbers: products are exact, whatever their order, and equal scores are common.
Model whole_model(std::int32_t m, std::int32_t n, std::int32_t f, int range,
                  ModelKind kind = ModelKind::plain) {
  Model model = initial_model(m, n, f, kind, 3, InitSpec{}, 2);
  Rng rng(3);
  const auto draw = [&](float& x) {
    x = static_cast<float>(static_cast<int>(rng.below(2 * range + 1)) - range);
  };
  for (auto* rows : {&model.p, &model.q, &model.user_bias, &model.item_bias}) {
    for (float& x : *rows) draw(x);
  }
  return model;
}

template <class Keep>
Ratings part_of(const Ratings& all, Keep&& keep) {
  std::vector<std::uint8_t> label(all.nnz());
  for (std::int64_t i = 0; i < all.nnz(); ++i) label[i] = keep(all[i].user, i) ? 1 : 0;
  return select(all, label, 1, 2);
}

Split random_split(std::int32_t m, std::int32_t n, double density) {
  const Ratings all = random_ratings(m, n, density, 11);
  const auto held_out = [](std::int32_t u, std::int64_t i) {
    return u % 5 != 0 && (u % 7 == 0 || i % 3 == 0);
  };
  Split split;
  split.train = part_of(all, [&](auto u, auto i) { return !held_out(u, i) && i % 8 != 1; });
  split.test = part_of(all, held_out);
  split.validation = part_of(all, [&](auto u, auto i) { return !held_out(u, i) && i % 8 == 1; });
  return split;
}

FoldInLoss implicit_loss(double exponent = 0) {
  FoldInLoss loss;
  loss.implicit = ImplicitLoss{2.5, 0.3, exponent};
  return loss;
}

void expect_ranking_equal(const MetricValues& found, const MetricValues& expected) {
  for (const auto& [metric, value] : expected) {
    if (!metric.is_ranking()) continue;
    ASSERT_TRUE(found[metric]);
    const bool none = std::isnan(value) && std::isnan(*found[metric]);  // no user has a history
    EXPECT_TRUE(none || *found[metric] == value) << metric.key();
  }
}

// Odd shapes, fewer items than ranks, one item, more items than a block's threads; ties.
TEST(DeviceQuality, EqualsTheHost) {
  const struct {
    std::int32_t m, n, f;
    double density;
    int range;
  } cases[] = {{61, 203, 7, 0.1, 2},      {7, 1, 3, 0.9, 1},       {97, 16, 1, 0.4, 1},
               {300, 90, 33, 0.3, 3},     {30, 1100, 64, 0.05, 1}, {13, 5013, 20, 0.02, 4},
               {700, 2049, 128, 0.02, 1}, {20, 400, 300, 0.1, 1},  {20, 400, 1030, 0.1, 1}};
  ThreadTeam team(4);
  for (const auto& c : cases) {
    const Split split = random_split(c.m, c.n, c.density);
    const Model model = whole_model(c.m, c.n, c.f, c.range);
    for (const std::int64_t padding : {0, 4, 3}) {
      SCOPED_TRACE(fmt::format("{} x {}, f = {}, padding {}", c.m, c.n, c.f, padding));
      const OnDevice device(model, padding);
      QualityEvaluator evaluator(split, Predictor(split.train),
                                 implicit_loss(padding == 0 ? 0 : 0.6), RankingSpec{},
                                 one_thread());
      const MetricValues expected = evaluator.evaluate(model.view(), team);
      const MetricValues found = evaluator.evaluate(device.view(), team);
      expect_ranking_equal(found, expected);
      EXPECT_NEAR(*found[kObjective], *expected[kObjective], 1e-10 * *expected[kObjective]);
      const MetricValues again = evaluator.evaluate(device.view(), team);
      EXPECT_EQ(*again[kObjective], *found[kObjective]) << "a fixed order";
    }
  }
}

double objective_of(DeviceObjective& device, const OnDevice& model) {
  device.begin(model.view(), nullptr);
  return device.finish();
}

// Fractions: the objective to the rounding of products, against every pair.
TEST(DeviceQuality, ObjectiveIsTheDenseSum) {
  const Ratings train = random_ratings(211, 97, 0.2, 5);
  ThreadTeam team(2);
  for (const std::int32_t f : {1, 8, 31, 64, 100, 256, 500, 1024}) {
    const Model model =
        initial_model(211, 97, f, ModelKind::plain, 0, InitSpec{InitKind::normal, 0.3, 4}, 2);
    const ImplicitObjective objective(train, *implicit_loss(0.5).implicit, one_thread());
    DeviceObjective device(objective, nullptr);
    const double expected = testing::dense_objective(model.view(), train, objective.loss());
    EXPECT_NEAR(objective_of(device, OnDevice(model)), expected, 1e-6 * expected) << f;
    EXPECT_NEAR(objective_of(device, OnDevice(model, 1)), expected, 1e-6 * expected) << f;
  }
}

// More rows than a block of the Gram, one popular item, empty users.
TEST(DeviceQuality, ObjectiveOfManyRows) {
  const std::int32_t m = 3 * static_cast<std::int32_t>(kGramBlock) + 17;
  Ratings::Arrays a;
  a.user_offsets.push_back(0);
  for (std::int32_t u = 0; u < m; ++u) {
    for (const std::int32_t i : {0, 1 + u % 30}) {
      if (u % 11 == 0) continue;
      a.users.push_back(u);
      a.items.push_back(i);
      a.values.push_back(static_cast<float>(u % 3));  // a third is 0: not observed
    }
    a.user_offsets.push_back(std::ssize(a.users));
    a.user_ids.push_back(u);
  }
  for (std::int32_t i = 0; i < 31; ++i) a.item_ids.push_back(i);
  const Ratings train(std::move(a));
  const Model model =
      initial_model(m, 31, 40, ModelKind::plain, 0, InitSpec{InitKind::normal, 0.3, 4}, 2);
  const ImplicitObjective objective(train, *implicit_loss().implicit, one_thread());
  ThreadTeam team(4);
  const double expected = objective.evaluate(model.view(), team);
  DeviceObjective device(objective, nullptr);
  EXPECT_NEAR(objective_of(device, OnDevice(model)), expected, 1e-7 * expected);
}

TEST(DeviceQuality, RanksExplicitModelsAndFoldedUsers) {
  const Ratings all = random_ratings(120, 500, 0.1, 21);
  Split split;
  const auto held = [](std::int32_t u) { return u % 4 == 0; };
  const auto tested = [&](std::int32_t u, std::int64_t i) { return i % (held(u) ? 5 : 7) == 0; };
  split.train = part_of(all, [&](auto u, auto i) { return !held(u) && !tested(u, i); });
  split.fold_in = part_of(all, [&](auto u, auto i) { return held(u) && !tested(u, i); });
  split.test = part_of(all, tested);
  ThreadTeam team(4);
  for (const bool implicit : {true, false}) {
    for (const ModelKind kind : {ModelKind::plain, ModelKind::biased}) {
      if (implicit && kind == ModelKind::biased) continue;
      Model model = whole_model(120, 500, 6, 2, kind);
      FoldInLoss loss;
      loss.reg = 0.1;
      QualityEvaluator evaluator(split, Predictor(split.train), implicit ? implicit_loss() : loss,
                                 RankingSpec{}, one_thread());
      const MetricValues expected = evaluator.evaluate(model.view(), team);
      const MetricValues found = evaluator.evaluate(OnDevice(model, 2).view(), team);
      // Rows that were folded in are not whole numbers: near ties may fall differently.
      for (const auto& [metric, value] : expected) {
        if (metric.is_ranking()) {
          EXPECT_NEAR(*found[metric], value, 1e-4) << metric.key();
        }
      }
    }
  }
}

TEST(DeviceQuality, ExplicitModelsOfWholeNumbersEqualTheHost) {
  const Split split = random_split(150, 700, 0.05);
  ThreadTeam team(4);
  for (const ModelKind kind : {ModelKind::plain, ModelKind::biased}) {
    const Model model = whole_model(150, 700, 9, 2, kind);
    QualityEvaluator evaluator(split, Predictor(split.train), FoldInLoss{}, RankingSpec{},
                               one_thread());
    expect_ranking_equal(evaluator.evaluate(OnDevice(model).view(), team),
                         evaluator.evaluate(model.view(), team));
  }
}

// More scores than are on the device at a time.
TEST(DeviceQuality, RanksUsersTileByTile) {
  constexpr std::int32_t kUsers = 1000, kItems = 70'001;
  static_assert(std::int64_t{kUsers} * kItems * 4 > kScoreBytes);
  const Split split = random_split(kUsers, kItems, 0.0005);
  const Model model = whole_model(kUsers, kItems, 3, 20);
  ThreadTeam team(8);
  QualityEvaluator evaluator(split, Predictor(split.train), implicit_loss(), RankingSpec{},
                             one_thread());
  expect_ranking_equal(evaluator.evaluate(OnDevice(model).view(), team),
                       evaluator.evaluate(model.view(), team));
}

TEST(DeviceQuality, OfAModelThatIsNotFiniteIsNone) {
  const Split split = random_split(61, 303, 0.1);
  ThreadTeam team(2);
  for (const float bad : {kNaN, 3e38F}) {
    Model model = whole_model(61, 303, 5, 3);
    for (int k = 0; k < 5; ++k) model.q[302 * 5 + k] = bad;
    QualityEvaluator evaluator(split, Predictor(split.train), implicit_loss(), RankingSpec{},
                               one_thread());
    EXPECT_TRUE(
        std::isnan(*evaluator.evaluate(OnDevice(model).view(), team)[Metric::named("map", 10)]));
  }
}

// ---- only the selection ----

struct Lists {
  RankedUsers users;
  explicit Lists(std::int64_t count) {
    for (std::int64_t u = 0; u < count; ++u) users.users.push_back(static_cast<std::int32_t>(u));
  }
  void add(const std::vector<std::int32_t>& seen, const std::vector<std::int32_t>& held_out) {
    for (const auto i : seen) users.seen.items.push_back(i);
    for (const auto i : held_out) users.held_out.items.push_back(i);
    users.seen.offsets.push_back(std::ssize(users.seen.items));
    users.held_out.offsets.push_back(std::ssize(users.held_out.items));
  }
};

// The users of `rows` (RankedRow) by the model's rows, two folded ones and, if there are any, extra
// numbers, against sorted lists. Products have to be exact. Returns how many took fp32.
std::int64_t expect_ranked(const Model& model, const std::vector<std::int32_t>& rows,
                           const std::vector<float>& extra, const Lists& lists) {
  const std::int64_t f = model.factors;
  const std::int64_t width = extra.empty() ? f : f + 1;
  const std::vector<float> folded(model.p.end() - 2 * f, model.p.end());
  std::vector<float> items;
  for (std::int64_t i = 0; i < model.n_items && !extra.empty(); ++i) {
    items.insert(items.end(), model.q.begin() + i * f, model.q.begin() + (i + 1) * f);
    items.push_back(static_cast<float>(i % 3));
  }
  const OnDevice device(model, 1);
  DeviceRanking ranking(lists.users, rows, extra, nullptr);
  AlignedVector<std::int32_t> top;
  RankedItems listed = ranking.rank({device.view(), folded, items}, nullptr, &top);
  RankedItems counted = ranking.rank({device.view(), folded, items}, nullptr);
  EXPECT_TRUE(listed.finite && counted.finite);
  for (std::int64_t u = 0; u < std::ssize(rows); ++u) {
    const std::vector<float> zeros(f);
    const float* p = rows[u] >= 0 ? model.p.data() + rows[u] * f
                     : rows[u] == RankedRow::kNone
                         ? zeros.data()
                         : folded.data() + RankedRow::slot_of(rows[u]) * f;
    std::vector<float> scores;
    for (std::int64_t i = 0; i < model.n_items; ++i) {
      const float* q = extra.empty() ? model.q.data() + i * f : items.data() + i * width;
      scores.push_back(std::inner_product(p, p + f, q, extra.empty() ? 0.0F : extra[u] * q[f]));
    }
    const auto list = testing::ranked_list(scores, lists.users.seen[u], lists.users.tie_key(u));
    for (int r = 0; r < kRanks; ++r) {
      const bool there = r < std::ssize(list);
      const bool hit = there && testing::is_in(lists.users.held_out[u], list[r]);
      EXPECT_EQ(top[u * kRanks + r], there ? list[r] : -1) << "user " << u << " rank " << r;
      EXPECT_EQ(listed.hits[u].at(r), hit) << "user " << u << " rank " << r;
      EXPECT_EQ(counted.hits[u].at(r), hit) << "user " << u << " rank " << r;
    }
    const auto last = std::min<std::int64_t>(kRanks, std::ssize(list)) - 1;
    const int tied = last > 0 && scores[list[0]] == scores[list[last]] ? 1 : 0;
    EXPECT_EQ(listed.tied[u], tied) << "user " << u;
    EXPECT_EQ(counted.tied[u], tied) << "user " << u;
  }
  return ranking.ranked_exactly();
}

// Users 0 to 5: one who has seen almost everything, one who has seen all, others little.
Lists six_users(std::int32_t n, std::uint64_t seed) {
  Rng rng(seed);
  Lists lists(6);
  for (int u = 0; u < 6; ++u) {
    std::vector<std::int32_t> seen, held_out;
    for (std::int32_t i = 0; i < n; ++i) {
      const auto draw = rng.below(1000);
      if (u == 1 || draw < (u == 0 ? 995U : 20U)) {
        seen.push_back(i);
      } else if (draw > 900) {
        held_out.push_back(i);
      }
    }
    lists.add(seen, held_out);
  }
  return lists;
}

const std::vector<std::int32_t> kSixRows = {0, 1, 2, 3, RankedRow::kNone, RankedRow::folded(1)};

// Whole numbers that fp16 does not hold, or whose products it does not: 4000, and sums to 2^24.
TEST(DeviceRanking, IsTheSortedListOfProducts) {
  const struct {
    std::int32_t n;
    std::int32_t f;
    int range;
  } cases[] = {{1, 3, 1},       {8, 1, 1},         {99, 5, 2},      {100, 7, 3},
               {101, 9, 2},     {900, 64, 1},      {1025, 31, 2},   {5000, 1, 4000},
               {5003, 4, 2000}, {20'001, 4, 2000}, {26'744, 17, 9}, {40'981, 64, 30},
               {3000, 1030, 3}};
  for (const auto& c : cases) {
    const Lists lists = six_users(c.n, 5);
    const Model model = whole_model(6, c.n, c.f, c.range);
    for (const bool with_extra : {false, true}) {
      SCOPED_TRACE(fmt::format("{} items, f = {}, range {}, {}", c.n, c.f, c.range, with_extra));
      expect_ranked(model, kSixRows,
                    with_extra ? std::vector<float>{1, 1, 0, 1, 0, 1} : std::vector<float>{},
                    lists);
    }
  }
}

// Great products that cancel: fp16 loses more of a number than most scores differ by.
TEST(DeviceRanking, LosesNothingByCancellation) {
  for (const std::int32_t n : {900, 5000}) {
    Model model = whole_model(6, n, 4, 40);
    for (float& x : model.q) x += 4000;
    for (std::size_t k = 0; k < model.p.size(); ++k) model.p[k] = k % 2 == 0 ? 1.0F : -1.0F;
    expect_ranked(model, kSixRows, {}, six_users(n, 3));
  }
}

TEST(DeviceRanking, FewUsersTakeSinglePrecision) {
  const Lists lists = six_users(5000, 7);
  Model model = whole_model(6, 5000, 40, 50);
  EXPECT_EQ(expect_ranked(model, kSixRows, {}, lists), 0);
  for (int k = 0; k < 10 * 40; ++k) model.q[k] *= 64;
  EXPECT_EQ(expect_ranked(model, kSixRows, {}, lists), 0) << "ten items far longer than others";
  model = whole_model(6, 5000, 4, 3);
  std::fill(model.p.begin(), model.p.end(), 0.0F);
  EXPECT_EQ(expect_ranked(model, kSixRows, {}, lists), 0) << "all scores 0";
  std::fill(model.p.begin(), model.p.end(), 3.0F);
  std::fill(model.q.begin(), model.q.end(), 0.0F);
  EXPECT_EQ(expect_ranked(model, kSixRows, {}, lists), 0) << "all scores 0";
  std::fill(model.q.begin(), model.q.end(), 5.0F);
  EXPECT_EQ(expect_ranked(model, kSixRows, {}, lists), 3)
      << "equal scores: not of the users who have seen nearly all, and not of the one of zeros";
}

TEST(DeviceRanking, OfGreatAndSmallNumbers) {
  const Lists lists = six_users(3000, 9);
  for (const float by : {0x1p-100F, 0x1p-60F, 0x1p60F, 0x1p100F}) {
    Model model = whole_model(6, 3000, 5, 3);
    for (float& x : model.q) x *= by;
    EXPECT_EQ(expect_ranked(model, kSixRows, {}, lists), 0) << by;
  }
  // A score may overflow, but none does.
  Model model = whole_model(6, 3000, 5, 3);
  std::fill(model.p.begin(), model.p.end(), 3.0F);
  for (float& x : model.q) x *= 0x1p119F;
  EXPECT_EQ(expect_ranked(model, kSixRows, {}, lists), 5) << "all but zeros";
  // One item is far longer than all others.
  model = whole_model(6, 3000, 5, 4000);
  for (int k = 0; k < 5; ++k) model.q[k] = 0x1p30F;
  for (int k = 0; k < 30; ++k) model.p[k] = static_cast<float>(k % 3);
  expect_ranked(model, kSixRows, {}, lists);
}

class Weights : public HistoryScores {
 public:
  Weights(std::vector<float> w, std::int32_t n, bool on_device) : w_(std::move(w)), n_(n) {
    if (on_device) device_ = cuda::upload(View<const float>(w_), nullptr);
  }
  void score(View<const RowRating> history, View<float> scores) const override {
    std::fill(scores.begin(), scores.end(), 0.0F);
    for (const RowRating& pair : history) {
      for (std::int32_t i = 0; i < n_; ++i) scores[i] += w_[pair.other * n_ + i];
    }
  }
  const float* device_weights() const override {
    return device_.empty() ? nullptr : device_.data();
  }

 private:
  std::vector<float> w_;
  std::int64_t n_;
  DeviceBuffer<float> device_;
};

TEST(DeviceRanking, WeightsBetweenItemsAreAddedOnTheDevice) {
  ThreadTeam team(4);
  for (const std::int32_t n : {3, 255, 1025, 2600}) {
    const Split split = random_split(60, n, 0.05);
    std::vector<float> w(std::int64_t{n} * n);
    Rng rng(4);
    for (const int values : {1, 5}) {  // all scores are 0; few are equal
      for (float& x : w) x = static_cast<float>(rng.below(values));
      MetricValues found[2];
      for (const bool on_device : {false, true}) {
        const Weights weights(w, n, on_device);
        FactorView view;
        view.n_users = 60;
        view.n_items = n;
        view.scores = &weights;
        FoldInLoss loss;
        loss.by_history = true;
        QualityEvaluator evaluator(split, Predictor(split.train), loss, RankingSpec{},
                                   one_thread());
        found[on_device ? 1 : 0] = evaluator.evaluate(view, team);
      }
      SCOPED_TRACE(fmt::format("{} items, {} values", n, values));
      expect_ranking_equal(found[1], found[0]);
    }
  }
}

// What a ranking replaces is not there beside it.
TEST(DeviceQuality, ASecondRankingTakesNoMoreMemory) {
  constexpr std::int32_t kItems = 4000;
  constexpr std::int32_t kFactors = 32;
  Lists lists(2);
  for (int user = 0; user < 2; ++user) lists.add({5}, {3});
  const std::vector<std::int32_t> rows = {0, RankedRow::folded(0)};
  const std::vector<float> extra = {1, 1};
  DeviceRanking ranking(lists.users, rows, extra, nullptr);
  const Model model = whole_model(1, kItems, kFactors, 2, ModelKind::plain);
  const OnDevice device(model);
  const std::vector<float> folded(kFactors, 0.5F);
  const std::vector<float> items(std::int64_t{kItems} * (kFactors + 1), 0.25F);
  const auto most = [&] {
    cuda::reset_peak_allocated_bytes();
    EXPECT_TRUE(ranking.rank({device.view(), folded, items}, nullptr).finite);
    return cuda::peak_allocated_bytes();
  };
  const std::int64_t first = most();
  EXPECT_EQ(most(), first);
}

// Each user's scores are the row of weights of the only item of the history.
RankedItems select(DeviceRanking& ranking, const std::vector<float>& scores, std::int32_t n,
                   AlignedVector<std::int32_t>* top = nullptr) {
  ItemLists histories;
  for (std::int32_t u = 0; u < static_cast<std::int32_t>(scores.size()) / n; ++u) {
    histories.items.push_back(u);
    histories.offsets.push_back(u + 1);
  }
  const auto weights = cuda::upload(View<const float>(scores), nullptr);
  return ranking.rank(weights.data(), n, histories, nullptr, top);
}

void expect_selected(const std::vector<std::vector<float>>& rows, Lists& lists) {
  const auto n = static_cast<std::int32_t>(rows[0].size());
  std::vector<float> scores;
  for (const auto& row : rows) scores.insert(scores.end(), row.begin(), row.end());
  std::vector<std::int32_t> row_of(rows.size());
  std::iota(row_of.begin(), row_of.end(), 0);
  DeviceRanking ranking(lists.users, row_of, {}, nullptr);
  AlignedVector<std::int32_t> top;
  const RankedItems found = select(ranking, scores, n, &top);
  EXPECT_TRUE(found.finite);
  for (std::int64_t u = 0; u < std::ssize(rows); ++u) {
    const auto list = testing::ranked_list(rows[u], lists.users.seen[u], lists.users.tie_key(u));
    for (int r = 0; r < kRanks; ++r) {
      const bool there = r < std::ssize(list);
      ASSERT_EQ(top[u * kRanks + r], there ? list[r] : -1) << "user " << u << " rank " << r;
      const bool hit = there && testing::is_in(lists.users.held_out[u], list[r]);
      ASSERT_EQ(found.hits[u].at(r), hit) << "user " << u << " rank " << r;
    }
    const auto last = std::min<std::int64_t>(kRanks, std::ssize(list)) - 1;
    const bool tied = last > 0 && rows[u][list[0]] == rows[u][list[last]];
    ASSERT_EQ(found.tied[u] == 1, tied) << "user " << u;
  }
}

// Orders that are hard on the bound: rising, falling, all equal, high scores in few groups only, so
// that far more than fit lie above it; and lists of seen items of every length.
TEST(DeviceSelection, IsTheSortedListForAnyOrder) {
  for (const std::int32_t n : {1, 99, 100, 101, 255, 256, 257, 1023, 5000, 26'744}) {
    std::vector<std::vector<float>> rows(8, std::vector<float>(n));
    Rng rng(static_cast<std::uint64_t>(n));
    for (std::int32_t i = 0; i < n; ++i) {
      rows[0][i] = static_cast<float>(i);
      rows[1][i] = static_cast<float>(-i);
      rows[2][i] = -2.5F;
      rows[3][i] = static_cast<float>(rng.normal());
      rows[4][i] = static_cast<float>(rng.below(4));
      // Less than 100 of 1024 groups hold all high scores: the bound is low.
      rows[5][i] = i % 1024 < 90 ? 1000 + static_cast<float>(rng.normal()) : 0;
      rows[6][i] = i % 2 == 0 ? -0.0F : 0.0F;
      rows[7][i] = static_cast<float>(rng.normal()) * 1e-40F;  // denormal
    }
    Lists lists(std::ssize(rows));
    for (int u = 0; u < std::ssize(rows); ++u) {
      std::vector<std::int32_t> seen, held_out;
      for (std::int32_t i = 0; i < n; ++i) {
        const auto draw = rng.below(100);
        const std::uint64_t share = u == 3 ? 99 : 10 * static_cast<std::uint64_t>(u);
        if (draw < share) {
          seen.push_back(i);
        } else if (draw % 3 == 0) {
          held_out.push_back(i);
        }
      }
      lists.add(seen, held_out);
    }
    SCOPED_TRACE(n);
    expect_selected(rows, lists);
  }
}

TEST(DeviceSelection, OfAUserWhoHasSeenEverything) {
  std::vector<std::int32_t> all(300);
  std::iota(all.begin(), all.end(), 0);
  Lists lists(2);
  lists.add(all, {});
  lists.add({}, all);
  expect_selected(std::vector<std::vector<float>>(2, std::vector<float>(300, 1.5F)), lists);
}

TEST(DeviceSelection, SaysWhereAScoreIsNotFinite) {
  for (const float bad :
       {kNaN, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    for (const bool seen : {false, true}) {
      Lists lists(1);
      if (seen) {
        lists.add({77}, {3});
      } else {
        lists.add({5}, {3});
      }
      std::vector<float> scores(400, 0.5F);
      scores[77] = bad;
      DeviceRanking ranking(lists.users, std::vector<std::int32_t>{0}, {}, nullptr);
      EXPECT_FALSE(select(ranking, scores, 400).finite);
      std::fill(scores.begin(), scores.end(), 0.5F);
      EXPECT_TRUE(select(ranking, scores, 400).finite) << "not for ever";
    }
  }
}

}  // namespace
}  // namespace mf
