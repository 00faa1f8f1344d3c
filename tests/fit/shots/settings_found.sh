#!/bin/sh
# Two sweeps of one crystal, on two settings of a goniometer and with the detector at two places, from images and a cell: an
# experiment list without crystals names the circles, which stand 0.6 degree beside that, and the distances, of which one is 0.2
# mm too short, the other 0.3 mm too long. The spots of both tell the orientation; each setting and place gets its own.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" --version | grep -q JSON || { echo "skipped: no JSON"; exit 77; }
cat > lists.py << 'END'
import json
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


chi, wrong, stands = turn((0.6, 0, 0.8), 40), turn((0, 0.6, 0.8), 0.6), by_angles((20, 20, 30))
crystal = {"__id__": "crystal", "space_group_hall_symbol": " P 4", **{
    "real_space_" + name: [stands[i][k] * edge for i in range(3)] for k, (name, edge) in enumerate(zip("abc", (58, 58, 92)))}}


def experiments(settings, distances, crystals):
    out = {key: [] for key in ("experiment", "beam", "detector", "goniometer", "scan", "imageset")}
    out["__id__"] = "ExperimentList"
    for n, (rotation, distance) in enumerate(zip(settings, distances)):
        out["experiment"].append({"__id__": "Experiment", "identifier": str(n), **{
            k: n for k in ("beam", "detector", "goniometer", "scan", "imageset")}, **({"crystal": 0} if crystals else {})})
        out["beam"].append({"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": 1.0, "polarization_fraction": 0.5,
                            "polarization_normal": [0, 1, 0], "divergence": 0, "sigma_divergence": 0})
        out["detector"].append({"panels": [{
            "name": "", "type": "SENSOR_PAD", "fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0], "origin": [-40, 40, -distance],
            "raw_image_offset": [0, 0], "image_size": [400, 400], "pixel_size": [0.2, 0.2], "trusted_range": [-1, 1e9],
            "thickness": 0, "material": "", "mu": 0, "identifier": "", "mask": [], "gain": 1, "pedestal": 0,
            "px_mm_strategy": {"type": "SimplePxMmStrategy"}}],
            "hierarchy": {"name": "", "type": "", "fast_axis": [1, 0, 0], "slow_axis": [0, 1, 0], "origin": [0, 0, 0],
                          "raw_image_offset": [0, 0], "image_size": [0, 0], "pixel_size": [0, 0], "trusted_range": [0, 0],
                          "thickness": 0, "material": "", "mu": 0, "identifier": "", "mask": [], "gain": 1, "pedestal": 0,
                          "px_mm_strategy": {"type": "SimplePxMmStrategy"}, "children": [{"panel": 0}]}})
        out["goniometer"].append({"rotation_axis": [1, 0, 0], "fixed_rotation": [x for row in rotation for x in row],
                                  "setting_rotation": [1, 0, 0, 0, 1, 0, 0, 0, 1]})
        out["scan"].append({"image_range": [1, 5], "batch_offset": 0, "properties": {
            "oscillation": [10.0 + i for i in range(5)], "oscillation_width": [1.0] * 5, "exposure_time": [1.0] * 5,
            "epochs": [0.0] * 5}, "oscillation": [10.0, 1.0], "exposure_time": [1.0] * 5, "epochs": [0.0] * 5,
            "valid_image_ranges": {}})
        out["imageset"].append({"__id__": "ImageSequence", "template": "sweep_%d_####.img" % n, "mask": None, "gain": None,
                                "pedestal": None, "dx": None, "dy": None, "params": {}})
    out["crystal"], out["profile"], out["scaling_model"] = [crystal] if crystals else [], [], []
    return out


none = by_angles((0, 0, 0))
if __name__ == "__main__":
    json.dump(experiments((none, product(wrong, chi)), (100.2, 129.7), True), open("truth.expt", "w"))
    json.dump(experiments((none, chi), (100, 130), False), open("named.expt", "w"))
END
python3 -S lists.py
for sweep in 0 1; do
    for frame in 1 2 3 4 5; do
        "$DUALBRAGG" sim -expt truth.expt -expt_number $sweep -expt_frame $frame -N 12 -gauss_xtal -default_F 1e6 -fluence 3e19 \
            -oversample 1 -spots closed -mosaic_rms 0.1 -water 30 -seed $((5 * sweep + frame)) \
            -noisefile sweep_${sweep}_000$frame.img > /dev/null
    done
done
cat > series.yaml << 'END'
shots: {list: named.expt, series: yes}
model: {cell: [58.1, 58.1, 92.1, 90, 90, 90], symmetry: tetragonal}
data: {dmin: 2.4}
END
fit 0 series.yaml --output found --no-report
grep -q '^10 of 10 shots in use' found.log || fail "frames were excluded: $(grep excluded found.log)"
near "cell a" "$(refined found.json cell_a)" 58 0.02
near "cell c" "$(refined found.json cell_c)" 92 0.03
python3 -S - << 'END' || fail "the settings: $(cat settings.txt)"
import json
import sys
from math import acos, degrees

