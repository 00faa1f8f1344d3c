#!/bin/sh
# Spectra that are off by 2 eV (rms), beside curves of two kinds of sites: each offset comes back within its errors, and the
# shift between both kinds is right.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
. "$SOURCE_DIR/tests/support/python_with"
PYTHON=$(python_with numpy) || { echo "skipped: no numpy"; exit 77; }
"$DUALBRAGG" --version | grep -q gemmi || { echo "skipped: no gemmi"; exit 77; }
# seeds 1 to 5: docs/results/anomalous.md
SEED=${SEED:-4} OFFSET=2 APART=6 PHOTONS=5e27 "$PYTHON" "$SOURCE_DIR/tests/support/two_irons" || fail "no stills"
cat > curves.yaml << 'END'
shots: {list: shots.txt}
model: {geometry: given, cell: [28, 33, 24], spots: closed, mosaic_rms: 0.3, oversample: 3, distance: 25, detector_pixels: [100, 100],
        pixel_size: 0.32, beam_centre_px: [50.5, 50.5], fluence: 5e27}
intensity: {hkl: f.pdb, model_resolution: 2.5, sites: "FES:FE1=start.tsv,FES:FE2=start.tsv"}
data: {target: poisson, trusted: [-1, 60000]}
refine: {misset_x: , misset_y: , misset_z: , cell_a: , cell_b: , cell_c: , scale: , wavelength: {range: 0.002}} # range: 8 eV
curves: {energies: [7072, 7168, 17], wings: [6, 0.3]}
END
fit 0 curves.yaml --output found --no-report
"$PYTHON" - << 'END' || fail "offsets: $(cat found.log)"
import json
import sys

import numpy

found, true = json.load(open("found.json")), numpy.loadtxt("offsets.txt")
column = found["local"].index("wavelength")
start, refined, error = (numpy.array([shot[key][column] for shot in found["shots"]]) for key in ("start", "refined", "error"))
offset, error = 12398.4198 / start - 12398.4198 / refined, 12398.4198 / refined ** 2 * error
pulls, shift, of_shift = (offset - true) / error, found["curves"][1]["shift"], found["curves"][1]["shift_error"]
print(f"offsets of {true.std():.1f} eV off by {numpy.square(offset - true).mean() ** 0.5:.2f} eV (rms), pulls "
      f"{numpy.square(pulls).mean() ** 0.5:.2f}; shift {shift:.2f} +- {of_shift:.2f} eV")
sys.exit(not (numpy.square(pulls).mean() < 4 and error.max() < 1.5 and (offset - true).std() < true.std() / 2 and
              abs(shift - 6) < 3 * of_shift < 3 and found["chi2_reduced"][1] < 1.05))
END
