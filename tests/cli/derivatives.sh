#!/bin/sh
# grad writes one image per parameter; check says whether they are right.
. "$SOURCE_DIR/tests/cli/expectations"
features=$("$DUALBRAGG" --version)

# shellcheck disable=SC2086 # $small is to be split
{
    mkdir out
    succeed grad $small -params distance,cell_a -outdir out -prefix trial
    for name in image distance cell_a; do
        [ "$(size_of out/trial_$name.f32)" -eq 4800 ] || complain "out/trial_$name.f32: wrong size"
        case $features in *PNG*) [ -s out/trial_$name.png ] || complain "out/trial_$name.png is missing" ;; esac
    done
    [ "$(ls -A)" = out ] || complain "written elsewhere: $(ls -A)"
    # a prefix may be a path
    succeed grad $small -params distance -prefix out/deep
    succeed grad $small -params distance -prefix "$PWD/out/absolute"
    same out/deep_distance.f32 out/absolute_distance.f32 "a relative and an absolute prefix"
    same out/deep_image.f32 out/trial_image.f32 "prefixes with a folder"
    rm out/deep_* out/absolute_*
    succeed sim $small -floatfile image.f32
    same image.f32 out/trial_image.f32 "the image of grad and that of sim"

    # the derivative by the scale is the image; outside the region it is 0
    succeed grad $small -params scale
    same image.f32 grad_scale.f32 "the derivative by the scale, and the image"
    succeed grad $small -params scale -roi 0 39 0 9
    tail -c 3200 grad_scale.f32 | tr -d '\000' > rest
    [ ! -s rest ] || complain "derivatives outside the region are not 0"
    succeed grad $small -params all --precision mixed --threads 2 -prefix mixed
    # of spots in closed form
    spreads='^size_\|^mosaic_[vxyz]\|^strain_\|^mode[123]_\|^bandwidth_\|^divergence_[hv][hv] \|^footprint_\|^point_\|^tail_'
    # all: those of the table that this experiment has; the table's title line stands for the image
    expected=$("$DUALBRAGG" grad --list-params |
        grep -cv -e '^sensor_\|^attenuation_\|^diffuse_\|^water_\|^amorphous_\|^spectrum_\|^mosaic_[abc] \|^[^ ]*:' -e "$spreads")
    [ "$(ls mixed_*.f32 | wc -l)" -eq "$expected" ] ||
        complain "-params all: $(ls mixed_*.f32 | wc -l) images instead of $expected"
    succeed grad $small -params all -detector_thick 300 -detector_abs 200 -water 1 -prefix thick -mosaic_abc 0.1 0.2 0.3
    [ "$(ls thick_*.f32 | wc -l)" -eq $((expected + 5)) ] ||
        complain "-params all with sensor, water and anisotropic mosaic: $(ls thick_*.f32 | wc -l) images"
    succeed grad $small -params all -spots closed -tail1 0.2 3 -tail2 0.1 8 -prefix closed
    expected=$("$DUALBRAGG" grad --list-params |
        grep -cv '^sensor_\|^attenuation_\|^diffuse_\|^water_\|^amorphous_\|^spectrum_\|^mosaic_[abc] \|^mosaic_spread\|^[^ ]*:')
    [ "$(ls closed_*.f32 | wc -l)" -eq "$expected" ] ||
        complain "-params all of spots in closed form: $(ls closed_*.f32 | wc -l) images instead of $expected"

    # one source, one reflection
    printf '%s\n' '0 0 0 60' '1 0 0 70' '0 1 0 80' '1 1 1 90' > few.hkl
    printf '%s\n' '-10 0 0 1 1.3e-10' '-10 0.05 0 0.5 1.29e-10' > two.src
    succeed check $small -hkl few.hkl -sourcefile two.src -params source_weight:1,F:0:1:0,spectrum_stretch -nointerpolate
    [ "$(grep -c ' ok$' ../out)" -eq 4 ] || complain "check of indexed parameters: $(cat ../out)"
    succeed grad $small -hkl few.hkl -interpolate -params F:0:1:0
    [ -s grad_F:0:1:0.f32 ] || complain "no image of the derivative by a structure factor"
    # nothing more is left behind
    keep=$(ls -A)
    expect 2 "the experiment has no such source" grad $small -params source_weight:1
    expect 2 "no such reflection in its list" grad $small -params F:0:1:0
    expect 2 "no such reflection in its list" grad $small -hkl few.hkl -nointerpolate -params F:0:1:2
    expect 2 "expected source_weight:J" grad $small -params source_weight:x
    expect 2 "no derivative by dmin: the image jumps" grad $small -params dmin
    expect 2 "no derivative by fluence: the image is proportional" grad $small -params cell_a,fluence
    expect 2 "no derivative by oversample: a whole number" check $small -params oversample
    expect 2 "no derivative by fudge: it is a factor of the spots' size" grad $small -params fudge
    expect 2 "no derivative by osc: it is known" grad $small -params osc
    expect 2 "no derivative by pixel: it is known" grad $small -params pixel
    expect 2 "no derivative by lambda: the parameter is called wavelength" grad $small -params lambda
    expect 2 "-params: threads is a flag, not a parameter" grad $small -params threads
    expect 2 "-compat: nanoBragg's arithmetic has no derivatives" grad $small -compat -params scale
    expect 2 "has no sensor" grad $small -params sensor_thickness
    expect 2 "has no such background" grad $small -params water_size

    succeed check $small -params distance,cell_a,polarization
    # three and the image
    [ "$(grep -c ' ok$' ../out)" -eq 4 ] || complain "check: $(cat ../out)"
    # a column each: the difference of kernels and oracle, and its bound, which is far wider
    awk '$1 == "distance" || $1 == "cell_a" { rows++; wrong += !($4 < 0.1 * $5) } END { exit !(rows == 2 && !wrong) }' ../out ||
        complain "check: kernels - oracle, and its bound: $(cat ../out)"
    # wide pixels, in the middle of which the derivative is 0: by a tolerance its sub-pixels may lack more than that
    succeed check -cell 78 78 38 90 90 90 -misset 10 20 30 -N 10 -default_F 100 -lambda 1 -distance 150 -detpixels 16 \
        -pixel 3.2 -spots closed -mosaic_rms 0.1 -oversample 4 -params polarization
    grep -q "^polarization .* ok$" ../out || complain "sub-pixels of closed spots: $(cat ../out)"
    # a sample that says what it leaves out, and everything
    succeed check $small -detpixels_f 1024 -detpixels_s 1024 -params scale,Na
    grep -q "^pixels: [0-9]* of 1048576, .*; --all: all of them" ../out || complain "what was left out: $(cat ../out)"
    succeed check $small -hkl few.hkl -sourcefile two.src -nointerpolate
    grep -q "^source_weight:1 .* ok$" ../out || complain "no weight among what is checked: $(cat ../out)"
    grep -q "^F:[0-9:-]* .* ok$" ../out || complain "no structure factor among what is checked: $(cat ../out)"
    succeed check $small -roi 3 12 3 12 -gauss_xtal --all
    grep -q "^pixels: 100 of 100, finite differences in 100 of them" ../out || complain "--all: $(cat ../out)"
    succeed check -cell 78 81 38 -misset 3 14 25 -N 50 -default_F 100 -lambda 1 -detpixels 60 -oversample 1 --tolerance 5 -params cell_a
    grep -q "with a tolerance of 5 photons, pixels lack up to" ../out || complain "check --tolerance: $(cat ../out)"
    grep -q "^\([0-9]*\) of \1 parameters within" ../out || complain "check prints no summary"
    "$DUALBRAGG" check -cell 40 -N 5 -default_F 100 -detpixels 10 -lambda 1 -distance 100 -params misset_x -difference_tolerance 0 > ../out 2> ../err
    [ $? -eq 1 ] || complain "check with an impossible tolerance does not end with status 1"
    grep -q "^misset_x: TOO ROUGH: differences of images" ../out || complain "check does not say what is too rough: $(cat ../out)"
    # without a tolerance rounding alone is allowed for
    succeed check $small -params distance -oracle_tolerance 0
    awk '$1 == "distance" { found = $5 > 0 && $5 < 3e-12 } END { exit !found }' ../out || complain "check: the bound of rounding: $(cat ../out)"
    # one at its limit does not keep the others from being checked
    printf '%s\n' '-10 0 0 0 1.3e-10' '-10 0.05 0 0.5 1.29e-10' > dark.src
    succeed check $small -sourcefile dark.src -params source_weight:0,source_weight:1,cell_a
    [ "$(grep -c ' ok$' ../out)" -eq 4 ] || complain "check with a source without weight: $(cat ../out)"
    rm dark.src
    # a step in N is no kink, though the resolution limit makes some
    succeed check $small -params Na,Nb,Nc -dmin 5
}
finish
