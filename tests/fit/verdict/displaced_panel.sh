#!/bin/sh
# Half of a detector does not stand where the geometry says. Tilts, modes and angles of a triclinic cell make up for that, and
# most spots lie at reflections; a model whose panels may shift is likelier, and is another one.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" sim -cell 67.333 64.745 63.23 85.912 106.697 89.451 -misset 140.19 -12.86 125.34 -default_F 300 -b_factor 27 -N 43 \
    -lambda 1.04185 -distance 87.435 -detpixels 800 -pixel 0.1 -Xbeam 40 -Ybeam 40 -spots closed -mosaic_rms 0.08 \
    -bandwidth_rms 0.0003 -footprint_rms 0.03 -fluence 1e27 -water 0.0005 -noisefile still.img -seed 5 --quiet
geometry() { # FILE CORNER: of the second panel along fast, pixels
    cat > "$1" << EOF
photon_energy = 11900.38
clen = 0.087435
res = 10000
adu_per_photon = 1
data = /data
p0/min_fs = 0
p0/max_fs = 399
p0/corner_x = -400.5
p1/min_fs = 400
p1/max_fs = 799
p1/corner_x = $2
EOF
    for panel in p0 p1; do
        printf '%s = %s\n' $panel/min_ss 0 $panel/max_ss 799 $panel/fs +x $panel/ss -y $panel/corner_y 400.5
    done >> "$1"
}
geometry right.geom -0.5
geometry wrong.geom 5.5
known="--cell 67.4,64.7,63.3,85.9,106.7,89.45 --symmetry triclinic --no-report"
# shellcheck disable=SC2086
fit 0 still.img --expt right.geom $known --output found_right
# shellcheck disable=SC2086
fit 1 still.img --expt wrong.geom $known --output found_wrong
grep -q "must not be used: .* panel 1 (from 0), shifted by -[56]\.[0-9], -\{0,1\}0\.[0-9] pixels" found_wrong.log ||
    fail "the displaced panel: $(grep -a used found_wrong.log)"
