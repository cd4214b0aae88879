#include <gtest/gtest.h>

#include "testing/trainer.hpp"
#include "testing/triples.hpp"

namespace mf::test {
namespace {

TEST(Popular, ScoresAnItemByTheShareOfUsersWhoHaveIt) {
  // Item 0 has values, item 1 most users, item 2 one of them with the value 0, item 3 none.
  const Ratings train =
      ratings_of(4, 4, {{0, 0, 100}, {0, 1, 1}, {1, 1, 1}, {2, 1, .5F}, {2, 2, 0}, {3, 2, 1}});
  Trainer popular("popular", Json::object(), train, plain_start);
  EXPECT_EQ(popular.model().q, AlignedVector<float>(4, 0.0F));
  popular.run(2);  // the second counts again
  EXPECT_EQ(popular.updates, 2 * train.nnz());
  const Model model = popular.model();
  EXPECT_EQ(model.p, (AlignedVector<float>{1, 1, 1, 1}));
  EXPECT_EQ(model.q, (AlignedVector<float>{.25F, .75F, .25F, 0}));
}

}  // namespace
}  // namespace mf::test
