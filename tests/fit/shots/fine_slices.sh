#!/bin/sh
# Frames of a tenth of a degree, on each of which a small cell has a few spots: intensities of all frames together are those
# that were rendered, also by a model whose spots are too narrow along the spindle.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
for frame in 0 1 2 3 4 5 6 7 8 9 10 11; do
    "$DUALBRAGG" sim -cell 12 14 16 90 90 90 -misset 20 30 40 -N 600 -gauss_xtal -default_F 20 -fluence 4e21 -lambda 0.7 -distance 50 \
        -detpixels 320 -pixel 0.2 -spots closed -mosaic_rms 0.09 -footprint_rms 0.1 0.1 -phi "$(awk -v n=$frame 'BEGIN { print 10 + n / 10 }')" \
        -osc 0.1 -water 0.0005 -seed $((frame + 1)) -noisefile frame_$frame.img > /dev/null
    echo frame_$frame.img >> frames.txt
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [12, 14, 16, 90, 90, 90], misset: [20.01, 29.99, 40.01], symmetry: orthorhombic, Ncells: [600, 600, 600], mosaic_rms: 0.06,
        footprint_rms: [0.1, 0.1]}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}}
END
fit 0 series.yaml --output narrow --no-report
grep -q '^12 of 12 shots in use' narrow.log || fail "frames with few spots were excluded: $(cat narrow.log)"
python3 -S - << 'END' || fail "intensities of the series: $(cat narrow.hkl)"
import math
import sys

full = []
truth = 20**2 * 4e21 / 1.2593201528622709e29  # free intensities count for the fluence by default
for line in open("narrow.hkl"):
    if line.startswith("#"):
        continue
    square, sigma, part, light, _, model = map(float, line.split()[3:9])
    if part > 0.98:
        full.append((square / truth, sigma / truth, model / light))
mean = sum(s for s, _, _ in full) / len(full)
pulls = math.sqrt(sum(((s - 1) / e) ** 2 for s, e, _ in full) / len(full))
kept = sum(m for _, _, m in full) / len(full)
print("%d reflections: F^2 %.4f of the truth, pulls %.2f, light of the model %.4f" % (len(full), mean, pulls, kept))
sys.exit(not (len(full) > 30 and abs(mean - 1) < 0.02 and 0.6 < pulls < 1.5 and abs(kept - 1) < 0.01))
END

# spots that last three times too long: light is divided about evenly, which each frame says
fit 1 series.yaml --output long --no-report model.mosaic_rms=0.3
grep -q '12 of 12 shots are wrong; the first is frame_0.img, the model explains' err || fail "a spread that is too wide: $(cat err)"
[ "$(grep -c '^  frame_[0-9]*.img: the model explains' long.log)" = 12 ] || fail "wrong frames by name: $(cat long.log)"
grep -q '^# NOT TO BE USED' long.hkl || fail "intensities by a wrong spread: $(head -3 long.hkl)"

# half and twice the mosaic spread: intensities are not to be used, as light tells by the other spread
for spread in 0.045:twice 0.18:half; do
    fit 1 series.yaml --output spread --no-report model.mosaic_rms=${spread%:*}
    grep -q "12 of 12 shots are wrong; the first is frame_0.img, the mosaic spread is wrong: with ${spread#*:} this spread" err || fail "spread $spread: $(cat err)"
done

# a crystal whose blocks turn more about one axis than about others
for frame in 0 1 2 3 4 5 6 7 8 9 10 11; do
    "$DUALBRAGG" sim -cell 8 9 11 90 90 90 -misset 20 30 40 -N 600 -gauss_xtal -default_F 20 -fluence 1e22 -lambda 0.7 -distance 50 -detpixels 320 \
        -pixel 0.2 -spots closed -mosaic_tensor 0.0144 0.0016 0.0016 0 0 0 -footprint_rms 0.1 0.1 -phi "$(awk -v n=$frame 'BEGIN { print 10 + n / 10 }')" \
        -osc 0.1 -water 0.0005 -seed $((frame + 1)) -noisefile turns_$((frame + 11)).img > /dev/null
    echo turns_$((frame + 11)).img >> turns.txt
