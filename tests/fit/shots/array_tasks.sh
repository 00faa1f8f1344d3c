#!/bin/sh
# Many shots as tasks of a job array, and what is left of them put together; a full disk.
set -eu
. "$SOURCE_DIR/tests/support/shots"

for x in 10 20 30; do shot $x 20 30; done
echo images/missing.img >> shots.txt
{ shots_model 100.2 && two_stages; } > joint.yaml
set -- --no-report --threads 1
fit 0 joint.yaml --output whole "$@"
result whole.json > expected

shots_in() { # FILE: how many shots are in a part of a checkpoint
    python3 -c '
import struct, sys
data, at, shots = open(sys.argv[1], "rb").read(), 0, 0
while at < len(data):
    name, size = struct.unpack_from("=16sQ", data, at)
    shots += name.startswith(b"shot")
    at += 72 + size
print(shots)' $1
}

# wrong use
fit 2 joint.yaml --output all --array 3/2 "$@"
grep -q "expected K/N" err || fail "task 3 of 2: $(cat err)"
fit 2 joint.yaml --output all --array 1/2 --merge "$@"
fit 3 joint.yaml --output all --merge "$@"
grep -q 'all.task-1-of-N.checkpoint' err || fail "nothing to merge: $(cat err)"
touch lost.task-60-of-60.checkpoint
fit 3 joint.yaml --output lost --merge "$@"
grep -q '59 of 60 tasks have left no checkpoint: 1, 2, .*, 12, \.\.\.; expected' err || fail "many missing tasks: $(cat err)"

# one task is missing, is of another refinement, has not come to its end
fit 0 joint.yaml --output all --array 2/2 "$@"
grep -q 'excluded: images/missing.img' all.task-2-of-2.log || fail "the missing image is not told by its task"
fit 3 joint.yaml --output all --merge "$@"
grep -q '1 of 2 tasks have left no checkpoint: 1;' err || fail "a missing task: $(cat err)"
fit 0 joint.yaml --output all --array 1/2 "$@" model.shape=square
fit 3 joint.yaml --output all --merge "$@"
grep -q 'all.task-1-of-2.checkpoint: is of another refinement: model.shape (gauss here, square in it)' err ||
    fail "a task with another shape: $(cat err)"
mv all.task-1-of-2.checkpoint.1.0 other
fit 0 joint.yaml --output all --array 1/2 "$@"
part=all.task-1-of-2.checkpoint.1.0
[ "$(shots_in $part)" -eq 2 ] || fail "a task of two shots leaves $(shots_in $part)"
cp $part kept
size=$(wc -c < $part)
head -c $((size - 100)) kept > $part # the last shot is cut off
fit 3 joint.yaml --output all --merge "$@"
grep -q 'task 1 of 2 has not come to its end: 1 of its 2 shots are done' err || fail "an unfinished task: $(cat err)"
fit 0 joint.yaml --output all --array 1/2 --resume "$@"
grep -q 'continues from the checkpoint: 1 of 4 shots' out || fail "a task begins anew: $(cat out)"
part=all.task-2-of-2.checkpoint.1.0
cp $part kept
cp other $part
fit 3 joint.yaml --output all --merge "$@"
grep -q "$part: is of another refinement" err || fail "a part of another run: $(cat err)"
mv kept $part

# together they give what one run does, and leave no state behind
fit 0 joint.yaml --output all --merge "$@"
result all.json | cmp -s - expected || fail "merged: $(result all.json | diff - expected | head -5)"
[ -z "$(ls | grep 'all.*checkpoint' || true)" ] || fail "a merged run leaves $(ls | grep checkpoint)"

# frames of a series, which have a spread of their own
for frame in 0 1 2 3; do
    "$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 \
        -pixel 0.2 -oversample 1 -spots closed -mosaic_rms 0.05 -misset 20 20 30 -phi 1$((frame / 2)).$((frame % 2 * 5)) -osc 0.5 -water 30 \
        -seed 1$frame -noisefile images/frame_$frame.img > /dev/null
    echo images/frame_$frame.img >> frames.txt
done
joint_intensities 2.5 100 > series.yaml
sed -i '/^intensit/d; s/list: shots.txt/list: frames.txt, series: yes/; s/distance: 100/misset: [20.05, 20.05, 30.04]/' series.yaml
fit 2 series.yaml --output frames --array 1/2 "$@"
grep -q 'stage joint, the first, refines what shots share' err || fail "no stage of single frames: $(cat err)"
sed -i 's/mosaic_variance: {}/mosaic_variance: {shared: no}/' series.yaml
fit 0 series.yaml --output whole "$@"
result whole.json > expected_series
for task in 1 2; do fit 0 series.yaml --output frames --array $task/2 "$@"; done
fit 0 series.yaml --output frames --merge "$@"
result frames.json | cmp -s - expected_series || fail "frames by tasks: $(result frames.json | diff - expected_series | head -5)"

# a disk without room: the run ends with the name of the file, and goes on to the same result
. "$SOURCE_DIR/tests/support/file_limit"
for blocks in 1 4; do
    lives_with_file_limit $blocks || continue
    {
        status=0
        (ulimit -f $blocks && trap '' XFSZ && exec "$DUALBRAGG" fit joint.yaml --output full "$@") 2>&1 > /dev/null || status=$?
        echo "status $status"
    } | cat > err
    grep -q '^status 3$' err || fail "no room for $blocks blocks: $(cat err)"
    grep -q 'full.checkpoint.*: cannot\|scratch file.*: cannot' err || fail "what could not be written is not named: $(cat err)"
done
fit 0 joint.yaml --output full --resume "$@"
result full.json | cmp -s - expected || fail "after a full disk: $(result full.json | diff - expected | head -5)"

[ $failures -eq 0 ]
