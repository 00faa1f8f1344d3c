#!/bin/sh
# A named centring forbids reflections. A crystal that shows them must not end with success, as if the group were right; one
# that lacks them does, with that group and with the primitive one. No output lists forbidden reflections; with the primitive
# group, or none, a warning names the centring.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" --version | grep -q gemmi || {
    echo "skipped: a build without gemmi"
    exit 77
}
awk 'BEGIN { srand(4); for (h = -20; h <= 20; h++) for (k = -20; k <= 20; k++) for (l = -28; l <= 28; l++)
    if ((3 + h + k + l) % 2 && (h || k || l)) print h, k, l, 200 * sqrt(-log(1 - rand())) > "body.hkl" }'
awk 'BEGIN { srand(4); for (h = -20; h <= 20; h++) for (k = -20; k <= 20; k++) for (l = -28; l <= 28; l++)
    if (h || k || l) print h, k, l, 200 * sqrt(-log(1 - rand())) > "all.hkl" }'
for kind in body all; do
    "$DUALBRAGG" sim -cell 50 60 70 90 90 90 -misset 37 11 53 -hkl $kind.hkl -N 20 -gauss_xtal -lambda 1 -distance 100 -detpixels 600 \
        -pixel 0.2 -spots closed -mosaic_rms 0.1 -footprint_rms 0.05 -water 0.01 -fluence 1e25 -seed 3 -noisefile $kind.img --quiet
done
odd() { # PREFIX: number of listed reflections with odd h + k + l
    awk '!/^#/ && ($1 + $2 + $3) % 2 { odd++ } END { print odd + 0 }' "$1.hkl"
}
looks="the lattice looks centred (I), which no symmetry names"
for group in "I 2 2 2" "i 2 2 2" i222; do
    fit 0 body.img --cell 50 60 70 --symmetry "$group" --no-report --output centred
    [ "$(odd centred)" -eq 0 ] || fail "$group: $(odd centred) forbidden reflections are listed"
    grep -q "looks centred" centred.log && fail "$group: the named centring is warned of: $(cat centred.log)"
    grep -q '"centring": null' centred.json || fail "$group: no centring: null in the JSON file"
done
fit 0 body.img --cell 50 60 70 --symmetry "P 2 2 2" --no-report --output primitive
[ "$(odd primitive)" -gt 100 ] || fail "a primitive cell lists $(odd primitive) reflections with odd h + k + l"
grep -qF "$looks" primitive.log || fail "no warning: $(cat primitive.log)"
grep -q '"centring": "I"' primitive.json || fail "no centring: I in the JSON file"
fit 0 body.img --cell 50 60 70 --symmetry orthorhombic --no-report --output unnamed
grep -qF "$looks" unnamed.log || fail "no warning: $(cat unnamed.log)"
fit 0 all.img --cell 50 60 70 --symmetry "P 2 2 2" --no-report --output right
grep -q "looks centred" right.log && fail "a primitive lattice is warned of: $(cat right.log)"
# R in hexagonal axes, which the PDB calls H
awk 'BEGIN { srand(4); for (h = -20; h <= 20; h++) for (k = -20; k <= 20; k++) for (l = -28; l <= 28; l++)
    if ((k - h + l) % 3 == 0 && (h || k || l)) print h, k, l, 200 * sqrt(-log(1 - rand())) > "obverse.hkl" }'
"$DUALBRAGG" sim -cell 60 60 70 90 90 120 -misset 37 11 53 -hkl obverse.hkl -N 20 -gauss_xtal -lambda 1 -distance 100 -detpixels 600 \
    -pixel 0.2 -spots closed -mosaic_rms 0.1 -footprint_rms 0.05 -water 0.01 -fluence 1e25 -seed 3 -noisefile obverse.img --quiet
fit 0 obverse.img --cell 60 60 70 90 90 120 --symmetry "H 3" --no-report --output named_h
[ "$(awk '!/^#/ && ($2 - $1 + $3) % 3' named_h.hkl | wc -l)" -eq 0 ] || fail "H 3: forbidden reflections are listed"
grep -q "looks centred" named_h.log && fail "H 3: the named centring is warned of: $(cat named_h.log)"
# a given orientation that is reverse becomes obverse
cat > given.yaml <<END
image: obverse.img
model: {cell: [60, 60, 70, 90, 90, 120], symmetry: R 3, misset: [37, 11, 53]}
END
for c in -1 1; do # a and b: reverse, obverse
    fit 0 given.yaml "model.orientation=[$c, 0, 0, 0, $c, 0, 0, 0, 1]" --no-report --output kept
    grep -F "obverse.img: the given orientation was turned, so that indices are now -h,-k,l" kept.log > turned || true
    [ "$(wc -l < turned)" -eq $(((1 - c) / 2)) ] || fail "$c: $(cat kept.log)"
    [ "$(awk '!/^#/ && ($2 - $1 + $3) % 3 == 0' kept.hkl | wc -l)" -gt 100 ] || fail "$c: few reflections"
done
# known amplitudes have obverse indices, too
awk '{ print -$1, -$2, $3, $4 }' obverse.hkl > reverse.hkl
awk '($2 - $1 + $3) % 3' reverse.hkl | cat obverse.hkl - > both.hkl
cat > known.yaml <<END
image: obverse.img
model: {cell: [60, 60, 70, 90, 90, 120], symmetry: R 3, misset: [37, 11, 53], Ncells: [20, 20, 20], shape: gauss, spots: closed,
        mosaic_rms: 0.1, footprint_rms: [0.05, 0.05]}
