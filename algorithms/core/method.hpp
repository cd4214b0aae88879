// The kind of an algorithm's updates. Updates of different methods cost different work, so their
// rates never stand on one axis.
#pragma once

#include "base/json/names.hpp"

namespace mf {

enum class Method {
  sgd,         // a rating moves its row of P and its row of Q
  als,         // a rating enters the system of one row: each twice an epoch
  ccd,         // a rating enters the numbers of one row, all factors in turn: each twice an epoch
  pairwise,    // an observed pair and an item that was not: a row of P and two of Q
  closed_form  // a rating enters the one solution: an epoch is the whole, each rating once
};
inline constexpr Names kMethods{
    std::to_array<Named<Method>>({{"sgd", Method::sgd},
                                  {"als", Method::als},
                                  {"ccd", Method::ccd},
                                  {"pairwise", Method::pairwise},
                                  {"closed_form", Method::closed_form}})};

// How often an epoch has each rating, unless the algorithm says otherwise.
constexpr int visits_of_rating(Method method) {
  return method == Method::als || method == Method::ccd ? 2 : 1;
}

}  // namespace mf
