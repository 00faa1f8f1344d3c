#!/bin/sh
# docs/reference/configuration.md shows what the program prints.
set -eu
"$DUALBRAGG" fit --help > /dev/null 2>&1 || {
    echo "this build has no refinement"
    exit 77
}
shown=$(mktemp)
trap 'rm -f "$shown"' EXIT
sed -n '/^```yaml$/,/^```$/p' "$SOURCE_DIR/docs/reference/configuration.md" | sed '1d;$d' > "$shown"
"$DUALBRAGG" fit --show-defaults | diff -u "$shown" - || {
    echo "docs/reference/configuration.md is not what 'dualbragg fit --show-defaults' prints"
    exit 1
}
"$DUALBRAGG" fit --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | while read -r flag; do
    case $flag in --help | --show-defaults) continue ;; esac
    grep -qF -e "$flag" "$SOURCE_DIR/docs/reference/configuration.md" || {
        echo "docs/reference/configuration.md does not mention $flag"
        exit 1
    }
done
