// What the SGD families share: the regularizers, and counts of the rows that an epoch touches.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/core/params.hpp"
#include "datasets/ratings.hpp"

namespace mf {

struct Regularizers {
  double p = 0;
  double q = 0;
  double user_bias = 0;
  double item_bias = 0;
};

// reg, and reg_p, reg_q, reg_user_bias, reg_item_bias, which take its value where negative.
std::vector<ParamSpec> regularizer_params(double default_reg = 0.02);
Regularizers read_regularizers(const Params& params);

// What a step keeps of the numbers it changes: 1 - rate * regularizer of each.
struct Keeps {
  float p = 1;
  float q = 1;
  float user_bias = 1;
  float item_bias = 1;
};
Keeps keeps_at(double rate, const Regularizers& reg);

// Throws std::logic_error where the harness's factors are not what the parameters say.
void check_initial(ModelKind kind, std::int32_t factors, const Ratings& train,
                   const Model& initial);

// How many updates may run at once without locks. Each holds rows that others may be changing: with
// too many for a small matrix updates are lost, and the error suffers. From ml-100k, ml-1m and the
// Netflix look-alike (algorithms/sgd_tiled/README.md): a 32nd of the smaller side of the matrix,
// more where its rows have more ratings, since a lost update then matters less.
std::int64_t lock_free_workers(const ProblemShape& shape);

std::int64_t count_rated_items(const Ratings& train);   // items with a rating
std::int64_t count_rating_users(const Ratings& train);  // users with a rating

}  // namespace mf
