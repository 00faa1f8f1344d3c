#!/bin/sh
# Amorphous matter: images against an independent calculation.
if ! command -v python3 > /dev/null; then
    echo "SKIPPED: no python3"
    exit 77
fi
exec python3 "$SOURCE_DIR/tests/commands/amorphous.py" "$DUALBRAGG"
