#!/bin/sh
# The diffuse halo of a crystal from the command line: image, derivatives, messages.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
crystal="-cell 45 55 70 82 97 105 -misset 10 20 30 -N 6 -default_F 100 -lambda 1 -distance 100 -detpixels 24 -pixel 3 -oversample 1"
sim() { "$DUALBRAGG" sim $crystal "$@" --quiet; }
refused() { # WORDS ARGUMENTS...
    words=$1
    shift
    if sim "$@" -floatfile none.bin > out 2>&1; then fail "$*: no error"; fi
    grep -q -e "$words" out || fail "$*: expected '$words', found: $(cat out)"
    [ ! -e none.bin ] || fail "$*: left an image"
}
refused "found diffuse_sigma alone" -diffuse_sigma 0.3
refused "found diffuse_gamma alone" -diffuse_gamma 30
refused "diffuse_sigma: expected one number for all axes, or one for each of three, found two" -diffuse_sigma 0.3 0.2 -diffuse_gamma 30
refused "sigma of the diffuse halo: expected" -diffuse_sigma -0.3 -diffuse_gamma 30
refused "gamma of the diffuse halo: expected" -diffuse_sigma 0.3 -diffuse_gamma 0
refused "gamma of the diffuse halo: expected" -diffuse_sigma 0.3 -diffuse_gamma 30 0 20
refused "compat" -diffuse_sigma 0.3 -diffuse_gamma 30 -compat
for h in 0 1 2 3 4; do echo $h 1 0 $((50 + h)); done > list.hkl
sim -hkl list.hkl -N 2 -diffuse_sigma 0.3 -diffuse_gamma 30 -floatfile small.bin # else interpolated
refused "diffuse halo: expected a crystal without one (diffuse_gamma) with interpolated" -hkl list.hkl -interpolate -diffuse_sigma 0.3 \
    -diffuse_gamma 30
for spots in "-mosaic 0.3 -mosaic_domains 2" "-spots closed -mosaic_rms 0.1"; do
    sim $spots -floatfile none.img.bin
    sim $spots -diffuse_sigma 0 -diffuse_gamma 30 -floatfile dark.bin
    "$DUALBRAGG" compare none.img.bin dark.bin -brightest 1e-6 > out 2>&1 || fail "sigma 0 changes the image: $(cat out)"
    sim $spots -diffuse_sigma 0.3 -diffuse_gamma 30 -floatfile halo.bin
    sim $spots -diffuse_sigma 0.3 0.3 0.3 -diffuse_gamma 30 -floatfile three.bin
    cmp -s halo.bin three.bin || fail "three equal numbers are not one"
    if cmp -s halo.bin dark.bin; then fail "there is no halo"; fi
    "$DUALBRAGG" check $crystal $spots -detpixels 12 -pixel 6 -diffuse_sigma 0.3 0.2 0.4 -diffuse_gamma 30 25 35 \
        -params diffuse_sigma_b,diffuse_gamma_c,cell_b,misset_z,Nb > out 2>&1 || fail "$spots: $(cat out)"
done
# Axes that are equally soft, and limits between which rods or sheets of nodes count.
for cell in "40 40 40 90 90 90" "60 60 350 90 90 90" "30 30 160 90 90 120" "40 40 40 60 60 60"; do
    for gamma in "30 30 30" "100 15 40"; do
        "$DUALBRAGG" check $crystal -cell $cell -detpixels 12 -pixel 6 -diffuse_sigma 0.3 0.2 0.4 -diffuse_gamma $gamma \
            -params diffuse_gamma_a,diffuse_gamma_b,cell_a,cell_b,cell_c,cell_gamma > out 2>&1 ||
            fail "$cell, $gamma: $(cat out)"
    done
done
if "$DUALBRAGG" grad $crystal -params diffuse_sigma > out 2>&1; then fail "a derivative by a halo that there is not"; fi
grep -q "the experiment has no diffuse halo with one number for all axes" out || fail "$(cat out)"
