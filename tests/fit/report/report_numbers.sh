#!/bin/sh
# The report's script without a browser: its syntax, and what its functions of numbers give. Needs node (Debian: nodejs).
set -eu
node=$(command -v node || command -v nodejs || true)
if [ -z "$node" ]; then
    echo "skipped: no node"
    exit 77
fi
"$node" "$SOURCE_DIR/tests/fit/report/report_numbers.js" "$SOURCE_DIR/fit/report/page"
