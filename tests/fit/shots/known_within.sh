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
