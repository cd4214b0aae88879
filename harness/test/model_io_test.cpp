#include "harness/evaluate/model_io.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/files/npy.hpp"
#include "harness/evaluate/evaluator.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::random_ratings;
using testing::TempFolder;

struct ModelIo : ::testing::TestWithParam<ModelKind> {
  const TempFolder folder;
};

TEST_P(ModelIo, PredictsInOriginalIdsAsTheEvaluatorDoes) {
  const Ratings train = random_ratings(30, 20, 0.2, 3);
  Model model = initial_model(30, 20, 5, GetParam(), 3.2, InitSpec{}, 1);
  for (auto& b : model.user_bias) b = 0.5F;
  save_model(folder / "m", model.view(), train, Predictor(train), {}, {{"algorithm", "t"}});
  save_model(folder / "m", model.view(), train, Predictor(train), {},
             {{"algorithm", "t"}});  // replaces
  const SavedModel saved = load_model(folder / "m");
  const Evaluator evaluator(train);
  for (std::int32_t u = 0; u < 30; ++u) {
    for (std::int32_t i = 0; i < 20; ++i) {
      EXPECT_EQ(saved.predict(saved.user(u), i), evaluator.predict(model.view(), u, i));
    }
  }
  EXPECT_EQ(saved.users.row("40"), 3);
  EXPECT_FALSE(saved.users.row("41"));
  EXPECT_EQ(saved.items.name(3), "40");
}

TEST_P(ModelIo, RecommendsTheBestUnseenItemsInOrder) {
  const Ratings train = random_ratings(30, 20, 0.3, 3);
  const Model model = initial_model(30, 20, 5, GetParam(), 3.2, InitSpec{}, 1);
  save_model(folder / "m", model.view(), train, Predictor(train), {}, {});
  const SavedModel saved = load_model(folder / "m");
  const ModelUser user = saved.user(3);
  const auto top = saved.recommend(user, 5, false);
  ASSERT_EQ(top.size(), 5u);
  for (std::size_t k = 1; k < top.size(); ++k) EXPECT_GE(top[k - 1].second, top[k].second);
  for (const auto& [item, score] : top) {
    EXPECT_EQ(score, saved.predict(user, item));
    for (auto at = train.user_offsets()[3]; at < train.user_offsets()[4]; ++at) {
      EXPECT_NE(item, train[at].item) << "rated in training";
    }
  }
  EXPECT_EQ(saved.recommend(user, 100, true).size(), 20u);
}

// Two users and three items that are called by text.
Ratings named_ratings() {
  Ratings::Arrays a;
  a.users = {0, 0, 1};
  a.items = {0, 2, 1};
  a.values = {5, 1, 3};
  a.user_offsets = {0, 2, 3};
  a.user_ids = {0, 1};
  a.item_ids = {0, 1, 2};
  a.user_names = IdNames(std::vector<std::string_view>{"alice", "zoë B."});
  a.item_names = IdNames(std::vector<std::string_view>{"B000123", "New York", "日本"});
  return Ratings(std::move(a));
}

TEST_P(ModelIo, IdsThatAreTextComeBack) {
  const Ratings train = named_ratings();
  const Model model = initial_model(2, 3, 5, GetParam(), 3.2, InitSpec{}, 1);
  save_model(folder / "m", model.view(), train, {}, {}, {});
  const SavedModel saved = load_model(folder / "m");
  const Evaluator evaluator(train);
  for (std::int32_t u = 0; u < 2; ++u) {
    for (std::int32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(saved.users.row(train.user_names()[u]), u);
      EXPECT_EQ(saved.items.row(train.item_names()[i]), i);
      EXPECT_EQ(saved.items.name(i), train.item_names()[i]);
      EXPECT_EQ(saved.predict(saved.user(u), i), evaluator.predict(model.view(), u, i));
    }
  }
  EXPECT_FALSE(saved.users.row("bob"));
}

