#!/bin/sh
# Threads of `dualbragg fit` sleep while they wait for work, unless the environment says how they wait.
set -eu
fail() { echo "$1" && exit 1; }
unset OMP_WAIT_POLICY GOMP_SPINCOUNT
export OMP_NUM_THREADS=2
# turns that a thread waits before it sleeps, as GCC's OpenMP tells them at each start: those of the last
turns() { env OMP_DISPLAY_ENV=verbose "$@" 2>&1 | sed -n "s/.*GOMP_SPINCOUNT *= *'\(.*\)'/\1/p" | tail -n 1; }

usual=$(turns "$DUALBRAGG" version)
[ -n "$usual" ] || { echo "skipped: not GCC's OpenMP" && exit 77; }
[ "$usual" -gt 0 ] || fail "threads of other commands sleep at once"
[ "$(turns "$DUALBRAGG" fit --help)" = 0 ] || fail "threads of fit wait $(turns "$DUALBRAGG" fit --help) turns"
[ "$(turns GOMP_SPINCOUNT=5 "$DUALBRAGG" fit --help)" = 5 ] || fail "GOMP_SPINCOUNT does not win"
[ "$(turns OMP_WAIT_POLICY=active "$DUALBRAGG" fit --help)" -gt "$usual" ] || fail "OMP_WAIT_POLICY does not win"

# the second start has the words, the input and the status of the first
for threads in 1 2; do
    status=0
    echo "no: [" | env OMP_NUM_THREADS=$threads "$DUALBRAGG" fit - 'two words' > "out.$threads" 2>&1 || status=$?
    echo "$status" >> "out.$threads"
done
cmp out.1 out.2 || fail "two threads: $(cat out.2)"

# and its name in lists of processes: here of one that waits for its configuration
if [ -r /proc/$$/environ ]; then
    rm -f waits.yaml
    mkfifo waits.yaml
    "$DUALBRAGG" fit waits.yaml > named 2>&1 &
    tries=0
    # this shell's copy, before it is the program, may have such an environment, too
    until [ "$(readlink /proc/$!/exe)" = "$(readlink -f "$DUALBRAGG")" ] &&
        tr '\0' '\n' < /proc/$!/environ | grep -qx OMP_WAIT_POLICY=passive; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || fail "no second start: $(cat named)"
        sleep 0.05
    done
    name=$(cat /proc/$!/comm)
    echo "no: [" > waits.yaml
    wait $! || true
    [ "$name" = "$(basename "$DUALBRAGG" | cut -c 1-15)" ] || fail "a process named $name"
fi
