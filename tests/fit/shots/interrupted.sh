#!/bin/sh
# Runs of shots that try several starts, and of several lattices, cut off in each of their stages: the result is that of a run that was left alone.
set -eu
. "$SOURCE_DIR/tests/support/shots"
set -- --no-report --threads 1

goes_on() { # NAME WHERE LAUNCHER...
    name=$1 where=$2
    shift 2
    "$@" "$DUALBRAGG" fit "$name.yaml" --output cut --resume --no-report --threads 1 > out 2> err < /dev/null || fail "$name, $where: $(cat err)"
    result cut.json | cmp -s - expected || fail "$name, $where: $(result cut.json | diff - expected | head -5)"
}
# killed as soon as the first shot has been refined by itself
killed() { # NAME
    rm -rf cut*
    "$DUALBRAGG" fit "$1.yaml" --output cut --no-report --threads 1 > out 2> err &
    running=$!
    while kill -0 $running 2> /dev/null && ! grep -q shot cut.checkpoint.1.0 2> /dev/null; do sleep 0.005; done
    kill -9 $running || fail "$1: the run had ended before it could be killed: $(cat err)"
    wait $running 2> /dev/null || true
    goes_on "$1" "killed while shots are refined by themselves" env
}
# ended where the state is to be kept once more, for which there is no room
ended() { # NAME GENERATION PROCESSES PROCESSES_THEN
    rm -rf cut*
    one="cut.checkpoint.$2.$(($3 - 1))"
    mkdir "$one"
    status=0
    $(launcher "$3") "$DUALBRAGG" fit "$1.yaml" --output cut --no-report --threads 1 > out 2> err < /dev/null || status=$?
    [ $status -eq 3 ] || fail "$1, $3 processes: exit status $status in place of generation $2: $(cat err)"
    rmdir "$one"
    goes_on "$1" "$3 processes ended at generation $2, then $4" $(launcher "$4")
}
mpi=
if "$DUALBRAGG" --version | grep -q MPI && command -v mpirun > /dev/null; then mpi=yes; fi
launcher() { # PROCESSES: what starts so many
    [ "$1" -gt 1 ] || { echo env && return 0; }
    echo env ASAN_OPTIONS=detect_leaks=0 mpirun --allow-run-as-root --oversubscribe --quiet -n "$1"
}

# starts that are 5 degrees off: one of them is of no use, some around them are
for x in 10 20 30; do shot $x 20 30; done
sed 's/\.06, 20\.05, 30\.04/.06, 24, 34/' shots.txt > far.txt
{ shots_model 100.2 && two_stages; } | sed 's/list: shots.txt/list: far.txt/; s/misset_\(.\): {range: 1}/misset_\1: {range: 8}/g' > far.yaml
{ cat far.yaml && echo 'starts: {count: 40, misset: 7}'; } > starts.yaml
fit 3 far.yaml --output one "$@"
grep -q 'of 3 shots 0 can be used' err || fail "one start: $(cat err)"
fit 0 starts.yaml --output whole "$@"
python3 - whole_shots.txt << 'END' || failures=1
import re, sys
for number, line in enumerate(l for l in open(sys.argv[1]) if not l.startswith("#")):
    text = open(line.split()[0]).read() if line.split()[0].endswith(".yaml") else line
    found = [float(x) for x in re.search(r"misset: *\[([^]]*)\]", text).group(1).split(",")]
    true = [10 * (number + 1), 20, 30]
    if max(abs(a - b) for a, b in zip(found, true)) > 0.02:
        sys.exit(f"FAILED: shot {number + 1} is turned by {found}, expected {true}")
END
result whole.json > expected
killed starts
ended starts 2 1 1 # before the joint stage
ended starts 4 1 1 # in its midst
[ -z "$mpi" ] || ended starts 3 3 2
{ sed '/own,/d' far.yaml && echo 'starts: {count: 40, misset: 7}'; } > shared.yaml
fit 2 shared.yaml --output joint "$@"
grep -q 'stage joint, the first, refines what shots share' err || fail "starts of a joint stage: $(cat err)"

# two lattices on one image, refined with the light of each other
for number in 1 2; do
    "$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 \
        -pixel 0.2 -oversample 1 -mosaic 0.1 -mosaic_domains 5 -misset $((number * 40)) 20 30 -water $((number == 1 ? 30 : 0)) \
        -floatfile crystal_$number.f32 > /dev/null
    echo "images/two.img model.misset=[$((number * 40)).06, 20.05, 30.04]"
done > lattices.txt
"$DUALBRAGG" add crystal_1.f32 crystal_2.f32 -o sum.f32 > /dev/null
"$DUALBRAGG" noise -floatfile sum.f32 -detpixels 400 -pixel 0.2 -distance 100 -lambda 1 -calibration 0 -seed 3 -noisefile images/two.img > /dev/null
{ shots_model 100.2 && two_stages; } | sed 's/list: shots.txt/list: lattices.txt/' > lattices.yaml
fit 0 lattices.yaml --output whole "$@"
grep -q '^2 of 2 shots in use' out || fail "a lattice was set aside: $(cat out)"
result whole.json > expected
killed lattices
ended lattices 2 1 1
ended lattices 3 1 1

[ $failures -eq 0 ]
