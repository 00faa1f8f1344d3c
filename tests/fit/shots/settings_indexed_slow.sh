#!/bin/sh
# Circles that stand 30 degree beside what the list says tell no orientation. That of the second setting is found by itself, in the
# polar group P4 indexed in the other way; merged and joint intensities find it out.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" --version | grep JSON | grep -q gemmi || { echo "skipped: no JSON or no gemmi"; exit 77; }
cp "$SOURCE_DIR/tests/fit/shots/two_settings.py" lists.py
sed 's/(58, 58, 92)/(40, 40, 64)/; s/turn((0, 0.6, 0.8), 0.6)/turn((0.6, -0.8, 0), 30)/; s/10.0 + i/10.0 + 3 * i/
    s/(100.2, 129.7)/(100, 100)/; s/(100, 130)/(100, 100)/; s/range(5)/range(8)/g; s/\* 5/* 8/g; s/"image_range": \[1, 5\]/"image_range": [1, 8]/' \
    lists.py > circles.py
python3 -S circles.py
python3 -S - << 'END'
import random

random.seed(5)
known = {}
for h in range(-22, 23):
    for k in range(-22, 23):
        for l in range(-34, 35):
            if (h * h + k * k) / 1600 + l * l / 4096 < 1 / 1.9**2 and (h, k, l) not in known:
                amplitude = 1e6 * random.expovariate(1) ** 0.5
                for i, j, m in ((h, k, l), (-k, h, l), (-h, -k, l), (k, -h, l)):
                    known[i, j, m] = known[-i, -j, -m] = amplitude
with open("p4.hkl", "w") as file:
    for (h, k, l), amplitude in known.items():
        print(h, k, l, amplitude, file=file)
END
for sweep in 0 1; do
    for frame in 1 2 3 4 5 6 7 8; do
        "$DUALBRAGG" sim -expt truth.expt -expt_number $sweep -expt_frame $frame -hkl p4.hkl -default_F 0 -N 15 -gauss_xtal -fluence 2e19 \
            -oversample 1 -spots closed -mosaic_rms 0.1 -water 30 -seed $((9 * sweep + frame)) \
            -noisefile sweep_${sweep}_000$frame.img > /dev/null
    done
done
cat > circles.yaml << 'END'
shots: {list: named.expt, series: yes}
model: {cell: [40.02, 40.02, 63.98, 90, 90, 90], symmetry: P4}
END
for intensity in free joint; do
    fit 0 circles.yaml --output $intensity --no-report intensity=$intensity intensities.anomalous=no
    grep -q 'on setting [12] of the goniometer is not that which its circles tell' $intensity.log || fail "circles: $(head -5 $intensity.log)"
    grep -q '^Indexing: 2 ways .*: 8 of 16 shots were reindexed, 0 are undecided$' $intensity.log || fail "$(grep Indexing $intensity.log)"
    file=$intensity.hkl
    [ -e free_merged.hkl ] && [ $intensity = free ] && file=free_merged.hkl
    python3 -S - "$file" > out << 'END' || fail "$intensity intensities of settings that are indexed in two ways: $(cat out)"
import sys

true = {tuple(map(int, line.split()[:3])): float(line.split()[3]) ** 2 for line in open("p4.hkl")}
rows = [[float(x) for x in line.split()] for line in open(sys.argv[1]) if line[0] != "#"]


def correlation(other):
    pairs = [(true[h, k, l], row[5]) for row in rows for h, k, l in [[(row[0], row[1], row[2]), (row[1], row[0], -row[2])][other]]
             if (h, k, l) in true]
    n = len(pairs)
    a, b = sum(x for x, _ in pairs) / n, sum(y for _, y in pairs) / n
    xx, yy, xy = (sum((p[i] - (a, b)[i]) * (p[j] - (a, b)[j]) for p in pairs) for i, j in ((0, 0), (1, 1), (0, 1)))
    return xy / (xx * yy) ** 0.5


found = correlation(0), correlation(1)  # nothing tells which way is that of the file
print(len(rows), found)
assert len(rows) > 1000 and max(found) > 0.98 and min(found) < 0.5
END
done
