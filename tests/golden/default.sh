#!/bin/sh
# Right images: those of the reference program, or of an independent implementation of the right rules where the
# reference has an oddity.
command -v python3 > /dev/null || { echo "SKIPPED: no python3"; exit 77; }
exec python3 "$SOURCE_DIR/tests/golden/compare.py" "$DUALBRAGG" default "$@"
