#!/bin/sh
# Refinements that do not come to their end, from outside: Ctrl-C, kills, checkpoints of something else, two runs with one prefix.
set -eu
. "$SOURCE_DIR/tests/support/shots"
interruptible="env --default-signal=INT" # which a shell has background jobs ignore
# Waits until a command succeeds, at most some minutes.
until_true() {
    waited=0
    until "$@"; do
        [ $waited -le 10000 ] || fail "waited in vain: $*"
        sleep 0.01
        waited=$((waited + 1))
    done
}
no_leftovers() { # WHAT
    for file in .[!.]* *.lock; do
        [ ! -e "$file" ] || fail "$1 left $file"
    done
}

for x in 10 20 30; do shot $x 20 30; done
{ shots_model 100.2 && two_stages; } > joint.yaml
echo "image: images/shot_1.img" > base.yaml
# at the right distance: from a wrong one that is held the turn goes astray, and the verdict says so
sed '/^shots/d; /^stages/d; /- {name/d; s/^model: {/model: {misset: [10.06, 20.05, 30.04], /; s/100\.2/100/' joint.yaml >> base.yaml
{
    cat base.yaml
    echo "stages: [{name: short, refine: [misset_x, misset_y, misset_z], tolerance: 1e-3, step: 0.1}]"
} > single.yaml

# one image: Ctrl-C leaves the log and the best model so far, the second one ends at once, as other signals do
cat > long.yaml << 'END'
stages:
  - {name: endless, algorithm: GN_CRS2_LM, refine: [misset_x, misset_y, misset_z], max_evaluations: 1000000, tolerance: 1e-15}
END
cat base.yaml long.yaml > endless.yaml
$interruptible "$DUALBRAGG" fit endless.yaml --verbose --output stopped > out 2> err &
running=$!
until_true grep -q '^ *20 ' out
kill -INT $running
status=0
wait $running || status=$?
[ $status -eq 1 ] || fail "Ctrl-C: exit status $status instead of 1: $(cat err)"
grep -q 'cancelled in stage endless' err || fail "what was cancelled is not said: $(cat err)"
grep -q 'cancelled in stage endless' stopped.log || fail "the log does not say that it was cancelled"
grep -q 'cancelled in stage endless' stopped.json || fail "the JSON does not say that it was cancelled"
grep -q '"converged": false' stopped.json || fail "a cancelled run has converged"
for file in stopped.yaml stopped.expt stopped.html stopped.log; do [ -s $file ] || fail "Ctrl-C left no $file"; done
grep -q 'cancelled' stopped.html || fail "the report does not say that it was cancelled"
no_leftovers "Ctrl-C"
fit 0 stopped.yaml --output on stages.endless.algorithm=LM stages.endless.tolerance=1e-4 --no-report

: > out # what a run before this one said is not waited for
$interruptible "$DUALBRAGG" fit endless.yaml --verbose --output twice > out 2> err &
running=$!
until_true grep -q '^ *1 ' out
for again in $(seq 50); do # signals that come before the first is taken are one with it
    kill -INT $running 2> /dev/null || break
    sleep 0.01
done
status=0
wait $running || status=$?
[ $status -eq 130 ] || fail "a second Ctrl-C: exit status $status instead of that of the signal"
[ "$(grep -c interrupted err)" -eq 1 ] || fail "the second Ctrl-C is told as the first: $(cat err)"
no_leftovers "a second Ctrl-C"

: > out
$interruptible "$DUALBRAGG" fit endless.yaml --verbose --output held > out 2> err &
running=$!
until_true grep -q '^ *1 ' out

# two runs with one prefix
fit 3 single.yaml --output held --no-report
grep -q "process $running on .* since 20" err || fail "who holds the prefix is not said: $(cat err)"
grep -q "held.lock" err || fail "the lock is not named"
kill -TERM $running
status=0
wait $running || status=$?
[ $status -eq 143 ] || fail "SIGTERM: exit status $status instead of that of the signal"
[ ! -e held.json ] || fail "a run that was ended wrote results"
no_leftovers SIGTERM
echo "process 1 that was killed" > held.lock
fit 0 single.yaml --output held --no-report # the lock of a dead process is none
no_leftovers "a run after one that was killed"

# a folder as prefix, and names with blanks
mkdir results
fit 0 single.yaml --output results/ --no-report
[ -s results/single_refined.json ] || fail "--output results/ wrote $(ls -A results)"
[ -z "$(ls -A results | grep '^\.' || true)" ] || fail "--output results/ wrote hidden files"

fit 0 joint.yaml --output whole --no-report --threads 1
no_leftovers "a run of many shots"
fit 0 joint.yaml --output "a name" --no-report
fit 0 "a name.yaml" --output again --no-report
grep -q '^3 of 3 shots in use' again.log || fail "a refined list with blanks: $(cat err)"
fit 2 joint.yaml --output 'a#b' --no-report

