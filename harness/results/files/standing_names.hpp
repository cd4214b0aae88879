// The names under which a folder already has the cases of a spec.
#pragma once

#include <string>

#include "harness/experiment/spec.hpp"

namespace mf {

// The spec with the ids of its cases as in the folder. A name depends on the rest of the spec, and
// on the version that wrote it; a case is known by its hash. So a case without a file of its name
// has that of the file whose header has its hash; without such a file, its own.
Spec named_as_in(const std::string& folder, Spec spec);

}  // namespace mf
