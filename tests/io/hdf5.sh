#!/bin/sh
# HDF5 images that h5py wrote are read with the same pixels as h5py reads, with any filter, chunks and layout; what must be
# left out is. Damaged files and links that lead nowhere, in circles or out of the folder are refused with a message.
set -u
case $("$DUALBRAGG" --version) in *HDF5*) ;; *) echo "SKIPPED: this build reads no HDF5"; exit 77 ;; esac
. "$SOURCE_DIR/tests/support/python_with"
python=$(python_with "h5py, hdf5plugin") || { echo "SKIPPED: no Python with h5py and hdf5plugin"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
"$python" -B "$SOURCE_DIR/tests/io/hdf5_files.py" . > images || exit 1
while read -r image floats left_out; do
    "$DUALBRAGG" compare "$image" "$floats" -quiet -json result.json > said 2>&1 || { echo "$image: $(cat said)"; failed=1; }
    grep -q "\"left_out\": $left_out\b" result.json || { echo "$image: left out $(grep left_out result.json), not $left_out"; failed=1; }
done < images
# A mask is kept for the other images of its file.
"$DUALBRAGG" compare mask_none_0.h5#1 mask_none_0.h5#4 -share 1 -quiet -json result.json > said 2>&1
grep -q "\"left_out\": $(sed -n 's/^mask_none_0.h5#2 [^ ]* //p' images)\b" result.json || { cat said result.json; failed=1; }
"$python" -B "$SOURCE_DIR/tests/io/hdf5_damage.py" . > damage || exit 1
while IFS='|' read -r image expected; do
    "$DUALBRAGG" compare "$image" gzip.h5_3.floats > said 2>&1
    code=$?
    [ $code -ge 2 ] && [ $code -le 3 ] && grep -q -- "$expected" said || { echo "$image: $code: $(cat said); expected: $expected"; failed=1; }
done < damage

# A virtual data set as HDF5 2.0 writes it is no damaged one: earlier versions say that they cannot open it.
"$DUALBRAGG" compare "$SOURCE_DIR/tests/fuzz/corpus/hdf5_virtual_2.h5" gzip.h5_3.floats > said 2>&1
grep -q "cannot be opened by libhdf5\|vb2_21.h5: cannot open" said || { cat said; failed=1; }

# Groups of many names are read once.
"$python" -B "$SOURCE_DIR/tests/io/hdf5_files.py" names many.h5 8000 || exit 1
timeout 30 "$DUALBRAGG" compare many.h5#1 many.h5#2 -quiet -share 1 > said 2>&1 || { cat said; echo "8000 names: not in time"; failed=1; }

# Lists of shots have images and ranges of them.
case $("$DUALBRAGG" --version) in *fit*)
    printf 'series_master.h5#1-3 model.phi=0 # three\n#none\nseries_master.h5#5\n' > shots.txt
    printf 'model: {cell: [58, 58, 150, 90, 90, 90]}\nrefine: {misset_x: }\nshots: {list: shots.txt}\n' > shots.yaml
    "$DUALBRAGG" fit shots.yaml > said 2>&1
    for shot in 1 2 3 5; do
        grep -q "series_master.h5#$shot: blank image" said || { echo "no shot $shot:"; cat said; failed=1; }
    done ;;
esac

# Where detectors stand: in a file of our own, and in measured ones without their pixels.
place() {
    "$DUALBRAGG" sim -img "$1" -cell 60 60 60 90 90 90 -default_F 1 -N 1 -roi 0 1 0 1 -exptfile place.expt -floatfile place.bin \
        > said 2>&1 && "$python" -B "$SOURCE_DIR/tests/io/hdf5_geometry.py" check place.expt "$2" || { tail -n 3 said; failed=1; }
}
"$python" -B "$SOURCE_DIR/tests/io/hdf5_geometry.py" write swung.nxs || exit 1
place swung.nxs#2 swung
# A # of a folder's name is no number of an image.
mkdir 'run#3' && "$python" -B "$SOURCE_DIR/tests/io/hdf5_geometry.py" write-one 'run#3/one.nxs' || exit 1
place 'run#3/one.nxs' swung
"$DUALBRAGG" import 'run#3/one.nxs' > said 2>&1
grep -q "scan *10.5 to 11 degree" said || { grep scan said; failed=1; }
"$DUALBRAGG" import 'run#3/one.nxs#9' > said 2>&1
grep -q "NOT READ .*one.nxs: expected image 9, found 1 image" said || { cat said; failed=1; }
measured=$SHARED_DIR/realdata/formats
[ -d "$measured" ] || exit $failed
place "$measured/Therm_6_2.nxs" dls
place "$measured/dectris_eiger_master.h5" dectris
exit $failed