done
cat > turns.yaml << 'END'
shots: {list: turns.txt, series: yes}
model: {cell: [8, 9, 11, 90, 90, 90], misset: [20.01, 29.99, 40.01], symmetry: orthorhombic, Ncells: [600, 600, 600],
        mosaic_tensor: [0.0058, 0.0058, 0.0058, 0, 0, 0], footprint_rms: [0.1, 0.1]}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, mosaic_xx: {min: 0, max: 1}, mosaic_yy: {min: 0, max: 1},
         mosaic_zz: {min: 0, max: 1}, mosaic_yz: {}, mosaic_zx: {}, mosaic_xy: {}}
END
fit 0 turns.yaml --output anisotropic --no-report --model-image
near "mosaic_xx" "$(refined anisotropic.json mosaic_xx)" 0.0144 0.001
near "mosaic_yy" "$(refined anisotropic.json mosaic_yy)" 0.0016 0.0007
python3 -S - << 'END' || fail "light of a right model: $(cat anisotropic.log)"
import json
import sys

one = json.load(open("anisotropic.json"))
print(one["light_part"], [s["light_explained"] for s in one["shots"]])
sys.exit(not (one["intensities_usable"] and one["light_spots"] > 100 and min(s["light_explained"] for s in one["shots"]) > 0.98))
END
if grep -q 'NOT TO BE USED' anisotropic.hkl; then fail "intensities of a right model: $(head -3 anisotropic.hkl)"; fi

# the same for DIALS and as MTZ, each reflection once: images 11 to 22 of a scan, angles from 10 degrees on, centroids along it
cat > read.py << 'END'
"""Columns of a reflection table (MessagePack) and rows of an MTZ file, from their bytes alone."""
import struct


def unpack(b, at=0):
    c = b[at]
    if c < 0x80:
        return c, at + 1
    if c < 0x90 or c in (0xDE, 0xDF):
        n, at = (c & 15, at + 1) if c < 0x90 else (int.from_bytes(b[at + 1:at + (3 if c == 0xDE else 5)], "big"), at + (3 if c == 0xDE else 5))
        found = {}
        for _ in range(n):
            key, at = unpack(b, at)
            found[key], at = unpack(b, at)
        return found, at
    if c < 0xA0 or c == 0xDC:
        n, at = (c & 15, at + 1) if c < 0xA0 else (int.from_bytes(b[at + 1:at + 3], "big"), at + 3)
        found = []
        for _ in range(n):
            one, at = unpack(b, at)
            found.append(one)
        return found, at
    size = {0xD9: 1, 0xDA: 2, 0xC4: 1, 0xC5: 2, 0xC6: 4}.get(c)
    if c < 0xC0 or size:
        n = c & 31 if c < 0xC0 else int.from_bytes(b[at + 1:at + 1 + size], "big")
        at += 1 if c < 0xC0 else 1 + size
        return (b[at:at + n].decode() if c < 0xC0 or c >= 0xD9 else b[at:at + n]), at + n
    width = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}[c]
    return int.from_bytes(b[at + 1:at + 1 + width], "big"), at + 1 + width


def table(path):
    data = unpack(open(path, "rb").read())[0][2]["data"]
    kinds = {"vec3<double>": "ddd", "double": "d", "cctbx::miller::index<>": "iii", "int6": "iiiiii", "int": "i", "std::size_t": "Q"}
    return {k: list(struct.iter_unpack("<" + kinds[v[0]], v[1][1])) for k, v in data.items() if v[0] in kinds}


def mtz(path):
    b = open(path, "rb").read()
    start, width = struct.unpack("<i", b[4:8])[0], b.count(b"COLUMN ")
    return [struct.unpack("<%df" % width, b[at:at + 4 * width]) for at in range(80, 4 * (start - 1), 4 * width)]
END
python3 -S - << 'END' || fail "tables of a series: $(cat anisotropic.hkl)"
import math
import os
import sys

from read import mtz, table

