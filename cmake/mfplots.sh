#!/bin/sh
# Draws figures of mfbench's results: mfplots RESULTS [--recipe FILE] [--out DIR]; mfplots --help.
# It needs a python3 (or PYTHON) with matplotlib and pandas.
here=$(dirname "$(readlink -f "$0")")
PYTHONPATH=$here/../share/mfbench/plots${PYTHONPATH:+:$PYTHONPATH} \
  MFBENCH=${MFBENCH:-$here/mfbench} exec "${PYTHON:-python3}" -m mfplots "$@"
