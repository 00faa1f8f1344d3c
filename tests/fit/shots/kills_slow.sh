#!/bin/sh
# A refinement of many shots that is killed at random moments, again and again: the result is that of one that was left alone, to the last digit.
set -eu
. "$SOURCE_DIR/tests/support/shots"
shots 12
echo images/missing.img >> shots.txt
{ shots_model 100.2 && usual_stages && echo "intensity: free"; } > joint.yaml
# Known amplitudes, with a scale of each shot that is matched on the way to a joint stage which leaves it alone.
awk 'BEGIN { for (h = -22; h <= 22; h++) for (k = -30; k <= 30; k++) for (l = -38; l <= 38; l++) print h, k, l, 1e6 }' > all.hkl
sed 's/^intensity: free/intensity: {hkl: all.hkl}/; s/^refine: {/refine: {scale: {min: 1e-12, max: 1e30}, /' joint.yaml > known.yaml
cat >> known.yaml << 'END'
stages:
  - {name: own, refine: [misset_x, misset_y, misset_z], tolerance: 1e-3}
  - {name: first, refine: [misset_x, misset_y, misset_z, distance], tolerance: 1e-3}
  - {name: last, refine: [scale, misset_x, misset_y, misset_z, distance, beam_fast, Na], tolerance: 1e-5}
END
joint_intensities 2.2 100 > amplitudes.yaml
# starts a degree off
sed 's/\.05, /.9, /' shots.txt > far.txt
{ sed 's/list: shots.txt/list: far.txt/; s/misset_\(.\): {range: 1}/misset_\1: {range: 4}/g' joint.yaml && echo 'starts: {count: 12, misset: 1.5}'; } \
    > starts.yaml
# two crystals on each of three images
for image in 1 2 3; do
    for crystal in 0 1; do
        angle=$((image * 20 + crystal * 45))
        "$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 \
            -pixel 0.2 -oversample 1 -spots closed -mosaic 0.1 -misset $angle 20 30 -water $((crystal * 30)) -floatfile crystal_$crystal.f32 > /dev/null
        echo "images/two_$image.img model.misset=[$angle.06, 20.05, 30.04]" >> lattices.txt
    done
    "$DUALBRAGG" add crystal_0.f32 crystal_1.f32 -o sum.f32 > /dev/null
    "$DUALBRAGG" noise -floatfile sum.f32 -detpixels 400 -pixel 0.2 -distance 100 -lambda 1 -calibration 0 -seed $image \
        -noisefile images/two_$image.img > /dev/null
done
sed 's/list: shots.txt/list: lattices.txt/' joint.yaml > lattices.yaml
# frames of one turning crystal, whose orientation and scale vary along the series
for frame in 0 1 2 3 4 5; do
    "$DUALBRAGG" sim -cell 58 58 92 90 90 90 -N 12 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 -pixel 0.2 \
        -oversample 1 -spots closed -mosaic_rms 0.1 -misset 20 20 30 -phi "$((10 + frame / 2)).$((frame % 2 * 5))" -osc 0.5 -water 30 \
        -seed $((frame + 1)) -noisefile images/frame_$frame.img > /dev/null
    echo images/frame_$frame.img >> frames.txt
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes, knots: 2}
model: {cell: [58.02, 58.02, 92.03, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [12, 12, 12], spots: closed, mosaic_rms: 0.1,
        oversample: 1, misset: [20.05, 19.97, 30.05]}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, scale: {min: 0.1, max: 10}, cell_a: {range: 0.5}, cell_c: {range: 0.5}}
data: {model_error: 0}
END

names="joint known amplitudes starts lattices series"
for name in $names; do
    "$DUALBRAGG" fit $name.yaml --output whole --no-report --quiet --threads 2
    result whole.json > $name.expected
done
failures=0 round=0 kills=0
while [ $round -lt 12 ]; do
    name=$(echo $names | cut -d' ' -f$((round % 6 + 1)))
    round=$((round + 1))
    rm -rf cut*
    status=137
    while [ $status -eq 137 ]; do
        resume=
        [ ! -e cut.checkpoint ] || resume=--resume
        status=0
        # 0.05 to 3 s, from a sequence that looks random
        moment=$(awk -v n=$kills 'BEGIN { x = sin(12.9898 * (n + 1)) * 43758.5453; printf "%.2f", 0.05 + 2.95 * (x - int(x) + (x < 0)) }')
        timeout -s KILL "$moment" "$DUALBRAGG" fit $name.yaml --output cut --no-report --quiet --threads 2 $resume > /dev/null 2>&1 || status=$?
        kills=$((kills + 1))
        # Progress is made where a run has more time than reading takes.
        [ $((kills % 10)) -ne 0 ] || { status=0; "$DUALBRAGG" fit $name.yaml --output cut --no-report --quiet $resume || status=$?; }
    done
    [ $status -eq 0 ] || { echo "FAILED: exit status $status"; failures=$((failures + 1)); }
    result cut.json | cmp -s - $name.expected || {
        echo "FAILED: round $round, $name: $(result cut.json | diff - $name.expected | head -4)"
        failures=$((failures + 1))
    }
done
echo "$kills runs, $round results"
[ $failures -eq 0 ]
