// Reports what a request finds, without reading its ratings: `mfbench validate --data`.
#pragma once

#include <string>

#include "datasets/readers/readers.hpp"
#include "datasets/request.hpp"

namespace mf {

// "triples, not cached yet", "catalog, cached", "made when it is needed". Files are opened, their
// format is recognised and their first thousand lines are read, unless the cache is up to date.
// Throws Error(data) if something is missing, no format is recognised or these lines are wrong,
// Error(io) if a file cannot be read.
std::string look_at_data(const DatasetRequest& request);

// The first lines of the user's own file, the train file of several; empty for other data.
FirstLook first_look(const DatasetRequest& request);

}  // namespace mf
