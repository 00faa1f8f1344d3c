#!/bin/sh
# What the bundle does on another machine (tests/gpu_lease.sh), with programs that only say how they end: results and logs
# are there if a part fails, and a part that fails, is cut short or is missing makes the whole fail.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
programs="dualbragg stand_in dualbragg_bench dualbragg_fit_bench gpu_one gpu_two"

# a bundle whose programs do what the file `ends` says of them, one word a line: NAME=COMMAND
new_bundle() {
    rm -rf bundle results
    mkdir -p bundle/lib bundle/source/tests/cuda bundle/source/tests/golden bundle/source/tests/fit
    cp "$SOURCE_DIR/tests/gpu_lease.sh" bundle/run.sh
    cp "$SOURCE_DIR/tests/cuda/on_gpu" bundle/source/tests/cuda/
    echo 'print("a table")' > bundle/source/tests/gpu_table.py
    for script in cuda/derivatives_on_gpu fit/comes_back.sh golden/default.sh; do
        echo 'exit 0' > "bundle/source/tests/$script"
    done
    echo "one two" > bundle/tests
    echo "abc a commit" > bundle/commit
    for program in $programs; do
        printf '#!/bin/sh\necho "%s $*"\nexit 0\n' "$program" > "bundle/$program"
        chmod +x "bundle/$program"
    done
}
ends() { # PROGRAM SHELL-TEXT
    printf '#!/bin/sh\n%s\n' "$2" > "bundle/$1"
}
lease() { # STATUS WHAT
    status=0
    sh bundle/run.sh results > out 2>&1 || status=$?
    [ "$status" -eq "$1" ] || fail "$2: exit status $status instead of $1: $(cat out)"
    [ -s results/summary.txt ] && tar tzf results/logs.tgz | grep -q 'summary.txt' || fail "$2: no summary or no logs"
}
says() { grep -q -- "$1" results/summary.txt || fail "summary without '$1': $(cat results/summary.txt)"; }

new_bundle
lease 0 "all passes"
says 'commit abc a commit'
says 'all parts passed'
for part in one two check fit fit_bench bench table golden; do says "$part: passed"; done
grep -q 'a table' results/gpu-table.md || fail "the table is not kept"
grep -q 'devices cuda' results/gpu-fit.md || fail "the table of refinements is not kept"

new_bundle
ends gpu_two 'echo broken; exit 3'
lease 1 "a test fails"
says 'two: FAILED: exit status 3'
says 'golden: passed' # the others go on
tar xzOf results/logs.tgz ./two.log | grep -q broken || fail "the log of what fails is not kept"

new_bundle
ends dualbragg_fit_bench 'exit 1'
lease 1 "a benchmark fails"
says 'bench: passed'

new_bundle
rm bundle/gpu_one
lease 1 "a program is missing"
says 'gpu_one is missing'

# no time: what is left is told to be left out
new_bundle
sed -i 's/^most=470.*/most=5/' bundle/run.sh
ends gpu_one 'sleep 20'
lease 1 "out of time"
says 'one: FAILED: cut short after [1-5] s'
says 'bench: FAILED: no time left'

new_bundle
none="echo 'device cuda:0: expected an NVIDIA GPU, found no GPU' >&2; exit 4"
for program in dualbragg dualbragg_bench dualbragg_fit_bench; do ends $program "$none"; done
for program in gpu_one gpu_two; do ends $program "echo 'skipped: expected an NVIDIA GPU'; exit 77"; done
lease 77 "no GPU"
for part in first_image bench fit_bench; do says "$part: no device: .*expected an NVIDIA GPU"; done
says 'two: skipped: expected an NVIDIA GPU'

[ "$failures" -eq 0 ]
