#!/bin/sh
# Runs of shots that try several starts, and of several lattices, cut off in each of their stages: the result is that of a run that was left alone.
set -eu
. "$SOURCE_DIR/tests/support/shots"
set -- --no-report --threads 1

. "$SOURCE_DIR/tests/support/interrupted"

# starts that are 5 degrees off: one of them is of no use, some around them are
for x in 10 20 30; do shot $x 20 30; done
sed 's/\.06, 20\.05, 30\.04/.06, 24, 34/' shots.txt > far.txt
{ shots_model 100.2 && two_stages; } | sed 's/list: shots.txt/list: far.txt/; s/misset_\(.\): {range: 1}/misset_\1: {range: 8}/g' > far.yaml
{ cat far.yaml && echo 'starts: {count: 16, misset: 7}'; } > starts.yaml
fit 3 far.yaml --output one "$@"
grep -q 'of 3 shots 0 can be used' err || fail "one start: $(cat err)"
fit 0 starts.yaml --output whole "$@"
are_turned() { # PREFIX: shots are turned as rendered
    python3 - "$1_shots.txt" << 'END' || failures=1
import re, sys
for number, line in enumerate(l for l in open(sys.argv[1]) if not l.startswith("#")):
    text = open(line.split()[0]).read() if line.split()[0].endswith(".yaml") else line
    found = [float(x) for x in re.search(r"misset: *\[([^]]*)\]", text).group(1).split(",")]
    true = [10 * (number + 1), 20, 30]
    if max(abs(a - b) for a, b in zip(found, true)) > 0.02:
        sys.exit(f"FAILED: {sys.argv[1]}: shot {number + 1} is turned by {found}, expected {true}")
END
}
are_turned whole
result whole.json > expected
killed starts
ended starts 2 1 1 # before the joint stage
ended starts 4 1 1 # in its midst
[ -z "$mpi" ] || ended starts 3 3 2
# before a first stage of all shots each of them tries its starts alone
{ sed '/own,/d' far.yaml && echo 'starts: {count: 16, misset: 7}'; } > shared.yaml
fit 0 shared.yaml --output joint "$@"
are_turned joint
near "distance" "$(refined joint.json distance)" "$(refined whole.json distance)" 0.002
fit 2 shared.yaml --output turned "$@" shots.series=yes
grep -q 'stage joint, the first, refines what all shots share; expected model.find_orientation: yes' err || fail "starts of a series: $(cat err)"

# two lattices on each of two images, refined with the light of each other; and one that is not there, which is left out
echo "images/two_1.img model.misset=[13, 50, 70]" > lattices.txt
for image in 1 2; do
    for number in 1 2; do
        "$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 \
            -pixel 0.2 -oversample 1 -spots closed -mosaic 0.1 -misset $((number * 40)) $((image * 20)) 30 -water $((number == 1 ? 30 : 0)) \
            -floatfile crystal_$number.f32 > /dev/null
        echo "images/two_$image.img model.misset=[$((number * 40)).06, $((image * 20)).05, 30.04]" >> lattices.txt
    done
    "$DUALBRAGG" add crystal_1.f32 crystal_2.f32 -o sum.f32 > /dev/null
    "$DUALBRAGG" noise -floatfile sum.f32 -detpixels 400 -pixel 0.2 -distance 100 -lambda 1 -calibration 0 -seed $image \
        -noisefile images/two_$image.img > /dev/null
done
{ shots_model 100.2 && two_stages; } | sed 's/list: shots.txt/list: lattices.txt/' > lattices.yaml
fit 0 lattices.yaml --output whole "$@"
grep -q '^4 of 5 shots in use' out || fail "lattices in use: $(cat out)"
result whole.json > expected
killed lattices
ended lattices 2 1 1
ended lattices 3 1 1
[ -z "$mpi" ] || ended lattices 3 2 3
# tasks of an array: the second image's lattices are of different ones, the others' light counts all the same
for task in 1 2 3 4; do fit 0 lattices.yaml --output cut --array $task/4 "$@"; done
fit 0 lattices.yaml --output cut --merge "$@"
result cut.json | cmp -s - expected || fail "lattices by tasks: $(result cut.json | diff - expected | head -5)"

# which share nothing: each stage by itself, the last one with the light that the first has found
{ shots_model 100 && two_stages; } |
    sed 's/list: shots.txt/list: lattices.txt/; s/, distance: .range: 2., beam_fast: .range: 1.//; s/, distance, beam_fast//' > alone.yaml
fit 0 alone.yaml --output whole "$@"
grep -q '^4 of 5 shots in use' out || fail "lattices that share nothing, in use: $(cat out)"
result whole.json > expected
killed alone
ended alone 2 1 1
killed alone 2 6 # within the last stage
[ -z "$mpi" ] || ended alone 2 2 1
for task in 1 2; do fit 0 alone.yaml --output cut --array $task/2 "$@"; done
fit 0 alone.yaml --output cut --merge "$@"
result cut.json | cmp -s - expected || fail "lattices that share nothing, by tasks: $(result cut.json | diff - expected | head -5)"

[ $failures -eq 0 ]
