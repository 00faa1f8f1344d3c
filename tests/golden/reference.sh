#!/bin/sh
# -compat: every image of the reference program, oddities included.
command -v python3 > /dev/null || { echo "SKIPPED: no python3"; exit 77; }
exec python3 "$SOURCE_DIR/tests/golden/compare.py" "$DUALBRAGG" compat "$@"
