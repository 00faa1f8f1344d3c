#!/bin/sh
# What sim prints: labels, order and numbers that scripts read.
command -v python3 > /dev/null || { echo "SKIPPED: no python3"; exit 77; }
exec python3 "$SOURCE_DIR/tests/cli/report/compare.py" "$DUALBRAGG" "$SOURCE_DIR/tests/cli/report" "$@"
