#!/bin/sh
# Every public header compiles alone as C++17.
set -eu
command -v "${CXX:=c++}" > /dev/null || { echo "skipped: no C++ compiler"; exit 77; }
for header in $(cd "$SOURCE_DIR" && find src/include fit/include cuda/include -name '*.h'); do
    "$CXX" -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ \
        -I"$SOURCE_DIR/src/include" -I"$SOURCE_DIR/fit/include" -I"$SOURCE_DIR/cuda/include" - <<SOURCE || { echo "$header"; exit 1; }
#include <${header#*/include/}>
SOURCE
done
