#!/bin/sh
# Angles of the spindle that are not those of the frames: steps of phi, widths, a frame that is missing, the axis. Cell and places of
# spots are right with each, and each is named.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
render() { # WIDTH NAMES MISSET FIRST [FLUENCE]: frames to number 5, half a degree apart
    for frame in $(seq "$4" 5); do
        "$DUALBRAGG" sim -cell 34 43 55 90 90 90 -N 30 -gauss_xtal -default_F 1e5 -fluence "${5:-1e19}" -lambda 1 -distance 80 -detpixels 300 \
            -pixel 0.25 -oversample 1 -spots closed -mosaic_rms 0.12 -misset "$3" 30 40 -phi "$(awk -v n="$frame" 'BEGIN { print 10 + n / 2 }')" \
            -osc "$1" -water 10 -seed $((frame + 1)) -noisefile "$2_$frame.img" > /dev/null
        echo "$2_$frame.img" >> "$2.txt"
    done
}
list() { # NAME PHI WIDTH [NAMES]: frames at these angles (of the number n)
    for frame in 0 1 2 3 4 5; do
        echo "${4:-frame}_$frame.img model.phi=$(awk -v n=$frame "BEGIN { print $2 }") model.osc=$3"
    done > "$1.txt"
}
cat > series.yaml << 'END'
shots: {list: frame.txt, series: yes}
model: {cell: [34.05, 43.05, 55.05, 90, 90, 90], symmetry: orthorhombic, shape: gauss, Ncells: [30, 30, 30], spots: closed, mosaic_rms: 0.12,
        oversample: 1, misset: [20.05, 29.95, 40.05]}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, cell_a: {range: 0.5}, cell_b: {range: 0.5},
         cell_c: {range: 0.5}, beam_fast: {range: 1}, beam_slow: {range: 1}, mosaic_variance: {}}
END
wrong() { # NAME TEXT ARGUMENTS...: the run must not be used, for this reason
    name=$1 text=$2
    shift 2
    fit 1 series.yaml --output "$name" --no-report "$@"
    grep -q "^dualbragg fit: not to be used: a minimum was found, but .*$text" err || fail "$name: $(cat err)"
    grep -q '^6 of 6 shots in use' "$name.log" || fail "$name: frames were excluded: $(grep excluded "$name.log")"
    near "$name: cell b" "$(refined "$name.json" cell_b)" 43 0.05
}
number() { sed -n "s/.*$1 \(-*[0-9.]*\).*/\1/p" err; }

render 0.5 frame 20 0
fit 0 series.yaml --output right --no-report
near "right angles: misset x" "$(refined right.json misset_x)" 20 0.002

# a rate that is 5 % too large: the angle from frame to frame is found
list fast "10 + 0.525 * n" 0.525
wrong fast "times the given turns of the spindle" shots.list=fast.txt
near "the step" "$(number 'of the spindle, about')" 0.5 0.002

# what it advises: an orientation that varies takes up the steps
grep -q 'or let the orientation vary (shots.knots)' err || fail "fast: no advice: $(cat err)"
fit 0 series.yaml --output varies --no-report shots.list=fast.txt shots.knots=5
near "angles that vary: cell b" "$(refined varies.json cell_b)" 43 0.05

# widths that are not the steps: frames that overlap, or leave gaps
list wide "10 + n / 2" 0.75
wrong wide "frames that each turn by 0.5 degree" shots.list=wide.txt
list narrow "10 + n / 2" 0.333
wrong narrow "frames that each turn by 0.5 degree" shots.list=narrow.txt

# frames that leave gaps or overlap, though they are said to meet
render 0.4 apart 20 0 1e20
list apart "10 + n / 2" 0.5 apart
wrong apart "frames leave gaps" shots.list=apart.txt
near "width of frames with gaps" "$(number 'each turn by about')" 0.4 0.03
render 0.6 over 20 0 1e20
list over "10 + n / 2" 0.5 over
wrong over "frames overlap" shots.list=over.txt
near "width of frames that overlap" "$(number 'each turn by about')" 0.6 0.03
list said "10 + n / 2" 0.4 apart
fit 0 series.yaml --output said --no-report shots.list=said.txt

# a frame that is missing, and an axis that is not the spindle's
list gap "10 + (n + (n < 3)) / 2" 0.5
wrong gap "from about frame_3.img on, spots fit a crystal turned by" shots.list=gap.txt
near "a missing frame" "$(number 'degree,')" 0.5 0.1
wrong axis "tilted by about" 'model.spindle_tilt=[3, 0]'
near "a wrong axis" "$(number 'tilted by about')" 3 0.3

# right: a crystal that moves on its way, by less than its reflections are wide; frames that leave gaps, and say so
head -n 3 frame.txt > moves.txt
render 0.5 moves 20.04 3
fit 0 series.yaml --output moves --no-report shots.list=moves.txt
render 0.3 gaps 20 0
fit 0 series.yaml --output gaps --no-report shots.list=gaps.txt

# thin frames, which cannot tell whether they meet: passages are so wide that gaps would change the light of all alike
seq 0 29 | awk '{ printf "thin_%d phi=%g\n", $1, 10 + 0.2 * $1 }' > thin.lst
python3 -S - > thin.hkl << 'END'
import math
import random

rng = random.Random(2)
for h in range(18):
    for k in range(23):
        for l in range(29):
            F = 1e5 * math.sqrt(-math.log(1 - rng.random()))
            for mate in {(a * h, b * k, c * l) for a in (1, -1) for b in (1, -1) for c in (1, -1)}:
                print(*mate, F)
END
"$DUALBRAGG" sim -cell 34 43 55 90 90 90 -N 30 -gauss_xtal -hkl thin.hkl -nointerpolate -fluence 1e19 -lambda 1 -distance 80 \
    -detpixels 300 -pixel 0.25 -oversample 1 -spots closed -mosaic_rms 0.2 -misset 20 30 40 -osc 0.2 -water 10 -seed 1 --shots thin.lst \
    -noisefile thin.h5 -noreflections -bits 32 --quiet > /dev/null
echo "thin.h5#1-30" > thin.txt
fit 0 series.yaml --output thin --no-report shots.list=thin.txt model.mosaic_rms=0.2
