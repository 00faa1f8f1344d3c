#!/bin/sh
# Images, pictures, experiment lists and headers, read by independent readers.
if ! command -v python3 > /dev/null; then
    echo "SKIPPED: no python3"
    exit 77
fi
exec python3 -B "$SOURCE_DIR/tests/cli/files.py" "$DUALBRAGG" "$SOURCE_DIR/tests/golden/data"
