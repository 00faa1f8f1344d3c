#!/bin/sh
# A header's distance that is 0.8 % off: too few spots for held-out halves to earn the distance, but they contradict it, so it is
# refined. Where the user says what is refined, and the distance is not, the model is refused.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
detector="-lambda 1.3164 -pixel 0.1 -detpixels 900"
# shellcheck disable=SC2086 # lists of flags
"$DUALBRAGG" sim $detector -default_F 250 -cell 73.98 106.73 47.42 90 90 90 -misset 20 10 70 -N 52 -distance 69.29 -Xbeam 51.26 \
    -Ybeam 46.04 -b_factor 28 -polar 0.9 -spots closed -mosaic_rms 0.1 -bandwidth_rms 0.0016 -footprint_rms 0.02 -fluence 3e23 \
    -water 0.4 -floatfile photons.bin --quiet
# shellcheck disable=SC2086
"$DUALBRAGG" noise $detector -distance 69.85 -Xbeam 51.26 -Ybeam 46.04 -floatfile photons.bin -noisefile still.img -adc 0 \
    -calibration 0 --quiet
refined() { # OUTPUT NAME: value and error
    awk -v name="\"$2\"," '$1 == "\"name\":" { own = $2 == name } own && $1 == "\"refined\":" { v = $2 }
        own && $1 == "\"error\":" { print v + 0, $2 + 0; exit }' "$1.json"
}
status=0
"$DUALBRAGG" fit still.img --cell 73.98,106.73,47.42 --symmetry orthorhombic --output found --no-report --quiet 2> err || status=$?
[ $status -eq 0 ] || fail "spots contradict the header's distance: exit status $status: $(cat err)"
grep -q "spots contradict 69.85 mm .* refined again, the distance, too" found.log || fail "the log does not say why the distance is refined"
refined found distance | awk '{ d = $1 - 69.29; print "distance", $1, "+-", $2; good = $2 > 0 && d < 3 * $2 && -d < 3 * $2 && $2 < 0.35 } END { exit !good }' ||
    fail "the refined distance is wrong"
{
    echo "refine:"
    for p in misset_x misset_y misset_z cell_a cell_b cell_c; do echo "  $p: {range: 2}"; done
} > held.yaml
status=0
"$DUALBRAGG" fit held.yaml --image still.img 'model.cell=[73.98, 106.73, 47.42]' model.symmetry=orthorhombic model.find_orientation=yes \
    --output kept --no-report --quiet 2> err || status=$?
[ $status -eq 1 ] || fail "a held distance that spots contradict: exit status $status"
grep -q "the distance was held at 69.85 mm" err || fail "a held distance that spots contradict: $(cat err)"
[ "$failures" -eq 0 ]
