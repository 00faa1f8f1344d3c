#!/bin/sh
# A model whose indices are off by one node, beside a beam centre 8 pixels off and a tilt of 1.3 degrees, meets all spots of
# a still; in a part of the image by indices of another kind. It is told by what the right indices gain.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" sim -cell 84.032 61.919 69.237 90 109.726 90 -misset -67.434 -99.2454 -114.4765 -default_F 400 -b_factor 27 -N 20 \
    -lambda 1.41622 -distance 60.543 -detpixels 600 -pixel 0.172 -Xbeam 23.2999 -Ybeam 25.9087 -spots closed -mosaic_rms 0.07 \
    -bandwidth_rms 0.00147 -footprint_rms 0.03 -fluence 1e27 -water 0.001 -noisefile still.img -seed 3 --quiet
configuration() { # NAME CELL MISSET DISTANCE CENTRE ROTATION FIND_ORIENTATION
    cat > "$1.yaml" << EOF
image: still.img
model:
  cell: [$2]
  symmetry: monoclinic
  orientation: [0.067748, -0.046013, 0.996641, 0.144425, -0.987962, -0.055430, 0.987194, 0.147695, -0.060287]
  misset: [$3]
  find_orientation: $7
  distance: $4
  beam_centre_px: [$5]
  detector_rotation: [$6]
EOF
}
configuration wrong "83.6003, 61.5539, 69.2733, 90, 109.8445, 90" "-0.0413, -0.1093, -0.2966" 60.1463 "149.943, 128.012" \
    "0, -0.1556, -1.3314" no
# Distance and tilts are held, so that no stage can try the right indices.
cp wrong.yaml held.yaml
echo "refine: {misset_x: {}, misset_y: {}, misset_z: {}, cell_a: {}, cell_b: {}, cell_c: {}, cell_beta: {}, beam_fast: {}," \
    "beam_slow: {}, mosaic_variance: {}, bandwidth_variance: {}, footprint_hh: {}, footprint_vv: {}}" >> held.yaml
fit 1 held.yaml --no-report --output kept
grep -q "must not be used: .* with indices that differ by 0, -1, 0, .* beam centre moved by 1.2, 8.0 pixels" kept.log ||
    fail "the wrong model: $(grep -a used kept.log)"
# Refined tilts tell the right indices, and they are taken.
fit 0 wrong.yaml --no-report --output found
grep -q "other indices, with the beam centre at pixel 151.*, 136.* in place of 150.*, 128" found.log || fail "no other indices"
near beam_fast "$(refined found.json beam_fast)" 25.995 0.02
near beam_slow "$(refined found.json beam_slow)" 23.386 0.02
configuration right "84.03, 61.92, 69.24, 90, 109.726, 90" "0, 0, 0" 60.543 "150.633, 135.464" "0, 0, 0" yes
fit 0 right.yaml --no-report --output found_right

# Small blocks stay on the Ewald sphere over large turns near the beam. With an axis along it, other indices lessen these turns.
"$DUALBRAGG" sim -cell 60 60 40 90 90 90 -misset -3.848 86.821 -93.973 -default_F 1000 -b_factor 15 -N 15 -gauss_xtal -spots closed \
    -mosaic_rms 0.12 -bandwidth_rms 0.002 -lambda 1.3 -distance 100 -detpixels 500 -pixel 0.25 -fluence 1e26 -water 0.6 \
    -footprint_rms 0.08 -seed 3 -noisefile small.img -bits 32 --quiet
fit 0 small.img --cell 60,60,40 --symmetry "P 4" --no-report --output found_small
near "beam_slow of small blocks" "$(refined found_small.json beam_slow)" 62.75 0.02

