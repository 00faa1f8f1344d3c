#!/bin/sh
# No lane operation or rule calls a library, for any instruction set, with the compiler of the build (COMPILERS: with these): an
# object that holds them all has no undefined symbols.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v nm >/dev/null || { echo "skipped: no nm"; exit 77; }

probe=$SOURCE_DIR/tests/ad/probe/lane_probe.c
common="-fno-math-errno -fno-trapping-math -ffp-contract=off -fPIC -I$SOURCE_DIR"
tried=0
failed=0
for compiler in ${COMPILERS:-"${CC:-cc}"}; do
    found=$(command -v "$compiler") || continue
    name=$(basename "$(readlink -f "$found")")
    [ -e "$work/$name" ] && continue
    : >"$work/$name"
    nm=nm
    case $("$compiler" -dumpmachine) in
    x86_64*) isas='baseline avx2 avx512' ;;
    *)
        isas='baseline'
        found=$("$compiler" -print-prog-name=nm) # of its processor
        [ -z "$found" ] || nm=$found
        ;;
    esac
    for isa in $isas; do
        case $isa in
        avx2) flags='-mavx2 -mfma' ;;
        avx512) flags='-mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx512cd -mfma' ;;
        *) flags= ;;
        esac
        # floats beside doubles hold all there is; doubles alone differ by LANES only
        for kind in '-DPROBE_MIXED -O2' '-DPROBE_MIXED -O3' -O3; do
            # shellcheck disable=SC2086 -- the flags are several words
            "$compiler" -std=c17 $kind $flags $common -c "$probe" -o "$work/probe.o"
            tried=$((tried + 1))
            calls=$("$nm" -u "$work/probe.o" | sed 's/.* U //;/^_GLOBAL_OFFSET_TABLE_$/d')
            if [ -n "$calls" ]; then
                echo "$name $kind $isa calls:" $calls
                failed=1
            fi
        done
    done
done
echo "$tried objects"
[ "$tried" -gt 0 ] || { echo "skipped: no compiler"; exit 77; }
exit $failed
