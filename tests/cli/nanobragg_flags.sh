#!/bin/sh
# Every flag that nanoBragg's program takes, every one that its README and usage text name, and those that its port to
# PyTorch adds are taken with as many values; what they do is tested in tests/quirks, tests/golden and elsewhere.
. "$SOURCE_DIR/tests/cli/expectations"

switches="xds mosflm adxv denzo dials nopolar coherent curved_det point_pixel interpolate nointerpolate round_xtal
square_xtal gauss_xtal binary_spots tophat_spots round_div square_div nonoise nopgm printout progress noprogress
oversample_omega oversample_polar oversample_thick
show_config echo_config"
numbers="cell N Na Nb Nc samplesize sample_size sample_thick sample_x sample_width sample_y sample_height sample_heigh sample_z
xtalsize xtal_size xtal_thick xtal_x xtal_width xtal_y xtal_height xtal_heigh xtal_z width height heigh density sample_den MW molec
Xbeam Ybeam Xclose Yclose ORGX ORGY distance close_distance detector_abs detector_absorb detector_thick detector_thicksteps
thicksteps twotheta detector_rotx detector_roty detector_rotz detsize detsize_f detsize_s detsize_x detsize_y detpixels
detpixels_f detpixels_s detpixels_x detpixels_y pixel polar oversample lambda wave energy fluence flux exposure beamsize mosaic
mosaici mosaic_spr mosaicity mosaic_spread mosaic_dom mosaic_domains dispersion dispsteps dispstep divergence hdivrange
vdivrange hdivstep vdivstep hdivsteps vdivsteps divsteps hdiv vdiv adc adcoffset phi osc phistep phisteps dmin default_F scale
pgmscale fudge seed mosaic_seed misset_seed water thick
pixel_batch_size"
files="mat matrix hkl dump stol 4stol Q stolout sourcefile floatfile floatimage intfile intimage pgmfile pgmimage noisefile
noiseimage img mask"
vectors="misset fdet_vector sdet_vector odet_vector xdet_vector ydet_vector zdet_vector beam_vector polar_vector spindle_axis
twotheta_axis pix0_vector
pix0_vector_mm"

# taken FLAG VALUES...: read without an error, with -compat too
taken() {
    for compat in "" -compat; do
        # shellcheck disable=SC2086 # nothing, or a flag
        "$DUALBRAGG" sim $compat "$@" --list-params > ../out 2> ../err || complain "$compat $*: $(cat ../err)"
    done
}
# all_taken WORDS VALUES...: all of the flags on one command line, and, where that fails, each by itself
all_taken() {
    words=$1
    shift
    all=
    for word in $words; do all="$all -$word $*"; done
    # shellcheck disable=SC2086 # flags and values
    "$DUALBRAGG" sim $all --list-params > ../out 2> ../err && "$DUALBRAGG" sim -compat $all --list-params > ../out 2> ../err && return
    for word in $words; do taken "-$word" "$@"; done
}
count=0
all_taken "$switches"
all_taken "$numbers" 2
all_taken "$files" file
all_taken "$vectors" 1 2 3
for flag in $switches $numbers $files $vectors; do count=$((count + 1)); done
[ $count -ge 164 ] || complain "only $count flags tried"
taken -cell 10 20 30 90 90 90
taken -misset random
taken -pivot sample
taken -pivot beam
taken -roi 1 2 3 4
taken -printout_pixel 1 2
taken -trace_pixel 1 2
taken -dtype float64
taken -device cpu:0
taken -device cpu

