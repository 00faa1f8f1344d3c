#!/bin/sh
# amorphous and orient: wrong input ends with a message that names it, the documented exit status, no file left behind.
. "$SOURCE_DIR/tests/cli/expectations"
printf '0 2.57\n0.2 2\n0.4 1\n' > ../w.stol
small="-stol ../w.stol -detpixels 8 -pixel 5 -floatfile o"
cell="-cell 40 50 60 90 100 90"

# shellcheck disable=SC2086 # $small and $cell are to be split
{
    # amorphous
    expect 2 "no amplitudes: expected -stol FILE, -4stol FILE or -Q FILE, found none" amorphous -floatfile o
    expect 2 "no output named" amorphous -stol ../w.stol
    expect 2 "-cell belongs to dualbragg sim or grad or check" amorphous $small -cell 40
    expect 2 "-hkl belongs to" amorphous $small -hkl list.hkl
    expect 2 "-compat belongs to" amorphous $small -compat
    expect 2 "-phi belongs to" amorphous $small -phi 1
    expect 2 "unknown flag '-thicknes'; the nearest known one is '-thickness'" amorphous $small -thicknes 1
    expect 2 "-stol: expected FILE" amorphous -floatfile o -stol
    expect 2 "-amorphous_thickness: expected a finite number (mm), found 'thin'" amorphous $small -thick thin
    succeed amorphous $small
    grep -q "is unusual; expected" ../out && complain "a note about a cell that nobody gave: $(cat ../out)"
    rm -f o
    expect 3 "no_such.stol: cannot open" amorphous -stol no_such.stol -floatfile o
    expect 3 "amorphous thickness: expected a positive number (mm), found 0" amorphous $small -thick 0
    expect 3 "amorphous width: expected a positive number (mm), found -1" amorphous $small -width -1
    expect 3 "-samplesize or -sample_thickness: amorphous thickness: expected a positive number (mm), found 0" \
        amorphous $small -samplesize 0
    expect 3 "-sample_height: amorphous height: expected a positive number (mm), found 0" amorphous $small -height 0 -thick 1
    expect 2 "-samplesize: expected a finite number (mm), found 'nan'" amorphous $small -samplesize nan
    expect 3 "amorphous density" amorphous $small -density 0
    expect 3 "amorphous molecular weight" amorphous $small -MW -18
    expect 3 "molecules" amorphous $small -molecules 0
    expect 3 "beam size" amorphous $small -beamsize 0
    expect 3 "cannot write there" amorphous -stol ../w.stol -floatfile no_such_directory/o
    printf '0.2 2\n0.1 1\n0.2 3\n' > ../bad.stol
    expect 3 "../bad.stol:3: expected each sin(theta)/lambda once, found the one of line 1 again" \
        amorphous -Q ../bad.stol -floatfile o
    printf '0 2\n0.1\n' > ../bad.stol
    expect 3 "../bad.stol:2: expected two columns" sim $cell -default_F 1 -4stol ../bad.stol -floatfile o
    expect 3 "no structure factors" sim $cell -stol ../w.stol -floatfile o

    # amounts without amplitudes: said, and without effect
    succeed sim $cell -default_F 1 -detpixels 8 -floatfile o
    succeed sim $cell -default_F 1 -detpixels 8 -floatfile p -density 2 -amorphous_thickness 3
    same o p "amounts of amorphous matter without amplitudes"
    grep -q "note: -thickness, -density, -MW, -molecules and -amorphous_... have no effect" ../err || complain "no word about them"
    succeed sim $cell -default_F 1 -detpixels 8 -floatfile p -stol ../w.stol -density 2
    [ ! -s ../err ] || complain "with amplitudes there is a remark: $(cat ../err)"
    succeed check $cell -default_F 1 -detpixels 8 -pixel 5 -stol ../w.stol -params distance,wavelength,polarization
    rm -f o p

    # orient
    expect 3 "unit cell: expected cell edges and angles or an orientation matrix, found neither" orient
    expect 2 "-N belongs to dualbragg sim or grad or check" orient $cell -N 4
    expect 2 "-umat: expected a number, found the end" orient $cell -umat 1 0 0 0 1 0
    expect 2 "-print: expected matrix|flags, found 'angles'" orient $cell -print angles
    expect 2 "-o belongs to dualbragg orient" sim $cell -default_F 1 -o A.mat
    expect 2 "-keywords: expected orientations either there or from -mat and -misset random" \
        orient -keywords ../w.stol -misset random
    expect 3 "orientation: expected a rotation matrix, found one off by 3 with determinant 8" \
        orient $cell -umat 2 0 0 0 2 0 0 0 2
    expect 3 "misset spread: expected more than 0 and at most 180 degree, found 0" \
        orient $cell -misset random -misset_spread 0
    expect 3 "cell angles" orient -cell 40 50 60 20 30 170
    expect 3 "wavelength" orient $cell -lambda 0
    expect 3 "no_such.mat: cannot open" orient -mat no_such.mat
    expect 3 "cannot write there" orient $cell -o no_such_directory/A.mat
    expect 3 "no_such_file: cannot open" orient -keywords no_such_file
    printf 'CELL 40 50 60 90 90 90\nMISET 1 2 3\n' > ../words
    expect 3 "../words:2: expected CELL, WAVE, UMAT, MISSET, RANDOM or MATRIX, found 'MISET'" orient -keywords ../words
    printf 'CELL 40 50 60\n' > ../words
    expect 3 "../words:1: CELL: expected 6 numbers, found fewer" orient -keywords ../words
    printf 'MISSET 1 2 3 4\n' > ../words
    expect 3 "../words:1: MISSET: expected 3 numbers, found more" orient -keywords ../words
    printf 'MISSET 1 two 3\n' > ../words
    expect 3 "../words:1: MISSET: expected a finite number, found 'two'" orient -keywords ../words
    printf 'CELL 40 50 60 90 90 90\nRANDOM 500\n' > ../words
    expect 3 "../words:2: RANDOM: misset spread" orient -keywords ../words
    for angle in 0 -5; do
        printf 'CELL 40 50 60 90 90 90\nRANDOM %s 3\n' $angle > ../words
        expect 3 "../words:2: RANDOM: expected an angle above 0, found $angle" orient -keywords ../words
    done
    printf 'CELL 40 50 60 90 90 90\nRANDOM 5 1e300\n' > ../words
    expect 3 "../words:2: RANDOM: expected a seed" orient -keywords ../words
    printf 'MISSET 1 2 3\n' > ../words
    expect 3 "unit cell: expected cell edges" orient -keywords ../words
    printf 'MATRIX 1 0 0 0 1 0 0 0 -1\n' > ../words
    expect 3 "left-handed" orient -keywords ../words
}
finish
