#include "algorithms/core/algorithm.hpp"

#include "base/json.hpp"

namespace mf {

Json Algorithm::facts() const { return Json::object(); }
Json Algorithm::exchanged() const { return nullptr; }
Json Algorithm::finish() { return nullptr; }

}  // namespace mf
