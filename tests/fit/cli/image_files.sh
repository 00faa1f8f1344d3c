#!/bin/sh
# --model-image and the intensities from outside: the images are what sim renders from the refined model and its list, and
# are written whole or not at all.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
needs_noise
crystal="-cell 40 55 70 90 90 90 -N 14 -gauss_xtal"
camera="-lambda 1 -distance 100 -detpixels 400 -pixel 0.2 -oversample 1 -spots closed -mosaic_rms 0.1"
# shellcheck disable=SC2086
"$DUALBRAGG" sim $crystal $camera -misset 37 11 53 -default_F 1e6 -water 30 -fluence 3e19 -seed 3 -noisefile crystal.img > /dev/null
cat > fit.yaml << 'TEXT'
image: crystal.img
model: {cell: [40, 55, 70, 90, 90, 90], misset: [37.03, 11.03, 53.03], shape: gauss, Ncells: [14, 14, 14], spots: closed, mosaic_rms: 0.1,
        oversample: 1}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}}
TEXT
fit() { # EXPECTED_STATUS ARGUMENTS...
    status=0 expected=$1
    shift
    "$DUALBRAGG" fit fit.yaml "$@" --no-report --threads 1 > out 2> err || status=$?
    [ "$status" -eq "$expected" ] || fail "fit $*: exit status $status instead of $expected: $(cat err)"
}

fit 0 --output right --model-image
for file in right_model.bin right_background.bin; do
    [ "$(wc -c < $file)" -eq 640000 ] || fail "$file: expected 400 x 400 floats"
    grep -q "^$file: " right.log || fail "the log does not name $file"
done
# shellcheck disable=SC2086
"$DUALBRAGG" sim $camera -mat right.mat -N 14 -gauss_xtal -hkl right.hkl -default_F 0 -floatfile sim.bin > /dev/null
"$DUALBRAGG" compare sim.bin right_model.bin -brightest 1e-4 > out || fail "sim renders another image: $(cat out)"
"$DUALBRAGG" add right_model.bin right_background.bin -o whole.bin > /dev/null
"$DUALBRAGG" compare crystal.img whole.bin -correlation 0.9 -share 1 > out || fail "the images are not those measured: $(cat out)"

# without the flag there are none; known structure factors have no list
fit 0 --output plain
[ ! -e plain_model.bin ] && [ ! -e plain_background.bin ] || fail "images without --model-image"
cmp -s plain.hkl right.hkl && cmp -s plain.refl right.refl || fail "--model-image changes the intensities"
awk '!/^#/ { print $1, $2, $3, $4 }' right.hkl > known.hkl
fit 0 --output known --model-image intensity.hkl=known.hkl
[ ! -e known.hkl.refl ] && [ ! -e known.refl ] || fail "a list of intensities that were known"
"$DUALBRAGG" compare right_model.bin known_model.bin -brightest 0.05 -correlation 0.99 > out || fail "known: $(cat out)"

# refused before any work: an output that is an input
ln -s crystal.img input_model.bin
fit 2 --output input --model-image
grep -q 'output input_model.bin would replace the input of image crystal.img' err || fail "an input is an output: $(cat err)"

# a full disk (files of at most 1000 blocks): the image is not there, or the old one
. "$SOURCE_DIR/tests/support/file_limit"
if lives_with_file_limit 1000; then
    echo old > full_model.bin
    status=0
    (ulimit -f 1000 && trap '' XFSZ && exec "$DUALBRAGG" fit fit.yaml --output full --no-report --model-image --quiet) 2> err || status=$?
    [ $status -eq 3 ] || fail "a full disk: exit status $status: $(cat err)"
    grep -q 'full_model.bin: cannot write: File too large' err || fail "a full disk: $(cat err)"
    [ "$(cat full_model.bin)" = old ] || fail "a full disk: the old image is gone"
    [ ! -e full_background.bin ] || fail "a full disk: half of the files"
fi
[ "$failures" -eq 0 ]
