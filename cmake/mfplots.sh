#!/bin/sh
# Draws figures of mfbench's results: mfplots RESULTS [--recipe FILE] [--out DIR]; mfplots --help.
# It needs a python3 (or PYTHON) with matplotlib, pandas and scipy.
here=$(dirname "$(readlink -f "$0")")
PYTHONPATH=$here/../share/mfbench/plots${PYTHONPATH:+:$PYTHONPATH} \
  exec "${PYTHON:-python3}" -m mfplots "$@"
