#!/bin/sh
# Comparisons of images: what is printed and written, which exit status, what is refused.
. "$SOURCE_DIR/tests/cli/expectations"

# 2 x 2 floats: 1 2 3 4, the same with 4.5 in the end, and with NaN in the second place
printf '\000\000\200\077\000\000\000\100\000\000\100\100\000\000\200\100' > ../a.bin
printf '\000\000\200\077\000\000\000\100\000\000\100\100\000\000\220\100' > ../b.bin
printf '\000\000\200\077\000\000\300\177\000\000\100\100\000\000\200\100' > ../nan.bin
# 3 x 2 floats: 0 0 0 0 0 0, and the same with 8 in the fifth place
head -c 24 /dev/zero > ../zero.bin
{ head -c 16 /dev/zero; printf '\000\000\000\101'; head -c 4 /dev/zero; } > ../eight.bin
# SMV, 2 x 2 unsigned 16-bit: 41 42 43 44 on a pedestal of 40; and with 0, no data, in the end
header='{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1=2;\nSIZE2=2;\nIMAGE_PEDESTAL=40;\nPIXEL_SIZE=0.1;\nDISTANCE=100;\nWAVELENGTH=1;\n}\n'
smv() { # FILE BYTES
    # shellcheck disable=SC2059 # formats
    { printf "$header"; head -c 512 /dev/zero | tr '\000' ' '; } | head -c 512 > "$1"
    # shellcheck disable=SC2059
    printf "$2" >> "$1"
}
smv ../a.img '\051\000\052\000\053\000\054\000'
smv ../zero.img '\000\000\000\000\000\000\000\000'
smv ../gap.img '\051\000\052\000\053\000\000\000'

# expect_status STATUS ARGUMENTS...: an exit status without a word on stderr
expect_status() {
    expected=$1
    shift
    "$DUALBRAGG" compare "$@" > ../out 2> ../err
    status=$?
    [ $status -eq "$expected" ] || complain "compare $*: exit status $status, expected $expected; $(cat ../err)"
    [ ! -s ../err ] || complain "compare $*: $(cat ../err)"
}
says() { grep -qxF -e "$1" ../out || complain "'$1' is missing: $(cat ../out)"; }

expect_status 0 ../a.bin ../a.bin
says "correlation 1"
says "the images agree by the criterion: all pixels are equal"
expect_status 1 ../a.bin ../b.bin
says "A: ../a.bin, float, 2 x 2 pixels"
says "   sum 10, mean 2.5, largest 4 at fast 1 slow 1"
says "   sum 10.5, mean 2.625, largest 4.5 at fast 1 slow 1"
says "4 pixels compared, 0 left out"
says "correlation 0.994376712684" # 5.75 / sqrt(5 x 6.6875), from the sums of products of the deviations
says "rms of B - A 0.25 (9.13 % of that of A)" # sqrt(0.5^2 / 4), of sqrt(30 / 4)
says "largest difference 0.5 at fast 1 slow 1: A 4, B 4.5"
says "1 pixels (25 %) lie beyond the bounds"
says "the images differ by the criterion: all pixels are equal"

# the criterion has a name: what agrees by it need not be alike
expect_status 0 ../a.bin ../b.bin -absolute 1 -relative 0.5 -brightest 0.25 -share 0.1 -correlation 0.5
says "the images agree by the criterion: all but 10 % of the pixels differ by at most 1 + 0.5 |A| + 1 (0.25 of the brightest pixel), and the correlation is at least 0.5"
expect_status 1 ../a.bin ../b.bin -absolute 0.25
says "the images differ by the criterion: all pixels differ by at most 0.25"

# bounds: each alone, both sides of the limit, and their sum
expect_status 0 ../a.bin ../b.bin -absolute 0.5
expect_status 1 ../a.bin ../b.bin -absolute 0.4999
expect_status 0 ../a.bin ../b.bin -relative 0.125
expect_status 1 ../a.bin ../b.bin -relative 0.1249
expect_status 0 ../b.bin ../a.bin -brightest 0.1112
expect_status 1 ../b.bin ../a.bin -brightest 0.1111
expect_status 0 ../a.bin ../b.bin -absolute 0.25 -relative 0.03125 --brightest 0.03125
expect_status 0 ../a.bin ../b.bin -share 0.25
expect_status 1 ../a.bin ../b.bin -share 0.24
expect_status 0 ../a.bin ../b.bin -share 1 -correlation 0.994
expect_status 1 ../a.bin ../b.bin -share 1 -correlation 0.995
expect_status 0 ../zero.bin ../zero.bin -correlation 1 -detpixels_f 3
says "correlation not defined: an image is constant"
says "   sum 0, mean 0, largest 0 at fast 0 slow 0"

# a shape that is no square, a scale
expect_status 1 ../zero.bin ../eight.bin -detpixels_f 3
says "largest difference 8 at fast 1 slow 1: A 0, B 8"
expect_status 1 ../zero.bin ../eight.bin -detpixels_s 3
says "largest difference 8 at fast 0 slow 2: A 0, B 8"
expect_status 0 ../a.bin ../a.img -scale 1
expect_status 1 ../a.bin ../a.img -scale 2
says "largest difference 4 at fast 1 slow 1: A 4, B 8"
"$DUALBRAGG" add ../a.bin:4 -o ../four.bin --quiet
expect_status 0 ../a.bin ../four.bin -scale fit
says "B: ../four.bin, float, 2 x 2 pixels, times 0.25"

