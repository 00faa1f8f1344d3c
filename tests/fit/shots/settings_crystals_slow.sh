#!/bin/sh
# Two crystals on the frames of two sweeps, on two settings of a goniometer whose circles stand 0.6 degree beside what the list says:
# each crystal has an orientation on each setting.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" --version | grep -q JSON || { echo "skipped: no JSON"; exit 77; }
sed 's/(58, 58, 92)/(40, 40, 64)/; s/(100.2, 129.7)/(100, 100)/; s/(100, 130)/(100, 100)/; s/10.0 + i/10.0 + 12 * i/' \
    "$SOURCE_DIR/tests/fit/shots/two_settings.py" > lists.py
sed 's/by_angles((20, 20, 30))/by_angles((71, -25, 55))/; s/"truth.expt"/"other.expt"/' lists.py > other.py
python3 -S lists.py
python3 -S other.py
for sweep in 0 1; do
    for frame in 1 2 3; do
        for crystal in truth other; do
            water=30
            [ $crystal = truth ] || water=0
            "$DUALBRAGG" sim -expt $crystal.expt -expt_number $sweep -expt_frame $frame -N 15 -gauss_xtal -default_F 1e6 -fluence 2e19 \
                -oversample 1 -spots closed -mosaic_rms 0.1 -water $water -floatfile $crystal.f32 > /dev/null
        done
        "$DUALBRAGG" add truth.f32 other.f32 -o sum.f32 > /dev/null
        "$DUALBRAGG" noise -floatfile sum.f32 -detpixels 400 -pixel 0.2 -distance 100 -lambda 1 -calibration 0 \
            -seed $((3 * sweep + frame)) -noisefile sweep_${sweep}_000$frame.img > /dev/null
        echo sweep_${sweep}_000$frame.img >> frames.txt
    done
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {expt: named.expt, cell: [40.04, 40.04, 63.95, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [15, 15, 15], spots: closed,
        mosaic_rms: 0.1, oversample: 1, find_orientation: {lattices: 2}}
refine: {misset_x: {range: 2}, misset_y: {range: 2}, misset_z: {range: 2}, cell_a: {range: 0.5}, cell_c: {range: 0.5}}
data: {model_error: 0}
END
fit 0 series.yaml --output both --no-report
grep -q '^12 of 12 shots in use' both.log || fail "frames were excluded: $(grep excluded both.log)"
near "chi2" "$(sed -n 's/.*chi2 per degree of freedom .* -> //p' both.log)" 1 0.02
near "cell a" "$(refined both.json cell_a)" 40 0.001
near "cell c" "$(refined both.json cell_c)" 64 0.002
for sweep in 0 1; do
    for crystal in 1 2; do
        [ "$(grep -c "^  from sweep_${sweep}_0001.img on, crystal $crystal\$" both.log)" -eq 1 ] ||
            fail "no orientation of crystal $crystal on setting $sweep: $(cat both.log)"
    done
done