TEST_P(ModelIo, NamesThatDoNotFitAreRefused) {
  const Model model = initial_model(2, 3, 5, GetParam(), 3.2, InitSpec{}, 1);
  const auto refusal = [&](const std::string& names) {
    save_model(folder / "m", model.view(), named_ratings(), {}, {}, {});
    std::ofstream(folder / "m/item_names.txt", std::ios::binary) << names;
    return message_of([&] { load_model(folder / "m"); });
  };
  EXPECT_EQ(refusal("a\nb\nc\n"), "no error");
  EXPECT_HAS(refusal("a\nb\n"), "item_names.txt: holds 2 values, expected 3");
  EXPECT_HAS(refusal("a\n\nc\n"), "item_names.txt: found '' as name 1");
  EXPECT_HAS(refusal("b\na\nc\n"), "the name 'b' before 'a' (row 0)");
  EXPECT_HAS(refusal("a\n\x1b[2J\nz\n"), "'\\x1b[2J' as name 1");
  EXPECT_HAS(refusal("a\n" + std::string(1 << 20, 'b') + "\nz\n"), "as name 1");
  std::filesystem::remove(folder / "m/item_names.txt");
  EXPECT_HAS(message_of([&] { load_model(folder / "m"); }), "item_names.txt");
}

TEST_P(ModelIo, ArraysThatDoNotFitTogetherAreRefused) {
  const Ratings train = random_ratings(6, 5, 0.6, 3);
  const Model model = initial_model(6, 5, 4, GetParam(), 3.2, InitSpec{}, 1);
  const auto refusal = [&](const std::string& file, auto values, auto change) {
    save_model(folder / "m", model.view(), train, Predictor(train), {}, {});
    using T = typename decltype(values)::value_type;
    auto array = read_npy<T>(folder / ("m/" + file));
    change(array.values);
    const bool matrix = array.shape.size() == 2;
    write_npy(folder / ("m/" + file), array.values.data(), array.shape[0],
              matrix ? array.shape[1] : 0, matrix ? array.shape[1] : 1);
    return message_of([&] { load_model(folder / "m"); });
  };
  using Ids = std::vector<std::int32_t>;
  using Offsets = std::vector<std::int64_t>;
  using Floats = std::vector<float>;
  const auto has = [](const std::string& text, const char* part) { EXPECT_HAS(text, part); };
  has(refusal("user_ids.npy", Ids(), [](Ids& ids) { std::swap(ids[1], ids[2]); }), "ascending ids");
  has(refusal("item_ids.npy", Ids(), [](Ids& ids) { ids[3] = ids[4]; }), "ascending ids");
  has(refusal("seen_items.npy", Ids(), [](Ids& items) { items[0] = 5; }), "the model has 5 items");
  has(refusal("seen_offsets.npy", Offsets(), [](Offsets& o) { o[2] = 1'000'000; }), "never fall");
  has(refusal("seen_offsets.npy", Offsets(), [](Offsets& o) { o[0] = -4; }), "begin with 0");
  has(refusal("seen_offsets.npy", Offsets(), [](Offsets& o) { o.back() -= 1; }), "seen_items.npy");
  has(refusal("seen_offsets.npy", Offsets(), [](Offsets& o) { o.back() = -1; }), "never fall");
  has(refusal("P.npy", Floats(), [](Floats& p) { p[7] = NAN; }), "P.npy: found nan as value 7");
  has(refusal("Q.npy", Floats(), [](Floats& q) { q[0] = -INFINITY; }), "finite numbers");
}

