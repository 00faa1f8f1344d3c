#!/bin/sh
# Two crystals on the frames of one series: each is found on all frames together, and has an orientation, a place and a spread of its
# own. They share cell, beam, detector and spindle.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
crystal="-cell 40 40 64 90 90 90 -N 15 -gauss_xtal -default_F 1e6 -lambda 1 -distance 100 -detpixels 300 -pixel 0.25 -oversample 1
    -spots closed"
for frame in 0 1 2 3; do
    turn="-phi $((12 * frame)) -osc 1"
    # shellcheck disable=SC2086
    "$DUALBRAGG" sim $crystal $turn -fluence 2e19 -misset 20 20 30 -mosaic_rms 0.12 -crystal_position 0.2 -0.22 0.1 -water 30 \
        -floatfile one.f32 > /dev/null
    # shellcheck disable=SC2086
    "$DUALBRAGG" sim $crystal $turn -fluence 1e19 -misset 71 -25 55 -mosaic_rms 0.08 -crystal_position -0.1 0.12 -0.15 \
        -floatfile two.f32 > /dev/null
    "$DUALBRAGG" add one.f32 two.f32 -o sum.f32 > /dev/null
    "$DUALBRAGG" noise -floatfile sum.f32 -detpixels 300 -pixel 0.25 -distance 100 -lambda 1 -calibration 0 -seed $((frame + 1)) \
        -noisefile frame_$frame.img > /dev/null
    echo "frame_$frame.img model.phi=$((12 * frame)) model.osc=1" >> frames.txt
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [40.04, 40.04, 63.95, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [15, 15, 15], spots: closed, mosaic_rms: 0.1,
        oversample: 1, find_orientation: {lattices: 4}}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, cell_a: {range: 0.5}, cell_c: {range: 0.5}, crystal_x: ,
         crystal_y: , crystal_z: , mosaic_variance: }
data: {model_error: 0}
END
fit 0 series.yaml --output both --no-report
grep -q '^8 shots of frames.txt' both.log && [ "$(grep -c '^lattice [0-9]' both.log)" -eq 2 ] ||
    fail "two crystals are not two lattices: $(head -n 8 both.log)"
grep -q '^8 of 8 shots in use' both.log || fail "frames were excluded: $(grep excluded both.log)"
near "chi2" "$(sed -n 's/.*chi2 per degree of freedom .* -> //p' both.log)" 1 0.03
near "cell a" "$(refined both.json cell_a)" 40 0.002
near "cell c" "$(refined both.json cell_c)" 64 0.004

# what a crystal has of its own is the same on all its frames, and as rendered, within errors
python3 -S - > out << 'END' || fail "crystals of a series: $(cat out)"
import json

found = json.load(open("both.json"))
crystals = {}
for shot in found["shots"]:
    crystals.setdefault(shot["crystal"], []).append(shot)
assert sorted(crystals) == [1, 2] and all(len(c) == 4 for c in crystals.values()), sorted(crystals)
names = [[s["name"] for s in c] for c in crystals.values()]
assert names[0] == names[1] == sorted(names[0]), names
place = {"crystal_x": (0.2, -0.1), "crystal_y": (-0.22, 0.12), "crystal_z": (0.1, -0.15), "mosaic_variance": (0.0144, 0.0064)}
of = {name: k for k, name in enumerate(found["local"])}
squares = []
for frames in crystals.values():
    first = frames[0]
    brightest = int(first["refined"][of["crystal_x"]] < 0.05)
    for name in of:
        assert len({f["refined"][of[name]] for f in frames}) == 1, (name, frames)
    for name, true in place.items():
        value, error = first["refined"][of[name]], first["error"][of[name]]
        print(name, value, error, true[brightest])
        assert 0 < error < 0.01 * (1 if "crystal" in name else 0.1), (name, error)
        squares.append(((value - true[brightest]) / error) ** 2)
assert max(squares) < 16 and sum(squares) / len(squares) < 3, squares
END
[ "$(grep -c '^  crystal [12]  ' both.log)" -eq 2 ] || fail "the log has no table of each crystal: $(cat both.log)"

