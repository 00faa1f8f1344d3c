#!/bin/sh
# Several crystals on one image, from outside: found, refined together, fed back; and what is refused.
set -eu
. "$SOURCE_DIR/tests/support/refinement"

number=0
for misset in "20 20 30" "71 -25 55" "-34 12 80"; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    "$DUALBRAGG" sim -cell 58 58 92 90 90 90 -N 12 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 600 \
        -pixel 0.15 -oversample 1 -spots closed -mosaic 0.1 -misset $misset -water $((number == 1 ? 30 : 0)) \
        -floatfile crystal_$number.f32 > /dev/null
done
"$DUALBRAGG" add crystal_1.f32 crystal_2.f32 crystal_3.f32 -o sum.f32 > /dev/null
"$DUALBRAGG" noise -floatfile sum.f32 -detpixels 600 -pixel 0.15 -distance 100 -lambda 1 -calibration 0 -seed 3 -noisefile image.img > /dev/null
cat > fit.yaml << 'END'
image: image.img
model: {cell: [58.05, 58.05, 92.05, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [11, 11, 11], mosaic_spread: 0.1,
        oversample: 1, find_orientation: {lattices: 4}}
refine:
  misset_x: {range: 1}
  misset_y: {range: 1}
  misset_z: {range: 1}
  Na: {min: 3, max: 60}
  Nb: {follows: Na}
  Nc: {follows: Na}
  cell_a: {range: 0.5}
  cell_c: {range: 0.5}
  beam_fast: {range: 1}
  beam_slow: {range: 1}
data: {model_error: 0}
END

fit 0 fit.yaml --output one --threads 1 --model-image
grep -q '^3 lattices of image.img' out || fail "three crystals are not three lattices: $(cat out)"
grep -q '^3 of 3 shots in use' out || fail "lattices were excluded: $(cat out)"
grep -q '"image": ".*img"' one.json || fail "the image of the lattices is not named: $(grep '"image"' one.json)"
near "cell a" "$(refined one.json cell_a)" 58 0.002
near "cell c" "$(refined one.json cell_c)" 92 0.005
chi2=$(sed -n 's/.*chi2 per degree of freedom .* -> //p' out)

# as of an image of one crystal: below 1, since a pixel weighs by the mean of nine, its own noise among them, and no less than its
# background says, which are 2 or 3 photons here
"$DUALBRAGG" noise -floatfile crystal_1.f32 -detpixels 600 -pixel 0.15 -distance 100 -lambda 1 -calibration 0 -seed 3 -noisefile single.img > /dev/null
fit 0 fit.yaml --image single.img --output single --threads 1
near "chi2 per degree of freedom, as of one crystal" "$chi2" "$(sed -n 's/.*chi2 per degree of freedom .* -> //p' out)" 0.05

# each lattice's images: with the light of the others as background they are the measured image, alone the light of one crystal
for number in 1 2 3; do
    files=one_shots/000${number}_image
    [ -s $files.hkl ] && [ -s $files.refl ] || fail "lattice $number: no intensities"
    "$DUALBRAGG" add ${files}_model.bin ${files}_background.bin -o whole.bin > /dev/null
    "$DUALBRAGG" compare image.img whole.bin -absolute 1e9 -correlation 0.9 > out || fail "lattice $number and its background: $(cat out)"
    alone=0
    for crystal in 1 2 3; do
        ! "$DUALBRAGG" compare crystal_$crystal.f32 ${files}_model.bin -absolute 1e9 -correlation 0.9 > out || alone=$((alone + 1))
    done
    [ $alone -eq 1 ] || fail "lattice $number: its image is that of $alone crystals"
done

# any number of threads, and the refined models, which are lattices of one image again
fit 0 fit.yaml --output two --threads 2
[ "$(refined one.json cell_a)" = "$(refined two.json cell_a)" ] || fail "two threads find another cell"
fit 0 one.yaml --output again
near "chi2 of the refined models" "$(sed -n 's/.*chi2 per degree of freedom \([0-9.]*\) ->.*/\1/p' out)" "$chi2" 0.01

# a list with the image three times, whose lattices share nothing and begin a tenth of a degree off: their last stage sees the light that
# the stages before have found
for misset in "20.1, 19.9, 30.1" "70.9, -24.9, 54.9" "-33.9, 11.9, 80.1"; do echo "image.img model.misset=[$misset]" >> own.txt; done
sed '/beam/d; s/range: 0.5/&, shared: no/; s/^image: .*/shots: {list: own.txt}/; s/58.05, 58.05, 92.05/58.1, 58.1, 92.2/; s/11, 11, 11/8, 8, 8/
     s/, find_orientation: .*/}/' fit.yaml > own.yaml
for threads in 1 2; do
    fit 0 own.yaml --output own_$threads --threads $threads --no-report
    near "chi2 of lattices that share nothing" "$(sed -n 's/.*chi2 per degree of freedom .* -> //p' out)" "$chi2" 0.01
done
for number in 1 2 3; do
    near "lattice $number: its own cell a" "$(sed -n 's/^  cell: .\([0-9.]*\),.*/\1/p' own_1_shots/000${number}_image.yaml)" 58 0.002
    cmp own_1_shots/000${number}_image.yaml own_2_shots/000${number}_image.yaml || fail "lattice $number: two threads find another model"
done

# where nothing is named, modes are not refined, as nothing tests what they bring; the detector is
printf 'image: image.img\nmodel: {cell: [58.05, 58.05, 92.05, 90, 90, 90], symmetry: tetragonal, find_orientation: {lattices: 4}}\n' > open.yaml
fit 0 open.yaml --output named_none
grep -q '^3 of 3 shots in use' out || fail "lattices were excluded where nothing is named: $(cat out)"
! grep -q 'mode1_xx' out || fail "lattices have modes that nothing has earned: $(cat out)"
near "cell a by the distance, where nothing is named" \
    "$(awk -v a="$(refined named_none.json cell_a)" -v d="$(refined named_none.json distance)" 'BEGIN { print 100 * a / d }')" 58 0.05

# each by itself: the others' spots spoil it
sed 's/image.img/copy.img/' one_shots/0002_image.yaml > one_shots/other.yaml
cp image.img copy.img
printf 'one_shots/0001_image.yaml\none_shots/other.yaml\n' > apart.txt
fit 0 one.yaml --output apart shots.list=apart.txt
alone=$(sed -n 's/.*chi2 per degree of freedom .* -> //p' out)
awk -v a="$alone" -v b="$chi2" 'BEGIN { exit !(a > 2 * b) }' || fail "images of one crystal each: chi2 $alone, together $chi2"

fit 2 fit.yaml --output bad 'model.find_orientation={lattices: 40}'
grep -q 'find_orientation.lattices: expected a whole number from 1 to 16' err || fail "forty lattices: $(cat err)"
fit 2 fit.yaml --output bad model.find_orientation=maybe
grep -q 'expected one of no, yes, {lattices: N}, found' err || fail "an unknown word: $(cat err)"
"$DUALBRAGG" sim -cell 58 58 92 90 90 90 -N 1 -default_F 1e-3 -fluence 3e19 -lambda 1 -distance 100 -detpixels 600 -pixel 0.15 -water 30 \
    -seed 77 -noisefile blank.img > /dev/null
fit 3 fit.yaml --image blank.img --output bad
grep -q 'no spots were found' err || fail "a blank image: $(cat err)"
