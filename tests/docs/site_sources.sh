#!/bin/sh
# What the site is made of is fit for it; site_slow.sh builds it.
set -eu
# A line that begins with % is a comment to MyST: the site would lack it.
if grep -nE '^ *%' "$SOURCE_DIR"/*.md "$SOURCE_DIR"/docs/*.md "$SOURCE_DIR"/docs/*/*.md; then
    echo "these lines begin with %"
    exit 1
fi
# A list of pages is the site's table of contents; a level of headings that is left out has no place in it.
for page in "$SOURCE_DIR"/*.md; do
    grep -qF "](../$(basename "$page"))" "$SOURCE_DIR/docs/index.md" || {
        echo "docs/index.md does not name $page"
        exit 1
    }
done
awk 'FNR == 1 { level = 0; fenced = 0 }
    /^ *```/ { fenced = !fenced }
    /^#+ / && !fenced { if (length($1) > level + 1) { print FILENAME ": expected a level less: " $0; wrong = 1 } level = length($1) }
    END { exit wrong }' "$SOURCE_DIR"/*.md "$SOURCE_DIR"/docs/*.md "$SOURCE_DIR"/docs/*/*.md
for header in $(cd "$SOURCE_DIR" && find src/include fit/include cuda/include -name '*.h'); do
    name=$(basename "$header") page=docs/reference/c-api.md
    case $header in */expert/*) page=docs/reference/c-api-expert.md ;; esac
    [ "$name" = dualbragg.h ] || grep -qxF "\`\`\`{doxygenfile} $name" "$SOURCE_DIR/$page" || {
        echo "$name is not on the page $page"
        exit 1
    }
done
