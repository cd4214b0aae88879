#!/usr/bin/env bash
# tools/other-blas.sh SCIPY_LIBS LIBRARY: has an installed SciPy call another BLAS.
# SCIPY_LIBS is the folder scipy.libs of an environment of its own; LIBRARY is a shared BLAS and LAPACK with the usual
# names, such as libmkl_rt.so. SciPy's OpenBLAS is replaced by a library of jumps into LIBRARY, so SciPy and whatever
# calls BLAS through it stay the same. results/reference/h100-mkl and h100-openmp were measured so.
set -euo pipefail
libs=$1 library=$2
old=$(ls "$libs"/libscipy_openblas-*.so)
# Of the same length, since it replaces the old name in binaries; threadpoolctl does not take it for OpenBLAS.
new=${old/libscipy_openblas/libjumps_to_other}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# SciPy's names have a prefix. Functions that LIBRARY lacks are weak: a call of one ends the process.
nm -D --defined-only "$old" | awk '$2 ~ /^[TW]$/ && $3 ~ /^scipy_/ { sub(/^scipy_/, "", $3); print $3 }' |
  sort -u >"$work/wanted"
nm -D --defined-only "$library" | awk '$2 ~ /^[TW]$/ { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/there"
awk 'NR == FNR { there[$1]; next }
     { if (!($1 in there)) print ".weak " $1
       printf ".globl scipy_%s\n.type scipy_%s, @function\nscipy_%s: jmp *%s@GOTPCREL(%%rip)\n", $1, $1, $1, $1 }
     END { print ".section .note.GNU-stack,\"\",@progbits" }' "$work/there" "$work/wanted" >"$work/jumps.s"

cp "$library" "$libs/"
copied=$libs/$(basename "$library")
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ -z "$soname" ] || [ -e "$libs/$soname" ] || ln -s "$(basename "$library")" "$libs/$soname"
# shellcheck disable=SC2016  # the loader expands $ORIGIN
gcc -shared -nostdlib -Wl,--no-as-needed -Wl,-soname,"$(basename "$new")" -Wl,--disable-new-dtags \
  -Wl,-rpath,'$ORIGIN' -o "$new" "$work/jumps.s" "$copied"
rm "$old"
grep -rlZ libscipy_openblas- --include='*.so' "$libs/../scipy" |
  xargs -0 sed -i 's/libscipy_openblas-/libjumps_to_other-/g'
echo "$(wc -l <"$work/wanted") functions, $(grep -c '^\.weak' "$work/jumps.s" || true) of them not in $(basename "$library")"
