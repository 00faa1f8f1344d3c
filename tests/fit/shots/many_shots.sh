#!/bin/sh
# dualbragg fit of many shots from outside: threads, processes, a killed run, refined models fed back, bad lists.
set -eu
. "$SOURCE_DIR/tests/support/shots"

# Nine shots of a crystal in any orientation, one without; the detector is 0.4 mm nearer than the models say.
for number in $(seq 9); do shot $((number * 37 % 90)) $((number * 11 % 60 - 30)) $((number * 53 % 90)); done
"$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 1 -default_F 1e-3 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 -pixel 0.2 -oversample 1 \
    -water 30 -seed 77 -noisefile images/blank.img > /dev/null
echo "images/blank.img # nothing hit" >> shots.txt
echo "images/missing.img" >> shots.txt
{ shots_model 100.4 && usual_stages; } > joint.yaml

fit 0 joint.yaml --output one --threads 1
near distance "$(refined one.json distance)" 100 0.02
grep -q '^excluded: images/blank.img: blank image' out || fail "the blank shot is not told: $(cat out)"
grep -q '^excluded: images/missing.img: cannot open' out || fail "the missing image is not told, once: $(grep missing out)"
grep -q '^9 of 11 shots have been read and refined by themselves' out || fail "shots that were excluded count as refined: $(grep 'have been' out)"
[ "$(grep -c 'shots have been read' out)" = 1 ] || fail "the next joint stage reads the shots, too, and says so: $(grep 'have been' out)"
cmp -s out one.log || fail "the log is not what was printed"
for file in one.yaml one_shots.txt one.expt one.json one.html one_shots/0001_shot_1.yaml one_shots/0009_shot_9.expt; do
    [ -s "$file" ] || fail "$file is missing"
done
[ ! -e one.checkpoint ] || fail "the checkpoint of a finished run is left"

# A shared parameter that its bound holds: the run says so, and the parameter has no standard error.
sed 's/distance: {range: 2}/distance: {min: 100.2, max: 102}/' joint.yaml > bound.yaml
fit 1 bound.yaml --output held --no-report
grep -q 'distance is held by' err || fail "a bound that holds is not told: $(cat err)"
error=$(value held.json distance error)
[ "$error" = null ] || fail "distance, held by its bound, has the error $error"

# A line's own prior holds its shot.
for number in 1 2 3; do
    sed -n "${number}s/\$/ refine.cell_a.prior=[40.0$number,1e-7]/p" shots.txt
done > priors.txt
{ shots_model 100 | sed 's/shots.txt/priors.txt/'; cat << 'END'; } > priors.yaml
refine: {cell_a: , distance: {range: 2}}
stages: [{name: joint, refine: all}]
END
fit 0 priors.yaml --output each_held --no-report
python3 -S -c 'import json
edges = [shot["refined"][0] for shot in json.load(open("each_held.json"))["shots"]]
assert all(abs(edge - 40 - 0.01 * n) < 1e-5 for n, edge in enumerate(edges, 1)), edges' || fail "edges are not held by priors of single shots"

# Crystals may turn by less than they are off, beside a tilt of the detector: nothing but bounds makes the tilt a number.
for number in 1 2 3; do
    echo "images/shot_$number.img model.misset=[$(awk -v n=$number 'BEGIN { print n * 37 % 90 + 1.3 }'), $((number * 11 % 60 - 30)), $((number * 53 % 90))]"
