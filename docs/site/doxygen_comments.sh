#!/bin/sh
# A public header as Doxygen reads it: every comment documents what follows it, or what stands before it in its line.
sed -E 's#^( *)/\* #\1/** #; s#([^ *] *)/\* #\1/**< #' "$1"
