#!/bin/sh
command -v python3 > /dev/null || { echo "SKIPPED: no python3"; exit 77; }
exec python3 -B "$SOURCE_DIR/tests/quirks/table.py" "$@"
