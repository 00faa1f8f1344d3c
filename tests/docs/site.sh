#!/bin/sh
# The target docs builds the site without a warning, or says what is missing.
set -eu
# A line that begins with % is a comment to MyST: the site would lack it.
if grep -nE '^ *%' "$SOURCE_DIR"/*.md "$SOURCE_DIR"/docs/*.md "$SOURCE_DIR"/docs/*/*.md; then
    echo "these lines begin with %"
    exit 1
fi
for header in "$SOURCE_DIR"/src/include/dualbragg/*.h "$SOURCE_DIR"/fit/include/dualbragg/*.h "$SOURCE_DIR"/cuda/include/dualbragg/*.h; do
    name=$(basename "$header")
    [ "$name" = dualbragg.h ] || grep -qxF "\`\`\`{doxygenfile} $name" "$SOURCE_DIR/docs/reference/c-api.md" || {
        echo "$name is not on the page of the C interface"
        exit 1
    }
done
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
