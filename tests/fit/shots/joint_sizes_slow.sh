#!/bin/sh
# Joint intensities of stills find the sizes of small blocks, if a configuration names nothing.
set -eu
. "$SOURCE_DIR/tests/support/refinement"

awk 'BEGIN {
    for (h = -13; h <= 13; h++) for (k = -13; k <= 13; k++) for (l = -17; l <= 17; l++) {
        a = h < 0 ? -h : h; b = k < 0 ? -k : k; c = l < 0 ? -l : l
        if (a < b) { t = a; a = b; b = t }
        x = sin(12.9898 * a + 78.233 * b + 37.719 * c) * 43758.5453; x -= int(x); if (x < 0) x = -x
        if (a + b + c) printf "%d %d %d %.4f\n", h, k, l, 300 * sqrt(-log(1 - 0.999 * x))
    } }' > amplitudes.hkl
"$DUALBRAGG" sim -cell 40 40 50 90 90 90 -hkl amplitudes.hkl -nointerpolate -N 15 -gauss_xtal -spots closed -mosaic_rms 0.1 -bandwidth_rms 0.002 \
    -footprint_rms 0.08 -lambda 1 -distance 80 -detpixels 320 -pixel 0.25 -fluence 3e26 -water 0.3 -seed 3 --random 12 -noisefile counts.h5 -bits 32 \
    -noreflections --quiet
echo 'counts.h5#1-12' > shots.txt
cat > joint.yaml << 'END'
shots: {list: shots.txt}
model: {cell: [40, 40, 50, 90, 90, 90], symmetry: P 4 2 2}
intensity: joint
END
fit 0 joint.yaml --output found
grep -q '^12 of 12 shots in use' found.log || fail "shots were excluded: $(cat found.log)"
for size in Na Nb Nc; do near "$size" "$(refined found.json $size)" 15 0.2; done
near "chi2" "$(sed -n 's/.*chi2 per degree of freedom .* -> //p' found.log)" 1 0.05
grep -q 'after [1-8] passes' found.log || fail "passes: $(cat found.log)"
