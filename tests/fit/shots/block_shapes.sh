#!/bin/sh
# Shapes of blocks: flat ones, parallelepipeds in hexagonal axes, which are different in equivalent orientations, and those of the lattice's symmetry.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
chi2() { sed -n 's/.*chi2 per degree of freedom .* -> //p' "$1.log"; }

awk 'BEGIN {
    for (h = -25; h <= 25; h++) for (k = -25; k <= 25; k++) for (l = -30; l <= 30; l++) {
        t = h * h + h * k + k * k; c = l < 0 ? -l : l
        x = sin(12.9898 * t + 37.719 * c) * 43758.5453; x -= int(x); if (x < 0) x = -x
        if (t + c && t < 450) printf "%d %d %d %.4f\n", h, k, l, 300 * sqrt(-log(1 - 0.999 * x))
    } }' > amplitudes.hkl
render() { # IMAGES FLAG...
    image=$1
    shift
    "$DUALBRAGG" sim -cell 40 40 50 90 90 120 -hkl amplitudes.hkl -nointerpolate -N 14 -gauss_xtal -spots closed -footprint_rms 0.08 \
        -lambda 1 -distance 80 -detpixels 320 -pixel 0.25 -fluence 1e26 -water 0.3 -noisefile "$image" -bits 32 -noreflections --quiet "$@"
}

# neighbours along a long edge are apart only by the model that pixels have found, not by the start: the last stage lists reflections anew
seq 0 5 | awk '{ printf "frame_%d phi=%g\n", $1, $1 / 2 }' > turns.txt
"$DUALBRAGG" sim -cell 30 34 200 90 90 90 -default_F 100 -Na 20 -Nb 20 -Nc 10 -gauss_xtal -spots closed -mosaic_rms 0.1 -footprint_rms 0.1 \
    -lambda 1 -distance 130 -detpixels 500 -pixel 0.2 -fluence 1e27 -water 0.3 -noisefile long.h5 -bits 32 -noreflections --quiet -seed 5 \
    --shots turns.txt -osc 0.5 -misset 20 35 50
echo 'long.h5#1-6' > long.txt
cat > long_edge.yaml << 'END'
shots: {list: long.txt, series: yes}
model: {cell: [30, 34, 200, 90, 90, 90], symmetry: P 2 2 2}
END
fit 0 long_edge.yaml --output long
near "long edge: Nc" "$(refined long.json Nc)" 10 0.4
boxes=$(sed -n 's/.* pixels in \([0-9]*\) shoeboxes.*/\1/p' long.log)
[ "$boxes" -gt 2000 ] || fail "long edge: shoeboxes: $(cat long.log)"

# a series finds the shape of its crystal's blocks in the orientation that the search has chosen among equivalent ones, and that
# they turn about c more than about other axes
render frames.h5 -mosaic_rms_abc 0.06 0.06 0.2 -seed 5 --shots turns.txt -osc 0.5 -misset 20 35 50
echo 'frames.h5#1-6' > frames.txt
cat > turning.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [40, 40, 50, 90, 90, 120], symmetry: P 6 2 2}
END
fit 0 turning.yaml --output series
near "series: chi2" "$(chi2 series)" 1 0.02
near "series: Nc" "$(refined series.json Nc)" 14 0.3
near "series: rotations about a*" "$(refined series.json mosaic_xx)" 0.0036 0.0008
near "series: rotations about c" "$(refined series.json mosaic_zz)" 0.04 0.0015
near "series: rotations about all axes" "$(refined series.json mosaic_variance)" 0 1e-12
near "long edge: rotations do not differ" "$(refined long.json mosaic_zz)" 0 1e-12
awk -v a="$(refined series.json Na)" -v b="$(refined series.json Nb)" -v c="$(refined series.json size_ab)" 'BEGIN {
    s = 14 / sqrt(2); r = -sqrt(0.5)
    exit !(far(a - 14, b - 14, c) < 1 || far(a - s, b - 14, c - r) < 1 || far(a - 14, b - s, c - r) < 1) }
    function far(x, y, z) { return sqrt(x * x / 0.16 + y * y / 0.16 + z * z / 0.0025) }' || fail "series: blocks: $(cat series.log)"

mkdir cut.checkpoint.14.0 # cut off in the last stage, and gone on with
fit 3 turning.yaml --output cut
rmdir cut.checkpoint.14.0
fit 0 turning.yaml --output cut --resume
for name in Na size_ab mosaic_zz; do near "gone on with: $name" "$(refined cut.json $name)" "$(refined series.json $name)" 0; done

# stills with given sizes are laid as their blocks are
render counts.h5 -mosaic_rms 0.1 -seed 3 --random 10 -bandwidth_rms 0.002
echo 'counts.h5#1-10' > shots.txt
cat > known.yaml << 'END'
shots: {list: shots.txt}
model: {cell: [40, 40, 50, 90, 90, 120], symmetry: P 6 2 2, Ncells: [14, 14, 14]}
intensity: joint
END
fit 0 known.yaml --output given
near "given sizes: chi2" "$(chi2 given)" 1 0.02
near "given sizes: Na" "$(refined given.json Na)" 14 0.2

# cut off after they have been laid, and gone on with
rm -rf cut*
mkdir cut.checkpoint.2.0
fit 3 known.yaml --output cut --threads 1
rmdir cut.checkpoint.2.0
fit 0 known.yaml --output cut --resume --threads 1
python3 -S - << 'END' || fail "gone on with: other models"
import json
import sys

cut, whole = ([(s["refined"], s["orientation"]) for s in json.load(open(name))["shots"]] for name in ("cut.json", "given.json"))
sys.exit(cut != whole)
END

# a given orientation stays, though an equivalent one would fit blocks of the given shape
fit 0 given_shots/0001_counts.yaml --output stays
"$DUALBRAGG" fit given_shots/0001_counts.yaml --output turned "model.Ncells=[9.9, 14, 14]" "model.size_correlation=[0, 0, -0.7071]" > out 2> err || true
[ "$(grep '^  orientation:' turned.yaml)" = "$(grep '^  orientation:' stays.yaml)" ] || fail "a given orientation was turned"

# blocks of which nothing is known have the symmetry of the lattice
sed 's/, Ncells: .*/}/' known.yaml > unknown.yaml
fit 0 unknown.yaml --output open
grep -q '^10 of 10 shots in use' open.log || fail "shots were excluded: $(cat open.log)"
near "open sizes: Nc" "$(refined open.json Nc)" 14 0.5
near "open sizes: Nb" "$(refined open.json Nb)" "$(refined open.json Na)" 1e-9
grep -q 'size_correlation: \[0, 0, -0.5\]' open_shots/0001_counts.yaml || fail "open sizes: shape: $(grep size_corr open_shots/0001_counts.yaml)"
near "open sizes: chi2" "$(chi2 open)" 1.05 0.05
