#!/bin/sh
# The MTZ files of joint intensities are what gemmi, and iotbx where there is one, read of them: the same numbers as the text.
. "$SOURCE_DIR/tests/support/scratch"
for part in HDF5 Random123 gemmi fit; do
    case $("$DUALBRAGG" --version) in *"$part"*) ;; *) echo "SKIPPED: this build has no $part"; exit 77 ;; esac
done
python=
for candidate in "${DIALS_PYTHON:-}" /usr/bin/python3 python3; do
    [ -n "$candidate" ] && "$candidate" -c "import gemmi, h5py, hdf5plugin, numpy" > /dev/null 2>&1 && python=$candidate && break
done
[ -n "$python" ] || { echo "SKIPPED: no Python with gemmi, h5py, hdf5plugin and numpy (Debian: python3-gemmi ...)"; exit 77; }
export AMPLITUDES_CELL=34,48 PYTHONDONTWRITEBYTECODE=1 SOURCE_DIR
"$python" "$SOURCE_DIR/bench/amplitudes/make_set.py" "$DUALBRAGG" set --shots 12 --pixels 256 --d-min 2.4 --way plain || exit 1
cat > set/joint.yaml << 'END'
shots: {list: near.txt}
model: {expt: nominal.expt, cell: [34, 34, 48, 90, 90, 90], symmetry: P43212, spots: closed, shape: gauss, Ncells: [12, 12, 12],
        mosaic_rms: 0.1, bandwidth_rms: 0.002, polarization: 1, oversample: 2}
intensity: joint
intensities: {dmin: 2.4, passes: 2, reference: truth.hkl}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, mosaic_variance: {min: 0, max: 0.1}}
END
"$DUALBRAGG" fit set/joint.yaml --output joint --no-report > said 2>&1
grep -q "CC_ref, R_ref, ref_ano" joint.log || fail "no word of the reference: $(tail -n 3 said)"
"$python" - << 'END' || fail "statistics beside the reference"
import json
overall = json.load(open("joint.json"))["intensities"]["overall"]
print({k: v for k, v in overall.items() if "reference" in k})
assert overall["cc_reference"] > 0.98 and overall["r_reference"] < 0.1 and overall["cc_anomalous_reference"] > 0.8
assert overall["reference_count"] > 300
END
"$python" "$SOURCE_DIR/tests/bench/reflection_files.py" joint 12 2.4 || fail "the files differ"
