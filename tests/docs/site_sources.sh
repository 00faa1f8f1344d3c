#!/bin/sh
# What the site is made of is fit for it; site_slow.sh builds it.
set -eu
# A line that begins with % is a comment to MyST: the site would lack it.
if grep -nE '^ *%' "$SOURCE_DIR"/*.md "$SOURCE_DIR"/docs/*.md "$SOURCE_DIR"/docs/*/*.md; then
    echo "these lines begin with %"
    exit 1
fi
for header in $(cd "$SOURCE_DIR" && find src/include fit/include cuda/include -name '*.h'); do
    name=$(basename "$header") page=docs/reference/c-api.md
    case $header in */expert/*) page=docs/reference/c-api-expert.md ;; esac
    [ "$name" = dualbragg.h ] || grep -qxF "\`\`\`{doxygenfile} $name" "$SOURCE_DIR/$page" || {
        echo "$name is not on the page $page"
        exit 1
    }
done
