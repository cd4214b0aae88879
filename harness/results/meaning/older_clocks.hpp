// The clocks of older files, by today's rules (docs/methodology.md, "Clocks").
#pragma once

#include "base/json/json_fwd.hpp"

namespace mf {

// A footer of today's version stays as it is. Older footers change in two ways:
// - They have packing for a device on the load clock ("load_parts": {"pack_s"}). Packing moves to
//   prepare and becomes the phase "pack". A loan of packed ratings moves, too.
// - They have the files for a peer (phase "hand_over") on prepare. Writing them moves to the
//   rest and becomes the phase "files_for_peer". Its loan goes.
void read_by_todays_rules(Json& footer);

}  // namespace mf