TEST_P(ModelIo, SizesThatNoModelHasAreRefused) {
  const Ratings train = random_ratings(6, 5, 0.6, 3);
  const Model model = initial_model(6, 5, 4, GetParam(), 3.2, InitSpec{}, 1);
  save_model(folder / "m", model.view(), train, {}, {}, {});
  const Json info = read_json_file(folder / "m/model.json");
  const auto refusal = [&](const char* key, const Json& value) {
    Json changed = info;
    changed[key] = value;
    std::ofstream(folder / "m/model.json") << changed;
    return message_of([&] { load_model(folder / "m"); });
  };
  for (const char* key : {"n_users", "n_items", "factors"}) {
    EXPECT_HAS(refusal(key, 0), "expected an integer from 1 to");
    EXPECT_HAS(refusal(key, 2147483648), "expected an integer from 1 to");
  }
  EXPECT_HAS(refusal("factors", 16385), "from 1 to 16384");
  Json without = info;
  without.erase("factors");
  std::ofstream(folder / "m/model.json") << without;
  EXPECT_HAS(message_of([&] { load_model(folder / "m"); }), "factors");
}

TEST_P(ModelIo, ClipsAsTheEvaluatorDoesWhereTheCaseClips) {
  const Ratings train = random_ratings(30, 20, 0.3, 3);
  Model model = initial_model(30, 20, 5, GetParam(), 3.2, InitSpec{}, 1);
  Rng rng(1);
  for (auto& p : model.p) p = static_cast<float>(10 * rng.normal());
  Evaluator evaluator(train);
  evaluator.set_clip(ClipRange{1, 4.5F});
  save_model(folder / "m", model.view(), train, evaluator.predictor(), {}, {});
  EXPECT_EQ(read_json_file(folder / "m/model.json")["clip"], (Json{{"min", 1.0}, {"max", 4.5}}));
  const SavedModel saved = load_model(folder / "m");
  int at_ends = 0;
  for (std::int32_t u = 0; u < 30; ++u) {
    for (std::int32_t i = 0; i < 20; ++i) {
      const float guess = saved.predict(saved.user(u), i);
      EXPECT_EQ(guess, evaluator.predict(model.view(), u, i));
      at_ends += guess == 1 || guess == 4.5F ? 1 : 0;
    }
  }
  EXPECT_GT(at_ends, 100);
}

// Clipping makes the best items equal; they are ordered by the scores before it.
TEST_P(ModelIo, RecommendsInTheOrderBeforeClipping) {
  const Ratings train = random_ratings(30, 20, 0.3, 3);
  Model model = initial_model(30, 20, 1, GetParam(), 3.2, InitSpec{}, 1);
  for (auto& p : model.p) p = 1;
  for (std::int32_t i = 0; i < 20; ++i) model.q[i] = static_cast<float>(10 + i);
  Predictor clipped(train);
  clipped.set_clip(ClipRange{1, 5});
  save_model(folder / "m", model.view(), train, clipped, {}, {});
  const SavedModel saved = load_model(folder / "m");
  EXPECT_EQ(saved.recommend(saved.user(3), 3, true), (ScoredItems{{19, 5}, {18, 5}, {17, 5}}));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ModelIo, ::testing::Values(ModelKind::biased, ModelKind::plain),
                         [](const auto& kind) {
                           return kind.param == ModelKind::biased ? "biased" : "plain";
                         });

TEST(ModelIoErrors, NameTheFile) {
  const TempFolder folder;
  EXPECT_HAS(message_of([&] { load_model(folder / "none"); }), "model.json");
  const Ratings train = random_ratings(4, 4, 1, 3);
  const Model model = initial_model(4, 4, 2, ModelKind::plain, 3, InitSpec{}, 1);
  save_model(folder / "m", model.view(), train, Predictor(train), {}, {});
  Json info = read_json_file(folder / "m/model.json");
  info["clip"] = {{"min", 5}, {"max", 1}};
  std::ofstream(folder / "m/model.json") << info;
  const std::string clip = message_of([&] { load_model(folder / "m"); });
  EXPECT_TRUE(contains(clip, "model.json") && contains(clip, "$.clip: found 5 to 1")) << clip;
  std::filesystem::remove(folder / "m/Q.npy");
  EXPECT_HAS(message_of([&] { load_model(folder / "m"); }), "Q.npy: found no such file");
}

}  // namespace
}  // namespace mf
