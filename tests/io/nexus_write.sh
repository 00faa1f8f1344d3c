#!/bin/sh
# HDF5 images that are written: the pixels are those of the raw floats, for h5py with its plugin and for our own reader; the
# same input makes the same bytes on any number of threads; experiments come back; what fails leaves no file behind.
set -u
case $("$DUALBRAGG" --version) in *HDF5*) ;; *) echo "SKIPPED: this build writes no HDF5"; exit 77 ;; esac
. "$SOURCE_DIR/tests/support/python_with"
python=$(python_with "h5py, hdf5plugin") || { echo "SKIPPED: no Python with h5py and hdf5plugin"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
crystal="-cell 60 60 60 90 90 90 -default_F 100 -N 8 -fluence 1e28 --quiet"
# 101 x 61 pixels: whole blocks, a short one, and pixels that are left over
small="$crystal -lambda 1.2 -detpixels_f 101 -detpixels_s 61 -distance 50 -exposure 0.25"
sim() { "$DUALBRAGG" sim "$@" > said 2>&1 || { cat said; complain "sim $*"; }; }

# shellcheck disable=SC2086 # words
sim $small -osc 0.5 -hdf5file a.h5 -floatfile a.bin --threads 1
# shellcheck disable=SC2086
sim $small -osc 0.5 -floatfile b.nxs --threads 3
cmp a.h5 b.nxs || complain "the file depends on threads, or on the flag that names it"
"$DUALBRAGG" compare a.h5 a.bin -quiet || complain "own reader: other pixels"
"$python" -B "$SOURCE_DIR/tests/io/nexus_write.py" floats a.h5 a.bin || complain "h5py: other pixels or numbers"

# with noise: the same numbers as an SMV image without its offset; masked pixels
case $("$DUALBRAGG" --version) in *Random123*)
    for bits in 16 32; do
        # shellcheck disable=SC2086
        sim $small -noisefile n$bits.h5 -bits $bits -roi 10 80 5 50 -seed 3
        # shellcheck disable=SC2086
        sim $small -noisefile n$bits.img -bits $bits -roi 10 80 5 50 -seed 3 -adc 0 -noisefloatfile n$bits.bin
        "$python" -B "$SOURCE_DIR/tests/io/nexus_write.py" counts n$bits.h5 n$bits.bin || complain "$bits bits: other counts"
        "$DUALBRAGG" compare n$bits.h5 n$bits.img -quiet || complain "$bits bits: not those of the SMV image"
    done
    # a pedestal is subtracted by the reader, as that of SMV images is
    # shellcheck disable=SC2086
    sim $small -noisefile p.h5 -gain 2.5 -adc 30 -readout 3
    # shellcheck disable=SC2086
    sim $small -noisefile p.img -gain 2.5 -adc 30 -readout 3
    "$DUALBRAGG" compare p.h5 p.img -quiet || complain "pedestal: not that of the SMV image"
    "$DUALBRAGG" noise -floatfile a.bin -detpixels_f 101 -detpixels_s 61 -noisefile c.h5 --quiet || complain "noise"
    "$DUALBRAGG" compare c.h5 a.bin > said 2>&1
    [ $? -le 1 ] || complain "noise: not read" ;;
esac

# The experiment comes back, in the frame of lists: tilted panels, spindle, sensor, wavelength.
case $("$DUALBRAGG" --version) in *JSON*)
    for flags in "-mosflm -Xbeam 17 -Ybeam 4" "-xds -ORGX 3 -ORGY 41 -twotheta 12" "-adxv -detector_rotx 3 -detector_roty -2" \
        "-dials -detector_rotz 5 -detector_thick 450 -detector_material Si"; do
        # shellcheck disable=SC2086
        sim $small $flags -phi 20 -osc 0.5 -phisteps 1 -hdf5file w.h5 -exptfile written.expt -panel_turn 0.2 0.1 -0.3
        # shellcheck disable=SC2086
        sim -img w.h5 $crystal -exptfile read.expt -phisteps 1
        "$python" -B "$SOURCE_DIR/tests/io/nexus_write.py" same written.expt read.expt || complain "$flags: not the same"
    done
    # Several modules, each with a chain of its own: rows of one array, and a stack of arrays; the file as the list.
    "$python" -B "$SOURCE_DIR/tests/io/nexus_write.py" two written.expt two.expt || complain "no list of two panels"
    sim -expt two.expt $crystal -phisteps 1 -hdf5file two.h5 -exptfile rows.expt
    "$python" -B "$SOURCE_DIR/tests/io/nexus_write.py" stack two.h5 stack.h5 rows.expt stacked.expt || complain "no stack"
    "$python" -B "$SOURCE_DIR/tests/io/nexus_write.py" barrel written.expt barrel.expt || complain "no barrel"
    sim -expt barrel.expt $crystal -phisteps 1 -hdf5file barrel.h5 -exptfile around.expt -floatfile barrel.bin
    "$DUALBRAGG" compare barrel.h5 barrel.bin -quiet || complain "barrel: other pixels"
    for file in two:rows stack:stacked barrel:around; do
        sim -expt "${file%:*}.h5" $crystal -phisteps 1 -exptfile read.expt
        "$python" -B "$SOURCE_DIR/tests/io/nexus_write.py" same "${file#*:}.expt" read.expt || complain "$file: not the same"
    done ;;
esac

# Panels that the beam does not meet, or that lie behind the sample; a crystal that turns backwards; polarized light.
for flags in "-twotheta 89.5" "-twotheta 90" "-twotheta 130" "-osc -0.5 -phi 10 -phisteps 3" "-polar 0.9"; do
    # shellcheck disable=SC2086
    sim $small -pivot sample -oversample 2 $flags -hdf5file far.h5 -floatfile far.bin -exptfile far.expt
    phi=$(echo "$flags" | sed -n 's/.*\(-phisteps 3\).*/\1/p')
    for header in "-img far.h5" "-expt far.h5" "-expt far.expt"; do
        # shellcheck disable=SC2086
        sim $crystal -oversample 2 $header $phi -floatfile back.bin
        "$DUALBRAGG" compare far.h5 far.bin -quiet && "$DUALBRAGG" compare far.h5 back.bin -quiet ||
            complain "$flags: other pixels by $header"
    done
done

# what cannot be written
refuse() {
    expected=$1
    shift
    "$DUALBRAGG" sim "$@" > said 2>&1
    code=$?
    [ $code -ge 2 ] && [ $code -le 5 ] && grep -q -- "$expected" said || complain "$*: $code: $(cat said); expected: $expected"
}
mkdir folder
# shellcheck disable=SC2086
refuse "flat panels" $small -curved_det -hdf5file x.h5
# shellcheck disable=SC2086
refuse "directory" $small -hdf5file folder
# shellcheck disable=SC2086
refuse "device or pipe" $small -hdf5file /dev/null
cp a.h5 kept.h5
. "$SOURCE_DIR/tests/support/file_limit"
if lives_with_file_limit 4; then
    # shellcheck disable=SC2086
    (ulimit -f 4; trap '' XFSZ; exec "$DUALBRAGG" sim $small -hdf5file kept.h5) > said 2>&1 && complain "a full disk is no failure"
    grep -q "kept.h5: cannot write: File too large" said || complain "full disk: $(cat said)"
fi
cmp a.h5 kept.h5 || complain "a file that could not be replaced is damaged"
[ ! -e x.h5 ] && [ -z "$(find . -name '.dualbragg*')" ] || complain "files are left: $(ls -A)"
exit $failed
