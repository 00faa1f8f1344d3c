#!/bin/sh
# Tails so wide that two bounds of where a spot is leave no pixel: it shows none. Once its tiles were walked through without
# end, or beyond their list. The blocks are those of two images, in their shares.
. "$SOURCE_DIR/tests/cli/expectations"

# image FILE FLAGS...
image() {
    file=$1
    shift
    succeed sim -cell 5.4 8.1 12 90 90 90 -misset random -misset_seed 1 -N 2000 -default_F 1 -lambda 0.6889 -distance 160 \
        -detpixels 300 -pixel 0.86 -spots closed -gauss_xtal -osc 0.1 -twotheta 30 -oversample 1 --precision double --tolerance 0 -floatfile "$file" "$@"
}

{
    image both.f32 -mosaic_rms 0.1 -tail1 0.25 40
    image narrow.f32 -mosaic_rms 0.1
    image wide.f32 -mosaic_rms 4
    for name in both narrow wide; do od -An -v -w4 -t f4 $name.f32 > ../$name; done
    paste ../both ../narrow ../wide |
        awk '{ sum = 0.75 * $2 + 0.25 * $3; off += ($1 - sum) ^ 2; all += sum ^ 2 } END { exit !(all > 0 && off < 1e-10 * all) }' ||
        complain "tails are not a sum of images"
}
finish
