#!/bin/sh
# What a refinement shows of its progress: on a terminal how far it is and for how long, elsewhere nothing.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
needs_noise
command -v script > /dev/null || {
    echo "there is no script(1) to make a terminal"
    exit 77
}
on_terminal() { # COMMAND; lines that were drawn over each other become lines
    script -qec "$*" /dev/null < /dev/null | tr '\r' '\n' > out
}
for number in 1 2 3 4; do
    "$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 \
        -pixel 0.2 -oversample 1 -spots closed -mosaic 0.1 -misset ${number}0 20 30 -water 30 -seed $number \
        -noisefile shot_$number.img > /dev/null
    echo "shot_$number.img model.misset=[${number}0.06, 20.05, 30.04]" >> shots.txt
done
cat > base.yaml << 'END'
model: {cell: [40, 55, 70, 90, 90, 90], misset: [10.06, 20.05, 30.04], shape: gauss, Ncells: [12, 12, 12], mosaic_spread: 0.1,
        oversample: 1, distance: 100}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, distance: {range: 2}}
data: {shoebox_half_width: 5, model_error: 0, min_strong_reflections: 10}
END
# A search of two seconds, with any result, and one of half a second, in which a bar is drawn, too.
search() { # EVALUATIONS
    cat base.yaml
    echo "image: shot_1.img"
    echo "stages: [{name: long, algorithm: GN_CRS2_LM, refine: [misset_x, misset_y, misset_z], max_evaluations: $1, tolerance: 1e-15}]"
}
search 1600 > long.yaml
search 500 > short.yaml
drawn_within() { # COLUMNS: what was drawn on a terminal of that width
    sed 's/.\[K//g' out | grep '% stage' > drawn || fail "$1 columns: nothing is drawn"
    ! grep -E ".{$1}" drawn || fail "lines go beyond $1 columns"
}
on_terminal "stty cols 80; $DUALBRAGG fit long.yaml --output shown --no-report"
drawn_within 80
grep -q '% stage 1/1 long, evaluation [0-9]*, target -*[0-9.]*, about .* left' out || fail "a fit shows no time left: $(tail -5 out)"
grep -q 'reading the image' out || fail "reading is not shown"
! grep -q 'about .* left' shown.log || fail "the log has the bar"
on_terminal "stty cols 40; $DUALBRAGG fit short.yaml --output narrow --no-report > /dev/null"
drawn_within 40
on_terminal "$DUALBRAGG" fit short.yaml --output silent --no-report --quiet
! grep -q 'stage 1/1\|reading\|about .* left' out || fail "--quiet shows progress: $(cat out)"
"$DUALBRAGG" fit short.yaml --output silent --no-report > out 2> err || true
! grep -q 'stage 1/1 long, eval' out err || fail "a bar where there is no terminal"

sed '/^image/d; s/misset: \[.*\], shape/shape/' base.yaml > many.yaml
echo "shots: {list: shots.txt}" >> many.yaml
on_terminal "$DUALBRAGG" fit many.yaml --output joint --no-report --threads 1
grep -q '% stage 1 of [0-9], refining shots by themselves: shot [1-4] of 4' out || fail "single shots are not shown: $(head -20 out)"
grep -q 'reading the first shot' out || fail "many shots begin in silence"
! grep -q '% stage' joint.log || fail "the log of many shots has the bar"

[ $failures -eq 0 ]
