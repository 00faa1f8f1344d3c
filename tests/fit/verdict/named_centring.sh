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
fit 0 body.img --cell 50 60 70 --symmetry "I 2 2 2" --no-report --output centred
[ "$(odd centred)" -eq 0 ] || fail "$(odd centred) forbidden reflections are listed"
grep -q "looks centred" centred.log && fail "the named centring is warned of: $(cat centred.log)"
fit 0 body.img --cell 50 60 70 --symmetry "P 2 2 2" --no-report --output primitive
[ "$(odd primitive)" -gt 100 ] || fail "a primitive cell lists $(odd primitive) reflections with odd h + k + l"
grep -qF "$looks" primitive.log || fail "no warning: $(cat primitive.log)"
fit 0 body.img --cell 50 60 70 --symmetry orthorhombic --no-report --output unnamed
grep -qF "$looks" unnamed.log || fail "no warning: $(cat unnamed.log)"
fit 0 all.img --cell 50 60 70 --symmetry "P 2 2 2" --no-report --output right
grep -q "looks centred" right.log && fail "a primitive lattice is warned of: $(cat right.log)"
# the cell of a rhombohedral lattice in its own axes is primitive
"$DUALBRAGG" sim -cell 60 60 60 80 80 80 -misset 37 11 53 -hkl all.hkl -N 20 -gauss_xtal -lambda 1 -distance 100 -detpixels 600 \
    -pixel 0.2 -spots closed -mosaic_rms 0.1 -footprint_rms 0.05 -water 0.01 -fluence 1e25 -seed 3 -noisefile own_axes.img --quiet
fit 0 own_axes.img --cell 60 60 60 80 80 80 --symmetry "R 3 :R" --no-report --output own_axes
for group in "I 2 2 2" "C 2 2 21" "F 2 2 2"; do
    fit 1 all.img --cell 50 60 70 --symmetry "$group" --no-report --output wrong
    grep -q "spots lie at reflections that the centring ${group%% *} of the named symmetry forbids" wrong.log || fail "$group: $(cat wrong.log)"
done
