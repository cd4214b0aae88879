// The clocks of older files, by today's rules (docs/methodology.md, "Clocks").
#pragma once

#include "base/json/json_fwd.hpp"

namespace mf {

// A footer of today's version stays as it is. In older ones,
// - packing the training ratings for a device is on the load clock ("load_parts": {"pack_s"}): it
//   moves to prepare and becomes the phase "pack", and a loan of packed ratings moves, too;
// - writing the files for a peer (phase "hand_over") is on prepare: it moves to the rest and
// becomes
//   the phase "files_for_peer", and its loan goes.
void read_by_todays_rules(Json& footer);

}  // namespace mf
