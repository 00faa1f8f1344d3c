#!/bin/sh
# A measured frame (Pilatus 6M, CBF), read by dxtbx and written as HDF5 by h5py with several filters, is the same image.
set -u
case $("$DUALBRAGG" --version) in *HDF5*) ;; *) echo "SKIPPED: this build reads no HDF5"; exit 77 ;; esac
frame=$SHARED_DIR/realdata/thaumatin/thau_3_2_0005.cbf
[ -f "$frame" ] || { echo "SKIPPED: no measured frames"; exit 77; }
python=
for candidate in "${DIALS_PYTHON:-}" /usr/bin/python3 python3; do
    [ -n "$candidate" ] && "$candidate" -c "import dxtbx, h5py, hdf5plugin" > /dev/null 2>&1 && python=$candidate && break
done
[ -n "$python" ] || { echo "SKIPPED: no Python with dxtbx, h5py and hdf5plugin"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$python" - "$frame" << 'PYTHON' || exit 1
import sys

import dxtbx
import h5py
import hdf5plugin
import numpy

pixels = dxtbx.load(sys.argv[1]).get_raw_data().as_numpy_array()
marked = numpy.where(pixels < 0, 2**32 - 1, pixels).astype("u4")
with h5py.File("lz4.h5", "w") as file:
    file.create_dataset("entry/data/data", data=marked[None], chunks=(1, *marked.shape), **hdf5plugin.Bitshuffle())
with h5py.File("signed.h5", "w") as file:
    file.create_dataset("entry/data/data", data=pixels[None].astype("i4"), chunks=(1, 512, 487), compression="gzip", shuffle=True)
with h5py.File("plain.h5", "w") as file:
    file.create_dataset("entry/data/data", data=marked[None], chunks=(1, *marked.shape), **hdf5plugin.LZ4())
PYTHON
failed=0
for image in lz4.h5 signed.h5#1 plain.h5#1; do
    "$DUALBRAGG" compare "$image" "$frame" > said 2>&1 || { echo "$image:"; cat said; failed=1; }
done
exit $failed
