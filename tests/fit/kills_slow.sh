#!/bin/sh
# A refinement of many shots that is killed at random moments, again and again: the result is that of one that was left alone, to the last digit.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
needs_noise
mkdir images
number=0
while [ $number -lt 12 ]; do
    number=$((number + 1))
    x=$((number * 37 % 90)) y=$((number * 11 % 30)) z=$((number * 53 % 90))
    "$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 -pixel 0.2 \
        -oversample 1 -mosaic 0.1 -mosaic_domains 5 -misset $x $y $z -water 30 -seed $number -noisefile images/shot_$number.img \
        > /dev/null
    echo "images/shot_$number.img model.misset=[$x.06, $y.05, $z.04]" >> shots.txt
done
echo "images/missing.img" >> shots.txt
cat > joint.yaml << 'END'
model: {cell: [40, 55, 70, 90, 90, 90], shape: gauss, cells: [12, 12, 12], mosaic_spread: 0.1, mosaic_domains: 5,
        oversample: 1, distance: 100.2}
intensity: free
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, Na: {min: 3, max: 60}, Nb: {follows: Na}, Nc: {follows: Na},
         distance: {range: 2}, beam_fast: {range: 1}, beam_slow: {range: 1}}
data: {shoebox_half_width: 5, model_error: 0, min_strong_reflections: 10}
shots: {list: shots.txt}
END
# Known amplitudes, with a scale of each shot that is matched on the way to a joint stage which leaves it alone.
awk 'BEGIN { for (h = -22; h <= 22; h++) for (k = -30; k <= 30; k++) for (l = -38; l <= 38; l++) print h, k, l, 1e6 }' > all.hkl
sed 's/^intensity: free/intensity: {known: all.hkl}/; s/^refine: {/refine: {scale: {min: 1e-12, max: 1e30}, /' joint.yaml > known.yaml
cat >> known.yaml << 'END'
stages:
  - {name: own, refine: [misset_x, misset_y, misset_z], tolerance: 1e-3}
  - {name: first, refine: [misset_x, misset_y, misset_z, distance], tolerance: 1e-3}
  - {name: last, refine: [scale, misset_x, misset_y, misset_z, distance, beam_fast, Na], tolerance: 1e-5}
END
result() { grep -v '"seconds"\|"date"\|"command"' "$1"; }

for name in joint known; do
    "$DUALBRAGG" fit $name.yaml --output whole --no-report --quiet --threads 2
    result whole.json > $name.expected
done
failures=0 round=0 kills=0
while [ $round -lt 8 ]; do
    round=$((round + 1))
    name=joint
    [ $((round % 2)) -eq 0 ] || name=known
    rm -f cut.*
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
        echo "FAILED: round $round: $(result cut.json | diff - $name.expected | head -4)"
        failures=$((failures + 1))
    }
done
echo "$kills runs, $round results"
[ $failures -eq 0 ]
