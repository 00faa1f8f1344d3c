#!/bin/sh
# Two sweeps of one crystal, on two settings of a goniometer and at two distances: one orientation, one cell, one change of the
# distance. The start of each sweep says how the goniometer has turned the crystal.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
python3 -S - << 'END_OF_SWEEPS'
from math import cos, radians, sin


def turn(axis, degree):
    c, s, (x, y, z) = cos(radians(degree)), sin(radians(degree)), axis
    return [[c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s],
            [z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)]]


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def by_angles(a):
    return product(turn((0, 0, 1), a[2]), product(turn((0, 1, 0), a[1]), turn((1, 0, 0), a[0])))


start, misset, chi = by_angles((20, 20, 30)), by_angles((0.1, -0.08, 0.12)), turn((0.6, 0, 0.8), 40)
true = product(misset, start)
for sweep, goniometer in enumerate((None, chi)):
    stands, begins = (product(goniometer, m) if goniometer else m for m in (true, start))
    with open(f"crystal_{sweep}.mat", "w") as f:  # cell 58, 58, 92 A at 1 A
        f.write("\n".join(" ".join("%.10f" % (row[k] / (58, 58, 92)[k]) for k in range(3)) for row in stands) + "\n")
    with open(f"begin_{sweep}.txt", "w") as f:
        f.write("model.orientation=[%s]" % ", ".join("%.12f" % x for row in begins for x in row))
END_OF_SWEEPS
for sweep in 0 1; do
    for frame in 0 1 2; do
        "$DUALBRAGG" sim -cell 58 58 92 90 90 90 -mat crystal_$sweep.mat -N 12 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 \
            -distance $((sweep * 30 + 100)).2 -detpixels 400 -pixel 0.2 -oversample 1 -spots closed -mosaic_rms 0.1 \
            -phi "$(awk -v n=$frame 'BEGIN { print 10 + n / 2 }')" -osc 0.5 -water 30 -seed $((3 * sweep + frame + 1)) \
            -noisefile sweep_${sweep}_$frame.img > /dev/null
        echo "sweep_${sweep}_$frame.img $(cat begin_$sweep.txt) model.distance=$((sweep * 30 + 100))" >> frames.txt
    done
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [58.05, 58.05, 92.05, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [12, 12, 12], spots: closed, mosaic_rms: 0.1,
        oversample: 1}
refine:
  misset_x: {range: 1}
  misset_y: {range: 1}
  misset_z: {range: 1}
  cell_a: {range: 0.5}
  cell_c: {range: 0.5}
  beam_fast: {range: 1}
  beam_slow: {range: 1}
  distance: {range: 1}
  scale: {min: 0.1}
data: {model_error: 0}
END
as_rendered() { # PREFIX
    grep -q '^6 of 6 shots in use' "$1.log" || fail "$1: frames were excluded: $(grep excluded "$1.log")"
    near "$1: cell a" "$(refined "$1.json" cell_a)" 58 0.006
    near "$1: cell c" "$(refined "$1.json" cell_c)" 92 0.01
    near "$1: distance" "$(refined "$1.json" distance)" 100.2 0.01
    near "$1: chi2" "$(sed -n 's/.*chi2 per degree of freedom .* -> //p' "$1.log")" 1 0.01
}
fit 0 series.yaml --output sweeps --no-report
as_rendered sweeps
near "misset x" "$(refined sweeps.json misset_x)" 0.1 0.002
near "misset y" "$(refined sweeps.json misset_y)" -0.08 0.002
near "misset z" "$(refined sweeps.json misset_z)" 0.12 0.002
for shot in 1 4; do # the first of a sweep, to which its scales are relative
    near "scale of frame $shot" "$(sed -n 's/^  scale: \([0-9.]\)/\1/p' sweeps_shots/000${shot}_*.yaml)" 1 1e-9
done

# no reflection begins in one sweep and ends in the other
awk '$1 !~ /^#/ && $11 <= 3 && $12 > 3 { bad = 1 } $1 !~ /^#/ { n++ } END { exit bad || n < 500 }' sweeps.hkl ||
    fail "reflections of sweeps: $(head -n 30 sweeps.hkl)"

# refined models are the start of another refinement
sed 's/frames.txt/sweeps.expt/; s/cell: [[][^]]*[]], //' series.yaml > from_list.yaml
fit 0 from_list.yaml --output listed --no-report
as_rendered listed
near "listed: misset z" "$(refined listed.json misset_z)" 0 0.002

# so are the reflections of several processes
. "$SOURCE_DIR/tests/support/processes"
if [ -n "$mpi" ]; then
    $mpi -n 2 "$DUALBRAGG" fit series.yaml --output processes \
        --no-report --threads 1 > out 2> err < /dev/null || fail "two processes: $(cat err)"
    cmp sweeps.hkl processes.hkl || fail "two processes: other reflections"
    [ "$(wc -c < sweeps.refl)" -eq "$(wc -c < processes.refl)" ] || fail "two processes: another table: $(ls -l ./*.refl)"
else
    echo "without mpirun: processes are not tested"
fi
