// What one of an algorithm's updates is. Updates of different methods cost different work, so their
// rates never stand on one axis.
#pragma once

#include "base/json/names.hpp"

namespace mf {

enum class Method {
  sgd,  // a rating moves its row of P and its row of Q
  als,  // a rating enters the system of one row: each twice an epoch
  ccd   // a rating enters the numbers of one row, all factors in turn: each twice an epoch
};
inline constexpr Names kMethods{std::to_array<Named<Method>>(
    {{"sgd", Method::sgd}, {"als", Method::als}, {"ccd", Method::ccd}})};

}  // namespace mf
