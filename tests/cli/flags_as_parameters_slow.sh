#!/bin/sh
# A flag that stands among -params is told as a flag: never taken for a misspelt parameter.
. "$SOURCE_DIR/tests/cli/expectations"
"$DUALBRAGG" grad --list-params | sed 's/ .*//' > ../parameters
flags=$(sed -n 's/^| `--*\([^ `]*\)[^|]*| \([^|]*\)|.*/\1 \2/p' "$SOURCE_DIR/docs/reference/flags.md" | tr -s ' ' '\n' | sed -n "s/^--*//; /^[A-Za-z0-9_-]*$/p")
for flag in $flags; do
    case $flag in all | dispersion) continue ;; esac # dispersion: a former name of a parameter
    grep -qx "$flag" ../parameters || expect 2 "$flag" grad $small -params "$flag"
    ! grep -q "nearest\|unknown" ../err || complain "-params $flag: $(cat ../err)"
done
finish
