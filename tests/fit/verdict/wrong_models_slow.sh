#!/bin/sh
# A result ends with 0 only where it may be used: the measured still of the examples, from right and from wrong models.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
data=$SOURCE_DIR/examples/data
configuration() { # CELL_RANGE BEAM_RANGE (0: held)
    cat << END
model: {shape: gauss, Ncells: [30, 30, 12], mosaic_rms: 0.1, footprint_rms: [0.15, 0.08]}
refine:
  mosaic_variance: {min: 0, max: 0.2}
END
    for p in misset_x misset_y misset_z; do echo "  $p: {range: 3}"; done
    for p in cell_a cell_b cell_c; do echo "  $p: {range: $1}"; done
    for p in footprint_hh footprint_vv; do echo "  $p: {min: 0, max: 0.3}"; done
    [ "$2" = 0 ] || for p in beam_fast beam_slow; do echo "  $p: {range: $2}"; done
}
# The refined edges, the shortest first, against those of the crystal.
is_right() {
    awk '$1 == "cell:" { gsub(/[][,]/, " "); print $2 "\n" $3 "\n" $4 }' out.yaml | sort -n |
        awk '{ right = NR < 3 ? 58.45 : 152.4; if ($1 < 0.995 * right || $1 > 1.005 * right) wrong = 1 } END { exit wrong }'
}
# ends right|wrong|any NAME ARGUMENTS...: whatever the start, 0 says that the cell is right; a wide search may come back to it
ends() {
    expected=$1 name=$2 status=0
    shift 2
    "$DUALBRAGG" fit "$@" --image "$data/thaumatin.cbf" --output out --no-report --quiet 2> err || status=$?
    echo "$name: $status $(cut -c1-150 err)"
    [ $expected != right ] || [ $status -eq 0 ] || fail "$name: exit status $status"
    [ $expected != wrong ] || [ $status -ne 0 ] || fail "$name: exit status 0"
    [ $status -ne 0 ] || is_right || fail "$name: exit status 0, but $(grep 'cell:' out.yaml)"
}
edges() { # CELL_A CELL_B CELL_C
    echo "model.cell=[$1, $2, $3, 90, 90, 90]"
}
configuration 12 3 > wide.yaml
configuration 1 0 > held.yaml
matrix=model.matrix=$data/thaumatin.mat
found=model.find_orientation=yes
ends right "the right cell" wide.yaml "$matrix"
ends right "the right cell, orientation found" wide.yaml "$(edges 58.4 58.4 152.2)" $found
ends right "the right cell, held beam" held.yaml "$matrix"
for cell in "61.3 58.4 152.2" "55.5 58.4 152.2" "58.4 61.3 152.2" "58.4 58.4 159.8" "58.4 58.4 144.6" "58.4 58.4 147.6" "61.3 61.3 159.8" \
    "55.5 55.5 144.6" "116.8 58.4 152.2" "58.4 58.4 76.1" "58.4 152.2 58.4" "79 79 38"; do
    # shellcheck disable=SC2086
    ends any "cell $cell" wide.yaml "$matrix" "$(edges $cell)"
    # shellcheck disable=SC2086
    ends any "cell $cell, orientation found" wide.yaml $found "$(edges $cell)"
done
ends wrong "a hexagonal cell" wide.yaml $found 'model.cell=[58.4, 58.4, 152.2, 90, 90, 120]'
ends wrong "beam centre 5 pixels off, held" held.yaml "$matrix" 'model.beam_centre_px=[754.8, 255.5]'
ends wrong "the smallest misset range, orientation 3 degrees off" held.yaml "$matrix" 'model.misset=[2, -1.5, 1.5]' \
    'refine.misset_x={range: 0.2}' 'refine.misset_y={range: 0.2}' 'refine.misset_z={range: 0.2}'
[ "$failures" -eq 0 ]
