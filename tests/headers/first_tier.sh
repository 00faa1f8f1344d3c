#!/bin/sh
# Headers of dualbragg/, which programs rely on, declare the functions of the list first_tier, and none of them needs a header of
# dualbragg/expert/, which promise nothing. A function that belongs here is added to the list.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE_DIR"
LC_ALL=C
export LC_ALL
sed -e '/^ *#/d' -e 's:/\*.*\*/::' -e '/\/\*/,/\*\//d' src/include/dualbragg/*.h fit/include/dualbragg/*.h cuda/include/dualbragg/*.h | tr '\n' ' ' |
    grep -oE 'DB_API [^(;]*\(' | sed 's/ *($//; s/.*[ *]//' | sort > "$work/declared"
grep -v '^#' tests/headers/first_tier | sort > "$work/listed"
diff "$work/listed" "$work/declared" || {
    echo "tests/headers/first_tier (<) and the headers of dualbragg/ (>) differ; what people need is listed, the rest is for dualbragg/expert/"
    exit 1
}
! grep -n 'include <dualbragg/expert/' src/include/dualbragg/*.h fit/include/dualbragg/*.h cuda/include/dualbragg/*.h || {
    echo "a header of dualbragg/ includes one of dualbragg/expert/"
    exit 1
}