# All shots of a list share the beam centre, so none of them takes other indices with a beam of its own.
"$DUALBRAGG" sim -cell 60 60 40 90 90 90 -default_F 1000 -b_factor 15 -N 15 -gauss_xtal -spots closed -mosaic_rms 0.12 \
    -bandwidth_rms 0.002 -lambda 1.3 -distance 100 -detpixels 500 -pixel 0.25 -fluence 1e26 -water 0.6 -footprint_rms 0.08 \
    -seed 3 -noisefile shots.h5 -bits 32 -noreflections --random 4 --quiet
echo "shots.h5#1-4" > shots.txt
cat > shots.yaml << EOF
shots: {list: shots.txt}
model: {cell: [60, 60, 40, 90, 90, 90], symmetry: P 4, Ncells: [15, 15, 15]}
EOF
fit 0 shots.yaml --no-report --output found_shots
grep -q "^4 of 4 shots in use" found_shots.log || fail "a shot is excluded: $(grep -a excluded found_shots.log)"

# A lattice may have more symmetry than its crystal. Known amplitudes tell in which way it is indexed: a search takes that way,
# and a given orientation that has another one is turned.
for group in "P 4" "R 3"; do
    gamma=120
    [ "$group" = "P 4" ] && gamma=90
    awk -v group="$group" '
    function meet(h, k, l) { if (h * 10000 + k * 100 + l > key) key = h * 10000 + k * 100 + l }
    function orbit(h, k, l) {
        if (group == "P 4") { meet(h, k, l); meet(-k, h, l); meet(-h, -k, l); meet(k, -h, l) }
        else { meet(h, k, l); meet(k, -h - k, l); meet(-h - k, h, l) }
    }
    BEGIN {
        srand(4)
        for (h = -30; h <= 30; h++) for (k = -30; k <= 30; k++) for (l = -25; l <= 25; l++) {
            if ((!h && !k && !l) || (group == "R 3" && (k - h + l) % 3)) continue
            key = -1e9; orbit(h, k, l); orbit(-h, -k, -l)
            if (!(key in f)) f[key] = 200 * sqrt(-log(1 - rand()))
            print h, k, l, f[key]
        }
    }' > known.hkl
    cat > known.yaml << EOF
image: known.img
model: {cell: [60, 60, 50, 90, 90, $gamma], symmetry: $group, find_orientation: yes, Ncells: [15, 15, 15], shape: gauss,
        spots: closed, mosaic_rms: 0.1}
intensity: {hkl: known.hkl}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, scale: {}}
EOF
    "$DUALBRAGG" sim -cell 60 60 50 90 90 $gamma -hkl known.hkl -nointerpolate -N 15 -gauss_xtal -spots closed -mosaic_rms 0.1 \
        -lambda 1 -distance 60 -detpixels 300 -pixel 0.3 -misset -20 60 10 -fluence 1e26 -water 0.1 -seed 3 -noisefile known.img \
        --quiet
    fit 0 known.yaml --no-report --output found_known
    grep -q "explains 9. % of the strong pixels" found_known.log || fail "$group: $(grep explains found_known.log)"
done
cat > given.yaml << EOF
image: known.img
model: {cell: [60, 60, 50, 90, 90, 120], symmetry: R 3, misset: [-20, 60, 10], Ncells: [15, 15, 15], shape: gauss,
        spots: closed, mosaic_rms: 0.1}
intensity: {hkl: known.hkl}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, scale: {}}
EOF
fit 0 given.yaml "model.orientation=[1, 0, 0, 0, 1, 0, 0, 0, 1]" --no-report --output as_given
grep -q "orientation was turned" as_given.log && fail "a right orientation: $(cat as_given.log)"
# a and b exchanged, c turned round
fit 0 given.yaml "model.orientation=[-0.5, 0.866025403784, 0, 0.866025403784, 0.5, 0, 0, 0, -1]" --no-report --output exchanged
grep -q "known.img: the given orientation was turned, so that indices are now [-hkl,]*: the known amplitudes" exchanged.log ||
    fail "indexed another way: $(cat exchanged.log)"
grep -q "explains [6-9]. % of the strong pixels" exchanged.log || fail "turned: $(grep explains exchanged.log)"
