#!/bin/bash
#SBATCH --job-name=mfbench --array=1-8 --nodes=1 --exclusive
#SBATCH --time=12:00:00 --signal=B:TERM@120 --requeue --open-mode=append
# Eight nodes share the cases of a spec (docs/many-machines.md):
#     sbatch tools/slurm-array.sh SPEC.json FOLDER [OPTIONS OF mfbench run]
# SPEC.json, its ratings and FOLDER are seen by all nodes; options of sbatch change the lines above.
set -eu
spec=$1 folder=$2
shift 2
exec "${MFBENCH:-mfbench}" run "$spec" --out "$folder" --apart --quiet ${SLURM_RESTART_COUNT:+--retry} "$@"
