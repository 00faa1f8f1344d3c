#!/bin/sh
# Registers, spills and stack of the device's kernels, as the assembler reports them, are those of the record; kernels
# of mixed precision do not spill on its architectures, and where they do on others it is told. After a change that is
# worth its registers, or with another nvcc:
#     sh tests/cuda/registers.sh --renew BUILD
# writes the record anew from a build with DB_WITH_CUDA.
set -eu
. "$(dirname "$0")/../support/device_record"

found=
for report in "$build"/cuda/*.report; do
    [ ! -f "$report" ] || found=1
done
[ "$found" ] || skip "$build has no device code (nvcc, DB_WITH_CUDA)"
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
nvcc_version
renew

failed=0
awk '
    FNR == NR {
        if ($2 ~ /^sm_/) arch[$2] = 1
        next
    }
    $1 ~ /_mixed_/ && $4 > 0 {
        print $1, "spills", $4, "bytes on", $2
        if ($2 in arch) bad = 1
    }
    END { exit bad }' "$record" "$work/found" || failed=1
is_recorded || {
    [ $failed = 0 ] || exit 1
    skip "the record is of nvcc $recorded, this build of nvcc $version; no mixed kernel spills on its architectures"
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
    worse
}
exit $failed