# the experiment list has both, and no reflection begins on one and ends on the other
awk '$1 !~ /^#/ && $11 <= 4 && $12 > 4 { bad = 1 } $1 !~ /^#/ { n++ } END { exit bad || n < 300 }' both.hkl ||
    fail "reflections of crystals: $(head -n 30 both.hkl)"

# crystals of which a list names each frame once: their orientations and places are the list's; a wrong one among them is refused
head -n 2 frames.txt > few.txt
{
    sed 's/$/ model.misset=[20.04,19.97,30.05] model.crystal_position=[0.2,-0.22,0.1]/' few.txt
    sed 's/$/ model.misset=[70.95,-24.97,55.03] model.crystal_position=[-0.1,0.12,-0.15]/' few.txt
    sed 's/$/ model.misset=[40,60,-15]/' few.txt
} > listed.txt
sed 's/, find_orientation: .*/}/; s/, crystal_x: ,/}/; /crystal_y/d; s/frames.txt/listed.txt/' series.yaml > listed.yaml
fit 1 listed.yaml --output three --no-report
grep -q 'a minimum was found, but all 2 frames of crystal 3 were excluded; the first is frame_0.img, ' err || fail "a crystal that is not there: $(cat err)"
[ "$(grep -c '^  frame_[01].img: crystal 3: ' three.log)" -eq 2 ] || fail "excluded frames do not name their crystal: $(cat three.log)"
grep -q '^4 of 6 shots in use' three.log || fail "frames of the others were excluded: $(cat three.log)"

# Crystals of a polar group in a lattice with more rotations, indexed in two ways: joint intensities find it out, and turn the second
# crystal; or the first, if a reference is indexed as the second. Without that the second crystal would count as another form.
"$DUALBRAGG" --version | grep -q gemmi || exit 0
python3 -S - << 'END'
import random

random.seed(5)
known = {}
for h in range(-14, 15):
    for k in range(-14, 15):
        for l in range(-22, 23):
            if (h * h + k * k) / 1600 + l * l / 4096 < 1 / 2.9**2 and (h, k, l) not in known:
                amplitude = 1e6 * random.expovariate(1) ** 0.5
                for i, j, m in ((h, k, l), (-k, h, l), (-h, -k, l), (k, -h, l)):
                    known[i, j, m] = known[-i, -j, -m] = amplitude
with open("first.hkl", "w") as first, open("second.hkl", "w") as second:
    for (h, k, l), amplitude in known.items():
        print(h, k, l, amplitude, file=first)
        print(k, h, -l, amplitude, file=second)
END
rm frames.txt
crystal=$(echo "$crystal" | sed 's/-default_F 1e6/-default_F 0/')
for frame in 0 1 2 3; do
    turn="-phi $((3 * frame)) -osc 1"
    # shellcheck disable=SC2086
    "$DUALBRAGG" sim $crystal $turn -hkl first.hkl -fluence 2e19 -misset 20 20 30 -mosaic_rms 0.1 -water 30 -floatfile one.f32 > /dev/null
    # shellcheck disable=SC2086
    "$DUALBRAGG" sim $crystal $turn -hkl second.hkl -fluence 2e19 -misset 71 -25 55 -mosaic_rms 0.1 -floatfile two.f32 > /dev/null
    "$DUALBRAGG" add one.f32 two.f32 -o sum.f32 > /dev/null
    "$DUALBRAGG" noise -floatfile sum.f32 -detpixels 300 -pixel 0.25 -distance 100 -lambda 1 -calibration 0 -seed $((frame + 1)) \
        -noisefile way_$frame.img > /dev/null
    echo "way_$frame.img model.phi=$((3 * frame)) model.osc=1" >> frames.txt
done
{ sed 's/$/ model.misset=[20.04,19.97,30.05]/' frames.txt && sed 's/$/ model.misset=[70.95,-24.97,55.03]/' frames.txt; } > ways.txt
cat > ways.yaml << 'END'
shots: {list: ways.txt, series: yes}
model: {cell: [40.04, 40.04, 63.95, 90, 90, 90], symmetry: P4, shape: gauss, Ncells: [15, 15, 15], spots: closed, mosaic_rms: 0.1,
        oversample: 1}
