// An algorithm of this family on one matrix, with its inputs.
#pragma once

#include <string>

#include "testing/trainer.hpp"

namespace mf::ials::test {

inline Model start_for(const Ratings& train, std::int32_t factors) {
  return initial_model(train.n_users(), train.n_items(), factors, ModelKind::plain, 0,
                       {InitKind::normal, 0.1, 3}, 1);
}

struct Trainer : mf::test::Trainer {
  Trainer(const std::string& name, const Json& changes, const Ratings& ratings, int threads = 1)
      : mf::test::Trainer(
            name, changes, ratings,
            [](const Ratings& train, const Params& own) {
              return start_for(train, static_cast<std::int32_t>(own.integer("factors")));
            },
            threads),
        loss(find_algorithm(name).implicit(params)) {}
  ImplicitLoss loss;
};

}  // namespace mf::ials::test
