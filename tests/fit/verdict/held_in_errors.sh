#!/bin/sh
# A detector at two-theta 34 degrees whose header has a distance 0.3 % off: what the held distance does to cell, orientation and
# beam is in their errors, and how they go together in the correlations. A distance that the user gives counts as known as far
# as spots do not contradict it.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
detector="-lambda 1 -pixel 0.1 -detpixels 800 -twotheta 34"
cell="37.677 59.505 70.451 90 90 90"
# shellcheck disable=SC2086 # lists of flags
"$DUALBRAGG" sim $detector -default_F 250 -cell $cell -misset 53.84 -22.58 -9.2 -N 60 -distance 100 -Xbeam 41.31 -Ybeam 39.64 \
    -b_factor 12 -polar 0.9 -spots closed -mosaic_rms 0.12 -bandwidth_rms 0.001 -footprint_rms 0.03 -fluence 1e24 -water 0.1 \
    -floatfile photons.bin --quiet
# shellcheck disable=SC2086
"$DUALBRAGG" orient -cell $cell -misset 53.84 -22.58 -9.2 -o A.mat
still() { # DISTANCE SEED
    # shellcheck disable=SC2086
    "$DUALBRAGG" noise $detector -distance "$1" -Xbeam 41.39 -Ybeam 39.58 -floatfile photons.bin -noisefile "at_$1.img" -adc 0 \
        -calibration 0 -seed "$2" --quiet
}
within() { # OUTPUT PARAMETER TRUTH: 2.5 errors
    awk -v found="$(refined "$1.json" "$2")" -v truth="$3" -v error="$(value "$1.json" "$2" error)" 'BEGIN {
        off = (found - truth) / error; exit !(error > 0 && off < 2.5 && off > -2.5) }' ||
        fail "$1: $2 is $(refined "$1.json" "$2") +- $(value "$1.json" "$2" error), expected $3"
}
grows() { # OUTPUT PARAMETER FACTOR: its error, over the one by the scatter of spots
    awk -v error="$(value "$1.json" "$2" error)" -v spots="$(value "$1.json" "$2" error_robust)" -v factor="$3" \
        'BEGIN { exit !(error > factor * spots) }'
}
still 100.3 1
printf 'model: {matrix: A.mat, symmetry: orthorhombic}\n' > free.yaml
fit 0 free.yaml --image at_100.3.img --output untested --no-report
[ "$(value untested.json distance error)" = null ] || fail "the distance is refined: this scene does not hold it"
for p in misset_x misset_y misset_z; do within untested $p 0; done
within untested cell_a 37.677
within untested cell_b 59.505
within untested cell_c 70.451
within untested beam_fast 39.69
within untested beam_slow 41.36
for p in misset_z cell_c beam_slow; do grows untested $p 3 || fail "the held distance is not in the error of $p"; done
together=$(python3 -S -c '
import json
found = json.load(open("untested.json"))
names = [p["name"] for p in found["parameters"]]
print(found["correlation"][names.index("misset_z")][names.index("cell_c")])' 2> /dev/null) || together=
near "correlation of orientation and edge" "${together#-}" 1 0.1
# the user's distance
still 100 2
{
    echo "model: {matrix: A.mat, symmetry: orthorhombic}"
    echo "refine: {misset_x: {}, misset_y: {}, misset_z: {}, cell_a: {}, cell_b: {}, cell_c: {}, beam_fast: {}, beam_slow: {}}"
} > given.yaml
fit 0 given.yaml --image at_100.3.img --output contradicted --no-report
within contradicted cell_c 70.451
within contradicted misset_z 0
awk -v error="$(value contradicted.json cell_c error)" 'BEGIN { exit !(error > 0.001 * 70.451) }' ||
    fail "a distance that spots contradict is not in the error of cell_c"
fit 0 given.yaml --image at_100.img --output right --no-report
within right cell_c 70.451
awk -v error="$(value right.json cell_c error)" 'BEGIN { exit !(error > 0 && error < 0.0005 * 70.451) }' ||
    fail "a right distance of the user widens the error of cell_c to $(value right.json cell_c error)"
