#!/bin/sh
# --precision: chosen by itself, printed, and overridden.
. "$SOURCE_DIR/tests/cli/expectations"

# shellcheck disable=SC2086 # $small is to be split
{
    succeed sim $small -floatfile auto.f32
    grep -q "^precision: double, because the job is small$" ../out || complain "not said: $(cat ../out)"
    grep -q "double precision" ../out || complain "not used: $(cat ../out)"
    succeed sim $small -floatfile double.f32 --precision double
    if grep -q "^precision:" ../out; then complain "a choice of the user's is announced as one of the program's"; fi
    same auto.f32 double.f32 "a small job by itself, and in double precision"
    succeed sim $small -floatfile mixed.f32 --precision mixed
    grep -q "mixed precision" ../out || complain "--precision mixed is not used: $(cat ../out)"
    if cmp -s mixed.f32 double.f32; then complain "mixed and double are the same to the last bit"; fi
    succeed sim $small -floatfile quiet.f32 -q
    [ ! -s ../out ] || complain "--quiet: $(cat ../out)"
    succeed grad $small -params cell_a
    grep -q "^precision: double, because the job is small$" ../out || complain "grad does not say: $(cat ../out)"
}
rm -f ./*

# few cells, the direct beam on a pixel: 9.4 million samples
large="-cell 100 -N 5 -default_F 100 -lambda 6.2 -distance 100 -detpixels 768 -mosaic 1 -mosaic_domains 16 -oversample 1"
# shellcheck disable=SC2086
{
    succeed sim $large -floatfile auto.f32 --profile run.json
    if grep -q "^precision: mixed, expected error [0-9]*e-0[78] of the maximum$" ../out; then
        grep -q "mixed precision" ../out || complain "announced and not used: $(cat ../out)"
        grep -q '"precision"' run.json || complain "the trial is not in the profile"
    else
        complain "a large job of few cells is not mixed: $(cat ../out)"
    fi
    succeed sim $large -floatfile mixed.f32 --precision mixed
    same auto.f32 mixed.f32 "by itself, and mixed"
    succeed sim $large -tophat_spots -floatfile flat.f32
    grep -q "^precision: double, because rounding moves" ../out || complain "flat spots: $(cat ../out)"
}
rm -f ./*
expect 2 "--precision: expected auto|double|mixed" sim $small -floatfile image.f32 --precision half
finish
