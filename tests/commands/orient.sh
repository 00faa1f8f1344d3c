#!/bin/sh
# Orientation matrices against an independent calculation, and what sim makes of them.
if ! command -v python3 > /dev/null; then
    echo "SKIPPED: no python3"
    exit 77
fi
exec python3 "$SOURCE_DIR/tests/commands/orient.py" "$DUALBRAGG"
