#!/bin/sh
# What sim writes: what was asked for and nothing else.
. "$SOURCE_DIR/tests/cli/expectations"
features=$("$DUALBRAGG" --version)

# shellcheck disable=SC2086 # $small is to be split
{
    succeed sim $small -floatfile image.f32
    [ "$(ls -A)" = image.f32 ] || complain "one file asked for, there are: $(ls -A)"
    [ "$(size_of image.f32)" -eq 4800 ] || complain "image.f32 has $(size_of image.f32) bytes, expected 40 x 30 x 4"
    grep -q "^mosflm convention selected.$" ../out || complain "the report does not name the convention"
    grep -q "^max_I = " ../out || complain "the report has no maximum"

    succeed sim $small -intfile image.img
    [ "$(head -c 2 image.img | head -1)" = "{" ] || complain "image.img does not begin like an SMV file"
    bytes=$(grep -a -m1 '^HEADER_BYTES=' image.img | tr -dc 0-9)
    [ "$(size_of image.img)" -eq $((bytes + 2400)) ] || complain "image.img: header $bytes, size $(size_of image.img)"
    case $features in *PNG*)
        succeed sim $small -pngfile image.png
        [ "$(head -c 4 image.png | tail -c 3)" = PNG ] || complain "image.png does not begin like a PNG file" ;;
    esac

    # the whole sphere's sixth: a square as wide as twice its distance
    succeed sim -xds -cell 50 -default_F 1 -oversample 1 -detpixels 10 -pixel 10 -distance 50 -floatfile again.f32 \
        --digits 12
    grep -q "^solid angle subtended by detector = 2.09439510239 steradian ( 16.6666666667% sphere)$" ../out ||
        complain "$(grep 'solid angle' ../out)"

    # what a list has no room for is named
    case $features in *JSON*)
        succeed sim $small -crystal_position 0.5 0 0 -exptfile moved.expt
        grep -q -- "-exptfile leaves out the position of the crystal" ../err || complain "a position is lost: $(cat ../err)"
        succeed sim $small -exptfile still.expt
        [ ! -s ../err ] || complain "a crystal at the origin: $(cat ../err)" ;;
    esac

    # a device is written in place
    succeed sim $small -floatfile /dev/null
    [ -c /dev/null ] || complain "/dev/null is not a device any more"

    # quiet means quiet
    succeed sim $small -floatfile again.f32 --quiet
    [ ! -s ../out ] || complain "--quiet prints: $(head -1 ../out)"
    [ ! -s ../err ] || complain "--quiet prints on stderr: $(head -1 ../err)"
    same image.f32 again.f32 "the same command twice"

    # names, spellings and order of flags do not matter
    succeed sim -floatimage again.f32 --oversample 1 -pixel_size 0.5 --detpixels_y 30 -detpixels_x 40 -distance 70 \
        -wavelength 1.3 -N 4 -default_F 100 -misset 10 20 30 -cell 40 50 60 90 100 90
    same image.f32 again.f32 "aliases in another order"
    succeed sim $small -nonoise -nopgm -noprogress -progress -floatfile again.f32
    same image.f32 again.f32 "flags without effect"
    [ ! -s ../err ] || complain "-nonoise -nopgm are accepted silently, but: $(cat ../err)"
    succeed sim $small -oversample_omega -coherent -density 1.2 -MW 14000 -floatfile again.f32
    same image.f32 again.f32 "flags that say what is done anyway"
    grep -q "note: -coherent has no effect" ../err || complain "no word about -coherent"
    succeed sim $small -lambda 2 -lambda 1.3 -floatfile again.f32
    same image.f32 again.f32 "the last of two wavelengths wins"
    succeed sim $small -lambda 1.3 -energy 12000 -floatfile both.f32
    grep -q "note: -lambda 1.3 contradicts -energy 12000" ../err || complain "no word about -lambda beside -energy"
    succeed sim $small -lambda 1.3 -energy 9537.24615 -floatfile both.f32
    grep -q "contradicts" ../err && complain "-lambda contradicts an equal -energy"
    succeed sim $small -energy 9537.2461538461538 -floatfile energy.f32
    succeed sim -twotheta 10 -twotheta_axis 0 0 -1 $small -floatfile a.f32
    succeed sim $small -twotheta_axis 0 0 -1 -twotheta 10 -floatfile b.f32
    same a.f32 b.f32 "two-theta and its axis in either order"
    succeed sim -xds $small -spindle_axis 0 1 0 -floatfile a.f32
    succeed sim -spindle_axis 0 1 0 $small -xds -floatfile b.f32
    same a.f32 b.f32 "a vector and a convention in either order"
    grep -q "convention custom instead of xds" ../out || complain "no word about the convention custom"
    succeed sim $small -misset random -misset_seed 7 -floatfile a.f32
    succeed sim $small -seed 7 -misset random -floatfile b.f32
    same a.f32 b.f32 "misset seed and common seed"
    succeed sim $small -pix0_vector 0.07 0.01 -0.01 -floatfile a.f32
    succeed sim $small -pix0_vector_mm 70 10 -10 -floatfile b.f32
    same a.f32 b.f32 "origin in m and mm"
    succeed sim $small -divergence 2 -divsteps 2 -floatfile a.f32
    succeed sim $small -hdivrange 2 -vdivrange 2 -hdivsteps 2 -vdivsteps 2 -floatfile b.f32
    same a.f32 b.f32 "divergence of both directions at once and one by one"
    succeed sim $small -samplesize 2e-5 -floatfile a.f32
    succeed sim $small -Na 5 -Nb 4 -Nc 4 -floatfile b.f32
    same a.f32 b.f32 "crystal size in mm and in cells"
    succeed sim -Na 5 -hdivrange 2 $small -divergence 1 -divsteps 2 -floatfile a.f32
    succeed sim $small -divergence 1 -divsteps 2 -hdivrange 2 -Na 5 -floatfile b.f32
    same a.f32 b.f32 "flags for one axis before and after those for all"
    succeed sim -coherent --quiet $small -floatfile a.f32
    [ ! -s ../err ] || complain "--quiet after a flag without effect prints: $(cat ../err)"

    # numbers are separated by blanks or commas, values from flags by a blank or =
    for cell in "-cell=40,50,60,90,100,90" "-cell 40,50,60,90,100,90" "-cell 40, 50, 60, 90, 100, 90" "--cell=40 50 60 90 100 90"; do
        succeed sim ${small#-cell 40 50 60 90 100 90} $cell -misset=10,20,30 --lambda=1.3 -floatfile commas.f32
        same image.f32 commas.f32 "$cell"
    done

    # threads and a second run
    for threads in 1 2 3; do
        succeed sim $small -oversample 3 -mosaic 1 --threads $threads -floatfile t$threads.f32
    done
    same t1.f32 t2.f32 "one and two threads"
    same t1.f32 t3.f32 "one and three threads"

    # a region: these pixels as in the whole image, the others 0
    succeed sim $small -roi 10 19 5 8 -floatfile roi.f32 -intfile roi.img -scale 1 -adc 40
    [ "$(size_of roi.f32)" -eq 4800 ] || complain "roi.f32 has another size"
    for row in 0 4 5 8 9 29; do
        cut_row() { tail -c +$((row * 160 + 1)) "$1" | head -c 160 | tail -c +41 | head -c 40; }
        cut_row image.f32 > whole; cut_row roi.f32 > part
        head -c 40 /dev/zero > zeros
        case $row in 5 | 8) same whole part "row $row of the region" ;; *) same zeros part "row $row outside" ;; esac
    done
    tail -c 2400 roi.img | head -c 400 | tr -d '\000' > outside
    [ ! -s outside ] || complain "pixels of the SMV image outside the region are not 0"
}
finish
