// The clocks of older files, by today's rules (docs/methodology.md, "Clocks").
#pragma once

#include "base/json/json_fwd.hpp"

namespace mf {

// In older files, packing the training ratings for a device is on the load clock
// ("load_parts": {"pack_s"}). Moves it to prepare and makes it the phase "pack"; a loan of packed
// ratings moves, too. A newer footer stays as it is.
void move_packing_to_prepare(Json& footer);

}  // namespace mf