lines = [list(map(float, line.split())) for line in open("anisotropic.hkl") if line[0] != "#"]
rows, wrong, centroids, beside = table("anisotropic.refl"), [], 0, [0, 0]
for n, line in enumerate(lines):
    frame, place = line[12], rows["xyzcal.px"][n]
    if not (list(rows["miller_index"][n]) == line[:3] and abs(place[2] - 10 - frame) < 6e-4 and abs(place[0] - line[14]) < 6e-3
            and abs(rows["xyzcal.mm"][n][2] - math.radians(10 + frame / 10)) < 2e-6
            and abs(rows["partiality"][n][0] - line[5]) < 1e-4 and abs(rows["d"][n][0] ** -2 - sum((h / e) ** 2 for h, e in zip(line, (8, 9, 11)))) < 1e-3
            and list(rows["bbox"][n][4:]) == [line[10] + 9, line[11] + 10]):
        wrong.append(line)
    off = rows["xyzobs.px.value"][n][2] - place[2]
    if line[5] > 0.98:
        centroids += 1
        beside = [b + o - p for b, o, p in zip(beside, rows["xyzobs.px.value"][n], place)]
        wrong += [("centroid", line, off)] * (not abs(off) < 5 * math.sqrt(rows["xyzobs.px.variance"][n][2]) < 2)
beside = [b / centroids for b in beside]
wrong += [("mean centroid, fast and slow", beside)] * (not max(map(abs, beside)) < 0.1)
print(len(lines), centroids, beside, wrong)
if not os.path.exists("anisotropic.mtz"):  # a build without gemmi
    sys.exit(bool(wrong))
merged = mtz("anisotropic.mtz")
same = sorted(round(math.log(r[5]), 3) for r in merged) == sorted(round(math.log(float("%.6g" % line[3])), 3) for line in lines)
turns = all(abs(r[10] - 10 - (r[4] - 1) / 10) < 0.1 + 1e-4 for r in merged)
sys.exit(bool(wrong) or not (len(rows["d"]) == len(lines) == len(merged) and centroids > 10 and same and turns))
END

# frames are drawn with the intensities of the series, also where their own are others
python3 -S - << 'END' || fail "frames of a series: $(ls anisotropic_shots)"
import glob
import struct
import sys

shared = {tuple(line.split()[:3]): float(line.split()[3]) for line in open("anisotropic.hkl") if line[0] != "#"}
compared, wrong, other = 0, [], 0
for name in sorted(glob.glob("anisotropic_shots/*.hkl")):
    images = [[v[0] for v in struct.iter_unpack("<f", open(name[:-4] + end, "rb").read())] for end in ("_model.bin", "_background.bin")]
    light = sum(a - b for a, b in zip(*images))
    drawn = 0
    for line in open(name):
        wrong += [(name, line)] * line.startswith("# NOT TO BE USED")
        if line[0] == "#":
            continue
        f, square, sigma, _, counts_sigma = map(float, line.split()[3:8])
        known = shared.get(tuple(line.split()[:3]), 0)
        if f > 0:
            compared += 1
            wrong += [(name, line)] * (not abs(f * f / known - 1) < 1e-5)
            other += abs(square / known - 1) > 0.02
            drawn += f * f * counts_sigma / sigma
    wrong += [(name, light, drawn)] * (not abs(light / drawn - 1) < 0.02)
print(compared, other, wrong)
sys.exit(bool(wrong) or not (compared > 100 and other > 10))
END

# frames without spots of the crystal are no series
: > dark.txt
for frame in 0 1 2; do
    "$DUALBRAGG" sim -cell 12 14 16 90 90 90 -misset 20 30 40 -N 600 -gauss_xtal -spots closed -default_F 1e-6 -fluence 4e21 -lambda 0.7 -distance 50 -detpixels 320 \
        -pixel 0.2 -phi "$(awk -v n=$frame 'BEGIN { print 10 + n / 10 }')" -osc 0.1 -water 0.0005 -seed $((frame + 1)) -noisefile dark_$frame.img > /dev/null
    echo dark_$frame.img >> dark.txt
done
fit 3 series.yaml --output dark shots.list=dark.txt
grep -q 'blank series: all frames together show 0 predicted reflections' err || fail "frames without spots: $(cat err)"
