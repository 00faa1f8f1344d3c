#!/bin/sh
# Shared libraries: built, installed, used by a project of C and from Python; the program runs by itself.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
launcher=
if command -v ccache > /dev/null; then launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache; fi
cmake -S "$SOURCE_DIR" -B "$work/build" $launcher -DBUILD_SHARED_LIBS=ON -DDB_INSTRUCTION_SETS=baseline -DDB_BUILD_TESTS=OFF \
    -DDB_BUILD_BENCH=OFF -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0 > "$work/log"
cmake --build "$work/build" -j "$(nproc 2> /dev/null || echo 2)" >> "$work/log"
BINARY_DIR=$work/build sh "$SOURCE_DIR/tests/consumer/exported_symbols.sh"
BINARY_DIR=$work/build sh "$SOURCE_DIR/tests/consumer/struct_sizes.sh"
# with what this script has built, the program included
env -u LD_LIBRARY_PATH BINARY_DIR="$work/build" DUALBRAGG="$work/build/dualbragg" \
    sh "$SOURCE_DIR/tests/consumer/install.sh"
cmake --install "$work/build" --prefix "$work/prefix" > "$work/log"
env -u LD_LIBRARY_PATH "$work/prefix/bin/dualbragg" sim -cell 40 50 60 90 90 90 -N 4 -default_F 100 -lambda 1 \
    -distance 70 -detpixels 20 -pixel 1 -floatfile "$work/image.f32" > "$work/log"
command -v python3 > /dev/null || { echo "without python3: ctypes was not tried"; exit 0; }
library=$(find "$work/prefix" -name libdualbragg.so)
python3 "$SOURCE_DIR/tests/consumer/structs.py" "$library"
