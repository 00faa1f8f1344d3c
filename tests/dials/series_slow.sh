#!/bin/sh
# A noisy rotation series, imported by its SMV headers alone: DIALS indexes it without knowing anything and refines the
# cell that was simulated.
. "$SOURCE_DIR/tests/dials/environment"
needs_noise
cell="57 66 39 90 98 90"
# shellcheck disable=SC2086 # $cell is to be split
{
    "$python" -B "$here/amplitudes.py" $cell 1.9 > p1.hkl || exit 1
    image=1
    while [ $image -le 24 ]; do
        number=$(printf %04d $image)
        phi=$(awk "BEGIN { print ($image - 1) * 0.5 }")
        step "$DUALBRAGG" sim -cell $cell -misset 12 34 56 -hkl p1.hkl -lambda 1 -distance 100 -detpixels 1024 -pixel 0.1 -N 20 \
            -phi "$phi" -osc 0.5 -phisteps 8 -oversample 1 -fluence 1e27 -water 0.2 -seed $image -mosflm -Xbeam 49 -Ybeam 53 \
            -noisefile series_$number.img -exptfile series_$number.expt
        image=$((image + 1))
    done
    step dials.import series_*.img
    step dials.find_spots imported.expt nproc=2
    step dials.index imported.expt strong.refl
    step dials.refine indexed.expt indexed.refl scan_varying=False
    "$python" -B "$here/lattice.py" refined.expt series_0001.expt 0.05 0.06 refined.refl 0.5 || exit 1
}
