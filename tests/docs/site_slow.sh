#!/bin/sh
# The target docs builds the site without a warning, or says what is missing.
set -eu
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if cmake --build "$BINARY_DIR" --target docs > "$log" 2>&1; then
    for page in index docs/index docs/tutorials/first-image docs/theory/refinement docs/reference/c-api README; do
        [ -s "$BINARY_DIR/docs/$page.html" ] || { echo "no page $page.html"; exit 1; }
    done
    grep -q db_plan_gradient "$BINARY_DIR/docs/docs/reference/c-api.html" || { echo "no functions on the page of the C interface"; exit 1; }
    exit 0
fi
grep '^The documentation site cannot be built here' "$log" && exit 77
cat "$log"
exit 1
