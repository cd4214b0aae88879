#!/bin/sh
# Another name of `mfbench plot`.
exec "$(dirname "$(readlink -f "$0")")/mfbench" plot "$@"
