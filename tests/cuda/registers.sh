#!/bin/sh
# Registers, spills and stack of the device's kernels, as the assembler reports them, are those of the record; kernels
# of mixed precision do not spill. After a change that is worth its registers, or with another nvcc:
#     sh tests/cuda/registers.sh --renew BUILD
# writes the record anew from a build with DB_WITH_CUDA.
set -eu
source_dir=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
record=$source_dir/tests/cuda/registers.record
build=${2:-${BINARY_DIR:-$source_dir/build/cuda}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

found=
for report in "$build"/cuda/*.report; do
    [ ! -f "$report" ] || found=1
done
[ "$found" ] || {
    echo "skipped: $build has no device code (nvcc, DB_WITH_CUDA)"
    exit 77
}
# kernel, architecture, registers, bytes of spills (stores), bytes of the stack
cat "$build"/cuda/*.report | awk '
    /Compiling entry function/ {
        split($0, part, "\047")
        name = part[2]
        arch = part[4]
    }
    /bytes stack frame/ { stack = $1; spills = $5 }
    /Used [0-9]+ registers/ {
        match($0, /Used [0-9]+/)
        print name, arch, substr($0, RSTART + 5, RLENGTH - 5), spills, stack
    }' | grep ^db_cuda_ | LC_ALL=C sort > "$work/found"
compiler=$(sed -n 's/^CMAKE_CUDA_COMPILER:[^=]*=//p' "$build/CMakeCache.txt")
version=$("$compiler" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')

if [ "${1-}" = --renew ]; then
    {
        sed -n '/^#/p' "$record" 2> /dev/null || true
        echo "nvcc $version"
        cat "$work/found"
    } > "$work/record"
    cat "$work/record" > "$record"
    echo "renewed: $record"
    exit 0
fi

failed=0
awk '$1 ~ /_mixed_/ && $4 > 0 { print $1, "spills", $4, "bytes on", $2; bad = 1 } END { exit bad }' "$work/found" ||
    failed=1
recorded=$(sed -n 's/^nvcc //p' "$record")
[ "$version" = "$recorded" ] || {
    [ $failed = 0 ] || exit 1
    echo "skipped: the record is of nvcc $recorded, this build of nvcc $version; no mixed kernel spills"
    exit 77
}
awk '
    FNR == NR {
        if ($2 ~ /^sm_/) { registers[$1, $2] = $3; spills[$1, $2] = $4; stack[$1, $2] = $5; arch[$2] = 1 }
        next
    }
    $2 in arch {
        seen[$1, $2] = 1
        if (!(($1, $2) in registers)) { print $1, $2 ": not in the record"; bad = 1 }
        else if ($3 > registers[$1, $2] + 4 || $4 > spills[$1, $2] || $5 > stack[$1, $2]) {
            print $1, $2 ": " $3, "registers,", $4, "bytes of spills,", $5, "of stack; recorded:",
                registers[$1, $2], spills[$1, $2], stack[$1, $2]
            bad = 1
        }
        count++
    }
    END {
        if (!count) { print "none of the recorded architectures is in this build"; exit 77 }
        print count, "kernels looked at"
        exit bad
    }' "$record" "$work/found" || {
    status=$?
    [ $status != 77 ] || exit 77
    echo "If the change is worth it: sh tests/cuda/registers.sh --renew $build"
    exit 1
}
exit $failed
