#!/bin/sh
# The checks of the documentation see each fault that they are there for, and are content without.
set -eu
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
PYTHONPATH=$SOURCE_DIR/tests/docs PYTHONDONTWRITEBYTECODE=1 exec python3 -m unittest -q docs_check_test run_pages_test
