#!/bin/sh
# A shot whose detector was 2 % farther away than that of the others, beside cells of their own, which make up for most of it:
# it is named and left out, and the shared distance is right. After the last stage the others repeat it.
set -eu
. "$SOURCE_DIR/tests/support/shots"
shots 6
"$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 102 -detpixels 400 -pixel 0.2 \
    -oversample 1 -mosaic 0.1 -spots closed -misset 10 20 30 -water 30 -seed 99 -noisefile images/far.img > /dev/null
{ shots_model 100.4; cat << 'END'; } > alike.yaml
refine: {misset_x: {range: 3}, misset_y: {range: 3}, misset_z: {range: 3}, cell_a: {range: 3}, cell_b: {range: 3}, cell_c: {range: 3},
         distance: {shared: yes, range: 5}, beam_fast: {shared: yes, range: 1}, beam_slow: {shared: yes, range: 1}}
END
{ cat alike.yaml; cat << 'END'; } | sed 's/shots.txt/all.txt/' > last.yaml
stages:
  - {name: own, refine: [misset_x, misset_y, misset_z, cell_a, cell_b, cell_c], tolerance: 1e-3, step: 0.1}
  - {name: joint, refine: [misset_x, misset_y, misset_z, cell_a, cell_b, cell_c, distance, beam_fast, beam_slow], tolerance: 1e-6}
END
sed 's/shots.txt/all.txt/' alike.yaml > between.yaml
{ cat shots.txt; echo "images/far.img model.misset=[10.06, 20.05, 30.04]"; } > all.txt
fit 0 alike.yaml --output alone --no-report
! grep -q 'contradicts' out || fail "shots of one detector contradict each other: $(grep contradicts out)"
for run in between last; do
    fit 0 $run.yaml --output of_$run --no-report
    grep -q '^excluded: images/far.img: contradicts the other shots: .* fit distance 101\.' out || fail "$run: the farther shot is not named: $(cat out)"
    near "$run: shots in use" "$(grep -c '^excluded' out)" 1 0
    awk -v found="$(refined of_$run.json distance)" -v error="$(value of_$run.json distance error)" 'BEGIN {
        off = (found - 100) / error; exit !(error > 0 && error < 0.03 && off < 2.5 && off > -2.5) }' ||
        fail "$run: distance $(refined of_$run.json distance) +- $(value of_$run.json distance error) with a farther shot, expected 100"
    near "$run: distance beside that of the six" "$(refined of_$run.json distance)" "$(refined alone.json distance)" 0.005
done

# A shot of a wavelength that its file does not tell has a cell that is shorter by one factor. Nothing else of its image shows it, so it
# stays in use, and a warning names it. Crystals whose cells differ a little are not named.
"$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1.015 -distance 100 -detpixels 400 -pixel 0.2 \
    -oversample 1 -mosaic 0.1 -spots closed -misset 10 20 30 -water 30 -seed 99 -noisefile images/longer.img > /dev/null
sed 's/shots.txt/longer.txt/' alike.yaml > longer.yaml
{ cat shots.txt; echo "images/longer.img model.misset=[10.06, 20.05, 30.04] model.wavelength=1"; } > longer.txt
! grep -q 'edges of the cell differ' alone.log || fail "cells of like crystals: $(grep 'Warning' alone.log)"
fit 0 longer.yaml --output of_longer --no-report
grep -q 'in 1 of 7 shots edges of the cell differ .*: images/longer.img (cell_a -1\.4[0-9]* %, cell_b -1\.4[0-9]* %, cell_c -1\.4[0-9]* %)$' out ||
    fail "a shot of another wavelength is not named: $(grep Warning out)"

# With known structure factors a shot that contradicts the others begins once more by its own stages, also where the joint stage is
# the last; it contradicts them again, and the distance is that of the others.
rm shots.txt
echo "0 0 1 1e6" > one.hkl
for number in 1 2 3 4 5 6; do
    x=$((number * 37 % 90)) y=$((number * 11 % 30)) z=$((number * 53 % 90))
    "$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance $((number < 6 ? 1000 : 1005))e-1 \
        -detpixels 300 -pixel 0.2 -oversample 1 -mosaic_rms 0.06 -spots closed -misset $x $y $z -water 30 -seed $number \
        -noisefile images/known_$number.img > /dev/null
    echo "images/known_$number.img model.misset=[$x.06, $y.05, $z.04]" >> shots.txt
done
cat > known.yaml << 'END'
model: {cell: [40, 55, 70, 90, 90, 90], shape: gauss, Ncells: [14, 14, 14], mosaic_rms: 0.06, spots: closed, oversample: 1,
        distance: 100.4, fluence: 3e19}
intensity: {hkl: one.hkl, default_F: 1e6}
data: {shoebox_half_width: 5, model_error: 0, min_strong_reflections: 10}
shots: {list: shots.txt}
refine: {misset_x: {range: 3}, misset_y: {range: 3}, misset_z: {range: 3}, cell_a: {range: 3}, scale: {min: 0.1, max: 10},
         distance: {shared: yes, range: 5}}
stages:
  - {name: own, refine: [misset_x, misset_y, misset_z, cell_a, scale], tolerance: 1e-3, step: 0.1}
  - {name: joint, refine: [misset_x, misset_y, misset_z, cell_a, scale, distance], tolerance: 1e-6}
END
fit 0 known.yaml --output of_known --no-report
near "known: own stages" "$(grep -c '^6 of 6 shots have been read and refined by themselves' out)" 2 0
near "known: the farther shot is named" "$(grep -c '^excluded: images/known_6.img: contradicts the other shots' out)" 2 0
near "known: distance" "$(refined of_known.json distance)" 100 0.002
