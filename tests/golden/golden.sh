#!/bin/sh
# Images of the reference program, reproduced with every instruction set of this machine and any number of threads.
cases=$SHARED_DIR/reference/golden/cases.json
if [ ! -f "$cases" ]; then
    echo "SKIPPED: no reference images beside the checkout ($cases)"
    exit 77
fi
if ! command -v python3 > /dev/null; then
    echo "SKIPPED: no python3"
    exit 77
fi
exec python3 "$SOURCE_DIR/tests/golden/compare.py" "$DUALBRAGG" "$cases" "$SOURCE_DIR/tests/golden/expected_to_fail.txt" "$@"
