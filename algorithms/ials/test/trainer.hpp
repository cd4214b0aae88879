// An algorithm of this family on one matrix, with what it needs.
#pragma once

#include <memory>
#include <string>

#include "algorithms/core/prepare.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"

namespace mf::ials::test {

inline Model start_for(const Ratings& train, std::int32_t factors) {
  return initial_model(train.n_users(), train.n_items(), factors, ModelKind::plain, 0,
                       {InitKind::normal, 0.1, 3}, 1);
}

struct Trainer {
  Trainer(const std::string& name, const Json& changes, const Ratings& ratings, int threads = 1)
      : params(default_params(find_algorithm(name).params, changes)),
        loss(find_algorithm(name).implicit(params)),
        start(start_for(ratings, static_cast<std::int32_t>(params.integer("factors")))),
        team(threads) {
    context.team = &team;
    algorithm = prepare_algorithm(name, params, ratings, start, context);
  }
  void run(int epochs) {
    for (int k = 0; k < epochs; ++k) updates += algorithm->run_epoch({++epoch, 0}, context);
  }
  Model model() { return copy_model(algorithm->factors()); }

  Params params;
  ImplicitLoss loss;
  Model start;
  ThreadTeam team;
  Context context;
  std::int64_t epoch = 0;
  std::int64_t updates = 0;
  std::unique_ptr<Algorithm> algorithm;
};

}  // namespace mf::ials::test
