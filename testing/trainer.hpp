// An algorithm on one matrix, with its inputs.
#pragma once

#include <memory>
#include <string>

#include "algorithms/core/prepare.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"

namespace mf::test {

struct Trainer {
  // start(ratings, params): the model that it begins with.
  template <class Start>
  Trainer(const std::string& name, const Json& changes, const Ratings& ratings, const Start& start,
          int threads = 1, std::uint64_t seed = 1)
      : params(default_params(find_algorithm(name).params, changes)),
        initial(start(ratings, params)),
        team(threads) {
    context.team = &team;
    context.seed = seed;
    algorithm = prepare_algorithm(name, params, ratings, initial, context);
  }
  void run(std::int64_t epochs, double rate = 0) {
    for (std::int64_t k = 0; k < epochs; ++k) {
      updates += algorithm->run_epoch({++epoch, rate}, context);
    }
  }
  Model model() { return copy_model(algorithm->factors()); }

  Params params;
  Model initial;
  ThreadTeam team;
  Context context;
  std::int64_t epoch = 0, updates = 0;
  std::unique_ptr<Algorithm> algorithm;
};

// For the plain model, so that the products start at the mean.
inline Model uniform_start(const Ratings& train, std::int32_t factors) {
  return initial_model(train.n_users(), train.n_items(), factors, ModelKind::plain,
                       mean_rating(train), {InitKind::uniform, 0.1, 3}, 1);
}

inline Model plain_start(const Ratings& train, const Params& params) {
  return uniform_start(train, static_cast<std::int32_t>(params.integer("factors")));
}

}  // namespace mf::test
