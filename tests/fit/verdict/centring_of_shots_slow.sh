#!/bin/sh
# A named centring holds for many shots and for a rotation series as for a still (fit/named_centring): no shot lists a reflection
# that it forbids, and spots there end the run as not to be used. If nobody names it, one warning of the run does.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
awk 'BEGIN { srand(4); for (h = -20; h <= 20; h++) for (k = -20; k <= 20; k++) for (l = -28; l <= 28; l++)
    if (h || k || l) { f = 200 * sqrt(-log(1 - rand())); print h, k, l, f > "all.hkl"
    if ((h + k + l) % 2 == 0) print h, k, l, f > "body.hkl" } }'
render() { # NAME HKL MISSET PHI SEED
    "$DUALBRAGG" sim -cell 50 60 70 90 90 90 -misset $3 -phi $4 -osc 1 -hkl $2.hkl -N 20 -gauss_xtal -lambda 1 -distance 100 \
        -detpixels 600 -pixel 0.2 -spots closed -mosaic_rms 0.1 -footprint_rms 0.05 -water 0.01 -fluence 1e25 -seed $5 \
        -noisefile $1_$5.img --quiet
    echo $1_$5.img >> $1.txt
}
for kind in body all; do
    for n in 1 2 3; do
        render still_$kind $kind "$((37 * n)) 11 $((53 + 20 * n))" 0 $n
        render turn_$kind $kind "37 11 53" $n $n
    done
done
cat > still.yaml << 'END'
shots: {list: still_body.txt}
model: {cell: [50, 60, 70, 90, 90, 90], symmetry: P 2 2 2, find_orientation: yes}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, cell_a: {range: 0.5, shared: yes},
         cell_b: {range: 0.5, shared: yes}, cell_c: {range: 0.5, shared: yes}}
END
sed 's/still_body.txt/turn_body.txt, series: yes/' still.yaml > turn.yaml
sed 's/, shared: yes//g' still.yaml > own.yaml
odd() { # PREFIX: number of listed reflections of its shots with odd h + k + l
    cat "$1"_shots/*.hkl | awk '!/^#/ && ($1 + $2 + $3) % 2 { odd++ } END { print odd + 0 }'
}
for how in still turn own; do
    [ $how = own ] && images=still || images=$how
    fit 0 $how.yaml --no-report --model-image --output named "model.symmetry=I 2 2 2"
    [ "$(odd named)" -eq 0 ] || fail "$how, I 2 2 2: $(odd named) forbidden reflections are listed"
    grep -q "looks centred" named.log && fail "$how: the named centring is warned of: $(cat named.log)"
    grep -q '"centring": null' named.json || fail "$how: no centring: null in the JSON file"
    [ "$(cat named_shots/*.hkl | wc -l)" -gt 300 ] || fail "$how, I 2 2 2: only $(cat named_shots/*.hkl | wc -l) lines of reflections"
    fit 0 $how.yaml --output unnamed
    for file in log json html; do
        [ "$(grep -cF "the lattice looks centred (I), which no symmetry names" unnamed.$file)" -eq 1 ] ||
            fail "$how: no warning, or several, in unnamed.$file"
    done
    grep -q '"centring": "I"' unnamed.json || fail "$how: no centring: I in the JSON file"
    fit 0 $how.yaml --no-report --output plain shots.list=${images}_all.txt
    grep -q "looks centred" plain.log && fail "$how: a primitive lattice is warned of: $(cat plain.log)"
    [ $how = turn ] && expected=1 || expected=3 # stills are excluded before they are refined together
    fit $expected $how.yaml --no-report --output wrong shots.list=${images}_all.txt "model.symmetry=I 2 2 2"
    grep -q "spots lie at reflections that the centring I of the named symmetry forbids" err || fail "$how: $(cat err)"
done
