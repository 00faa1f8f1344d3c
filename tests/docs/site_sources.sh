#!/bin/sh
# What the site is made of is fit for it; site_slow.sh builds it.
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