# there is nothing to go on from
fit 0 joint.yaml --output fresh --resume --no-report
grep -q 'fresh.checkpoint: there is no checkpoint' out || fail "a missing checkpoint is not told"
result whole.json > expected
result fresh.json | cmp -s - expected || fail "the result depends on the prefix"

# killed: the rest gives the same; something else is refused, and what it is gets named
$interruptible "$DUALBRAGG" fit joint.yaml --output cut --no-report > out 2> err &
running=$!
until_true grep -q stage:search cut.checkpoint 2> /dev/null
kill -9 $running || fail "the run had ended before it could be killed"
wait $running 2> /dev/null || true
[ -s cut.checkpoint ] || fail "the killed run left no checkpoint"
fit 3 joint.yaml --output cut --resume --no-report model.shape=square
grep -q 'cut.checkpoint: is of another refinement: model.shape (square here, gauss in it)' err || fail "another shape: $(cat err)"
fit 3 joint.yaml --output cut --resume --no-report data.shoebox_half_width=4
grep -q 'data.shoebox_half_width (4 here, 5 in it)' err || fail "other shoeboxes: $(cat err)"
cp images/shot_2.img kept.img
cp images/shot_3.img images/shot_2.img
fit 3 joint.yaml --output cut --resume --no-report
grep -q 'shot 2, images/shot_2.img: its image' err || fail "another image: $(cat err)"
cp kept.img images/shot_2.img
cp shots.txt kept.txt
sed -i '3s/30.04/30.05/' shots.txt
fit 3 joint.yaml --output cut --resume --no-report
grep -q 'shot 3, images/shot_3.img: its configuration' err || fail "another start: $(cat err)"
cp kept.txt shots.txt
cp cut.checkpoint kept.checkpoint
printf 'checkpoint 4' | dd of=cut.checkpoint conv=notrunc 2> /dev/null
fit 3 joint.yaml --output cut --resume --no-report
grep -q 'cut.checkpoint: expected a checkpoint [0-9]*, found a checkpoint of another version of dualbragg' err || fail "another format: $(cat err)"
cp kept.checkpoint cut.checkpoint
fit 0 joint.yaml --output cut --resume --no-report
grep -q 'continues from the checkpoint' out || fail "a resumed run does not say so"
result cut.json | cmp -s - expected || fail "a resumed run has another result: $(result cut.json | diff - expected | head -5)"
[ ! -e cut.checkpoint ] || fail "the checkpoint is left"

# many shots: Ctrl-C, then the rest
$interruptible "$DUALBRAGG" fit joint.yaml --output cut > out 2> err &
running=$!
until_true grep -q stage:search cut.checkpoint 2> /dev/null
kill -INT $running || fail "the run had ended before it could be cancelled"
status=0
wait $running || status=$?
[ $status -eq 1 ] || fail "Ctrl-C with many shots: exit status $status: $(cat err)"
grep -q 'cancelled in stage' cut.log || fail "the log of many shots does not say that it was cancelled: $(tail -3 out)"
grep -q 'cancelled in stage' cut.json || fail "the JSON of many shots does not say that it was cancelled"
[ -s cut.checkpoint ] || fail "Ctrl-C took the checkpoint away"
[ -s cut_shots/0001_shot_1.yaml ] || fail "Ctrl-C left no models"
no_leftovers "Ctrl-C with many shots"
fit 0 joint.yaml --output cut --resume --no-report
result cut.json | cmp -s - expected || fail "a cancelled and resumed run has another result"

. "$SOURCE_DIR/tests/support/processes"
if [ -n "$mpi" ]; then
    $interruptible $mpi -n 2 "$DUALBRAGG" fit joint.yaml --output cut > out 2> err < /dev/null &
    running=$!
    while kill -0 $running 2> /dev/null && ! grep -q stage:search cut.checkpoint 2> /dev/null; do sleep 0.01; done
    ended=
    kill -INT "$(sed 's/process \([0-9]*\) .*/\1/' cut.lock)" 2> /dev/null || ended=yes
    wait $running || true
    # mpirun may kill all processes a second later: then the checkpoint is what is left
    if [ "$ended" ]; then
        echo "two processes ended before they could be cancelled"
    elif ! grep -q 'cancelled in stage' cut.log && ! [ -s cut.checkpoint ]; then
        fail "two processes: neither a log that says that they were cancelled nor a checkpoint: $(cat err)"
    fi
    fit 0 joint.yaml --output cut --resume --no-report
    result cut.json | cmp -s - expected || fail "two cancelled processes, resumed by one, have another result"
fi

[ $failures -eq 0 ]
