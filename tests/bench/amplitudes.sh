#!/bin/sh
# Eighteen small stills whose structure factors are known (bench/amplitudes): intensities of the model are much nearer to the
# truth than sums of pixels in boxes at the true orientations, and their errors are honest.
set -eu
for part in HDF5 Random123 gemmi fit; do
    case $("$DUALBRAGG" --version) in *"$part"*) ;; *) echo "SKIPPED: this build has no $part"; exit 77 ;; esac
done
. "$SOURCE_DIR/tests/support/python_with"
python=$(python_with "h5py, hdf5plugin, numpy") || { echo "SKIPPED: no Python with h5py, hdf5plugin and numpy"; exit 77; }
bench=$SOURCE_DIR/bench/amplitudes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export AMPLITUDES_CELL=34,48 PYTHONDONTWRITEBYTECODE=1
"$python" "$bench/make_set.py" "$DUALBRAGG" set --shots 18 --pixels 256 --d-min 2.2 --way plain
cat > set/fit.yaml << 'END'
shots: {list: near.txt}
model: {expt: nominal.expt, cell: [34, 34, 48, 90, 90, 90], symmetry: P43212, spots: closed, shape: gauss, Ncells: [12, 12, 12],
        mosaic_rms: 0.1, bandwidth_rms: 0.002, polarization: 1, oversample: 2}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, mosaic_variance: {min: 0, max: 0.1}}
END
sed 's/^refine:/intensity: joint\nintensities: {dmin: 2.2}\n&/' set/fit.yaml > set/joint.yaml
"$DUALBRAGG" fit set/fit.yaml --output fitted --no-report --model-image --threads 1 > said 2>&1 || { tail -n 20 said; exit 1; }
"$DUALBRAGG" fit set/joint.yaml --output joint --no-report --threads 1 > said 2>&1 || { tail -n 20 said; exit 1; }
"$python" "$bench/merge_shots.py" 0.02 merged.npz fitted_shots/*.hkl
"$python" "$bench/monte_carlo.py" set boxes.npz --radius 2
"$python" "$bench/truth.py" set/truth.hkl boxes=boxes.npz merged=merged.npz joint=joint.hkl --json judged.json
"$python" - << 'END'
import json, sys
boxes, merged, joint = (json.load(open("judged.json"))[way][-1] for way in ("boxes", "merged", "joint"))
wrong = [text for text, right in (
    ("intensities of shots are not 3 times as near as boxes", merged["R"] < boxes["R"] / 3),
    ("joint ones are not 6 times as near as boxes", joint["R"] < boxes["R"] / 6),
    ("R of joint ones is above 0.012", joint["R"] < 0.012),
    ("anomalous differences do not correlate to 0.95", joint["CC_ano"] > 0.95),
    ("fewer reflections than in boxes", joint["complete"] > boxes["complete"]),
    ("errors are not honest: pulls of %.2f" % joint["pull"], 0.85 < joint["pull"] < 1.2)) if not right]
print("\n".join(wrong))
sys.exit(bool(wrong))
END
