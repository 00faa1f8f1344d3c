#!/bin/sh
# --tolerance: no pixel lacks more photons than that, and none has more than without it.
. "$SOURCE_DIR/tests/cli/expectations"

large="-cell 40 50 60 90 100 90 -misset 10 20 30 -default_F 100 -N 60 -lambda 1.3 -distance 70 -detpixels 100 -pixel 0.2 -oversample 1 -mosaic 0.5 -mosaic_domains 5"

# floats FILE: one a line
floats() {
    od -An -v -w4 -t f4 "$1"
}

# lacks EXACT TOLERANT: the largest number of photons that the second lacks, and the largest that it has too many
lacks() {
    floats "$1" > ../exact
    floats "$2" | paste ../exact - | awk '{ d = $1 - $2; if (d > low) low = d; if (-d > high) high = -d } END { print low + 0, high + 0 }'
}

# shellcheck disable=SC2086 # the flags are to be split
{
    succeed sim $large -floatfile exact.f32 --precision double
    succeed sim $large -floatfile none.f32 --precision double --tolerance 0
    same exact.f32 none.f32 "no tolerance, and 0"
    most=$(floats exact.f32 | sort -g | tail -1)
    tolerance=$(echo "$most" | awk '{ print 0.05 * $1 }')
    succeed sim $large -floatfile tolerant.f32 --precision double --tolerance "$tolerance"
    lacks exact.f32 tolerant.f32 | awk -v t="$tolerance" -v m="$most" '{ good = $1 > 1e-6 * m && $1 <= t && $2 <= 1e-6 * m } END { exit !good }' ||
        complain "tolerance $tolerance: pixels lack, and have too many: $(lacks exact.f32 tolerant.f32)"
    succeed grad $large -params cell_a --precision double --tolerance "$tolerance"
    lacks tolerant.f32 grad_image.f32 | awk -v m="$most" '{ good = $1 <= 1e-6 * m && $2 <= 1e-6 * m } END { exit !good }' ||
        complain "sim and grad differ within the same tolerance: $(lacks tolerant.f32 grad_image.f32)"
}
rm -f ./*
# shellcheck disable=SC2086
{
    expect 2 "--tolerance: expected a number from 0, found '-1'" sim $small -floatfile image.f32 --tolerance -1
    expect 2 "--tolerance: expected" sim $small -floatfile image.f32 --tolerance much
    expect 2 "--tolerance belongs to dualbragg sim or grad or check" orient -cell 40 --tolerance 1
    succeed check $large -params cell_a --tolerance "$tolerance"
    grep -q "^with a tolerance of .* photons, pixels lack up to" ../out || complain "check says nothing of its tolerance: $(cat ../out)"
}
finish