done > turned.txt
{ shots_model 100 | sed 's/shots.txt/turned.txt/; s/^model: {/model: {detector_rotation: [1.3, 0, 0], /'; cat << 'END'; } > turned.yaml
refine: {misset_x: {range: 1}, detector_rotx: {shared: yes, range: 3}}
stages: [{name: joint, refine: [misset_x, detector_rotx], tolerance: 1e-5}]
END
fit 1 turned.yaml --output tilted --no-report
grep -q 'not to be used: .* shots are wrong; .* misset_x is held by its lower bound' err || fail "bounds of shots make a tilt: $(cat err)"
python3 - tilted.json << 'END' || failures=1
import json, sys
wrong = [s for s in json.load(open(sys.argv[1]))["shots"] if not s["usable"]]
held = [s for s in wrong if "misset_x is held by its lower bound" in s["reason"] and s["at_bound"] == ["lower"]]
if not held or not all(s["reason"].startswith("after stages of all shots: ") for s in wrong):
    sys.exit(f"FAILED: shots at bounds are not told: {wrong}")
END
# a bound from which a shot's quantity would move away, had it more evaluations, does not hold it, as of one image
{ shots_model 100 | sed 's/cell: \[40,/cell: [40.1,/'; cat << 'END'; } > inward.yaml
refine: {cell_a: {min: 39, max: 40.1}, distance: {shared: yes, range: 2}}
stages: [{name: joint, refine: [cell_a, distance], max_evaluations: 1}]
END
fit 1 inward.yaml --output moves --no-report
grep -q 'the limit of 1 evaluations was reached' err || fail "one evaluation is not told: $(cat err)"
python3 - moves.json << 'END' || failures=1
import json, sys
for shot in json.load(open(sys.argv[1]))["shots"]:
    if shot["used"] and "upper" in shot["at_bound"]:
        sys.exit(f"FAILED: {shot['name']} is held by a bound from which it moves away: {shot['reason']}")
END
[ "$(grep -c '^one_shots/' one_shots.txt)" -eq 9 ] || fail "one_shots.txt does not list nine models"
! grep -q "http[s]*:" one.html || fail "the report fetches something"

# the report in a real browser, where there is one
browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -n "$browser" ]; then
    {
        sed 's|</body>.*||' one.html
        echo '<script>'
        cat "$SOURCE_DIR/tests/fit/shots/shots_check.js"
        echo '</script></body></html>'
    } > page.html
    timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --no-first-run --disable-dev-shm-usage \
        --user-data-dir="$work/profile" --enable-logging=stderr --v=0 --window-size=1300,900 --virtual-time-budget=5000 \
        --dump-dom "file://$work/page.html" > dom.html 2> browser.log || fail "the browser ended with status $?"
    sed -n '/id="checks"/,/^end/p' dom.html > checks
    [ "$(grep -c 'ok ' checks)" -eq 10 ] || fail "the report in the browser: $(cat checks)"
    ! grep -q CONSOLE browser.log || fail "the browser's console is not empty: $(grep CONSOLE browser.log)"
fi

# any number of threads: the same numbers
fit 0 joint.yaml --output two --threads 2 --quiet
[ ! -s out ] || fail "--quiet prints"
for name in distance beam_fast beam_slow; do
    [ "$(refined one.json $name)" = "$(refined two.json $name)" ] || fail "$name depends on the number of threads"
done

# refined models fed back: nothing left to do; one of them alone; the list for DIALS as a list of shots
fit 0 one.yaml --output again --no-report
near "distance fed back" "$(refined again.json distance)" "$(refined one.json distance)" 1e-3
fit 0 one_shots/0003_shot_3.yaml --output alone --no-report
cat > listed.yaml << 'END'
model: {shape: gauss, Ncells: [14, 14, 14], mosaic_spread: 0.1, oversample: 1}
refine: {misset_x: , misset_y: , misset_z: , distance: {range: 2}}
data: {shoebox_half_width: 5, model_error: 0, min_strong_reflections: 10}
shots: {list: one.expt}
END
fit 0 listed.yaml --output from_list --no-report
grep -q '^9 of 9 shots in use' from_list.log || fail "the experiment list is not nine shots: $(cat from_list.log)"

# what symmetry leaves no choice is not refined, for all shots alike
for number in 1 2; do
    "$DUALBRAGG" sim -cell 50 50 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 \
        -pixel 0.2 -oversample 1 -spots closed -mosaic 0.1 -misset ${number}0 20 30 -water 30 -seed $number \
        -noisefile images/tetragonal_$number.img > /dev/null
    echo "images/tetragonal_$number.img model.misset=[${number}0.05, 20.04, 30]"
