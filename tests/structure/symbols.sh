#!/bin/sh
# Calls go in one direction, too: between folders, also through public headers, and without circles between files.
set -eu
for tool in python3 nm; do
    command -v $tool > /dev/null || { echo "skipped: no $tool"; exit 77; }
done
if [ ! -d "$BINARY_DIR/src/CMakeFiles/dualbragg_objects.dir" ]; then
    echo "skipped: no object files in $BINARY_DIR"
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
python3 "$SOURCE_DIR/tests/structure/symbols.py" "$SOURCE_DIR" "$BINARY_DIR" "$SOURCE_DIR/tests/structure/symbol_exceptions"
