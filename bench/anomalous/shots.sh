#!/bin/sh
# Curves of two irons by the number of stills, beside the true ones: the table and the figure of docs/results/anomalous.md.
#
# usage: sh bench/anomalous/shots.sh DUALBRAGG FOLDER 1m2a.pdb [SHOTS ...]
#
# FOLDER gets the stills, found_N.json of the first N of them with time_N.txt (processor time, memory), and curves.png; results that
# are there already are kept. OFFSET: eV (rms) by which told spectra are off.
set -eu
program=$(realpath "$1") folder=$2 model=$3 here=$(realpath "$(dirname "$0")")
shift 3
[ $# -gt 0 ] || set -- 4 8 16 32 64
most=$(printf '%s\n' "$@" | sort -n | tail -n 1)
PYTHON=${PYTHON:-python3}
"$PYTHON" "$here/make_set.py" "$program" "$folder" "$model" --shots "$most" --offset "${OFFSET:-0}"
cd "$folder"
for count; do
    head -n "$count" fit.txt > "fit_$count.txt"
    sed "s/list: fit.txt/list: fit_$count.txt/" fit.yaml > "fit_$count.yaml"
    [ -e "found_$count.json" ] ||
        command time -o "time_$count.txt" -f "$count shots: %U s of processor time, %M kB" \
            "$program" fit "fit_$count.yaml" --output "found_$count" --no-report --quiet
    cat "time_$count.txt"
done
"$PYTHON" "$here/compare.py" . curves.png $(printf 'found_%s.json ' "$@")
