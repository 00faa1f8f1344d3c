#!/bin/sh
# -compat: the command line of the reference, its order, collisions, files and seeds.
. "$SOURCE_DIR/tests/cli/expectations"

# list FILE...: these files and no others are there
list() {
    [ "$(ls -A | tr '\n' ' ')" = "$*${1:+ }" ] || complain "files: $(ls -A | tr '\n' ' '), expected $*"
}
features=$("$DUALBRAGG" --version)
case $features in *Random123*) noise=noiseimage.img ;; *) noise="" ;; esac
awk 'BEGIN { for (h = -3; h <= 3; h++) print h, h + 1, 0, h * h + 5 }' > ../list.hkl

# shellcheck disable=SC2086 # $small is to be split
{
    # files that nobody asked for, in the current folder, unless the flags say otherwise
    succeed sim $small -compat
    list floatimage.bin image.pgm intimage.img $noise
    rm -f ./*
    succeed sim $small -compat -nopgm -nonoise
    list floatimage.bin intimage.img
    rm -f ./*
    succeed sim $small -compat -floatfile a.f32 -intfile b.img -nopgm -nonoise
    list a.f32 b.img
    rm -f ./*

    # the cache: written with every list, read without being asked
    succeed sim $small -compat -nopgm -nonoise -nointerpolate -hkl ../list.hkl
    list Fdump.bin floatimage.bin intimage.img
    mv floatimage.bin with_list
    succeed sim $small -compat -nopgm -nonoise -nointerpolate
    same floatimage.bin with_list "an image from Fdump.bin"
    grep -q "^reading Fs from Fdump.bin$" ../out || complain "Fdump.bin is read silently"
    succeed sim $small -floatfile without
    cmp -s with_list without && complain "Fdump.bin is read without -compat"
    expect_left="Fdump.bin floatimage.bin intimage.img with_list without"
    list $expect_left
    rm -f ./*
    succeed sim $small -compat -nopgm -nonoise -nointerpolate -hkl ../list.hkl -dump other.bin
    list floatimage.bin intimage.img other.bin
    rm -f ./*

    # flags count in their order: a later one for all axes wins over an earlier one for one axis
    quiet="-nopgm -nonoise -intfile /dev/null"
    succeed sim $small -compat $quiet -Na 6 -N 4 -floatfile a
    succeed sim $small -compat $quiet -N 4 -floatfile b
    same a b "-N after -Na"
    # a convention after a vector discards the vector; before it, the convention is custom
    succeed sim $small -compat $quiet -fdet_vector 0 1 0 -xds -floatfile a
    grep -q "^xds convention selected.$" ../out || complain "a convention after a vector: $(grep convention ../out)"
    succeed sim $small -compat $quiet -xds -floatfile b
    same a b "-xds after a vector"
    succeed sim $small -compat $quiet -xds -spindle_axis 0 1 0 -floatfile b
    grep -q "^custom convention selected.$" ../out || complain "a vector after a convention: $(grep convention ../out)"

    # -twotheta_axis x y z is -twotheta x as well, unless that follows
    succeed sim $small -compat $quiet -twotheta 8 -twotheta_axis 0 1 0 -floatfile a
    succeed sim $small -compat $quiet -twotheta_axis 0 1 0 -twotheta 0 -floatfile b
    same a b "-twotheta_axis takes two-theta back"
    succeed sim $small -compat $quiet -twotheta_axis 0 1 0 -twotheta 8 -floatfile b
    cmp -s a b && complain "-twotheta after its axis has no effect"
    # -misset_seed s is -misset s and the next two arguments
    succeed sim $small -compat $quiet -floatfile a -misset_seed 42 -phi 0 -osc 0.1
    succeed sim $small -compat $quiet -floatfile b -misset 42 0 0 -phi 0 -osc 0.1
    same a b "-misset_seed and what follows"
    succeed sim $small -compat $quiet -floatfile a -misset_seed 42 -misset random
    grep -q "^random orientation misset angles: " ../out || complain "-misset random after its seed: no orientation"
    # the last flag that speaks of the pivot settles it, in custom
    succeed sim $small -compat $quiet -floatfile a -twotheta_axis 0 1 0 -twotheta 5 -distance 70
    grep -q "^pivoting detector around direct beam spot$" ../out || complain "-distance after -twotheta: $(grep pivoting ../out)"
    succeed sim $small -compat $quiet -floatfile a -distance 70 -twotheta_axis 0 1 0 -twotheta 5
    grep -q "^pivoting detector around sample$" ../out || complain "-twotheta after -distance: $(grep pivoting ../out)"

    # what is never reproduced
    expect_nothing_left() { rm -f ./*; expect "$@"; }
    expect_nothing_left 2 "unknown flag '-lamda'" sim $small -compat -lamda 1
    expect_nothing_left 2 "-detector_abs" sim $small -compat -detector_abs
    expect_nothing_left 3 "no_such.mat" sim $small -compat -mat no_such.mat

    # seeds from the clock are printed, so that the run can be repeated
    succeed sim $small -compat -nopgm -nonoise -misset random -intfile /dev/null -floatfile a
    seed=$(sed -n 's/^random orientation misset angles: .*(seed \([0-9]*\))$/\1/p' ../out)
    [ "${seed:-0}" -gt 1000000000 ] || complain "no seed from the clock: $(grep random ../out)"
    succeed sim $small -compat -nopgm -nonoise -misset_seed "$seed" -misset random -intfile /dev/null -floatfile b
    same a b "a run with the seed that was printed"

    # progress by lines
    succeed sim $small -compat $quiet -floatfile a
    [ "$(grep -c '^[0-9]*% done$' ../out)" -gt 30 ] || complain "no lines of progress"
    succeed sim $small -compat $quiet -noprogress -floatfile a
    grep -q "% done" ../out && complain "-noprogress prints progress"
    succeed sim $small -floatfile a
    grep -q "% done" ../out && complain "progress is printed without a terminal, unasked"
    succeed sim $small -floatfile a -progress
    grep -q "^99% done$" ../out || complain "-progress prints nothing"
}
finish
