#!/bin/sh
# Every mutant of the list (mutants.list) still has its place in the sources, once, and tests that exist.
set -eu
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
here=$SOURCE_DIR/tests/mutants
PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 python3 - "$SOURCE_DIR" << 'PYTHON'
import sys
import mutants

entries = mutants.read()
wrong = mutants.check(entries, sys.argv[1])
if len(entries) < 30:
    wrong.append(f"expected at least 30 mutants, found {len(entries)}")
print("\n".join(wrong) or f"{len(entries)} mutants have their places")
sys.exit(bool(wrong))
PYTHON
