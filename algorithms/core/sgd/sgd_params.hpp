// Shared by the SGD families: the regularizers, and counts of the rows that an epoch touches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/core/params.hpp"
#include "algorithms/core/sgd/sgd_rule.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

struct Regularizers {
  double p = 0;
  double q = 0;
  double user_bias = 0;
  double item_bias = 0;
};

// `factors` and `model`, which every SGD family has. A family of one kind of model names only that.
ParamSpec factors_param(std::int64_t fallback, std::int64_t most);
ParamSpec model_param(ModelKind fallback);
ParamSpec only_model_param(ModelKind kind, std::string help);

// reg, and reg_p, reg_q, reg_user_bias, reg_item_bias, which take its value if negative. Biases'
// are left out for a family with only the plain model, and then read as 0.
std::vector<ParamSpec> regularizer_params(double default_reg = 0.02, bool of_biases = true);
Regularizers read_regularizers(const Params& params);

// The constants of an epoch; `mean` is the model's, 0 for the plain one.
template <class Real = float>
sgd::Step<Real> step_at(double rate, const Regularizers& reg, double mean) {
  const auto real = [](double x) { return static_cast<Real>(x); };
  return {real(rate),
          real(mean),
          real(rate * reg.p),
          real(rate * reg.q),
          real(rate * reg.user_bias),
          real(rate * reg.item_bias)};
}

// So many ratings, and users and items together that have one.
struct RatedShape {
  std::int64_t nnz = 0;
  std::int64_t rows = 0;
};
// As the context has it, else counted: a walk over all items by one thread.
RatedShape rated_shape(const Ratings& train, const Context& context = {});

// Compulsory work of a pass over all ratings: each rating and each row that has one are read, each
// row is written back. `row_bytes` are of a row with its bias, `rating_bytes` of a rating. An
// update takes 2 f operations for p.q, 8 f for both rows, 2 for the gain, and 11 for both biases.
Work pass_work(const RatedShape& shape, std::int32_t factors, ModelKind kind, double rating_bytes,
               double row_bytes);

// Throws std::logic_error if the harness's factors contradict the parameters.
void check_initial(ModelKind kind, std::int32_t factors, const Ratings& train,
                   const Model& initial);

// How many updates may run at once without locks. Each holds rows that others may be changing: with
// too many for a small matrix updates are lost, and the error suffers. From ml-100k, ml-1m and the
// Netflix look-alike (algorithms/sgd_tiled/NOTES.md): a 32nd of the smaller side of the matrix,
// more if its rows have more ratings, since a lost update then matters less.
std::int64_t lock_free_workers(const ProblemShape& shape);

std::int64_t count_filled(View<const std::int64_t> offsets);  // rows that are not empty
std::int64_t count_different(View<const std::int32_t> items, std::int32_t n_items);

}  // namespace mf