# what nanoBragg ignores is ignored, with a notice that names what to write instead
# shellcheck disable=SC2086 # $small is to be split
{
    succeed sim $small -floatfile plain
    for ignored in "hdiv 5" "vdiv 5" "dispstep 3" "detsize_x 10" "detsize_y 10" "xdet_vector 0 1 0" "ydet_vector 0 1 0" \
        "zdet_vector 0 1 0" "dtype float32" "pixel_batch_size 16"; do
        succeed sim $small -floatfile image -$ignored
        same plain image "-$ignored"
        grep -q "note: -${ignored%% *} has no effect: .*[a-z]" ../err || complain "-$ignored: no notice: $(cat ../err)"
    done
    grep -q "write -odet_vector" ../err && complain "a notice of another flag"
    succeed sim $small -floatfile image -zdet_vector 0 1 0
    grep -q "write -odet_vector" ../err || complain "-zdet_vector: $(cat ../err)"
    succeed sim $small -floatfile image -show_config
    same plain image "-show_config"
    [ ! -s ../err ] || complain "-show_config: $(cat ../err)"
    grep -q "distance=" ../out || complain "-show_config: nothing about the detector"

    # -adcoffset is -adc
    succeed sim $small -scale 1 -intfile image -adcoffset 100
    succeed sim $small -scale 1 -intfile plain -adc 100
    same plain image "-adcoffset and -adc"
    succeed sim $small -scale 1 -intfile plain
    cmp -s plain image && complain "-adcoffset has no effect"

    # seeds with nanoBragg's sign
    succeed sim $small -mosaic 2 -floatfile plain
    succeed sim $small -mosaic 2 -mosaic_seed -12345678 -floatfile image
    same plain image "the default mosaic seed with a sign"
    succeed sim $small -misset random -misset_seed 7 -floatfile plain
    succeed sim $small -misset random -misset_seed -7 -floatfile image
    same plain image "-misset_seed with a sign"
    case $("$DUALBRAGG" --version) in *Random123*)
        succeed sim $small -noisefile plain -seed 5 -readout 2 -calib_seed 9 -calibration 0.1
        succeed sim $small -noisefile image -seed -5 -readout 2 -calib_seed -9 -calibration 0.1
        same plain image "-seed and -calib_seed with a sign" ;;
    esac
    # there a negative argument makes a positive seed, which does not start a stream of its own: that of 1 runs
    succeed sim $small -compat -mosaic 2 -mosaic_seed 1 -nopgm -nonoise -intfile none -floatfile plain
    succeed sim $small -compat -mosaic 2 -mosaic_seed -12345678 -nopgm -nonoise -intfile none -floatfile image
    same plain image "-mosaic_seed with a sign, -compat"
    rm -f none plain image
    expect 2 "-mosaic_seed: expected a whole number from 1 to 2147483646 (the sign does not count), found 0" \
        sim $small -floatfile o -mosaic_seed 0
    expect 2 "-seed: expected a whole number from -2147483646 to 2147483646, found -2147483647" \
        sim $small -floatfile o -seed -2147483647
}

# the command lines of nanoBragg's README, on a corner of the detector
printf '0 0 0 520\n1 0 0 30\n-1 0 0 30\n' > P1.hkl
printf '0 3\n0.1 2\n0.5 1\n' > mtz.stol
succeed orient -cell 250 250 250 90 90 90 -misset random -lambda 1 -o bigcell.mat
succeed orient -cell 281 281 165.2 90 90 120 -misset random -lambda 6.2 -o A.mat
for compat in "" "-compat"; do
    corner="-roi 500 507 500 507 -floatfile o $compat"
    # shellcheck disable=SC2086 # flags
    {
        succeed sim -hkl P1.hkl -matrix A.mat -lambda 6.2 -N 10 $corner
        succeed sim -hkl P1.hkl -matrix A.mat -lambda 6.2 -N 10 -fluence 2e22 -water 4 $corner
        succeed sim -mat bigcell.mat -hkl P1.hkl -lambda 1 -dispersion 0 -distance 1000 -detsize 100 -pixel 0.1 \
            -hdiv 0 -vdiv 0 -fluence 1e32 -N 1 $corner
    }
done
succeed amorphous -stol mtz.stol -lambda 1 -dispersion 0 -distance 1000 -detsize 100 -pixel 0.1 -hdiv 0 -vdiv 0 -flux 1e13 \
    -thick 1.2 -MW 14000 -density 0.01 -roi 500 507 500 507 -floatfile o
finish
