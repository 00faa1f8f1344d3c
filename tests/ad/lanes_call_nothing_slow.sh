#!/bin/sh
# The same with the compilers at hand.
COMPILERS="gcc clang"
. "$SOURCE_DIR/tests/ad/lanes_call_nothing.sh"