# what does not count
expect_status 0 ../gap.img ../b.bin
says "3 pixels compared, 1 left out"
expect_status 0 ../a.bin ../b.bin -mask ../gap.img
cp ../gap.img mask # a file with the name of a flag
expect_status 0 ../a.bin ../b.bin -mask mask
rm mask
expect_status 0 ../nan.bin ../nan.bin
says "3 pixels compared, 1 left out"
expect_status 1 ../nan.bin ../a.bin -absolute 1e9
says "1 pixels are a number in one image only"
says "4 pixels compared, 0 left out"
says "1 pixels (25 %) lie beyond the bounds"
[ -z "$(ls -A)" ] || complain "left behind: $(ls -A)"

# files: JSON and a picture
case $("$DUALBRAGG" --version) in *JSON*)
    expect_status 1 ../a.bin ../b.bin -json result.json -absolute 0.1
    python3 - << 'END' || complain "result.json"
import json
with open("result.json") as file:
    r = json.load(file)
assert r["agree"] is False and r["shape"] == [2, 2] and r["pixels"] == 4 and r["left_out"] == 0
assert r["A"]["file"] == "../a.bin" and r["A"]["sum"] == 10 and r["B"]["sum"] == 10.5
assert r["B"]["largest"] == 4.5 and r["B"]["largest_at"] == [1, 1] and r["B"]["format"] == "float"
assert r["largest_difference"] == {"value": 0.5, "at": [1, 1], "A": 4, "B": 4.5}
assert r["rms_difference"] == 0.25 and r["beyond_bounds"] == 1 and r["share_beyond_bounds"] == 0.25
assert r["bounds"] == {"absolute": 0.1, "relative": 0, "brightest": 0, "share": 0, "correlation": None}
a, b = (1, 2, 3, 4), (1, 2, 3, 4.5)
da, db = [x - 2.5 for x in a], [x - 2.625 for x in b]
dot = lambda u, v: sum(x * y for x, y in zip(u, v))
assert abs(r["correlation"] - dot(da, db) / (dot(da, da) * dot(db, db)) ** 0.5) < 1e-15
END
    expect_status 0 ../zero.bin ../zero.bin -detpixels_f 3 -json - --quiet
    python3 -c 'import json, sys; r = json.load(sys.stdin); assert r["agree"] and r["correlation"] is None' < ../out ||
        complain "JSON on the standard output: $(cat ../out)"
    rm -f result.json ;;
esac
case $("$DUALBRAGG" --version) in *PNG*)
    expect_status 1 ../a.bin ../b.bin -pngfile difference.png --quiet
    [ ! -s ../out ] || complain "--quiet prints $(cat ../out)"
    [ "$(od -An -tx1 -j 16 -N 8 difference.png | tr -d ' \n')" = 0000000200000002 ] || complain "no picture of 2 x 2 pixels"
    expect_status 0 ../a.bin ../a.bin -png difference.png # no range of colours
    rm -f difference.png ;;
esac

expect 2 "expected two images, found 1" compare ../a.bin
expect 2 "expected two images, found one more: '../b.bin'" compare ../a.bin ../a.bin ../b.bin
expect 2 "unknown flag '-absolut'; the nearest known one is '-absolute'" compare ../a.bin ../a.bin -absolut 1
expect 2 "unknown flag '-bogus'; dualbragg help compare lists all" compare ../a.bin ../a.bin -bogus
expect 2 "-absolute: expected a number from 0, found '-1'" compare ../a.bin ../a.bin -absolute -1
expect 2 "-share: expected a number from 0 to 1, found '2'" compare ../a.bin ../a.bin -share 2
expect 2 "-detpixels: expected a whole number from 1, found '0'" compare ../a.bin ../a.bin -detpixels 0
expect 2 "-json: expected FILE, found the end" compare ../a.bin ../a.bin -json
expect 2 "-json: expected FILE, found '-pngfile'" compare ../a.bin ../a.bin -json -pngfile
expect 3 "no_such.bin" compare ../a.bin no_such.bin
expect 3 "the images have different sizes: ../a.bin has 4 floats, ../eight.bin has 6 floats" compare ../a.bin ../eight.bin
expect 3 "the images have different sizes: ../a.img has 2 x 2 pixels, ../eight.bin has 6 floats" compare ../a.img ../eight.bin
expect 3 "../eight.bin: 6 pixels are no square; give their shape by -detpixels_f FAST" compare ../eight.bin ../zero.bin
expect 3 "../eight.bin: expected 4 x 1 pixels, found 6" compare ../eight.bin ../zero.bin -detpixels_f 4
expect 3 "no pixels to compare" compare ../nan.bin ../nan.bin -mask ../zero.img
expect 3 "cannot write there" compare ../a.bin ../a.bin -json no_such_directory/o
finish
