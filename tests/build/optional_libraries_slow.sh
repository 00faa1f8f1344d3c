#!/bin/sh
# Configures and builds everything, with tests and benchmarks, without any optional library, and without each in turn; each
# is switched off in a folder that was configured with it.
# usage: optional_libraries_slow.sh [LIBRARY...]      (of the names below, or all; SOURCE_DIR is the checkout)
set -eu
root=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
names="OPENMP RANDOM123 PNG ZLIB JANSSON MSGPACK GEMMI HDF5 TIFF FIT MPI"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
launcher=
if command -v ccache > /dev/null; then launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache; fi
jobs=$(nproc 2> /dev/null || echo 2)
[ $# -gt 0 ] || set -- all $names

failed=
for off; do
    options=
    for name in $names; do
        if [ "$off" = all ] || [ "$off" = "$name" ]; then options="$options -DDB_WITH_$name=OFF"; fi
    done
    start=$(date +%s)
    result=built
    # shellcheck disable=SC2086 # options are to be split
    { cmake -S "$root" -B "$work/build" && cmake -S "$root" -B "$work/build" $launcher $options -DDB_INSTRUCTION_SETS=baseline -DDB_BUILD_TESTS=ON \
        -DDB_BUILD_BENCH=ON -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O0 -Wall" &&
        cmake --build "$work/build" -j "$jobs" &&
        "$work/build/dualbragg" --version &&
        "$work/build/dualbragg" sim -cell 40 50 60 90 90 90 -N 4 -default_F 100 -lambda 1 -distance 70 \
            -detpixels 20 -pixel 1 -floatfile "$work/image.f32"; } > "$work/log" 2>&1 || result=failed
    echo "without $off: $result in $(($(date +%s) - start)) s"
    if [ $result = failed ]; then
        failed="$failed $off"
        grep -E 'error|undefined|CMake Error' "$work/log" | head -n 20 || tail -n 20 "$work/log"
    fi
    rm -rf "$work/build"
done
[ -z "$failed" ]
