#!/bin/sh
# A result ends with 0 only where it may be used: the measured still of the examples, from right and from wrong models. The header's
# distance is 351 mm, which the spots contradict: models hold what they ask for.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
data=$SOURCE_DIR/examples/data
configuration() { # CELL_RANGE BEAM_RANGE (0: held)
    cat << END
model: {distance: 345.1, shape: gauss, Ncells: [30, 30, 12], mosaic_rms: 0.1, footprint_rms: [0.15, 0.08]}
refine:
  mosaic_variance: {min: 0, max: 0.2}
END
    for p in misset_x misset_y misset_z; do echo "  $p: {range: 3}"; done
    for p in cell_a cell_b cell_c; do echo "  $p: {range: $1}"; done
    for p in footprint_hh footprint_vv; do echo "  $p: {min: 0, max: 0.3}"; done
    [ "$2" = 0 ] || for p in beam_fast beam_slow; do echo "  $p: {range: $2}"; done
}
# The refined edges, the shortest first, against those of the crystal, which are known to 0.1 %: within 3 of their errors, and 1 %.
is_right() {
    python3 -S - << 'END'
import json
import sys

found = sorted((p["refined"], p["error"]) for p in json.load(open("out.json"))["parameters"] if p["name"] in ("cell_a", "cell_b", "cell_c"))
print(found)
sys.exit(any(abs(edge - right) > min(0.01 * right, 3 * error + 0.001 * right) for (edge, error), right in zip(found, (57.55, 57.55, 149.9))))
END
}
# ends right|wrong|any NAME ARGUMENTS...: from any start, 0 says that the cell is right; a wide search may come back to it
ends() {
    expected=$1 name=$2 status=0
    shift 2
    "$DUALBRAGG" fit "$@" --image "$data/thaumatin.cbf" --output out --no-report --quiet 2> err || status=$?
    echo "$name: $status $(cut -c1-150 err)"
    [ $expected != right ] || [ $status -eq 0 ] || fail "$name: exit status $status"
    [ $expected != wrong ] || [ $status -ne 0 ] || fail "$name: exit status 0"
    [ $status -ne 0 ] || is_right || fail "$name: exit status 0, but the cell is wrong"
}
edges() { # CELL_A CELL_B CELL_C
    echo "model.cell=[$1, $2, $3, 90, 90, 90]"
}
configuration 12 3 > wide.yaml
configuration 2 0 > held.yaml
matrix=model.matrix=$data/thaumatin.mat
found=model.find_orientation=yes
ends right "the right cell" wide.yaml "$matrix"
ends right "the right cell, orientation found" wide.yaml "$(edges 57.5 57.5 149.8)" $found
ends right "the right cell, held beam" held.yaml "$matrix" "$(edges 57.5 57.5 149.8)"
for cell in "60.4 57.5 149.8" "54.6 57.5 149.8" "57.5 60.4 149.8" "57.5 57.5 157.3" "57.5 57.5 142.3" "57.5 57.5 145.3" "60.4 60.4 157.3" \
    "54.6 54.6 142.3" "115 57.5 149.8" "57.5 57.5 74.9" "57.5 149.8 57.5" "79 79 38"; do
    # shellcheck disable=SC2086
    ends any "cell $cell" wide.yaml "$matrix" "$(edges $cell)"
    # shellcheck disable=SC2086
    ends any "cell $cell, orientation found" wide.yaml $found "$(edges $cell)"
done
ends wrong "the header's distance, held" wide.yaml "$matrix" model.distance=351
ends wrong "a hexagonal cell" wide.yaml $found 'model.cell=[57.5, 57.5, 149.8, 90, 90, 120]'
ends wrong "beam centre 5 pixels off, held" held.yaml "$matrix" "$(edges 57.5 57.5 149.8)" 'model.beam_centre_px=[754.8, 255.5]'
ends wrong "the smallest misset range, orientation 3 degrees off" held.yaml "$matrix" "$(edges 57.5 57.5 149.8)" 'model.misset=[2, -1.5, 1.5]' \
    'refine.misset_x={range: 0.2}' 'refine.misset_y={range: 0.2}' 'refine.misset_z={range: 0.2}'

# A third of the nodes in another place than the model's: a tripled edge, beside a distance that is 0.8 % and a beam centre that is
# 5 pixels off.
detector="-lambda 1.3164 -pixel 0.1 -detpixels 900"
# shellcheck disable=SC2086 # lists of flags
"$DUALBRAGG" sim $detector -default_F 250 -cell 73.98 106.73 47.42 90 90 90 -misset -63 -79 -55.6 -N 52 -distance 69.29 -Xbeam 51.26 \
    -Ybeam 46.04 -b_factor 28 -polar 0.9 -gauss_xtal -mosaic 0.2 -mosaic_domains 25 -dispersion 0.56 -dispsteps 5 -fluence 3e24 \
    -water 0.4 -floatfile photons.bin --quiet
# shellcheck disable=SC2086
"$DUALBRAGG" noise $detector -distance 69.85 -Xbeam 51.61 -Ybeam 46.41 -floatfile photons.bin -noisefile tripled.img -adc 0 \
    -calibration 0 --quiet
status=0
"$DUALBRAGG" fit tripled.img --cell 221.94,106.73,47.42 --symmetry orthorhombic --output tripled --no-report --quiet 2> err || status=$?
echo "an edge tripled, beam and distance off: $status $(cut -c1-200 err)"
[ $status -eq 1 ] || fail "an edge tripled, beam and distance off: exit status $status"
[ "$failures" -eq 0 ]
