// Ranks that mpirun or srun has started, of one machine or many. A build without
// libopenmpi-dev has no such ranks.
#pragma once

#include <memory>
#include <string>

#include "base/ranks/rank_links.hpp"

namespace mf {

// "Open MPI v4.1.4, ..."; empty in a build without MPI.
std::string mpi_version();

// How many processes a launcher says that it has started this one with, by its environment
// (OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_STEP_NUM_TASKS with PMIX_RANK); 1: none has. And which of
// them this one is.
int launched_count();
int launched_rank();

// Called once. Throws Error(unsupported) in a build without MPI.
std::shared_ptr<RankLinks> join_mpi_ranks();

}  // namespace mf
