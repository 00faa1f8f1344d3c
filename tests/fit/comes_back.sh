#!/bin/sh
# dualbragg fit from outside: a refined model fed back is at its goal, and a run that does not converge says why.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
"$BINARY_DIR/stand_in" stand_in
config=$SOURCE_DIR/tests/fit/spoilt_still.yaml
fit() { # EXPECTED_STATUS ARGUMENTS...
    status=0 expected=$1
    shift
    "$DUALBRAGG" fit "$@" --no-report > out 2> err || status=$?
    [ "$status" -eq "$expected" ] || fail "fit $*: exit status $status instead of $expected: $(cat err)"
}
number() { # FILE KEY NUMBER
    awk -v key="$2:" -v n="$3" '$1 == key { gsub(/[][,]/, " "); print $(n + 1) }' "$1"
}
near() { # NAME A B TOLERANCE
    awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { exit !(a - b <= t && b - a <= t) }' || fail "$1: $2, expected $3 +- $4"
}

fit 0 "$config" --image stand_in.img --verbose --output first model.matrix=stand_in.mat
[ -s first.yaml ] && [ -s first.mat ] && [ -s first.json ] && [ -s first.log ] || fail "an output is missing"
[ ! -e first.html ] || fail "--no-report wrote a page"
cmp -s out first.log || fail "the log is not what --verbose prints"
[ ! -s err ] || fail "stderr: $(cat err)"
tail -n 1 out | grep -q '^Refined cell: 58.4' || fail "the last line is not the refined cell: $(tail -n 1 out)"
near cell_a "$(number first.yaml cell 1)" 58.4 0.003
near misset_y "$(number first.yaml misset 2)" 0 0.01

# the refined model fed back: nothing left to do
fit 0 first.yaml --output second
near "cell_a fed back" "$(number second.yaml cell 1)" "$(number first.yaml cell 1)" 1e-3
near "misset_x fed back" "$(number second.yaml misset 1)" "$(number first.yaml misset 1)" 2e-3

# the same through the MOSFLM matrix, which holds misset and all
fit 0 "$config" --image stand_in.img --output third model.matrix=first.mat
near "misset_z through the matrix" "$(number third.yaml misset 3)" 0 0.003

# not converged: the reason is said, the files are there
fit 1 "$config" --image stand_in.img --output limit model.matrix=stand_in.mat 'stages=[{max_evaluations: 2}]'
grep -q 'not converged: ' err || fail "no reason on stderr: $(cat err)"
grep -q 'NOT CONVERGED' limit.yaml || fail "limit.yaml does not say that it is no result"
fit 1 "$config" --image stand_in.img --output bound model.matrix=stand_in.mat 'refine.Na={min: 15, max: 15.9}' \
    'model.Ncells=[15.5, 15.5, 8]'
grep -q 'Na.*bound' err || fail "the bound is not named: $(cat err)"

# too few spots for the stage that refines the distance: errors of the edges, 0.005 without it, hold what the data say of it
fit 0 "$SOURCE_DIR/examples/data/thaumatin.cbf" --cell 58.4,58.4,152.2 --symmetry tetragonal data.dmin=10 --output untested
tail -n 1 out | grep -q '(distance held at 351 mm)' || fail "the last line does not say that the distance is held: $(tail -n 1 out)"
grep -Eq 'cell_a  *58.4  *58\.[0-9]\([4-9]\)  *A' out || fail "an edge's error without its distance: $(grep cell_a out)"

# so few that nothing says how well they know it: headers are off by 1 %
fit 1 "$SOURCE_DIR/examples/data/thaumatin.cbf" --cell 58.4,58.4,152.2 --symmetry tetragonal data.dmin=12 data.min_strong_reflections=1 --output few
grep -q 'cell_a  *58.4  *58\.[0-9](6)  *A' out || fail "an edge's error without that of its distance: $(grep cell_a out)"

# an image without spots
"$DUALBRAGG" sim -cell 58.4 58.4 152.2 90 90 90 -N 5 -default_F 1e-6 -lambda 0.97 -distance 180 -detpixels 400 \
    -pixel 0.5 -oversample 1 -scale 1 -intfile empty.img > /dev/null
fit 3 "$config" --image empty.img --output blank model.matrix=stand_in.mat
grep -q 'blank' err || fail "an empty image: $(cat err)"
[ -z "$(ls blank.* 2> /dev/null)" ] || fail "a refused image left files"

# the same bits with any number of threads
fit 0 "$config" --image stand_in.img --output one model.matrix=stand_in.mat --threads 1
cmp -s one.mat first.mat || fail "one thread gives another matrix"

[ "$failures" -eq 0 ]
