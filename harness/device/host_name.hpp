// Names of the host and of this process that tell them apart and say nothing else of them.
#pragma once

#include <string>

namespace mf {

// "host-3f9a61c2d07b": a hash of the machine's id (/etc/machine-id, or else the id of its boot) and
// its GPUs. Machines that were copied with their id, and have no GPU, have one name.
std::string host_name();

// "process-5be10a77c4d2": a hash of the host, its boot, and the id and start of the process.
std::string process_name();

}  // namespace mf
