#!/bin/sh
# Shots of a list may have energies that differ by several percent: a table of f' and f'' reaches each of them, whichever is the
# first. A shot beyond the curve of a file is excluded by name, and the others go on; if all are, the run says why.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" --version | grep -q gemmi || {
    echo "skipped: a build without gemmi"
    exit 77
}
awk 'BEGIN { srand(3); print "CRYST1   28.000   33.000   24.000  90.00  90.00  90.00 P 21 21 21    4"
    for (n = 1; n <= 42; n++) printf "HETATM%5d %-4s %3s A%4d    %8.3f%8.3f%8.3f  1.00 20.00          %2s\n", n, n == 1 ? "FE1" : "C1",
        n == 1 ? "FES" : "LIG", n, 21 * rand(), 21 * rand(), 21 * rand(), n == 1 ? "FE" : "C" }' > f.pdb
n=0
for energy in 7400 7120 7120; do
    n=$((n + 1))
    "$DUALBRAGG" sim -model f.pdb -sites FES:FE1=table -model_resolution 2 -cell 28 33 24 90 90 90 -energy $energy -misset $((30 * n)) 20 30 \
        -N 20 -gauss_xtal -distance 60 -detpixels 200 -pixel 0.6 -spots closed -mosaic_rms 0.4 -footprint_rms 0.05 -water 0.01 -fluence 1e27 \
        -seed $n -noisefile shot_$n.img --quiet
    echo "shot_$n.img model.misset=[$((30 * n)), 20, 30]" >> shots.txt
done
cat > shots.yaml << 'END'
shots: {list: shots.txt}
model: {cell: [28.03, 33, 24, 90, 90, 90], symmetry: P 21 21 21, Ncells: [20, 20, 20], shape: gauss, spots: closed, mosaic_rms: 0.4,
        footprint_rms: [0.05, 0.05]}
intensity: {hkl: f.pdb, model_resolution: 2, sites: "FES:FE1=table"}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, scale: , cell_a: {range: 0.5}}
END
for how in "refine.cell_a.shared=no" "refine.cell_a.shared=yes"; do
    fit 0 shots.yaml --no-report --output table $how
    grep -q '^3 of 3 shots in use' table.log || fail "a table, $how: $(cat table.log)"
done
near "cell a" "$(refined table.json cell_a)" 28 0.005
awk 'BEGIN { for (e = 7000; e <= 7200; e += 10) print e, -4, 2 }' > near.tsv
fit 0 shots.yaml --no-report --output file "intensity.sites=FES:FE1=near.tsv"
grep -q '^2 of 3 shots in use' file.log || fail "a curve of a file: $(cat file.log)"
grep -q 'excluded: shot_1.img: sites FES:FE1: a source has 7400 eV (.* A): expected a curve that reaches there' file.log ||
    fail "a curve of a file: no word of the first shot: $(grep excluded file.log)"
awk 'BEGIN { for (e = 8000; e <= 8200; e += 10) print e, -4, 2 }' > far.tsv
fit 3 shots.yaml --no-report --output far "intensity.sites=FES:FE1=far.tsv"
tail -n 1 err | grep -q 'sites FES:FE1: a source has 7.* eV (.* A): expected a curve that reaches there, found one from 8000 to 8200 eV' ||
    fail "no shot in reach: $(cat err)"
[ "$(wc -l < err)" -eq 1 ] || fail "no shot in reach: several messages: $(cat err)"
# atoms of one shot alone, of as many kinds, are not silently those of all shots; nor are other structure factors
for own in "intensity.sites=LIG:C1=table" "intensity={hkl: other.pdb}" "intensity.default_F=3"; do
    { head -n 2 shots.txt && sed -n "3s/\$/ $own/p" shots.txt; } > own.txt
    fit 3 shots.yaml --no-report --output own shots.list=own.txt
    grep -q "own.txt:3: ${own%%=*} is the same for all shots: expected it in the configuration that names the list" err ||
        fail "$own of one shot: $(cat err)"
done
