#!/bin/sh
# A detector that is tilted, and nearer than the header says, is found from the spots.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
needs_noise
"$DUALBRAGG" sim -cell 78 78 38 90 90 90 -misset 10 20 30 -N 60 -default_F 20000 -fluence 3e21 -lambda 1 -distance 148 -detpixels 1000 \
    -pixel 0.1 -detector_roty 0.8 -spots closed -mosaic_rms 0.25 -footprint_rms 0.05 -water 20 -noisefile still.img -seed 3 --quiet
cat > still.yaml << 'END'
image: still.img
model: {cell: [78.1, 78.1, 38, 90, 90, 90], symmetry: tetragonal, misset: [10.1, 19.9, 30], distance: 150, detector_rotation: [0, 0, 0]}
END
"$DUALBRAGG" fit still.yaml --no-report > printed || fail "$(tail -n 3 printed)"
grep 'Stage detector' printed
grep -q 'Stage detector is kept' printed || fail "the detector is held"
near() { # NAME TRUTH TOLERANCE
    value=$(awk -v name="$1" '$2 == name && $4 == "->" { sub(/\(.*/, "", $5); print $5 }' still_refined.yaml)
    echo "$1 $value"
    awk -v a="$value" -v b="$2" -v t="$3" 'BEGIN { exit !(a != "" && a - b <= t && b - a <= t) }' ||
        fail "$1: '$value', expected '$2' +- $3"
}
near distance 148 0.5
near detector_roty 0.8 0.1
near detector_rotz 0 0.1
near cell_a 78 0.3
