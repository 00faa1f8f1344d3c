#!/bin/sh
# Images with noise as users make them: dualbragg sim -noisefile and dualbragg noise, read back by Python.
command -v python3 > /dev/null || exit 77
. "$SOURCE_DIR/tests/cli/expectations"

images() {
    python3 "$SOURCE_DIR/tests/noise/read_images.py" "$@" > ../check 2>&1 || complain "$*: $(tail -1 ../check)"
}
seed_line() {
    grep -qx " *seed: -$1" ../out || complain "no seed $1 in the report: $(grep seed ../out)"
}

case $("$DUALBRAGG" --version) in *Random123*) ;; *)
    expect 2 "needs Random123" sim $small -noisefile o
    finish ;;
esac

# shellcheck disable=SC2086 # $small is to be split
{
    bright="$small -fluence 3e29"

    # sim
    succeed sim $bright -floatfile image.f32 -noisefile noise.img
    seed_line 1
    photons=$(sed -n 's/^\([0-9]*\) photons on noise image (\([0-9]*\) overloads)$/\1/p' ../out)
    [ -n "$photons" ] || complain "no number of photons in the report"
    images noisy image.f32 noise.img "$photons"
    for threads in 1 2 3; do
        succeed sim $bright -noisefile again.img --threads $threads
        same noise.img again.img "noise of $threads threads"
    done
    succeed sim $bright -noiseimage again.img -seed 1 --quiet
    same noise.img again.img "the default seed is 1"
    [ ! -s ../out ] || complain "--quiet prints: $(head -1 ../out)"
    succeed sim $bright -noisefile other.img -seed 2
    seed_line 2
    if cmp -s noise.img other.img; then complain "seed 2 makes the image of seed 1"; fi
    succeed sim $bright -noisefile roi.img -roi 5 20 7 9
    images part noise.img roi.img 40 5 20 7 9
    detector="-gain 1.5 -readout 4 -flicker 0.1 -calibration 0.05 -adc 55.5"
    for psf in "" "-psf gauss -psf_fwhm 700" "-psf fiber -psf_fwhm 400 -psf_radius 9"; do
        succeed sim $bright $detector $psf -noisefile whole.img -noisefloatfile whole.f32
        images rounded whole.f32 whole.img 65535
        succeed sim $bright $detector $psf -noisefile roi.img -roi 5 20 7 9
        images part whole.img roi.img 40 5 20 7 9
    done

    # of -noisefile and -nonoise the last one wins
    rm -f noise.img
    succeed sim $bright -noisefile noise.img -nonoise -floatfile again.f32
    same image.f32 again.f32 "without noise"
    [ ! -e noise.img ] || complain "-noisefile before -nonoise writes"
    if grep -q seed ../out; then complain "without noise there is no seed to report"; fi
    succeed sim $bright -nonoise -noisefile noise.img
    [ -e noise.img ] || complain "-noisefile after -nonoise does not write"
    succeed sim $small -gain 3 -floatfile again.f32
    grep -q "no effect without -noisefile" ../err || complain "no word about -gain without -noisefile"

    # -compat: numbers are cut off, the seed is the time, the image has the reference's name
    succeed sim $bright -compat -seed 7 -adc 12.4 -noisefile cut.img
    succeed sim $bright -compat -seed 7 -adc 12 -noisefile whole.img
    tail -c 2400 cut.img > ../cut && tail -c 2400 whole.img > ../whole
    same ../cut ../whole "offsets of 12.4 and 12, cut off"
    rm -f noiseimage.img
    succeed sim $bright -compat -nopgm -nonoise
    [ ! -e noiseimage.img ] || complain "-compat -nonoise writes noise"
    succeed sim $bright -compat -nopgm
    [ "$(size_of noiseimage.img)" -eq $((512 + 2400)) ] || complain "-compat: no noiseimage.img as the reference has it"
    seed=$(sed -n 's/^ *seed: -//p' ../out)
    [ "${seed:-0}" -gt 1600000000 ] || complain "-compat: the seed is not the time: $(grep seed: ../out)"

    # noise: the same detector, the same image
    shape="-detpixels_f 40 -detpixels_s 30"
    succeed noise -floatfile image.f32 $shape -calibration 0 -noisefile again.img -pixel 0.5 -distance 70 -lambda 1.3
    same noise.img again.img "sim -noisefile and noise -calibration 0"
    succeed noise -floatfile image.f32 -header noise.img -calibration 0 -noisefile again.img
    same noise.img again.img "geometry and shape from a header"
    seed_line 1
    grep -qx "  calibration noise seed: 123456789" ../out || complain "$(grep calibration ../out)"
    [ "$(sed -n 's/^\([0-9]*\) photons on noise image (\([0-9]*\) overloads)$/\1/p' ../out)" = "$photons" ] ||
        complain "noise counts other photons than sim"
    succeed noise -floatfile image.f32 -detpixels_f 40 -noisefile again.img
    grep -qx "  calibration_noise = 3 %" ../out || complain "$(grep calibration ../out)"
    succeed noise -floatfile image.f32 -detpixels_s 30 -calibration 0.03 -calib_seed 123456789 -noisefile other.img
    same again.img other.img "the default of the calibration"
    succeed noise -floatfile image.f32 $shape -calib_seed 5 -noisefile other.img
    if cmp -s again.img other.img; then complain "-calib_seed has no effect"; fi
    succeed noise -floatfile image.f32 $shape -noisefile a.img -threads 1 -psf fiber -psf_fwhm 200 -readout 2
    succeed noise -floatfile image.f32 $shape -noisefile b.img -threads 2 -psf fiber -psf_fwhm 200 -readout_noise 2
    same a.img b.img "noise of one and two threads"

    # masked pixels hold the offset
    succeed noise -floatfile image.f32 $shape -intfile ones.img -nonoise -scale 1e-9 -adc 1
    succeed noise -floatfile image.f32 $shape -intfile half.img -nonoise -scale 1e-9 -adc 1 -roi 0 39 0 14
    succeed noise -floatfile image.f32 -mask ones.img -noisefile again.img -calibration 0
    tail -c 2400 noise.img > ../noise && tail -c 2400 again.img > ../again
    same ../noise ../again "a mask that leaves all pixels"
    succeed noise -floatfile image.f32 -mask half.img -noisefile again.img -calibration 0
    head -c 1200 ../noise > ../want && awk 'BEGIN { for (i = 0; i < 600; i++) printf "(%c", 0 }' >> ../want
    tail -c 2400 again.img > ../again
    same ../want ../again "masked pixels hold the offset, 40"

    # without noise; 16 and 32 bits; photons per unit by -scale and by -fluence
    succeed noise -floatfile image.f32 $shape -nonoise -intfile clean.img -gain 1.7 -adc 10.25
    images clean image.f32 clean.img 1 1.7 10.25 65535
    succeed noise -floatfile image.f32 $shape -intfile clean.img -noisefile noise32.img -noisefloatfile noise.f32 \
        -bits 32 -scale 1000 -adc 0
    images clean image.f32 clean.img 1000 1 0 2147483647
    images rounded noise.f32 noise32.img 2147483647
    succeed noise -floatfile image.f32 $shape -fluence 251864030572454e15 -intfile fluence.img -nonoise
    succeed noise -floatfile image.f32 $shape -scale 2 -intfile scale.img -nonoise
    images clean image.f32 scale.img 2 1 40 65535
    same fluence.img scale.img "fluence and scale"

    # a square needs no shape
    images write square.f32 1 2 3 4 5 6 7 8 70000
    succeed noise -floatfile square.f32 -intfile square.img -nonoise
    images clean square.f32 square.img 1 1 40 65535
    succeed noise -floatfile square.f32 -intfile cut.img -nonoise -adc 0.9 -truncate
    succeed noise -floatfile square.f32 -intfile whole.img -nonoise -adc 0
    tail -c 18 cut.img > ../cut && tail -c 18 whole.img > ../whole
    same ../cut ../whole "numbers are cut off"

    # what is wrong with the input; nothing is left behind
    images write nan.f32 1 2 nan 4
    images write negative.f32 -1 2 3 4
    images write three.f32 1 2 3
    printf abcde > odd.f32
    keep=$(ls -A)
    expect 2 "no image named: expected -floatfile FILE" noise -noisefile o
    expect 2 "no output named" noise -floatfile square.f32
    expect 2 "no output named" noise -floatfile square.f32 -noisefile o -nonoise
    expect 3 "no_such.f32: cannot read" noise -floatfile no_such.f32 -noisefile o
    expect 3 "expected a file of 32-bit floats" noise -floatfile . -noisefile o
    expect 3 "expected 4 bytes per pixel, found 5 bytes" noise -floatfile odd.f32 -noisefile o
    expect 3 "3 pixels are no square" noise -floatfile three.f32 -noisefile o
    expect 3 "expected 5 x 2 pixels, found 9" noise -floatfile square.f32 -detpixels_f 5 -detpixels_s 2 -noisefile o
    expect 3 "pixel (fast 0, slow 1): expected a finite number, found nan" noise -floatfile nan.f32 -noisefile o
    expect 3 "gain: expected a finite number above 0, found -1" noise -floatfile square.f32 -noisefile o -gain -1
    expect 3 "readout noise: expected" noise -floatfile square.f32 -noisefile o -readout -1
    expect 3 "flicker: expected a fraction from 0 to 1, found 2" sim $small -noisefile o -flicker 2
    expect 3 "bits of a pixel: expected 16 or 32, found 24" noise -floatfile square.f32 -noisefile o -bits 24
    expect 2 "-psf: expected -psf_fwhm WIDTH (um) above 0" noise -floatfile square.f32 -noisefile o -psf gauss
    expect 2 "expected -psf gauss or -psf fiber" sim $small -noisefile o -psf_fwhm 100
    # widths are in um on every panel: two panels of other pixels are the images of detectors of one panel
    panel() { # NAME RES CORNER_X FIRST_ROW
        printf '%s/res = %s\n%s/min_fs = 0\n%s/max_fs = 29\n%s/min_ss = %s\n%s/max_ss = %s\n%s/fs = x\n%s/ss = %s\n%s/corner_x = %s\n%s/corner_y = -15\n' \
            "$1" "$2" "$1" "$1" "$1" "$4" "$1" $(($4 + 29)) "$1" "$1" "$5" "$1" "$3" "$1"
    }
    printf 'photon_energy = 9500 eV\nadu_per_photon = 1\nclen = 0.1\n' > ../head.geom
    { cat ../head.geom; panel a 10000 -40 0 y; panel b 5000 10 30 y; } > ../two.geom
    { cat ../head.geom; panel b 5000 10 0 y; } > ../second.geom
    { cat ../head.geom; panel a 10000 -40 0 2y; } > ../oblong.geom
    crystals="-cell 40 50 60 90 90 90 -N 10 -default_F 3e4 -fluence 1e24 -oversample 1 -psf gauss -psf_fwhm 400 -psf_radius 9"
    succeed sim -expt ../two.geom $crystals -noisefloatfile ../two.f32
    succeed sim -expt ../second.geom $crystals -noisefloatfile ../second.f32
    tail -c 3600 ../two.f32 > ../tail.f32
    "$DUALBRAGG" compare ../tail.f32 ../second.f32 -share 1 -correlation 0.99 --quiet || complain "a panel of larger pixels is spread otherwise than alone"
    expect 2 "-psf: expected square pixels, found 0.1 x 0.2 mm on panel 0" sim -expt ../oblong.geom $crystals -noisefloatfile ../o.f32
    expect 2 "-psf: expected none|gauss|fiber, found 'round'" noise -floatfile square.f32 -noisefile o -psf round
    expect 3 "cannot write there" sim $small -noisefile no_folder/o
    expect 3 "expected a file name, found a directory" noise -floatfile square.f32 -noisefile .
    expect 2 "-roi: expected XMIN XMAX from 0 to 2" noise -floatfile square.f32 -noisefile o -roi 2 1 0 1
    expect 2 "-cell belongs to dualbragg" noise -floatfile square.f32 -noisefile o -cell 40
    expect 2 "-noisefile belongs to dualbragg" grad $small -params distance -noisefile o
    keep=""
    succeed noise -floatfile negative.f32 -noisefile o
    grep -q "1 pixels expect a negative number of photons" ../err || complain "no word about a negative pixel: $(cat ../err)"
}
finish
