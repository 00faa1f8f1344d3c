#!/bin/sh
# Two sweeps of one crystal on two settings of the goniometer, of which one has no light.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" --version | grep -q JSON || { echo "skipped: no JSON"; exit 77; }
cp "$SOURCE_DIR/tests/fit/shots/two_settings.py" lists.py
for sweep in 0 1; do for frame in 1 2 3; do echo sweep_${sweep}_000$frame.img; done; done > frames.txt
cat > frames.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {expt: named.expt, cell: [58.1, 58.1, 92.1, 90, 90, 90], symmetry: tetragonal}
data: {dmin: 2.4}
END
render() { # SEED: six frames, by truth.expt
    for sweep in 0 1; do
        for frame in 1 2 3; do
            "$DUALBRAGG" sim -expt truth.expt -expt_number $sweep -expt_frame $frame -N 12 -gauss_xtal -default_F 1e6 -fluence 3e19 \
                -oversample 1 -spots closed -mosaic_rms 0.1 -water 30 -seed $(($1 + 5 * sweep + frame)) \
                -noisefile sweep_${sweep}_000$frame.img > /dev/null
        done
    done
}

# a sweep without light, on a setting of its own: noise tells neither an orientation nor a distance
python3 -S lists.py
render 40
for frame in 1 2; do
    "$DUALBRAGG" sim -expt truth.expt -expt_number 1 -expt_frame $frame -N 12 -default_F 1 -fluence 3e19 -oversample 1 -water 30 \
        -seed 5$frame -noisefile sweep_1_000$frame.img > /dev/null
done
sed '/sweep_1_0003/d' frames.txt > dark.txt
sed 's/frames.txt/dark.txt/' frames.yaml > light.yaml
fit 0 light.yaml --output dark --no-report
grep -q 'Warning: fewer than 14 spots are on the images of the setting from sweep_1_0001.img on: nothing of its own was refined' dark.log ||
    fail "nothing says that a setting has no light: $(cat dark.log)"
sed '1,/from sweep_1_0001.img on/d; /each shot.s own/,$d' dark.log > dark_setting.txt
awk 'NF > 2 && $2 != $3 && $1 != "each" { moved = 1 } $1 == "distance" { n++ } END { exit moved || !n }' dark_setting.txt ||
    fail "a setting without light was refined: $(cat dark_setting.txt)"
grep -q 'nothing of its own was refined, and its intensities are not merged' dark.log || fail "noise is merged: $(cat dark.log)"
head -n 3 frames.txt > lit.txt
fit 0 light.yaml --output lit --no-report shots.list=lit.txt
near "reflections merged beside a dark sweep" "$(grep -vc '^#' dark_merged.hkl)" "$(grep -vc '^#' lit_merged.hkl)" 10
near "cell c beside a dark sweep" "$(refined dark.json cell_c)" 92 0.03

# circles for which the configuration leaves no room are named, if they move
unused() { # LIST
    fit 2 light.yaml --output unused --no-report shots.list="$1" 'model.beam_centre_px=[200, 200]' model.find_orientation=yes \
        'refine={misset_x: {range: 1}}'
}
unused dark.txt
grep -q '^sweep_1_0001.img: the circles of the goniometer stand otherwise than on sweep_0_0001.img, which is not used' out ||
    fail "circles that are not used: $(cat out err)"
head -n 3 frames.txt > still.txt
unused still.txt
! grep -q 'circles of the goniometer' out || fail "circles that stand: $(cat out err)"

# without a cell: the search says what it found on each setting
if "$DUALBRAGG" --version | grep -q gemmi; then
    mkdir noise
    for frame in 1 2; do cp sweep_1_000$frame.img noise/sweep_0_000$frame.img; done
    sed 's|^sweep_0|noise/&|; /_0003/d' dark.txt > none.txt
    sed 's/frames.txt/none.txt/; s/, cell: [[].*[]], symmetry: tetragonal//' frames.yaml > none.yaml
    fit 3 none.yaml --output nowhere --no-report
    grep -q 'none.txt: no cell was found on any setting of the goniometer: from noise/sweep_0_0001.img on: no spots .*; from sweep_1_0001.img on: no spots' err ||
        fail "no setting with spots: $(cat err)"
    sed 's/none.txt/dark.txt/' none.yaml > known.yaml
    "$DUALBRAGG" fit known.yaml --output half --no-report model.find_orientation=yes 'refine={misset_x: {range: 1}}' > out 2> err || true # the model is not judged here
    grep -q '^1 of 2 searches, each of an image or a sweep, have found this cell$' out || fail "a sweep without a cell is not named: $(cat out err)"
    python3 -S -c "import json; c = json.load(open('half.json'))['found_cell']; assert [c[k] for k in ('searches', 'images', 'agreeing')] == [2, 2, 1]" ||
        fail "the document counts other searches: $(grep -A 3 searches half.json)"
fi
