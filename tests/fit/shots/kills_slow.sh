#!/bin/sh
# A refinement of many shots that is killed at random moments, again and again: the result is that of one that was left alone, to the last digit.
set -eu
. "$SOURCE_DIR/tests/support/shots"
shots 12
echo images/missing.img >> shots.txt
{ shots_model 100.2 && usual_stages && echo "intensity: free"; } > joint.yaml
# Known amplitudes, with a scale of each shot that is matched on the way to a joint stage which leaves it alone.
awk 'BEGIN { for (h = -22; h <= 22; h++) for (k = -30; k <= 30; k++) for (l = -38; l <= 38; l++) print h, k, l, 1e6 }' > all.hkl
sed 's/^intensity: free/intensity: {known: all.hkl}/; s/^refine: {/refine: {scale: {min: 1e-12, max: 1e30}, /' joint.yaml > known.yaml
cat >> known.yaml << 'END'
stages:
  - {name: own, refine: [misset_x, misset_y, misset_z], tolerance: 1e-3}
  - {name: first, refine: [misset_x, misset_y, misset_z, distance], tolerance: 1e-3}
  - {name: last, refine: [scale, misset_x, misset_y, misset_z, distance, beam_fast, Na], tolerance: 1e-5}
END
joint_intensities 2.2 100 > amplitudes.yaml

for name in joint known amplitudes; do
    "$DUALBRAGG" fit $name.yaml --output whole --no-report --quiet --threads 2
    result whole.json > $name.expected
done
failures=0 round=0 kills=0
while [ $round -lt 9 ]; do
    round=$((round + 1))
    case $((round % 3)) in
    0) name=joint ;;
    1) name=known ;;
    *) name=amplitudes ;;
    esac
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
