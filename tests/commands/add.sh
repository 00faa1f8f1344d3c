#!/bin/sh
# Sums of images: what is written, what is printed, what is refused.
. "$SOURCE_DIR/tests/cli/expectations"

# floats: 1 2 3 4, 10 20 30 45, and the first with a header of four bytes
printf '\000\000\200\077\000\000\000\100\000\000\100\100\000\000\200\100' > ../a.bin
printf '\000\000\040\101\000\000\240\101\000\000\360\101\000\000\064\102' > ../b.bin
{ printf HEAD; cat ../a.bin; } > ../h.bin

# floats_of FILE [SKIP]: its numbers in a line
floats_of() { od -An -v -t f4 -j "${2:-0}" "$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
expect_floats() { [ "$(floats_of sum.bin)" = "$2" ] || complain "$1: found $(floats_of sum.bin), expected $2"; }

succeed add ../a.bin ../b.bin -o sum.bin
expect_floats "a + b" "11 22 33 49"
[ "$(ls -A)" = sum.bin ] || complain "written: $(ls -A)"
grep -q "^4 pixels$" ../out || complain "no number of pixels"
grep -q "^max = 49 min = 11$" ../out || complain "no extremes: $(cat ../out)"
grep -q "^mean = 28.75 rms = 31.9961 rmsd = 14.0423$" ../out || complain "no mean: $(cat ../out)"
grep -q "^CC = 0.9943767126" ../out || complain "no correlation: $(cat ../out)"
grep -q "^wrote sum.bin as a 0-byte header with 4 4-byte floats$" ../out || complain "does not say what was written"
succeed add ../a.bin ../b.bin:0.5:100 -o sum.bin
expect_floats "a + b/2 + 100" "106 112 118 126.5"
succeed add ../a.bin:-1 -output sum.bin
expect_floats "-a" "-1 -2 -3 -4"
succeed add -scale1 2 ../a.bin -scale2 0.1 ../b.bin -outfile sum.bin
expect_floats "2 a + b/10" "3 6 9 12.5"
succeed add ../a.bin ../b.bin -offset 1 -o sum.bin
expect_floats "(a - 1) + (b - 1) + 1" "10 21 32 48"
succeed add ../a.bin ../b.bin -offset 1 -outoffset 0 -outscale 2 -o sum.bin
expect_floats "2 (a - 1 + b - 1)" "18 40 62 94"
succeed add ../a.bin ../b.bin -ignore 2 -ignore 45 -o sum.bin
expect_floats "marked pixels" "11 2 33 45"
grep -q "^2 invalid of 4 pixels ( 2 left)$" ../out || complain "does not count marked pixels: $(cat ../out)"
succeed add -header 4 ../h.bin ../h.bin:2 -o sum.bin
[ "$(head -c 4 sum.bin)" = HEAD ] || complain "the header is gone"
[ "$(floats_of sum.bin 4)" = "3 6 9 12" ] || complain "a sum behind a header: $(floats_of sum.bin 4)"
printf '# two images\n../a.bin 2\n\n../b.bin\t0.1 1 # with an offset\n' > ../list
succeed add -list ../list ../a.bin -o sum.bin
expect_floats "a list and an image" "5 9 13 17.5"
succeed add ../a.bin -o sum.bin -nostats
if grep -q "mean" ../out; then complain "-nostats: there are statistics"; fi
succeed add ../a.bin -o sum.bin --quiet
[ ! -s ../out ] || complain "--quiet prints: $(cat ../out)"
cp ../a.bin ./in.bin
"$DUALBRAGG" add in.bin in.bin -o ./in.bin > ../out 2> ../err
[ $? -eq 2 ] || complain "an image over itself"
[ "$(floats_of in.bin)" = "1 2 3 4" ] || complain "an image over itself: $(floats_of in.bin)"
cp ../a.bin 'strange:2'
succeed add strange:2 -o sum.bin
expect_floats "a file of this very name" "1 2 3 4"
succeed add strange:2:3 -o sum.bin
expect_floats "the same times 3" "3 6 9 12"
# a thousand images: more than files can be open at once
seq 1000 | sed 's|.*|../a.bin 0.001|' > ../thousand
(ulimit -n 16 && "$DUALBRAGG" add -list ../thousand -o sum.bin --quiet) || complain "a thousand images"
expect_floats "the mean of a thousand" "1 2 3 4"
rm -f ./*

keep=""
printf 12345 > ../odd.bin
head -c 8 ../a.bin > ../two.bin
expect 2 "expected images to add, found none" add
expect 2 "expected images to add, found none" add -o sum.bin
expect 2 "no output named: expected -o FILE" add ../a.bin ../b.bin third.bin
expect 2 "unknown flag '-outfil'; the nearest known one is '-outfile'" add ../a.bin -outfil sum.bin
expect 2 "-o: expected FILE, found the end of the command line" add ../a.bin -o
expect 2 "-scale1: expected a finite number, found 'x'" add ../a.bin -scale1 x -o sum.bin
expect 2 "-offset: expected a finite number, found 'nan'" add ../a.bin -offset nan -o sum.bin
expect 2 "-header: expected a whole number from 0 to 1e9, found -4" add ../a.bin -header -4 -o sum.bin
expect 2 "-scale3: expected the number of an image, found 2 images" add ../a.bin ../b.bin -scale3 2 -o sum.bin
expect 2 "unknown flag '-scale0'" add ../a.bin -scale0 2 -o sum.bin
expect 2 "-histogram compares images" add ../a.bin -histogram -o sum.bin
expect 3 "no_such.bin: cannot open" add ../a.bin no_such.bin -o sum.bin
expect 2 "../a.bin:0.5x: expected FILE[:FACTOR[:OFFSET]] with finite numbers, found '0.5x'" add ../a.bin:0.5x -o sum.bin
expect 2 "../a.bin:nan:3: expected FILE[:FACTOR[:OFFSET]] with finite numbers, found 'nan'" add ../a.bin:nan:3 -o sum.bin
expect 3 "no_such.bin:0.5x: cannot open" add ../a.bin no_such.bin:0.5x -o sum.bin
expect 3 "expected 4 pixels as in ../a.bin, found 2" add ../a.bin ../two.bin -o sum.bin
expect 3 "../odd.bin: expected a header of 0 bytes and 4-byte floats, found 5 bytes" add ../odd.bin -o sum.bin
expect 3 "expected a header of 16 bytes" add -header 16 ../a.bin -o sum.bin
expect 3 "expected a regular file" add /dev/null -o sum.bin
expect 3 "expected a regular file" add .. -o sum.bin
expect 3 "cannot write there" add ../a.bin -o no_such_directory/sum.bin
expect 3 "found a directory" add ../a.bin -o ..
expect 3 "-list no_such_list: cannot open" add -list no_such_list -o sum.bin
printf '# nothing\n' > ../list
expect 3 "expected lines FILE [FACTOR [OFFSET]], found none" add -list ../list -o sum.bin
printf '../a.bin\n../b.bin two\n' > ../list
expect 3 "../list:2: expected a finite factor, found 'two'" add -list ../list -o sum.bin
printf '../a.bin 1 2 3\n' > ../list
expect 3 "../list:1: expected FILE [FACTOR [OFFSET]], found more: '3'" add -list ../list -o sum.bin
finish