intensity: {hkl: obverse.hkl}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}}
END
for c in -1 1; do
    orientation="model.orientation=[$c, 0, 0, 0, $c, 0, 0, 0, 1]"
    fit 0 known.yaml "$orientation" --no-report --output of_known
    grep -q "explains 9. % of the strong pixels" of_known.log || fail "$c, known amplitudes: $(grep explains of_known.log)"
    fit 3 known.yaml "$orientation" intensity.hkl=reverse.hkl --no-report --output of_known
    grep -q "reverse.hkl: of [0-9]* amplitudes [0-9]* have reverse indices of R .* write -h,-k,l in place of h,k,l" err ||
        fail "$c, reverse amplitudes: $(cat err)"
done
# a list of both kinds has all that the model needs
fit 0 known.yaml "model.orientation=[1, 0, 0, 0, 1, 0, 0, 0, 1]" intensity.hkl=both.hkl --no-report --output of_known
# that of a series, too
for f in 1 2 3; do echo "frame_$f phi=$((f / 2)).$((f % 2 * 5))"; done > frames.lst
"$DUALBRAGG" sim -cell 60 60 70 90 90 120 -misset 37 11 53 -hkl obverse.hkl -N 20 -gauss_xtal -lambda 1 -distance 100 -detpixels 600 \
    -pixel 0.2 -spots closed -mosaic_rms 0.1 -footprint_rms 0.05 -water 0.01 -fluence 1e25 -seed 3 -osc 0.5 --shots frames.lst \
    -noisefile obverse.h5 --quiet
echo 'obverse.h5#1-3' > frames.txt
sed 's/^image.*/shots: {list: frames.txt, series: yes}/' given.yaml > series.yaml
for c in -1 1; do
    fit 0 series.yaml "model.orientation=[$c, 0, 0, 0, $c, 0, 0, 0, 1]" --no-report --output sweep
    grep -F "frames.txt: the given orientation was turned, so that indices are now -h,-k,l" sweep.log > turned || true
    [ "$(wc -l < turned)" -eq $(((1 - c) / 2)) ] || fail "$c: $(cat sweep.log)"
    [ "$(awk '!/^#/ && ($2 - $1 + $3) % 3 == 0' sweep_merged.hkl | wc -l)" -gt 100 ] || fail "$c: few reflections of a series"
done
# a found cell must have the named centring
fit 0 obverse.img --symmetry "H 3" --no-report --output found
for group in "P 61 2 2" 178; do
    fit 3 obverse.img --symmetry "$group" --no-report --output found
    grep -qF "the cell that was found cannot have the symmetry $group" err || fail "$group: $(cat err)"
done
# and the axes that a symbol names, if these are not the usual ones
awk 'BEGIN { srand(4); for (h = -22; h <= 22; h++) for (k = -22; k <= 22; k++) for (l = -30; l <= 30; l++)
    if (h || k || l) { f = 200 * sqrt(-log(1 - rand())); if ((h + k + l) % 2 == 0) print h, k, l, f > "I.hkl"
    if ((k + l) % 2 == 0) print h, k, l, f > "A.hkl" } }'
for kind in I A; do
    [ $kind = I ] && cell="52 41 63 90 98 90" || cell="45 52 71 90 90 90"
    "$DUALBRAGG" sim -cell $cell -misset 37 11 53 -hkl $kind.hkl -N 20 -gauss_xtal -lambda 1 -distance 100 -detpixels 600 -pixel 0.2 \
        -spots closed -mosaic_rms 0.1 -footprint_rms 0.05 -water 0.01 -fluence 1e25 -seed 3 -noisefile setting_$kind.img --quiet
done
constants() { # PREFIX NAME VALUE...: the cell is right within its errors
    while [ $# -gt 2 ]; do
        near "$1: $2" "$(refined "$1.json" "$2")" "$3" "$(value "$1.json" "$2" error | awk '{ print 4 * ($1 < 0.02 ? $1 : 0.02) }')"
        prefix=$1
        shift 3
        set -- "$prefix" "$@"
    done
}
for group in "I 1 2 1" I2; do
    fit 0 setting_I.img --symmetry "$group" --no-report --output setting_I
    constants setting_I cell_a 52 cell_b 41 cell_c 63 cell_beta 98
    [ "$(wc -l < setting_I.hkl)" -gt 300 ] && [ "$(odd setting_I)" -eq 0 ] || fail "$group: forbidden reflections are listed"
done
fit 0 setting_A.img --symmetry "A 2 2 2" --no-report --output setting_A
constants setting_A cell_a 45 cell_b 52 cell_c 71
[ "$(awk '!/^#/ && ($2 + $3) % 2' setting_A.hkl | wc -l)" -eq 0 ] || fail "A 2 2 2: forbidden reflections are listed"
# the cell of a rhombohedral lattice in its own axes is primitive
"$DUALBRAGG" sim -cell 60 60 60 80 80 80 -misset 37 11 53 -hkl all.hkl -N 20 -gauss_xtal -lambda 1 -distance 100 -detpixels 600 \
    -pixel 0.2 -spots closed -mosaic_rms 0.1 -footprint_rms 0.05 -water 0.01 -fluence 1e25 -seed 3 -noisefile own_axes.img --quiet
fit 0 own_axes.img --cell 60 60 60 80 80 80 --symmetry "R 3 :R" --no-report --output own_axes
for group in "I 2 2 2" "C 2 2 21" "F 2 2 2"; do
    fit 1 all.img --cell 50 60 70 --symmetry "$group" --no-report --output wrong
    grep -q "spots lie at reflections that the centring ${group%% *} of the named symmetry forbids" wrong.log || fail "$group: $(cat wrong.log)"
done
