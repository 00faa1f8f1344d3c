#!/bin/sh
# What master files and NXmx files say of the experiment is understood in all the ways that they have: scans, circles, units,
# numbers that stand for "not known", counts and marks, masks, thresholds. What is not used is named.
set -u
case $("$DUALBRAGG" --version) in *HDF5*) ;; *) echo "SKIPPED: this build reads no HDF5"; exit 77 ;; esac
case $("$DUALBRAGG" --version) in *JSON*) ;; *) echo "SKIPPED: this build writes no JSON"; exit 77 ;; esac
. "$SOURCE_DIR/tests/support/python_with"
python=$(python_with "h5py, hdf5plugin") || { echo "SKIPPED: no Python with h5py and hdf5plugin"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
"$python" -B "$SOURCE_DIR/tests/io/hdf5_header.py" write . > images || exit 1
# shellcheck disable=SC2046 # words
"$DUALBRAGG" import $(cat images) --quiet -json told.json > said 2>&1
"$python" -B "$SOURCE_DIR/tests/io/hdf5_header.py" check told.json || failed=1
for name in two_theta two_theta_start two_theta_transformed two_theta_scalar; do
    "$DUALBRAGG" sim -img $name.h5#2 -cell 60 60 60 90 90 90 -default_F 1 -N 1 -roi 0 1 0 1 -exptfile $name.expt -floatfile x.bin > said 2>&1 &&
        "$python" -B "$SOURCE_DIR/tests/io/hdf5_header.py" turned $name.expt || { tail -n 1 said; failed=1; }
done
echo "0.02 0.001 0  -0.001 0.02 0  0 0 0.015" | tr -s ' ' | xargs -n 3 > matrix.mat
"$DUALBRAGG" import circled.h5#2 matrix.mat -o circled.expt --quiet > said 2>&1 &&
    "$python" -B "$SOURCE_DIR/tests/io/hdf5_header.py" circled circled.expt || { cat said; failed=1; }
# A list has the lower limit of the file, not the least number of one image.
"$DUALBRAGG" import underload_low.h5#1 -o limit.expt --quiet > said 2>&1 && tr -d ' \n' < limit.expt | grep -q '"trusted_range":\[-20' ||
    { cat said; grep -A 2 trusted_range limit.expt; failed=1; }
# What a file leaves open is told by sim and fit as well.
"$DUALBRAGG" sim -img screen.h5#2 -cell 60 60 60 90 90 90 -default_F 1 -N 1 -floatfile x.bin > said 2>&1
grep -q "screen.h5: omega is 45 degree .* how far the crystal turns" said || { cat said; failed=1; }
exit $failed
