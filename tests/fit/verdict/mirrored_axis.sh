#!/bin/sh
# A geometry file gives one axis of the detector the wrong sign, and the beam is not in the middle. Some wrong lattice meets a
# quarter of the spots, beside a cell that may change; fitted to half of the detector, it does not meet those of the other half.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" sim -cell 104.88 69.36 60.27 90 112.99 90 -misset -93.2 136.44 -172.16 -default_F 300 -b_factor 18 -N 32 \
    -lambda 0.9028 -distance 65.738 -detpixels 600 -pixel 0.1 -Xbeam 20.315 -Ybeam 24.455 -spots closed -mosaic_rms 0.05 \
    -bandwidth_rms 0.0001 -footprint_rms 0.03 -fluence 1e27 -water 0.0005 -noisefile still.img -seed 18 --quiet
geometry() { # FILE CORNER: of the panel along fast, pixels; FAST: its direction
    cat > "$1" << EOF
photon_energy = 13733.334
clen = 0.0657385
res = 10000
adu_per_photon = 1
data = /data
p0/min_fs = 0
p0/max_fs = 599
p0/min_ss = 0
p0/max_ss = 599
p0/corner_x = $2
p0/corner_y = 203.15
p0/fs = $3
p0/ss = -y
EOF
}
geometry right.geom -244.55 +x
geometry wrong.geom 355.45 -x
known="--cell 104.88,69.36,60.27,90,112.99,90 --symmetry monoclinic --no-report"
# shellcheck disable=SC2086
fit 0 still.img --expt right.geom $known --output found_right
# shellcheck disable=SC2086
fit 1 still.img --expt wrong.geom $known --output found_wrong
grep -q "must not be used: .* fitted to the spots in one half of the detector, does not meet" found_wrong.log ||
    fail "the mirrored axis: $(grep -a used found_wrong.log)"
