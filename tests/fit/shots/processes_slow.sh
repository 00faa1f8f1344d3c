#!/bin/sh
# Several processes: one is killed, or asked to end; with another number of processes the run goes on to the same result.
set -eu
. "$SOURCE_DIR/tests/support/shots"
. "$SOURCE_DIR/tests/support/processes"
[ -n "$mpi" ] || {
    echo "without MPI"
    exit 77
}
interruptible="env --default-signal=INT" # which a shell has background jobs ignore

shots 10
echo images/missing.img >> shots.txt
{ shots_model 100.2 && usual_stages; } > joint.yaml
set -- --no-report --threads 1
fit 0 joint.yaml --output whole "$@"
result whole.json > expected

# intensities that all shots share: every file has the same bits
joint_intensities 2.5 100.2 ", distance: {range: 2, shared: yes}" > amplitudes.yaml
fit 0 amplitudes.yaml --output one "$@"
result one.json > one.expected
for processes in 1 2 3 5; do
    status=0
    $mpi -n $processes "$DUALBRAGG" fit amplitudes.yaml --output some "$@" > out 2> err < /dev/null || status=$?
    [ $status -eq 0 ] || fail "joint intensities, $processes processes: exit status $status: $(cat err)"
    result some.json | cmp -s - one.expected || fail "joint intensities, $processes processes: $(result some.json | diff - one.expected | head -5)"
    for file in one.hkl one.mtz one_unmerged.mtz one_shots; do
        other=some${file#one}
        [ ! -e $file ] || diff -r $file $other > /dev/null || fail "joint intensities, $processes processes: $other differs"
    done
    rm -rf some*
done

# PREFIX PROCESSES: goes on, to the same result
config=joint.yaml
goes_on() {
    prefix=$1 processes=$2
    shift 2
    status=0
    $mpi -n "$processes" "$DUALBRAGG" fit $config --output "$prefix" --resume "$@" > out 2> err < /dev/null || status=$?
    [ $status -eq 0 ] || fail "$prefix goes on with $processes processes: exit status $status: $(cat err)"
    result "$prefix.json" | cmp -s - expected || fail "$prefix: $(result "$prefix.json" | diff - expected | head -5)"
    [ -z "$(ls | grep "$prefix.*checkpoint" || true)" ] || fail "$prefix leaves $(ls | grep checkpoint)"
}

for processes in 1 2 3 5; do
    status=0
    $mpi -n $processes "$DUALBRAGG" fit joint.yaml --output all "$@" > out 2> err < /dev/null || status=$?
    [ $status -eq 0 ] || fail "$processes processes: exit status $status: $(cat err)"
    result all.json | cmp -s - expected || fail "$processes processes: $(result all.json | diff - expected | head -5)"
    [ "$(ls all_shots | wc -l)" -eq 20 ] || fail "$processes processes write $(ls all_shots | wc -l) files of models"
done

# kill SIGNAL, when a text is in a file, of rank 2 of 3
stop_at() { # PREFIX SIGNAL TEXT FILE
    prefix=$1 signal=$2 text=$3 file=$4
    shift 4
    $interruptible $mpi -n 3 sh -c 'echo $$ > pid.$OMPI_COMM_WORLD_RANK; exec "$0" "$@"' "$DUALBRAGG" fit $config --output "$prefix" "$@" \
        > out 2> err < /dev/null &
    running=$!
    while kill -0 $running 2> /dev/null && ! cat $file 2> /dev/null | grep -q "$text"; do sleep 0.01; done
    kill -"$signal" "$(cat pid.2)" || fail "$prefix had ended before it could be stopped"
    status=0
    wait $running || status=$?
    [ $status -ne 0 ] || fail "$prefix: exit status 0"
    [ -s "$prefix.checkpoint" ] || fail "$prefix leaves no checkpoint: $(cat err)"
}
stop_at early KILL shot 'early.checkpoint.1.*' "$@"
[ ! -e early.json ] || fail "a run whose process was killed wrote results"
goes_on early 2 "$@"
stop_at late KILL stage:search late.checkpoint "$@"
goes_on late 4 "$@"
stop_at asked INT stage:search asked.checkpoint "$@"
grep -q 'cancelled in stage' asked.log || fail "asked to end: $(cat err)"
grep -q '"shot": "images/shot_10\|shot_10' asked_shots.txt || fail "asked to end: no models"
goes_on asked 1 "$@"
stop_at soon INT shot 'soon.checkpoint.1.*' "$@"
goes_on soon 5 "$@"

# the joint stages of tasks by several processes
for task in 1 2 3; do fit 0 joint.yaml --output tasks --array $task/3 "$@"; done
status=0
$mpi -n 3 "$DUALBRAGG" fit joint.yaml --output tasks --merge "$@" > out 2> err < /dev/null || status=$?
[ $status -eq 0 ] || fail "three processes merge: exit status $status: $(cat err)"
result tasks.json | cmp -s - expected || fail "three processes merge: $(result tasks.json | diff - expected | head -5)"

# one of several processes has no room: all end with its message
status=0
$mpi -n 2 sh -c 'trap "" XFSZ; [ $OMPI_COMM_WORLD_RANK -eq 0 ] || ulimit -f 1; exec "$0" "$@"' "$DUALBRAGG" fit joint.yaml --output full "$@" \
    2> err < /dev/null > out || status=$?
[ $status -eq 3 ] || fail "no room for one process: exit status $status: $(cat err)"
grep -q 'full.checkpoint.1.1: cannot be written\|scratch file of' err || fail "no room for one process: $(cat err)"
goes_on full 2 "$@"

# the same while intensities are refined that all shots share
config=amplitudes.yaml
cp one.expected expected
stop_at shared KILL stage:intensity shared.checkpoint "$@"
goes_on shared 4 "$@"
for file in hkl mtz; do [ ! -e one.$file ] || cmp -s one.$file shared.$file || fail "shared.$file differs"; done
stop_at ended INT stage:intensity ended.checkpoint "$@"
goes_on ended 1 "$@"
for task in 1 2 3; do fit 0 $config --output parts --array $task/3 "$@"; done
status=0
$mpi -n 3 "$DUALBRAGG" fit $config --output parts --merge "$@" > out 2> err < /dev/null || status=$?
[ $status -eq 0 ] || fail "three processes merge joint intensities: exit status $status: $(cat err)"
result parts.json | cmp -s - expected || fail "three processes merge joint intensities: $(result parts.json | diff - expected | head -5)"

[ $failures -eq 0 ]
