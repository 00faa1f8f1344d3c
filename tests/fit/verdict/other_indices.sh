#!/bin/sh
# A model whose indices are off by one node, beside a beam centre 8 pixels off and a tilt of 1.3 degrees, meets all spots of
# a still; in a part of the image by indices of another kind. It is told by what the right indices gain.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" sim -cell 84.032 61.919 69.237 90 109.726 90 -misset -67.434 -99.2454 -114.4765 -default_F 400 -b_factor 27 -N 20 \
    -lambda 1.41622 -distance 60.543 -detpixels 600 -pixel 0.172 -Xbeam 23.2999 -Ybeam 25.9087 -spots closed -mosaic_rms 0.07 \
    -bandwidth_rms 0.00147 -footprint_rms 0.03 -fluence 1e27 -water 0.001 -noisefile still.img -seed 3 --quiet
configuration() { # NAME CELL MISSET DISTANCE CENTRE ROTATION FIND_ORIENTATION
    cat > "$1.yaml" << EOF
image: still.img
model:
  cell: [$2]
  symmetry: monoclinic
  orientation: [0.067748, -0.046013, 0.996641, 0.144425, -0.987962, -0.055430, 0.987194, 0.147695, -0.060287]
  misset: [$3]
  find_orientation: $7
  distance: $4
  beam_centre_px: [$5]
  detector_rotation: [$6]
EOF
}
configuration wrong "83.6003, 61.5539, 69.2733, 90, 109.8445, 90" "-0.0413, -0.1093, -0.2966" 60.1463 "149.943, 128.012" \
    "0, -0.1556, -1.3314" no
# Distance and tilts are held, so that no stage can try the right indices.
cp wrong.yaml held.yaml
echo "refine: {misset_x: {}, misset_y: {}, misset_z: {}, cell_a: {}, cell_b: {}, cell_c: {}, cell_beta: {}, beam_fast: {}," \
    "beam_slow: {}, mosaic_variance: {}, bandwidth_variance: {}, footprint_hh: {}, footprint_vv: {}}" >> held.yaml
fit 1 held.yaml --no-report --output kept
grep -q "must not be used: .* with indices that differ by 0, -1, 0, .* beam centre moved by 1.2, 8.0 pixels" kept.log ||
    fail "the wrong model: $(grep -a used kept.log)"
# Refined tilts tell the right indices, and they are taken.
fit 0 wrong.yaml --no-report --output found
grep -q "other indices, with the beam centre at pixel 151.*, 136.* in place of 150.*, 128" found.log || fail "no other indices"
near beam_fast "$(refined found.json beam_fast)" 25.995 0.02
near beam_slow "$(refined found.json beam_slow)" 23.386 0.02
configuration right "84.03, 61.92, 69.24, 90, 109.726, 90" "0, 0, 0" 60.543 "150.633, 135.464" "0, 0, 0" yes
fit 0 right.yaml --no-report --output found_right

# Small blocks stay on the Ewald sphere over large turns near the beam. With an axis along it, other indices lessen these turns.
"$DUALBRAGG" sim -cell 60 60 40 90 90 90 -misset -3.848 86.821 -93.973 -default_F 1000 -b_factor 15 -N 15 -gauss_xtal -spots closed \
    -mosaic_rms 0.12 -bandwidth_rms 0.002 -lambda 1.3 -distance 100 -detpixels 500 -pixel 0.25 -fluence 1e26 -water 0.6 \
    -footprint_rms 0.08 -seed 3 -noisefile small.img -bits 32 --quiet
fit 0 small.img --cell 60,60,40 --symmetry "P 4" --no-report --output found_small
near "beam_slow of small blocks" "$(refined found_small.json beam_slow)" 62.75 0.02

# All shots of a list share the beam centre, so none of them takes other indices with a beam of its own.
"$DUALBRAGG" sim -cell 60 60 40 90 90 90 -default_F 1000 -b_factor 15 -N 15 -gauss_xtal -spots closed -mosaic_rms 0.12 \
    -bandwidth_rms 0.002 -lambda 1.3 -distance 100 -detpixels 500 -pixel 0.25 -fluence 1e26 -water 0.6 -footprint_rms 0.08 \
    -seed 3 -noisefile shots.h5 -bits 32 -noreflections --random 4 --quiet
echo "shots.h5#1-4" > shots.txt
cat > shots.yaml << EOF
shots: {list: shots.txt}
model: {cell: [60, 60, 40, 90, 90, 90], symmetry: P 4, Ncells: [15, 15, 15]}
EOF
fit 0 shots.yaml --no-report --output found_shots
grep -q "^4 of 4 shots in use" found_shots.log || fail "a shot is excluded: $(grep -a excluded found_shots.log)"
