#!/bin/sh
# Three crystals on 20 frames of one series: all quantities within their errors, whatever the start, the processes, and the models that
# begin.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
crystal="-cell 40 40 64 90 90 90 -N 15 -gauss_xtal -default_F 1e6 -lambda 1 -distance 100 -detpixels 400 -pixel 0.2 -oversample 1
    -spots closed"
place() { # NUMBER: flags of a crystal
    case $1 in
    1) echo "-misset 20 20 30 -fluence 2e19 -mosaic_rms 0.12 -crystal_position 0.2 -0.22 0.1 -water 30" ;;
    2) echo "-misset 71 -25 55 -fluence 1e19 -mosaic_rms 0.08 -crystal_position -0.1 0.12 -0.15" ;;
    3) echo "-misset -34 12 80 -fluence 7e18 -mosaic_rms 0.1 -crystal_position 0.05 0.3 0.2" ;;
    esac
}
for frame in $(seq 0 19); do
    turn="-phi $((6 * frame)) -osc 1"
    for number in 1 2 3; do
        # shellcheck disable=SC2046,SC2086
        "$DUALBRAGG" sim $crystal $turn $(place $number) -floatfile crystal_$number.f32 > /dev/null
    done
    "$DUALBRAGG" add crystal_1.f32 crystal_2.f32 crystal_3.f32 -o sum.f32 > /dev/null
    "$DUALBRAGG" noise -floatfile sum.f32 -detpixels 400 -pixel 0.2 -distance 100 -lambda 1 -calibration 0 -seed $((frame + 1)) \
        -noisefile frame_"$frame".img > /dev/null
    echo "frame_$frame.img model.phi=$((6 * frame)) model.osc=1" >> frames.txt
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [40.04, 40.04, 63.95, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [15, 15, 15], spots: closed, mosaic_rms: 0.1,
        oversample: 1, find_orientation: {lattices: 5}}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, cell_a: {range: 0.5}, cell_c: {range: 0.5}, crystal_x: ,
         crystal_y: , crystal_z: , mosaic_variance: , scale: {min: 0.1}}
data: {model_error: 0, dmax: 20}
END
fit 0 series.yaml --output three --no-report
[ "$(grep -c '^lattice [0-9]' three.log)" -eq 3 ] || fail "three crystals are not three lattices: $(head -n 8 three.log)"
grep -q '^60 of 60 shots in use' three.log || fail "frames were excluded: $(grep excluded three.log)"
near "chi2" "$(sed -n 's/.*chi2 per degree of freedom .* -> //p' three.log)" 1 0.02

# 12 quantities of crystals, 57 scales of frames and two edges, in quoted errors
cat > pulls.py << 'END'
import json
import sys

found = json.load(open(sys.argv[1]))
of = {name: k for k, name in enumerate(found["local"])}
true = [(0.2, -0.22, 0.1, 0.0144), (-0.1, 0.12, -0.15, 0.0064), (0.05, 0.3, 0.2, 0.01)]
names = ("crystal_x", "crystal_y", "crystal_z", "mosaic_variance")
own, scales = [], []
for crystal in (1, 2, 3):
    shots = [s for s in found["shots"] if s["crystal"] == crystal]
    first = shots[0]
    place = min(true, key=lambda t: sum(abs(first["refined"][of[n]] - t[k]) for k, n in enumerate(names)))
    true.remove(place)
    own += [(first["refined"][of[n]] - place[k]) / first["error"][of[n]] for k, n in enumerate(names)]
    scales += [(s["refined"][of["scale"]] - 1) / s["error"][of["scale"]] for s in shots if s["error"][of["scale"]]]
edges = [(p["refined"] - {"cell_a": 40, "cell_c": 64}[p["name"]]) / p["error"] for p in found["parameters"] if p["error"]]
rms = [(sum(x * x for x in list) / len(list)) ** 0.5 for list in (own, scales, edges)]
print("pulls of %d, %d and %d quantities: %.2f %.2f %.2f" % (len(own), len(scales), len(edges), *rms))
assert len(own) == 12 and len(scales) == 57 and len(edges) == 2
assert 0.4 < rms[0] < 1.7 and 0.5 < rms[1] < 1.3 and rms[2] < 2.5, (own, edges)
END
python3 -S pulls.py three.json || fail "errors of three crystals"

# refined models, which are three crystals on the frames again, and a list of experiments
sed 's/frames.txt/three_shots.txt/; s/, find_orientation: .*/}/' series.yaml > more.yaml
fit 0 more.yaml --output again --no-report
grep -q '^60 of 60 shots in use' again.log || fail "refined models: $(grep excluded again.log)"
python3 -S pulls.py again.json || fail "errors from refined models"

# any number of threads and processes
head -n 8 frames.txt > few.txt
fit 0 series.yaml --output one --no-report --threads 1 shots.list=few.txt
fit 0 series.yaml --output two --no-report --threads 2 shots.list=few.txt
cmp one.hkl two.hkl || fail "two threads: other reflections"
. "$SOURCE_DIR/tests/support/processes"
if [ -n "$mpi" ]; then
    $mpi -n 2 "$DUALBRAGG" fit series.yaml --output processes \
        --no-report --threads 1 shots.list=few.txt > out 2> err < /dev/null || fail "two processes: $(cat err)"
    cmp one.hkl processes.hkl || fail "two processes: other reflections"
    diff -r one_shots processes_shots > out || fail "two processes: other models: $(head -n 10 out)"
else
    echo "without mpirun: processes are not tested"
fi

# crystals on one mount slip together: phi of frames 4 to 7 is 0.4 degree too large
awk 'NR > 4 { split($2, part, "="); $2 = "model.phi=" part[2] + 0.4 } { print }' few.txt > slipped.txt
fit 1 series.yaml --output slipped --no-report shots.list=slipped.txt
grep -q 'from about frame_4.img on, spots fit a crystal turned by about 0.[34]' err || fail "crystals that slip: $(cat err)"

# where nothing is named: crystals at one place; the weaker one misses more at first, but a frame is compared with those of its crystal
rm frames.txt
for frame in $(seq 0 7); do
    turn="-phi $frame -osc 1"
    for number in 1 2; do
        # shellcheck disable=SC2046,SC2086
        "$DUALBRAGG" sim $crystal $turn $(place $number) -crystal_position 0 0 0 -floatfile crystal_$number.f32 > /dev/null
    done
    "$DUALBRAGG" add crystal_1.f32 crystal_2.f32 -o sum.f32 > /dev/null
    "$DUALBRAGG" noise -floatfile sum.f32 -detpixels 400 -pixel 0.2 -distance 100 -lambda 1 -calibration 0 -seed $((frame + 1)) \
        -noisefile together_"$frame".img > /dev/null
    echo "together_$frame.img model.phi=$frame model.osc=1" >> frames.txt
done
cat > open.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [40.04, 40.04, 63.95, 90, 90, 90], symmetry: tetragonal, find_orientation: {lattices: 3}}
END
fit 0 open.yaml --output named_none --no-report
grep -q '^16 of 16 shots in use' named_none.log || fail "nothing named: $(grep excluded named_none.log)"
found=$(sed -n 's/^  mosaic_variance  *[0-9.]*  *\([0-9.]*\)(.*/\1/p' named_none.log | sort)
near "nothing named: the one mosaic variance" "$(echo "$found" | head -n 1)" 0.0064 0.0002
near "nothing named: the other mosaic variance" "$(echo "$found" | tail -n 1)" 0.0144 0.0002
