#!/bin/sh
# Indices that are a node off, where the first order misleads.
set -eu
. "$SOURCE_DIR/tests/support/refinement"

# Beside a detector that is tilted by 3 degrees and given flat, other indices are likelier to first order, and before modes are
# refined. At the end of all stages of moments the right ones are likelier, and they are kept.
"$DUALBRAGG" sim -cell 79 79 38 90 90 90 -misset 336.006 122.790 91.348 -N 40 -default_F 10000 -b_factor 25 -fluence 1.5e25 \
    -lambda 0.95 -distance 80 -detpixels 1024 -pixel 0.08 -Xbeam 39.2103 -Ybeam 40.9004 -detector_rotz 3 -detector_roty 0.012 \
    -spots closed -mosaic_rms 0.15 -bandwidth_rms 0.0007 -footprint_rms 0.08 -water 2 -osc 1 -phisteps 10 \
    -noisefile tilted.img -seed 10 --quiet
fit 0 tilted.img --cell 79,79,38,90,90,90 --symmetry tetragonal model.detector_rotation=0,0,0 \
    model.beam_centre_px=511.736,489.785 --no-report --output found_tilted
near beam_fast "$(refined found_tilted.json beam_fast)" 40.940 0.02
near beam_slow "$(refined found_tilted.json beam_slow)" 39.250 0.02
