#!/bin/sh
# Fuzzes readers of files, two at a time, and keeps what makes them fail beside what was printed.
# usage: tests/fuzz.sh SECONDS [READER...]     (the readers are in tests/fuzz/fuzz_*.c; by default all)
# Needs clang. What it finds belongs into tests/fuzz/corpus, with a repair.
set -eu
[ "${1:-0}" -gt 0 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
seconds=$1
shift
cd "$(dirname "$0")/.."
root=$PWD
[ $# -gt 0 ] || set -- $(sed -n 's/^ *{ "\([a-z_]*\)", read_.*/\1/p' tests/fuzz/fuzz_*.c)
mkdir -p build
{ cmake --preset fuzz && cmake --build --preset fuzz -j 2; } > build/fuzz.log 2>&1 || {
    tail -n 50 build/fuzz.log
    exit 1
}
# libhdf5 leaks memory of its own where files are damaged
echo leak:libhdf5 > build/fuzz/leaks
export LSAN_OPTIONS="suppressions=$root/build/fuzz/leaks"
export HDF5_PLUGIN_PRELOAD=:: # no plugins: they are what is installed here

fuzz() { # READER
    folder=$root/build/fuzz/$1
    mkdir -p "$folder/corpus"
    cd "$folder"
    code=0
    FUZZ_READER=$1 ../tests/fuzz/fuzz -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=16384 \
        -print_final_stats=1 corpus "$root/tests/fuzz/corpus" > log 2>&1 || code=$?
    echo "$1: $(sed -n 's/^stat::number_of_executed_units: *//p' log) inputs," \
        "$([ $code -eq 0 ] && echo 'nothing found' || echo "ended with $code, see $folder")"
    return $code
}
failed=0
while [ $# -gt 0 ]; do
    (fuzz "$1") &
    first=$!
    shift
    if [ $# -gt 0 ]; then
        (fuzz "$1") || failed=1
        shift
    fi
    wait $first || failed=1
done
exit $failed
