#!/bin/sh
# Two noisy stills of one list are refined together: the list comes back as it came in, and dials.refine, dials.predict and
# dials.integrate take it and our table.
. "$SOURCE_DIR/tests/dials/environment"
needs_noise
case $("$DUALBRAGG" --version) in *msgpack*fit*) ;; *) skip "this build has no fit, or no msgpack" ;; esac
cell="57 66 39 90 98 90"
# shellcheck disable=SC2086 # $cell is to be split
{
    "$python" -B "$here/amplitudes.py" $cell 1.9 > p1.hkl || exit 1
    for i in 1 2; do
        step "$DUALBRAGG" sim -cell $cell -misset 12 34 5$i -hkl p1.hkl -lambda 1 -distance 100 -detpixels 1024 -pixel 0.1 -N 10 \
            -spots closed -mosaic_rms 0.1 -oversample 1 -fluence 3e27 -water 0.2 -seed $i -mosflm \
            -noisefile still_000$i.img -exptfile still_$i.expt
    done
}
"$python" -B "$here/lists.py" two still_1.expt still_2.expt two.expt || exit 1
cat > joint.yaml << END
shots: {list: two.expt}
model: {Ncells: [10, 10, 10], mosaic_rms: 0.1, spots: closed}
intensity: free
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, distance: {range: 1, shared: yes}}
END
step "$DUALBRAGG" fit joint.yaml --output refined --model-image --no-report
first=refined_shots/0001_still_0001
"$python" -B "$here/lists.py" check refined.expt $first.refl refined_shots/0002_still_0002.refl || exit 1
# Columns of its printout: experiment, reflections, rmsd along x and y (pixels) ...
# Our own table: millimetres as DIALS has them, and what dials.refine, dials.scale and dials.export ask for.
"$python" -B "$here/lists.py" places $first.expt $first.refl || exit 1
rmsd() {
    grep -A 6 "RMSDs by experiment" step.log | awk -F'|' '$2 + 0 == 0 && $3 + 0 > 100 { print "rmsd" $4 "and" $5 "pixels"; found = 1
        if ($4 > 0.3 || $5 > 0.3) bad = 1 } END { exit !found || bad }' || { echo "FAILED: rmsd of dials.refine"; exit 1; }
}
step dials.filter_reflections $first.refl flag_expression=indexed output.reflections=seen.refl
step dials.refine $first.expt seen.refl detector.fix=all beam.fix=all output.experiments=own.expt output.reflections=own.refl
rmsd
step dials.scale $first.expt $first.refl output.experiments=scaled.expt output.reflections=scaled.refl
step dials.export $first.expt $first.refl format=mtz mtz.hklout=own.mtz intensity=sum
step dials.predict $first.expt output=predicted.refl
step dials.find_spots $first.expt nproc=1 output.reflections=strong.refl
"$python" -B "$here/lists.py" index $first.expt $first.refl strong.refl indexed.refl || exit 1
step dials.refine $first.expt indexed.refl detector.fix=all beam.fix=all \
    output.experiments=dials.expt output.reflections=dials.refl
rmsd
step dials.integrate $first.expt dials.refl profile.fitting=False prediction.d_min=2 nproc=1 \
    profile.gaussian_rs.min_spots.overall=0 profile.gaussian_rs.min_spots.per_degree=0
"$python" -B "$here/lists.py" compare integrated.refl $first.refl
