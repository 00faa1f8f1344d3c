#!/bin/sh
# The record of the slowest tests is of tests that exist, and the comparison with it sees a test that became slow.
set -eu
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
PYTHONPATH=$SOURCE_DIR/tests/times PYTHONDONTWRITEBYTECODE=1 exec python3 -m unittest -q check_times_test