from lists import chi, product, wrong

result, list_ = json.load(open("found.json")), json.load(open("found.expt"))
at = result["local"].index("distance")
distances = [shot["refined"][at] for shot in result["shots"]]


def axes(number):  # unit vectors of an experiment's crystal as it stands, as columns
    experiment = list_["experiment"][number]
    crystal, fixed = list_["crystal"][experiment["crystal"]], list_["goniometer"][experiment["goniometer"]]["fixed_rotation"]
    rows = [[x / sum(y * y for y in crystal["real_space_" + n]) ** 0.5 for x in crystal["real_space_" + n]] for n in "abc"]
    return product([fixed[3 * i:3 * i + 3] for i in range(3)], [[row[i] for row in rows] for i in range(3)])


expected, found = product(product(wrong, chi), axes(0)), axes(-1)
trace = sum(expected[i][k] * found[i][k] for i in range(3) for k in range(3))
off = degrees(acos(min(1, (trace - 1) / 2)))
open("settings.txt", "w").write("%s, %g degree" % (distances, off))
sys.exit(not (all(abs(d - 100.2) < 0.02 for d in distances[:5]) and all(abs(d - 129.7) < 0.02 for d in distances[5:]) and
              len(set(distances)) == 2 and off < 0.01))
END
grep -q "^  from .*sweep_1_0001.img on" found.log || fail "the printout does not name the second setting: $(cat found.log)"

# a first frame that is not there takes no sweep along; the list names the circles, each line an image
{ echo missing_0001.img; ls sweep_0_000[1-3].img sweep_1_000[1-3].img; } > frames.txt
sed 's/named.expt/frames.txt/; s/^model: {/&expt: named.expt, /' series.yaml > frames.yaml
fit 0 frames.yaml --output few --no-report
grep -q '^6 of 7 shots in use' few.log || fail "a missing first frame: $(grep excluded few.log)"
near "cell a by half of the frames" "$(refined few.json cell_a)" 58 0.02

# one setting of the goniometer, and the detector alone moves: each place has its distance
sed 's/(none, product(wrong, chi)), (100.2, 129.7)/(none, none), (100.2, 129.7)/; s/(none, chi), (100, 130)/(none, none), (100, 130)/' \
    lists.py > moved.py
python3 -S moved.py
for frame in 1 2 3; do
    "$DUALBRAGG" sim -expt truth.expt -expt_number 1 -expt_frame $frame -N 12 -gauss_xtal -default_F 1e6 -fluence 3e19 \
        -oversample 1 -spots closed -mosaic_rms 0.1 -water 30 -seed $((20 + frame)) -noisefile sweep_1_000$frame.img > /dev/null
done
fit 0 frames.yaml --output moved --no-report
grep -q '^6 of 7 shots in use' moved.log || fail "frames were excluded: $(grep excluded moved.log)"
near "cell a, the detector moved" "$(refined moved.json cell_a)" 58 0.02
near "cell c, the detector moved" "$(refined moved.json cell_c)" 92 0.03

# the detector moves aside: each place has its beam centre, of which the second is 0.3 mm beside the list's
sed 's/"origin": \[-40, 40, -distance\]/"origin": [-40 + n * (10 if crystals else 9.7), 40, -distance]/; s/(100.2, 129.7)/(100, 100)/
    s/(100, 130)/(100, 100)/' moved.py > aside.py
python3 -S aside.py
for sweep in 0 1; do
    for frame in 1 2 3; do
        "$DUALBRAGG" sim -expt truth.expt -expt_number $sweep -expt_frame $frame -N 12 -gauss_xtal -default_F 1e6 -fluence 3e19 \
            -oversample 1 -spots closed -mosaic_rms 0.1 -water 30 -seed $((30 + 5 * sweep + frame)) \
            -noisefile sweep_${sweep}_000$frame.img > /dev/null
    done
done
fit 0 frames.yaml --output aside --no-report
grep -q '^6 of 7 shots in use' aside.log || fail "frames were excluded: $(grep excluded aside.log)"
near "the second place of the beam" "$(awk '$1 == "beam_fast" { x = $3; sub(/\(.*/, "", x); last = x } END { print last }' aside.log)" 30 0.05

# Circles that stand 30 degree beside what the list says tell no orientation. That of the second setting is found by itself, in the
# polar group P4 indexed in the other way; merged and joint intensities find it out.
"$DUALBRAGG" --version | grep -q gemmi || exit 0
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
