#!/bin/sh
# Two sweeps of one crystal that decays give one merged set of intensities: scale and B of the frames as the reflections that they
# share ask for them, each sweep with its own. Beside the truth.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
python3 -S - << 'END'
import math
import random
from math import cos, radians, sin

random.seed(3)
cell, lines = (20, 24, 28), []
for h in range(11):
    for k in range(13):
        for l in range(15):
            square = (h / 20) ** 2 + (k / 24) ** 2 + (l / 28) ** 2
            if not 0 < square < 1 / 1.9 ** 2:
                continue
            f = math.sqrt(random.expovariate(1) * 1e4 * math.exp(-6 * square))
            signs = {(s * h, t * k, u * l) for s in (1, -1) for t in (1, -1) for u in (1, -1)}
            lines += ["%d %d %d %.4f" % (*hkl, f) for hkl in sorted(signs)]
open("truth.hkl", "w").write("\n".join(lines) + "\n")


def turn(axis, degree):
    c, s, (x, y, z) = cos(radians(degree)), sin(radians(degree)), axis
    return [[c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s],
            [z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)]]


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


stands = product(turn((0, 0, 1), 30), product(turn((0, 1, 0), 20), turn((1, 0, 0), 20)))
for sweep, goniometer in enumerate((turn((0, 0, 1), 0), turn((0.6, 0, 0.8), 70))):
    matrix = product(goniometer, stands)
    open(f"{sweep}.mat", "w").write("\n".join(" ".join("%.10f" % (row[k] / cell[k]) for k in range(3)) for row in matrix) + "\n")
    open(f"{sweep}.txt", "w").write("model.orientation=[%s]" % ", ".join("%.12f" % x for row in matrix for x in row))
END
for sweep in 0 1; do
    for frame in 0 1 2 3 4 5 6 7 8 9 10 11; do # scale 1 to 0.7, then 0.5 to 0.35; B 0 to 8 in each
        "$DUALBRAGG" sim -cell 20 24 28 90 90 90 -mat $sweep.mat -N 30 -gauss_xtal -hkl truth.hkl -lambda 1 -distance 60 -detpixels 240 \
            -pixel 0.3 -fluence "$(awk -v s=$sweep -v f=$frame 'BEGIN { print 5e25 * (1 - 0.3 * f / 11) / (s + 1) }')" \
            -b_factor "$(awk -v f=$frame 'BEGIN { print 8 * f / 11 }')" -spots closed -mosaic_rms 0.15 -footprint_rms 0.1 0.1 \
            -phi $((2 * frame)) -osc 2 -water 0.0001 -seed $((20 * sweep + frame + 1)) -noisefile ${sweep}_$frame.img > /dev/null
        echo "${sweep}_$frame.img $(cat $sweep.txt)" >> frames.txt
    done
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [20, 24, 28, 90, 90, 90], symmetry: P222, shape: gauss, Ncells: [30, 30, 30], spots: closed, mosaic_rms: 0.15,
        footprint_rms: [0.1, 0.1]}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, mosaic_variance: {}}
data: {min_strong_reflections: 1}
END
beside() { # FILE COLUMN: correlation, R after one scale, and number of its intensities beside the truth
    awk -v at="$2" 'NR == FNR { truth[$1, $2, $3] = $4 * $4; next }
        $1 !~ /^#/ && ($1, $2, $3) in truth { x[++n] = $at; y[n] = truth[$1, $2, $3]; sx += x[n]; sy += y[n] }
        END { for (i = 1; i <= n; i++) { xx += (x[i] - sx / n) ^ 2; yy += (y[i] - sy / n) ^ 2; xy += (x[i] - sx / n) * (y[i] - sy / n)
                                         off += x[i] * sy / sx > y[i] ? x[i] * sy / sx - y[i] : y[i] - x[i] * sy / sx }
              print xy / sqrt(xx * yy), off / sy, n }' truth.hkl "$1"
}
fit 0 series.yaml --output sweeps --no-report
beside sweeps.hkl 4 > alone.txt
beside sweeps_merged.hkl 6 > merged.txt
awk 'NR == 1 { first = $2 } NR == 2 { good = $1 > 0.995 && $2 < 0.05 && $2 < first / 4 && $3 > 500 } END { exit !good }' alone.txt merged.txt ||
    fail "merged intensities beside the truth: correlation, R, number before and after: $(cat alone.txt merged.txt)"
grep -q '"space_group": "P 2 2 2"' sweeps.json || fail "the space group: $(grep space_group sweeps.json)"
python3 -S - << 'END' || fail "scales of the frames: $(cat scales.txt)"
import json
import math

off, sweep, before = [], 0, -1
for knot in json.load(open("sweeps.json"))["intensities"]["scales"]:
    sweep += knot["frame"] <= before  # the next sweep begins where one ends
    before = knot["frame"]
    decay = min(11, max(0, knot["frame"] - 12 * sweep - 0.5)) / 11
    off.append((math.log(knot["scale"] * (1 + sweep) / (1 - 0.3 * decay)), knot["b"] - 8 * decay))
print(*off, sep="\n", file=open("scales.txt", "w"))
common = [sum(x) / len(off) for x in zip(*off)]  # the first knot has noise, too
wide = [max(abs(x - m) for x in column) for column, m in zip(zip(*off), common)]
raise SystemExit(not (sweep == 1 and abs(common[0]) < 0.08 and abs(common[1]) < 1.5 and wide[0] < 0.08 and wide[1] < 2))
END
if "$DUALBRAGG" --version | grep -q gemmi; then
    "$DUALBRAGG" import sweeps_merged.mtz > read.txt
    rows=$(sed -n 's/^  reflections *//p' read.txt)
    grep -q 'IMEAN (J), SIGIMEAN (Q), I(+) (K)' read.txt || fail "columns of the merged file: $(cat read.txt)"
    # Bijvoet mates are lines of their own in the text, and one row of the file
    [ "$rows" = "$(awk '$1 !~ /^#/ { for (i = 1; i <= 3; i++) if ($i < 0) $i = -$i; print $1, $2, $3 }' sweeps_merged.hkl | sort -u | wc -l)" ] ||
        fail "reflections of the merged file: $rows"
    grep -q '"space_group_hall_symbol": " P 2 2"' sweeps.expt || fail "space group of the list: $(grep hall sweeps.expt)"
fi
# a lattice leaves the space group open, so the log says that equivalent reflections stay apart
fit 0 series.yaml model.symmetry=oP --output lattice --no-report
grep -q '"space_group": "P 1"' lattice.json || fail "the space group of a lattice: $(grep space_group lattice.json)"
grep -q "symmetry 'oP' is no space group for merged intensities, which are those of P 1" out || fail "the log: $(cat out)"
# over two processes rank 0 reads the other's models again, for tables; what the results say of them stays
. "$SOURCE_DIR/tests/support/processes"
if [ -n "$mpi" ]; then
    status=0
    $mpi -n 2 \
        "$DUALBRAGG" fit series.yaml --output two --no-report --threads 1 > out 2> err < /dev/null || status=$?
    [ $status -eq 0 ] || fail "two processes: exit status $status: $(cat err)"
    python3 -S - << 'END' || fail "shots of two processes differ from those of one"
import json

one, two = (json.load(open(f"{name}.json"))["shots"] for name in ("sweeps", "two"))
raise SystemExit(not (len(one) == 24 and one == two))
END
    cmp sweeps.hkl two.hkl || fail "intensities of two processes differ from those of one"
fi
