#!/bin/sh
# The comparison with centroids looks at whole spots: on a rendered still, whose model is right, held-out spots are where
# and as bright as refined models say. Boxes of one pixel would leave no correlation to measure.
set -eu
bench=$BINARY_DIR/bench/dualbragg_fit_bench
stand_in=$BINARY_DIR/stand_in
[ -x "$bench" ] && [ -x "$stand_in" ] || { echo "skipped: this build has no benchmark of the refinement"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$stand_in" "$work/still" > /dev/null
cat > "$work/still.yaml" << END
image: still.img
model: {matrix: still.mat, symmetry: tetragonal, shape: gauss, cells: [16, 16, 8], oversample: 2, beam_centre_px: [611.3, 588.8]}
data: {dmin: 2}
refine: {misset_x: {}, misset_y: {}, misset_z: {}, cell_a: {}, cell_c: {}}
END
"$bench" centroids 1 "$work/still.yaml" > "$work/out" 2> "$work/err" || { cat "$work/out" "$work/err"; exit 1; }
cat "$work/out"

# figure NAME LEAST MOST: of the model refined by pixels
figure() {
    awk -F'|' -v name="$1" -v least="$2" -v most="$3" 'index($2, name) { value = $6 + 0; seen = 1 }
        END { exit !(seen && value >= least && value <= most) }' "$work/out" || { echo "$1: expected $2 to $3"; exit 1; }
}
grep -Eq 'shoeboxes of ([5-9]|1[0-7]) x ' "$work/out" || { echo "no size of shoeboxes"; exit 1; }
figure 'position, rms' 0 0.5
figure 'correlation' 0.95 1
figure 'strong pixels explained' 80 100