intensity: joint
intensities: {anomalous: no}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, cell_a: {range: 0.5}, cell_c: {range: 0.5}, mosaic_variance: }
data: {model_error: 0}
END
agrees() { # FILE.hkl CRYSTAL LEAST: intensities with those of a crystal, by correlation
    python3 -S - "$@" > out << 'END' || fail "$*: $(cat out)"
import sys

true = {tuple(map(int, line.split()[:3])): float(line.split()[3]) ** 2 for line in open(sys.argv[2] + ".hkl")}
rows = [line.split() for line in open(sys.argv[1]) if line[0] != "#"]
rows = [row for row in rows if tuple(map(int, row[:3])) in true]
x = [true[tuple(map(int, row[:3]))] for row in rows]
y = [float(row[5]) for row in rows]
w = [1 / (float(row[6]) ** 2 + (0.1 * float(row[5])) ** 2) for row in rows]


def moment(a, b):
    def mean(of):
        return sum(p * q for p, q in zip(of, w)) / sum(w)

    return mean([p * q for p, q in zip(a, b)]) - mean(a) * mean(b)


found = moment(x, y) / (moment(x, x) * moment(y, y)) ** 0.5
print(len(rows), found)
assert len(rows) > 500 and found > float(sys.argv[3])
END
}
same="h,k,l h,k,l h,k,l h,k,l " other="k,h,-l k,h,-l k,h,-l k,h,-l "
for reference in first second; do
    fit 0 ways.yaml --output found --no-report intensities.reference=$reference.hkl
    grep -q '^8 of 8 shots in use' found.log || fail "frames were excluded: $(grep excluded found.log)"
    grep -q '^Indexing: 2 ways .* (h,k,l; k,h,-l): 4 of 8 shots were reindexed, 0 are undecided$' found.log || fail "$(grep Indexing found.log)"
    agrees found.hkl $reference 0.98
    turned=$(sed -n 's/.*"operator": "\(.*\)",*$/\1/p' found.json | tr '\n' ' ')
    [ "$turned" = "$(echo $reference | sed "s/first/$same$other/; s/second/$other$same/")" ] || fail "turned: $turned"
done

# merged intensities without joint ones, too
sed '/^intensit/d' ways.yaml > free.yaml
fit 0 free.yaml --output merged --no-report
grep -q '^Indexing: 2 ways .* (h,k,l; k,h,-l): 4 of 8 shots were reindexed, 0 are undecided$' merged.log || fail "$(grep Indexing merged.log)"
agrees merged_merged.hkl first 0.98
fit 0 free.yaml --output merged --no-report intensities.reference=second.hkl intensities.anomalous=no intensities.dmin=3
agrees merged_merged.hkl second 0.98
grep -q 'Bijvoet mates together' merged_merged.hkl || fail "mates are apart: $(head -n 1 merged_merged.hkl)"
near "finest resolution" "$(awk '/^ *64.*CC_ref/ { exit } $1 == "64.01" { d = $2 } END { print d }' merged.log)" 3 0.05
grep -q 'CC_ref' merged.log || fail "the reference is not compared: $(grep CC merged.log)"
fit 2 free.yaml --output merged intensities.restraint=3
grep -q 'intensities.restraint: .*expected intensity: joint' err || fail "a restraint of merged intensities: $(cat err)"
fit 2 free.yaml --output merged intensities.passes=3
grep -q 'intensities.passes: .*expected intensity: joint' err || fail "passes of merged intensities: $(cat err)"
fit 2 free.yaml --output merged shots.series=no intensities.anomalous=no
grep -q 'intensities: is for intensities that many shots share' err || fail "merged intensities without a series: $(cat err)"

# one crystal, in a group with too many rotations
head -n 4 ways.txt > first.txt
fit 3 ways.yaml --output four --no-report shots.list=first.txt model.symmetry=P422
grep -q 'the intensities of the shots agree better with 4 of them, without k,h,-l' err || fail "a rotation too many: $(cat err)"
fit 3 free.yaml --output five --no-report model.symmetry=P422 intensities.anomalous=no
grep -q 'the intensities of the series agree better with 4 of them, without k,h,-l' err || fail "a rotation of mates too many: $(cat err)"
[ ! -e five_merged.hkl ] || fail "intensities of too high a symmetry were written"
fit 0 free.yaml --output six --no-report model.symmetry=P422 intensities.reindex=no
