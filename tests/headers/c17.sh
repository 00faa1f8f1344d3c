#!/bin/sh
# Every public header compiles alone as C17.
set -eu
for header in $(cd "$SOURCE_DIR" && find src/include fit/include cuda/include -name '*.h'); do
    "${CC:-cc}" -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c \
        -I"$SOURCE_DIR/src/include" -I"$SOURCE_DIR/fit/include" -I"$SOURCE_DIR/cuda/include" - <<SOURCE || { echo "$header"; exit 1; }
#include <${header#*/include/}>
int unit_is_not_empty;
SOURCE
done
