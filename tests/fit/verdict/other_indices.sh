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
fit 1 wrong.yaml --no-report --output found
grep -q "must not be used: .* with indices that differ by 0, -1, 0, .* beam centre moved by 1.1, 7.9 pixels" found.log ||
    fail "the wrong model: $(grep -a used found.log)"
configuration right "84.03, 61.92, 69.24, 90, 109.726, 90" "0, 0, 0" 60.543 "150.633, 135.464" "0, 0, 0" yes
fit 0 right.yaml --no-report --output found_right
