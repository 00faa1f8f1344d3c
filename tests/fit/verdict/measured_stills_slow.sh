#!/bin/sh
# Stills of X-ray lasers from listed, spoilt and found orientations, with bounds and without: none runs away, none ends with 0
# though cell or orientation are wrong, none explains less than was measured (docs/results/measured-stills.md).
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
if [ ! -r "$SHARED_DIR/realdata/thermolysin/imported.expt" ]; then
    echo "skipped: $SHARED_DIR/realdata is not there"
    exit 77
fi
export DUALBRAGG SHARED_DIR
python3 "$SOURCE_DIR/bench/fit/measured_stills.py" --check stills
