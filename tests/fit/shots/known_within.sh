#!/bin/sh
# Intensities that are known within 20 %: with a factor of its own for each shoebox orientation, size and mosaicity come back within
# small errors. Taken for exact, these intensities do not explain the still.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
python3 -S - << 'END'
import random

chance = random.Random(4)
with open("true.hkl", "w") as true, open("told.hkl", "w") as told:
    for h in range(-12, 13):
        for k in range(-12, 13):
            for l in range(-12, 13):
                amplitude = 100 * chance.weibullvariate(1, 2) + 20
                print(h, k, l, amplitude, file=true)
                print(h, k, l, amplitude * chance.gauss(1, 0.1), file=told)  # intensities are off by 20 %
END
"$DUALBRAGG" sim -hkl true.hkl -cell 40 46 52 90 90 90 -misset 12 25 33 -distance 60 -detpixels 300 -pixel 0.2 -lambda 1.1 -mosaic_rms 0.3 \
    -oversample 2 -spots closed -gauss_xtal -N 24 -fluence 3e27 -water 0.1 -seed 3 -noisefile still.img > /dev/null
fit_within() { # ERROR STATUS
    cat > known.yaml << END
image: still.img
model: {cell: [40, 46, 52], misset: [12.02, 24.99, 33.01], spots: closed, shape: gauss, Ncells: [22, 22, 22], mosaic_rms: 0.25,
        wavelength: 1.1, oversample: 2, fluence: 3e27}
intensity: {hkl: told.hkl}
data: {target: poisson, pixels: shoeboxes, intensity_error: $1}
refine: {misset_x: , misset_y: , misset_z: , Na: , Nb: , Nc: , mosaic_variance: , scale: }
END
    fit "$2" known.yaml --output "within_$1" --no-report
}
fit_within 0 0
fit_within 0.2 0
python3 -S - << 'END' || fail "known within 20 %: $(cat within_0.2.log)"
import json
import sys

truth = {"misset_x": 12, "misset_y": 25, "misset_z": 33, "Na": 24, "Nb": 24, "Nc": 24, "mosaic_variance": 0.09}
for error in "0", "0.2":
    found = json.load(open(f"within_{error}.json"))
    off = {p["name"]: (p["refined"] - truth[p["name"]], p["error"]) for p in found["parameters"] if p["name"] in truth}
    rms = (sum((a / e) ** 2 for a, e in off.values()) / len(off)) ** 0.5
    chi2 = found["statistics"]["after"]["chi2_reduced"]
    print(error, "pulls", round(rms, 2), {k: "%.4g +- %.2g" % v for k, v in off.items()}, "chi2", chi2)
    if error == "0" and chi2 < 2:
        sys.exit("exact intensities explain the still")
sys.exit(not (rms < 1.5 and 0.9 < chi2 < 1.1 and off["mosaic_variance"][1] < 5e-4 and off["Nb"][1] < 0.3))
END
# amplitudes of another crystal: factors do not make them right
awk '{ print $4 }' told.hkl | tail -n +1000 > others
awk '{ print $4 }' told.hkl | head -n 999 >> others
awk '{ print $1, $2, $3 }' told.hkl | paste -d ' ' - others > wrong.hkl
for error in 0.2 1; do
    sed "s/told.hkl/wrong.hkl/; s/intensity_error: .*}/intensity_error: $error}/" known.yaml > other.yaml
    fit 1 other.yaml --output wrong --no-report
    grep -q 'not to be used: a minimum was found, but the model.s spots have 1. times the light' err || fail "amplitudes of another crystal, intensity_error $error: $(cat err)"
done
# the model's image has no factors
sed 's/intensity_error/roi: [110, 290, 110, 290], intensity_error/' known.yaml > roi.yaml
fit 0 roi.yaml --output part --no-report --model-image
python3 -S - << 'END' || fail "the model's image does not have the refined scale"
import array
import json
import os
import subprocess
import sys

