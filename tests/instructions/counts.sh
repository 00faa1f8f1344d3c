#!/bin/sh
# Instructions that small pieces of work take, as valgrind counts them, are those of the record; one that takes over
# 3 % more fails. Counts do not depend on how busy the machine is. After a change that is worth its instructions:
#     sh tests/instructions/counts.sh --renew "why" [BUILD]
# measures again and writes the record, with the reason; BUILD is build/dev unless named.
set -eu
source_dir=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
record=$source_dir/tests/instructions/record
renew=${1-}
reason=${2-}
build=${3:-${BINARY_DIR:-$source_dir/build/dev}}
bench=$build/bench/dualbragg_bench
tolerance=3 # percent

skip() {
    echo "skipped: $1"
    [ -z "$renew" ] || exit 1
    exit 77
}

case $renew in
'') ;;
--renew)
    case $reason in
    *[![:space:]]*) ;;
    *)
        echo "--renew: expected a reason, found none" >&2
        exit 2
        ;;
    esac
    ;;
*)
    echo "expected nothing or --renew \"REASON\" [BUILD], found '$*'" >&2
    exit 2
    ;;
esac
[ -x "$bench" ] || skip "$build has no benchmark"
command -v valgrind > /dev/null || skip "valgrind is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work"

# The compiler, with the flags that matter: instructions depend on both.
compiler=$("$bench" --version | sed -n 's/^compiler: //p' | sed 's/ -g[0-9]*//; s/ -DNDEBUG//')
if [ -z "$renew" ]; then
    recorded=$(sed -n 's/^compiler //p' "$record")
    [ "$compiler" = "$recorded" ] || skip "the record is of $recorded, this build of $compiler"
fi
"$bench" --once still,mixed,image --sizes 8 --isa avx2 --threads 1 2> "$work/err" || skip "$(cat "$work/err")"

# collect WORK SIZE: prints the instructions of its one call of the plan.
collect() {
    case $1 in
    *,image) call=db_plan_forward ;;
    *) call=db_plan_gradient ;;
    esac
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "--toggle-collect=$call" \
        "$bench" --once "$1" --sizes "$2" --isa avx2 --threads 1 > "$work/log" 2>&1 || {
        cat "$work/log" >&2
        return 1
    }
    sed -n 's/^==[0-9]*== Collected : \([1-9][0-9]*\)$/\1/p' "$work/log"
}

cat > "$work/list" << 'TEXT'
still,mixed,image 128
mosaic,mixed,image 48
still,mixed,derivatives 128
mosaic,double,derivatives 48
TEXT

failed=0
: > "$work/counts"
while read -r name size; do
    count=$(collect "$name" "$size")
    [ -n "$count" ] || { echo "$name: valgrind counted nothing"; exit 1; }
    echo "$name $size $count" >> "$work/counts"
    before=$(sed -n "s/^$name $size //p" "$record" 2> /dev/null || true)
    if [ -z "$before" ]; then
        echo "$name, $size x $size pixels: $count, not in the record"
        failed=1
        continue
    fi
    change=$(awk "BEGIN { printf \"%+.1f\", 100 * ($count / $before - 1) }")
    verdict=$(awk "BEGIN { print (($change > $tolerance) ? \"too many\" : ($change < -$tolerance) ? \"fewer: renew the record\" : \"as recorded\") }")
    echo "$name, $size x $size pixels: $count instructions, $change %: $verdict"
    [ "$verdict" != "too many" ] || failed=1
done < "$work/list"

if [ "$renew" ]; then
    {
        sed -n '/^#/p' "$record"
        echo "compiler $compiler"
        cat "$work/counts"
        echo "changes"
        sed '1,/^changes$/d' "$record"
        printf '%s %s\n' "$(date -u +%Y-%m-%d)" "$reason"
    } > "$work/record"
    cat "$work/record" > "$record"
    echo "renewed: $record"
    exit 0
fi
[ $failed = 0 ] || {
    echo "If the change is worth it: sh tests/instructions/counts.sh --renew \"why\" $build"
    exit 1
}
