#!/bin/sh
# A crystal that slips during a scan of DIALS: we render and refine each image as the list has it there, and give the scan back.
. "$SOURCE_DIR/tests/dials/environment"
needs_noise
case $("$DUALBRAGG" --version) in *fit*) ;; *) skip "this build has no fit" ;; esac
model="-default_F 300 -N 12 -gauss_xtal -spots closed -mosaic_rms 0.1 -oversample 1"
"$python" -B "$here/scans.py" make slips.expt || exit 1
for image in 1 2 3 4 5 6; do
    # shellcheck disable=SC2086 # $model is to be split
    step "$DUALBRAGG" sim -expt slips.expt -expt_frame $image $model -fluence 3e27 -water 0.2 -seed $image \
        -noisefile frame_000$image.img -spotfile spots_$image.txt
done
"$python" -B "$here/scans.py" predicted slips.expt spots_1.txt spots_3.txt spots_6.txt || exit 1
# all images of the list are frames of one series; what DIALS said of the crystal is where they start
cat > series.yaml << END
shots: {list: slips.expt, series: yes, knots: 2}
model: {Ncells: [12, 12, 12], shape: gauss, mosaic_rms: 0.1, spots: closed}
intensity: free
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}}
END
step "$DUALBRAGG" fit series.yaml --output same --model-image --no-report
"$python" -B "$here/scans.py" compare slips.expt same.expt 0.01 || exit 1
step dials.predict same.expt output=predicted.refl