found = {p["name"]: p["refined"] for p in json.load(open("part.json"))["parameters"]}
subprocess.run([os.environ["DUALBRAGG"], "sim", "-hkl", "told.hkl", "-cell", "40", "46", "52", "90", "90", "90", "-misset",
                *(str(found["misset_" + k]) for k in "xyz"), "-Na", str(found["Na"]), "-Nb", str(found["Nb"]), "-Nc", str(found["Nc"]),
                "-mosaic_rms", str(found["mosaic_variance"] ** 0.5), "-distance", "60", "-detpixels", "300", "-pixel", "0.2", "-lambda", "1.1",
                "-oversample", "2", "-spots", "closed", "-gauss_xtal", "-fluence", str(3e27 * found["scale"]), "-floatfile", "sim.bin",
                "--quiet"], check=True)
images = []
for name in "part_model.bin", "sim.bin":
    image = array.array("f")
    with open(name, "rb") as file:
        image.frombytes(file.read())
    images.append(sorted(image)[-20:])
print(f"brightest pixels of the model's image: {sum(images[0]) / sum(images[1]):.4f} of those of sim")
sys.exit(not abs(sum(images[0]) / sum(images[1]) - 1) < 0.02)
END
# each needs the others
sed 's/shoeboxes, intensity/all, intensity/' known.yaml > tiles.yaml
fit 2 tiles.yaml --output no_tiles
grep -q 'data.intensity_error is 0.2.*expected pixels: shoeboxes' err || fail "no word of shoeboxes: $(cat err)"
sed 's/, scale: }/}/' known.yaml > no_scale.yaml
fit 2 no_scale.yaml --output scaleless
grep -q 'data.intensity_error is 0.2.*expected scale to be refined' err || fail "no word of the scale: $(cat err)"
sed '/^intensity:/d; s/, scale: }/}/' known.yaml > free.yaml
fit 2 free.yaml --output unknown
grep -q 'data.intensity_error is 0.2.*expected known structure factors' err || fail "no word of structure factors: $(cat err)"
# images of shots that share a detector, too: as rendered without noise
for number in 1 2; do
    misset="$((number * 30)) 25 33"
    # shellcheck disable=SC2086
    set -- -hkl true.hkl -cell 40 46 52 90 90 90 -misset $misset -distance 60 -detpixels 300 -pixel 0.2 -lambda 1.1 -mosaic_rms 0.3 \
        -oversample 2 -spots closed -gauss_xtal -N 24 -fluence 3e27
    "$DUALBRAGG" sim "$@" -water 0.1 -seed $number -noisefile shot_$number.img > /dev/null
    "$DUALBRAGG" sim "$@" -floatfile shot_$number.bin > /dev/null
    echo "shot_$number.img model.misset=[$((number * 30)).02, 25.01, 33.01] model.distance=60.1" >> shots.txt
done
sed 's/^image: .*/shots: {list: shots.txt}/; s/misset: [^]]*], //; s/told.hkl/true.hkl/; s/, intensity_error: .*}/}/
    s/^refine: {/&distance: {shared: yes}, /' known.yaml > shots.yaml
fit 0 shots.yaml --output list --no-report --model-image
near distance "$(refined list.json distance)" 60 0.001
[ ! -e list_shots/0001_shot_1.hkl ] || fail "intensities that were known are written"
python3 -S - > out << 'END' || fail "images of shots with known structure factors: $(cat out)"
import array

for number in 1, 2:
    model, true = array.array("f"), array.array("f")
    for image, name in (model, f"list_shots/000{number}_shot_{number}_model.bin"), (true, f"shot_{number}.bin"):
        image.frombytes(open(name, "rb").read())
    off = max(abs(a - b) for a, b in zip(model, true)) / max(true)
    print(len(model), off, sum(model) / sum(true))
    assert len(model) == len(true) == 90000 and off < 0.01 and abs(sum(model) / sum(true) - 1) < 2e-3
END
