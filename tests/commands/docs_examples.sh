#!/bin/sh
# What the commands of the pages on amorphous matter, orientation matrices and sums of images make.
. "$SOURCE_DIR/tests/cli/expectations"
mkdir ../bin
ln -s "$DUALBRAGG" ../bin/dualbragg
PATH=$work/bin:$PATH
for page in amorphous orientation-matrices images; do
    sed -n '/^```sh$/,/^```$/{/^```/d;p;}' "$SOURCE_DIR/docs/howto/$page.md" >> ../examples
done
[ "$(grep -c '^dualbragg' ../examples)" -ge 10 ] || complain "only $(grep -c '^dualbragg' ../examples) commands found"
sh -eu ../examples > ../out 2> ../err || complain "an example fails: $(cat ../err)"
grep -q '^the images agree by the criterion: ' ../out || complain "compare does not say that the images agree"
[ -s compare.json ] || complain "no compare.json"
[ ! -s ../err ] || complain "the examples have something to say: $(cat ../err)"
for file in water.bin air.bin both.bin image.bin spots.bin some.bin sum.bin; do
    [ "$(size_of $file)" -eq 262144 ] || complain "$file has $(size_of $file) bytes, expected 256 x 256 x 4"
done
[ "$(wc -l < B.mat)" -eq 9 ] || complain "B.mat is no matrix: $(cat B.mat)"
grep -q '^-cell 7[34]\..* -misset .* -lambda 1.2$' ../out || complain "-print flags prints no flags"

# spots: without a background, what sim renders alone
"$DUALBRAGG" sim -cell 60 60 60 90 90 90 -default_F 1000 -N 20 -lambda 1 -distance 200 -detpixels 256 -pixel 0.8 -oversample 15 \
    -flux 1e12 -exposure 0.1 -beamsize 0.05 -floatfile alone.bin --quiet
"$DUALBRAGG" add spots.bin alone.bin:-1 -o difference.bin > ../out
largest=$(sed -n 's/^max = \([^ ]*\) min = \(.*\)/\1 \2/p' ../out | awk '{ print ($1 > -$2 ? $1 : -$2) }')
brightest=$("$DUALBRAGG" add both.bin -o copy.bin | sed -n 's/^max = \([^ ]*\) .*/\1/p')
# rounding to single precision of what is subtracted
awk "BEGIN { exit !($largest <= 3e-7 * $brightest) }" || complain "spots differ from those rendered alone by $largest, the image has $brightest"
finish
