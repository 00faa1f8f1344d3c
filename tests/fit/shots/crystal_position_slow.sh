#!/bin/sh
# Crystals off the origin: two on one image, and one that the spindle and another setting of the goniometer carry along.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
crystal="-cell 58 58 92 90 90 90 -N 12 -gauss_xtal -default_F 1e6 -lambda 1 -detpixels 400 -pixel 0.2 -oversample 1 -spots closed
    -mosaic_rms 0.1"
cat > model.yaml << 'END'
model: {cell: [58, 58, 92, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [12, 12, 12], spots: closed, mosaic_rms: 0.1,
        oversample: 1}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, crystal_x: , crystal_y: , crystal_z: }
data: {model_error: 0}
END
within() { # WHAT VALUE ERROR TRUE MOST
    awk -v v="$2" -v e="$3" -v t="$4" -v m="$5" 'BEGIN { d = v - t; exit !(e > 0 && e < m && d * d < 16 * e * e) }' ||
        fail "$1: $2($3), expected $4 within four errors below $5"
}

# two crystals 0.3 mm apart; the light of both is found together, as they share the cell
# shellcheck disable=SC2086
"$DUALBRAGG" sim $crystal -distance 100 -fluence 3e19 -misset 20 20 30 -crystal_position 0.05 0.15 -0.1 -water 30 -floatfile one.f32 > /dev/null
# shellcheck disable=SC2086
"$DUALBRAGG" sim $crystal -distance 100 -fluence 3e19 -misset 71 -25 55 -crystal_position -0.04 -0.12 0.03 -floatfile two.f32 > /dev/null
"$DUALBRAGG" add one.f32 two.f32 -o sum.f32 > /dev/null
"$DUALBRAGG" noise -floatfile sum.f32 -detpixels 400 -pixel 0.2 -distance 100 -lambda 1 -calibration 0 -seed 3 -noisefile image.img > /dev/null
{
    echo 'image: image.img'
    sed 's/oversample: 1/oversample: 1, find_orientation: {lattices: 2}/; s/^refine: {/&cell_a: {range: 0.5}, cell_c: {range: 0.5}, /' model.yaml
} > lattices.yaml
fit 0 lattices.yaml --output both --no-report
grep -q '^2 of 2 shots in use' out || fail "crystals off the origin were excluded: $(cat out)"
near "cell a" "$(refined both.json cell_a)" 58 0.01
python3 -S - > places << 'END'
import json

found = json.load(open("both.json"))
for shot in sorted(found["shots"], key=lambda s: -s["refined"][found["local"].index("crystal_y")]):
    for axis in "xyz":
        k = found["local"].index("crystal_" + axis)
        print(axis, shot["refined"][k], shot["error"][k])
END
for true in 0.05 0.15 -0.1 -0.04 -0.12 0.03; do
    read -r axis value error
    within "place along $axis" "$value" "$error" "$true" 0.02
done < places

# taken for crystals at the origin they are refused; their place and that of the detector together are not determined
sed 's/, crystal_[xyz]: //g' lattices.yaml > origin.yaml
fit 1 origin.yaml --output none --no-report
grep -q 'not to be used' err || fail "crystals off the origin taken for others: $(cat err)"
sed 's/^refine: {/&beam_fast: {range: 1}, beam_slow: {range: 1}, distance: {range: 1}, /' lattices.yaml > free.yaml
fit 0 free.yaml --output freed --no-report
[ "$(grep -c '^  \(beam_fast\|beam_slow\|distance\) .*(?)' out)" -eq 3 ] || fail "the detector beside all crystals is determined: $(cat out)"

# each frame of a series sees a detector of its own: without a position of the crystal, that moved the other way is the same
python3 -S - << 'END_OF_SERIES'
from math import cos, radians, sin


def turn(axis, degree):
    c, s, (x, y, z) = cos(radians(degree)), sin(radians(degree)), axis
    return [[c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s],
            [z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)]]


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def applied(a, v):
    return [sum(a[i][k] * v[k] for k in range(3)) for i in range(3)]


start = product(turn((0, 0, 1), 30), product(turn((0, 1, 0), 20), turn((1, 0, 0), 20)))
place, chi = (0.2, -0.22, 0.1), turn((0.6, 0, 0.8), 40)
for sweep in range(2):
    stands, at = (product(chi, start), applied(chi, place)) if sweep else (start, place)
    with open(f"crystal_{sweep}.mat", "w") as f:  # cell 58, 58, 92 A at 1 A
        f.write("\n".join(" ".join("%.10f" % (row[k] / (58, 58, 92)[k]) for k in range(3)) for row in stands) + "\n")
    with open(f"begin_{sweep}.txt", "w") as f:
        f.write("model.orientation=[%s]" % ", ".join("%.12f" % x for row in stands for x in row))
    with open(f"place_{sweep}.txt", "w") as f:
        f.write("%.12f %.12f %.12f" % tuple(at))
    for frame in range(4):
        seen = applied(turn((0, 0, 1), 20 * frame + 0.25), at)  # in the middle of half a degree
        with open(f"origin_{sweep}_{frame}.txt", "w") as f:
            f.write("%.12f %.12f %.12f" % (100 - seen[0], 40.2 - seen[1], -40.2 - seen[2]))
END_OF_SERIES
for sweep in 0 1; do
    for frame in 0 1 2 3; do
        as_seen="$crystal -mat crystal_$sweep.mat -phi $((20 * frame)) -osc 0.5 -fluence 1e19"
        # shellcheck disable=SC2046,SC2086
        "$DUALBRAGG" sim $as_seen -pix0_vector_mm $(cat origin_${sweep}_$frame.txt) -floatfile moved.f32 > /dev/null
        # shellcheck disable=SC2046,SC2086
        "$DUALBRAGG" sim $as_seen -distance 100 -crystal_position $(cat place_$sweep.txt) -floatfile off.f32 > /dev/null
        "$DUALBRAGG" compare moved.f32 off.f32 -absolute 0.01 > out || fail "sweep $sweep, frame $frame: another image: $(cat out)"
        # shellcheck disable=SC2046,SC2086
        "$DUALBRAGG" sim $as_seen -distance 100 -crystal_position $(cat place_$sweep.txt) -water 30 -seed $((4 * sweep + frame + 1)) \
            -noisefile sweep_${sweep}_$frame.img > /dev/null
        echo "sweep_${sweep}_$frame.img $(cat begin_$sweep.txt)" >> frames.txt
    done
done
{
    echo 'shots: {list: frames.txt, series: yes}'
    sed 's/misset_.: {range: 1}, //g' model.yaml
} > series.yaml
fit 0 series.yaml --output turned --no-report
grep -q '^8 of 8 shots in use' out || fail "frames were excluded: $(cat out)"
for axis in "x 0.2" "y -0.22" "z 0.1"; do
    within "series: place along ${axis% *}" "$(refined turned.json "crystal_${axis% *}")" "$(value turned.json "crystal_${axis% *}" error)" "${axis#* }" 0.001
done
grep -q '^  crystal_position: \[0\.[12][0-9]*, -0\.2' turned_shots/0001_*.yaml ||
    fail "the place is not in the refined model: $(cat turned_shots/0001_*.yaml)"

# the detector of lists is the laboratory's
grep -A 3 '"origin"' turned.expt | tr -d ' \n' | grep -q -- '-40.[0-9]*,40.[0-9]*,-100.0' || fail "the detector moves with the crystal: $(grep -A 3 origin turned.expt)"
