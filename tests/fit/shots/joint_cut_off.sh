#!/bin/sh
# Intensities that all shots share, refined by a run that does not come to its end, or in tasks: the result is that of one run.
set -eu
. "$SOURCE_DIR/tests/support/shots"
shots 6
echo images/missing.img >> shots.txt
joint_intensities 2.5 100 > joint.yaml
set -- --no-report --threads 1
fit 0 joint.yaml --output whole "$@"
grep -q '^6 of 7 shots in use' whole.log || fail "alike intensities exclude a right shot: $(grep 'excluded' whole.log)"
grep -q 'Intensities that all shots share' whole.log || fail "there are no joint intensities: $(tail -5 whole.log)"
result whole.json > expected
grep -q '"intensity": "joint"' whole.json && grep -q '"outlier_sigma"' whole.json || fail "settings of joint intensities are not told"

# refined models go on, together and one alone, which has intensities of its own
fit 0 whole.yaml --output again "$@"
grep -q '^6 of 6 shots in use' again.log || fail "refined models do not go on: $(tail -5 again.log)"
fit 0 whole_shots/0001_shot_1.yaml --output alone "$@"
same() { # PREFIX WHAT
    result $1.json | cmp -s - expected || fail "$2: $(result $1.json | diff - expected | head -5)"
    for file in .hkl .mtz _unmerged.mtz _shots; do
        [ ! -e whole$file ] || diff -r whole$file $1$file > /dev/null || fail "$2: another $1$file"
    done
    [ -z "$(ls | grep "$1.*checkpoint" || true)" ] || fail "$2 leaves $(ls | grep "$1.*checkpoint")"
}

# tasks do what shots do by themselves, --merge the rest
fit 0 joint.yaml --output tasks --array 2/2 "$@"
fit 0 joint.yaml --output tasks --array 1/2 "$@"
fit 0 joint.yaml --output tasks --merge "$@"
same tasks "a merged run"

# there is no room for the state of the stage: the run ends with the name of the file, and what was kept before is whole
mkdir full.checkpoint.3.0
fit 3 joint.yaml --output full "$@"
grep -q 'full.checkpoint.3.0: cannot be created' err || fail "what could not be written is not named: $(cat err)"
[ ! -e full.json ] || fail "a run that could not write its state wrote results"
rmdir full.checkpoint.3.0

# a shot, or what the stage had found of shots, has vanished, is damaged, or is of another run
mv images/shot_2.img kept.img
fit 3 joint.yaml --output full --resume "$@"
grep -q 'shot 2, images/shot_2.img, which cannot be read any more' err || fail "a vanished shot: $(cat err)"
mv kept.img images/shot_2.img
records=full.checkpoint.2.0
mv $records kept
fit 3 joint.yaml --output full --resume "$@"
grep -q "$records: cannot be opened" err || fail "vanished records: $(cat err)"
head -c 100 kept > $records
fit 3 joint.yaml --output full --resume "$@"
grep -q "$records: ends too early" err || fail "records that are cut off: $(cat err)"
head -c $(($(wc -c < kept) - 10)) kept > $records
fit 3 joint.yaml --output full --resume "$@"
grep -q "$records: ends too early" err || fail "a record that is cut off: $(cat err)"
{ head -c 5000 kept; echo damage; tail -c +5008 kept; } > $records
fit 3 joint.yaml --output full --resume "$@"
grep -q "$records: is damaged" err || fail "damaged records: $(cat err)"
mkdir other.checkpoint.3.0
fit 3 joint.yaml --output other "$@" data.shoebox_half_width=4
cp other.checkpoint.2.0 $records
fit 3 joint.yaml --output full --resume "$@"
grep -q "$records: is of another refinement" err || fail "records of another run: $(cat err)"
mv kept $records
fit 0 joint.yaml --output full --resume "$@"
same full "a run that had no room"

# the scratch file has no room
. "$SOURCE_DIR/tests/support/file_limit"
for blocks in 400 1600; do
    lives_with_file_limit $blocks || continue
    {
        status=0
        (ulimit -f $blocks && trap '' XFSZ && exec "$DUALBRAGG" fit joint.yaml --output small "$@") 2>&1 > /dev/null || status=$?
        echo "status $status"
    } | cat > err
    grep -q '^status 3$' err || fail "no room for $blocks blocks: $(cat err)"
    grep -q 'cannot be written' err || fail "what could not be written is not named: $(cat err)"
done
fit 0 joint.yaml --output small --resume "$@"
same small "a run without room"

# killed
"$DUALBRAGG" fit joint.yaml --output cut "$@" > out 2> err &
running=$!
while kill -0 $running 2> /dev/null && ! grep -q stage:intensity cut.checkpoint 2> /dev/null; do sleep 0.01; done
kill -9 $running || fail "the run had ended before it could be killed"
wait $running 2> /dev/null || true
fit 0 joint.yaml --output cut --resume "$@"
same cut "a run that was killed"

# killed while intensities are held to a reference, and gone on with by two processes
fit 0 joint.yaml --output held "$@" intensities.reference=whole.hkl intensities.reference_restraint=0.5
! cmp -s whole.hkl held.hkl || fail "the reference holds nothing"
"$DUALBRAGG" fit joint.yaml --output freed "$@" intensities.reference=whole.hkl intensities.reference_restraint=0.5 > out 2> err &
running=$!
while kill -0 $running 2> /dev/null && ! grep -q stage:intensity freed.checkpoint 2> /dev/null; do sleep 0.01; done
kill -9 $running || fail "the held run had ended before it could be killed"
wait $running 2> /dev/null || true
. "$SOURCE_DIR/tests/support/processes"
${mpi:+$mpi -n 2} "$DUALBRAGG" fit joint.yaml --output freed --resume "$@" intensities.reference=whole.hkl intensities.reference_restraint=0.5 \
    > out 2> err < /dev/null || fail "a held run does not go on: $(cat err)"
result freed.json > found
result held.json | cmp -s - found || fail "a held run that was killed: $(result held.json | diff - found | head -5)"
cmp held.hkl freed.hkl || fail "a held run that was killed: other intensities"

[ $failures -eq 0 ]
