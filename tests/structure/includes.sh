#!/bin/sh
# Includes go in one direction: between folders, and without circles between files. First that the check can fail.
set -eu
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
python3 "$SOURCE_DIR/tests/structure/self_check.py"
python3 "$SOURCE_DIR/tests/structure/includes.py" "$SOURCE_DIR" "$SOURCE_DIR/tests/structure/exceptions"
python3 "$SOURCE_DIR/tests/structure/names.py" "$SOURCE_DIR"