done > tetragonal.txt
cat > tetragonal.yaml << 'END'
model: {cell: [50.05, 50.05, 70.05, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [14, 14, 14], mosaic_spread: 0.1,
        oversample: 1, distance: 100}
refine: {cell_alpha: {range: 1}, misset_x: , misset_y: , misset_z: , cell_a: {min: 45, max: 55}, cell_c: {range: 2}, beam_fast: {range: 1}}
data: {shoebox_half_width: 5, model_error: 0, min_strong_reflections: 10}
shots: {list: tetragonal.txt}
END
fit 0 tetragonal.yaml --output tetragonal_refined --no-report
for number in 1 2; do
    cell=$(sed -n 's/^ *cell: \[\(.*\)\]/\1/p' tetragonal_refined_shots/000${number}_tetragonal_$number.yaml | tr -d ,)
    set -- $cell
    [ "$1" = "$2" ] && [ "$4" = 90 ] || fail "a tetragonal cell is not: $cell"
    near "edge of a tetragonal cell" "$1" 50 0.02
done
grep -q 'Stage 6, final: all' tetragonal_refined.log || fail "a stage has lost its name"
! grep -q '"cell_alpha"' tetragonal_refined.json || fail "an angle that symmetry fixes is refined"

# Images and a cell are enough: each crystal is oriented, spreads start from its spots, and all show one error of the
# detector's distance, though it stood at two.
for number in 1 2 3; do
    distance=$((number > 2 ? 180 : 150))
    "$DUALBRAGG" sim -cell 78 78 38 90 90 90 -N 60 -default_F 2e4 -fluence 3e21 -lambda 1 -distance $distance -detpixels 500 -pixel 0.2 \
        -spots closed -mosaic_rms 0.15 -footprint_rms 0.25 0.2 -misset $((number * 37)) $((number * 11)) $((number * 53)) -water 20 \
        -seed $number -noisefile images/open_$number.img > /dev/null
    echo "images/open_$number.img model.distance=$distance.6"
done > open.txt
printf 'shots: {list: open.txt}\nmodel: {cell: [78.2, 78.2, 38.1, 90, 90, 90], symmetry: tetragonal}\n' > open.yaml
fit 0 open.yaml --output found --no-report
of_shot() { sed -n "s/^ *$2: \[*\([0-9.e-]*\).*/\1/p" found_shots/000$1_open_$1.yaml; }
near "the distance of all" "$(refined found.json distance)" 150 0.1
near "the distance of the other detector" "$(of_shot 3 distance)" 180 0.1
for number in 1 2 3; do
    near "edge of cell $number" "$(of_shot $number cell)" 78 0.05
    near "mosaic spread $number" "$(of_shot $number mosaic_rms)" 0.15 0.01
done
near "the footprint of all" "$(refined found.json footprint_hh)" 0.0625 0.004

# processes: results do not depend on their number
. "$SOURCE_DIR/tests/support/processes"
if [ -n "$mpi" ]; then
    status=0
    $mpi -n 4 "$DUALBRAGG" fit joint.yaml --output four --threads 1 > out 2> err < /dev/null || status=$?
    [ $status -eq 0 ] || fail "four processes: exit status $status: $(cat err)"
    grep -q '4 processes' four.log || fail "four.log does not tell of four processes"
    for name in distance beam_fast beam_slow; do
        near "$name of four processes" "$(refined four.json $name)" "$(refined one.json $name)" 1e-9
    done
    [ "$(ls four_shots | wc -l)" -eq 18 ] || fail "four processes wrote $(ls four_shots | wc -l) files of models"
    status=0
    $mpi -n 2 "$DUALBRAGG" fit joint.yaml --output four shots.list=nowhere.txt > out 2> err < /dev/null || status=$?
    [ $status -ne 0 ] || fail "a missing list is no failure for two processes"
    grep -q nowhere.txt err || fail "the missing list is not named: $(cat err)"
else
    echo "without mpirun: processes are not tested"
fi

# gain and readout noise that no header tells are measured, and are each shot's own; a third image has so much more readout
# noise that it does not tell the gain
: > noisy.txt
for number in 1 2 3; do
    readout=10
    [ $number -lt 3 ] || readout=40
    "$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 \
        -pixel 0.2 -oversample 1 -spots closed -mosaic 0.1 -misset $((number * 37)) $((number * 11 - 30)) $((number * 53)) -water 30 \
        -seed $number -gain 5 -readout $readout -noisefile noisy_$number.img > /dev/null
    sed -i 's/^GAIN=/XAIN=/' noisy_$number.img
    [ $number -eq 3 ] ||
        echo "noisy_$number.img model.misset=[$((number * 37)).06, $((number * 11 - 30)).04, $((number * 53)).04]" >> noisy.txt
done
fit 0 joint.yaml --output noisy shots.list=noisy.txt --no-report
for file in noisy_shots/*.yaml; do
    near "readout noise in $file" "$(sed -n 's/.*readout_noise: \([0-9.]*\).*/\1/p' "$file")" 10 1
    near "gain in $file" "$(sed -n 's/.*gain: \([0-9.]*\).*/\1/p' "$file")" 5 1
done
near "chi2 per degree of freedom" "$(sed -n 's/.*chi2 per degree of freedom \([0-9.]*\) -> \([0-9.]*\).*/\2/p' out | tail -1)" 1 0.5
echo "noisy_3.img model.misset=[111, 3, 159]" > unknown.txt
fit 3 joint.yaml --output unknown shots.list=unknown.txt --no-report
grep -q "noisy_3.img: .*give data.gain" err || fail "a gain that cannot be measured is not refused: $(cat err)"

printf 'no checkpoint' > cut.checkpoint
fit 3 joint.yaml --output cut --resume
grep -q cut.checkpoint err || fail "the file that is no checkpoint is not named: $(cat err)"

# what is wrong is said, with the place
echo "images/shot_1.img model.misset=[1, 2" > bad.txt
fit 3 joint.yaml --output bad shots.list=bad.txt
grep -q 'bad.txt:1: .*bracket' err || fail "an open bracket: $(cat err)"
echo "images/shot_1.img misset" > bad.txt
fit 3 joint.yaml --output bad shots.list=bad.txt
grep -q 'bad.txt:1: expected KEY=VALUE' err || fail "a word without '=': $(cat err)"
printf '\nimages/shot_1.img model.misst=[1,2,3]\n' > bad.txt
fit 2 joint.yaml --output bad shots.list=bad.txt
grep -q 'bad.txt:2: .*misset' err || fail "an unknown key: $(cat err)"
echo "# nothing" > bad.txt
fit 3 joint.yaml --output bad shots.list=bad.txt
echo "images/missing.img" > bad.txt
fit 3 joint.yaml --output bad shots.list=bad.txt
grep -q 'missing.img' err || fail "no shot can be read: $(cat err)"
# a configuration that is wrong for all shots alike is wrong use; what is wrong with each in its own way is bad input
head -n 2 shots.txt > bad.txt
fit 2 joint.yaml --output bad --no-report shots.list=bad.txt 'refine.mosaic_a={range: 0.01}'
grep -q 'mosaic_a: a cap is for sampled spots only' err || fail "a parameter of sampled spots: $(cat err)"
sed -i 's/shot_2/missing/' bad.txt
fit 3 joint.yaml --output bad --no-report shots.list=bad.txt 'refine.mosaic_a={range: 0.01}'
fit 2 joint.yaml --output bad --image images/shot_1.img
grep -q 'found both' err || fail "an image beside a list: $(cat err)"

[ $failures -eq 0 ]
