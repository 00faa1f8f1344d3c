#!/bin/sh
# The check of the documentation sees each fault that it is there for, and is content without.
set -eu
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
PYTHONPATH=$SOURCE_DIR/tests/docs PYTHONDONTWRITEBYTECODE=1 exec python3 -m unittest -q docs_check_test
