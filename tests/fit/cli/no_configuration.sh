#!/bin/sh
# An image and a cell are enough: the orientation is found, spreads start from the spots, and what held-out spots do not
# bear out is left as it is.
set -eu
[ -n "${DUALBRAGG-}" ] && "$DUALBRAGG" --version | grep -q . || {
    echo "no program to test"
    exit 77
}
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
"$DUALBRAGG" sim -cell 78 78 38 90 90 90 -misset 10 20 30 -N 60 -default_F 20000 -fluence 3e21 -lambda 1 -distance 150 -detpixels 1000 \
    -pixel 0.1 -spots closed -mosaic_rms 0.15 -footprint_rms 0.15 0.1 -water 20 -noisefile still.img -seed 3 --quiet
"$DUALBRAGG" fit still.img --cell 78.1,78.1,38 --symmetry tetragonal --no-report > printed || fail "$(tail -n 3 printed)"
grep -q 'orientation found' printed || fail "the orientation was not looked for"
refined=$(sed -n 's/^Refines \([0-9]*\) parameters .*/\1/p' still_refined.log)
free=$(awk '/to refine  /, /^$/ { free += NF > 0 && !/ follows / && !/to refine/ } END { print free }' still_refined.log)
[ "$refined" = "$free" ] && [ "$free" -gt 0 ] || fail "refines $refined parameters; $free of the list follow no other"
grep -q 'Stage detector is left out' printed || fail "a detector that is as the header says is turned"
grep -q 'Stage mode 1 is left out' printed || fail "a crystal that is not bent has a mode"
number() { # KEY: a number of the refined model
    awk -v key="$1:" '$1 == key { gsub(/[][,]/, " "); print $2 }' still_refined.yaml
}
near() { # NAME VALUE LEAST MOST
    awk -v value="$2" -v least="$3" -v most="$4" 'BEGIN { exit !(value >= least && value <= most) }' ||
        fail "$1 is $2, expected $3 to $4"
}
near "cell edge a" "$(number cell)" 77.95 78.05
near "mosaic spread" "$(number mosaic_rms)" 0.13 0.17
# nor is the cell needed
"$DUALBRAGG" fit still.img --no-report --output found > printed || fail "without a cell: $(tail -n 3 printed)"
grep -q 'cell found: .* of .* spots' printed || fail "the cell was not looked for"
"$DUALBRAGG" --version | grep -q gemmi && lattice=tP || lattice=aP
grep -q "chosen: $lattice " printed || fail "the lattice is not $lattice: $(grep chosen: printed)"
[ $lattice = aP ] || near "the found cell's edge a" "$(awk '$1 == "cell:" { gsub(/[][,]/, " "); print $2 }' found.yaml)" 77.9 78.1
python3 -c "import json; cell = json.load(open('found.json'))['found_cell']; assert cell['lattices'][cell['chosen']]['symbol'] == '$lattice'" ||
    fail "found.json does not say that the cell was found"
# shots without a cell vote on one
echo still.img > list.txt
printf 'shots: {list: list.txt}\nmodel: {find_orientation: yes}\nrefine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}}\n' > list.yaml
"$DUALBRAGG" fit list.yaml --no-report --output voted > printed || fail "a list without a cell: $(tail -n 3 printed)"
grep -q "chosen: $lattice " printed || fail "a list without a cell: the lattice is not $lattice: $(grep chosen: printed)"
# in vain: the first image that was searched says why, and its status counts; one that cannot be read was not searched
LC_ALL=C sed 's/^WAVELENGTH=1;/NO_LENGTH=10;/' still.img > dark.img
printf 'dark.img\nmissing.img\n' > list.txt
status=0
"$DUALBRAGG" fit list.yaml --no-report --output vain > printed 2>&1 || status=$?
grep -q 'any of 1 images: list.yaml: model.wavelength is not given' printed && [ $status -eq 2 ] ||
    fail "a list in vain: exit status $status, expected 2: $(tail -n 1 printed)"
# a configuration that leaves open what is refined says the same
printf 'image: still.img\nmodel: {cell: [78.1, 78.1, 38, 90, 90, 90], symmetry: tetragonal, find_orientation: yes}\n' > still.yaml
"$DUALBRAGG" fit still.yaml --no-report --quiet --output again || fail "the configuration failed"
[ "$(number cell)" = "$(awk '$1 == "cell:" { gsub(/[][,]/, " "); print $2 }' again.yaml)" ] || fail "another result"
# sizes and spreads start from the spots where parameters are named, too, and stay there if they are not among them
cat > named.yaml << 'END'
model: {cell: [78.1, 78.1, 38, 90, 90, 90], symmetry: tetragonal, misset: [10.1, 19.9, 30.1]}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, cell_a: {range: 1}, cell_c: {range: 1}}
END
"$DUALBRAGG" fit named.yaml --image still.img --no-report --quiet --output held || fail "named parameters: exit status $?"
held() { awk -v key="$1:" '$1 == key { gsub(/[][,]/, " "); print $2 }' held.yaml; }
near "held mosaic spread" "$(held mosaic_rms)" 0.09 0.18
near "held footprint" "$(held footprint_rms)" 0.09 0.15
near "size of blocks" "$(held Ncells)" 128 130
# limits of stages come from the spots: a cell of 10 A, and a detector at a two-theta of 65 degrees, have none to 4 A
"$DUALBRAGG" sim -cell 9.8 11.3 13.1 90 97 90 -misset 12 33 51 -N 400 -default_F 300 -fluence 1e23 -lambda 0.6 -distance 60 \
    -detpixels 600 -pixel 0.25 -spots closed -mosaic_rms 0.15 -footprint_rms 0.2 0.2 -water 20 -noisefile small.img -seed 3 --quiet
"$DUALBRAGG" sim -cell 24 28 31 90 90 90 -misset 10 20 30 -N 100 -default_F 2000 -fluence 5e22 -lambda 1 -distance 150 -pivot sample \
    -twotheta 65 -detpixels 1000 -pixel 0.1 -spots closed -mosaic_rms 0.1 -footprint_rms 0.15 0.1 -water 20 -noisefile far.img -seed 3 --quiet
"$DUALBRAGG" fit small.img --cell 9.81,11.3,13.1,90,97,90 --symmetry monoclinic --no-report --quiet || fail "a cell of 10 A: exit status $?"
"$DUALBRAGG" fit far.img --cell 24.02,28,31 --symmetry orthorhombic --no-report --quiet || fail "a detector at 65 degrees: exit status $?"
refined() { awk '$1 == "cell:" { gsub(/[][,]/, " "); print $2 }' "$1_refined.yaml"; }
near "cell edge a of 10 A" "$(refined small)" 9.797 9.803
near "cell edge a at 65 degrees" "$(refined far)" 23.99 24.01
# a wrong cell is refused before anything is added that would widen its spots: an edge half as long
status=0
"$DUALBRAGG" fit still.img --cell 78.1,78.1,19 --symmetry tetragonal --no-report --output wrong > printed 2> err || status=$?
[ $status -eq 1 ] || fail "an edge half as long: exit status $status, expected 1"
grep -q 'stage detector is not begun' err || fail "an edge half as long: $(tail -n 1 err)"
