#!/bin/sh
# A series of absent, faint and bright reflections, all of which are listed: F^2 of passages and merged intensities are right on
# average, as they are not cut at 0. Images have no light below 0.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
python3 -S - << 'END'
import random

random.seed(3)
with open("truth.hkl", "w") as truth, open("all.txt", "w") as listed:
    for h in range(11):
        for k in range(13):
            for l in range(15):
                if not 0 < (h / 20) ** 2 + (k / 24) ** 2 + (l / 28) ** 2 < 1 / 1.9 ** 2:
                    continue
                f = (0, random.uniform(15, 30), random.uniform(60, 140))[(h + k + l) % 3]  # absent, faint, bright
                for x, y, z in {(s * h, t * k, u * l) for s in (1, -1) for t in (1, -1) for u in (1, -1)}:
                    print(x, y, z, "%.4f" % f, file=truth)
                    print(x, y, z, file=listed)
END
for sweep in 0 1; do # the same turn twice, so that each reflection is measured twice
    for frame in 0 1 2 3 4 5 6 7 8 9; do
        "$DUALBRAGG" sim -cell 20 24 28 90 90 90 -misset 20 20 30 -N 30 -gauss_xtal -hkl truth.hkl -lambda 1 -distance 60 -detpixels 240 \
            -pixel 0.3 -fluence 2e25 -spots closed -mosaic_rms 0.15 -footprint_rms 0.1 0.1 -phi $((2 * frame)) -osc 2 -water 0.3 \
            -seed $((20 * sweep + frame + 1)) -noisefile ${sweep}_$frame.img > /dev/null
        echo ${sweep}_$frame.img >> frames.txt
    done
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes, knots: 10}
model: {cell: [20, 24, 28, 90, 90, 90], symmetry: P222, shape: gauss, Ncells: [30, 30, 30], spots: closed, mosaic_rms: 0.15,
        footprint_rms: [0.1, 0.1], misset: [20, 20, 30]}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}}
data: {min_strong_reflections: 1, reflections: all.txt, max_shoeboxes: 5000}
END
fit 0 series.yaml --output faint --no-report --model-image
python3 -S - << 'END' || fail "intensities beside the truth: $(cat off.txt)"
import math

truth = {tuple(map(int, line.split()[:3])): float(line.split()[3]) ** 2 for line in open("truth.hkl")}


def same(hkl):  # of equivalent reflections
    return *map(abs, hkl), math.copysign(1, math.prod(hkl)) if all(hkl) else 0


good, told, parts = True, open("off.txt", "w"), set()
for name, at in ("faint.hkl", 3), ("faint_merged.hkl", 5):
    rows = []
    for line in open(name):
        column = line.split()
        if column[0] == "#":
            continue
        hkl = tuple(map(int, column[:3]))
        if name == "faint.hkl" and float(column[5]) < 0.9:
            parts.add(same(hkl))
        rows.append((truth[hkl], sum((i / n) ** 2 for i, n in zip(hkl, (20, 24, 28))), float(column[at]), float(column[at + 1]), same(hkl)))
    rows = [row for row in rows if row[4] not in parts]
    # a scale and a fall by the bright ones
    bright = [(s, math.log(i / t)) for t, s, i, e, h in rows if t > 3000]
    s_mean, y_mean = (sum(x) / len(bright) for x in zip(*bright))
    fall = sum((s - s_mean) * (y - y_mean) for s, y in bright) / sum((s - s_mean) ** 2 for s, y in bright)
    rows = [(t * math.exp(y_mean + fall * (s - s_mean)), i, e) for t, s, i, e, h in rows if t < 3000]
    absent = [i / e for t, i, e in rows if t == 0]
    faint = [(t, i, e) for t, i, e in rows if t > 0]
    off = sum(absent) / len(absent)
    negative = sum(x < 0 for x in absent) / len(absent)
    ratio = sum(i for t, i, e in faint) / sum(t for t, i, e in faint)
    error = math.sqrt(sum(e * e for t, i, e in faint)) / sum(t for t, i, e in faint)
    print(f"{name}: {len(absent)} absent, mean {off:.3f} sigma, {negative:.2f} below 0; {len(faint)} faint, {ratio:.3f} +- {error:.3f}", file=told)
    good &= len(absent) > 150 and abs(off) < 3 / math.sqrt(len(absent)) and 0.4 < negative < 0.6
    good &= len(faint) > 150 and abs(ratio - 1) < 3 * error and error < 0.05
told.close()
raise SystemExit(not good)
END
# the model of a frame has the F of all frames, which is 0 where F^2 is negative
awk '$1 !~ /^#/ { n++; none += $4 == 0; bad += !($4 >= 0) || $4 ~ /nan/ } END { exit !(n > 100 && none > 10 && !bad) }' faint_shots/0006_*.hkl ||
    fail "F of a frame: $(head -n 20 faint_shots/0006_*.hkl)"
