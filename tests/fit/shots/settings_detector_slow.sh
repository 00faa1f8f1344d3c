#!/bin/sh
# Two sweeps of one crystal. On one setting of the goniometer the detector alone moves, along the beam or aside.
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

# one setting of the goniometer, and the detector alone moves: each place has its distance
sed 's/(none, product(wrong, chi)), (100.2, 129.7)/(none, none), (100.2, 129.7)/; s/(none, chi), (100, 130)/(none, none), (100, 130)/' \
    lists.py > moved.py
python3 -S moved.py
render 20
fit 0 frames.yaml --output moved --no-report
grep -q '^6 of 6 shots in use' moved.log || fail "frames were excluded: $(grep excluded moved.log)"
near "cell a, the detector moved" "$(refined moved.json cell_a)" 58 0.02
near "cell c, the detector moved" "$(refined moved.json cell_c)" 92 0.03

# the detector moves aside: each place has its beam centre, of which the second is 0.3 mm beside the list's
sed 's/"origin": \[-40, 40, -distance\]/"origin": [-40 + n * (10 if crystals else 9.7), 40, -distance]/; s/(100.2, 129.7)/(100, 100)/
    s/(100, 130)/(100, 100)/' moved.py > aside.py
python3 -S aside.py
render 30
fit 0 frames.yaml --output aside --no-report
grep -q '^6 of 6 shots in use' aside.log || fail "frames were excluded: $(grep excluded aside.log)"
near "the second place of the beam" "$(awk '$1 == "beam_fast" { x = $3; sub(/\(.*/, "", x); last = x } END { print last }' aside.log)" 30 0.05
