#!/bin/sh
# docs/reference/configuration.md and json.md show what the program prints.
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
"$DUALBRAGG" fit --show-json | diff -u "$SOURCE_DIR/docs/reference/json.md" - || {
    echo "docs/reference/json.md is not what 'dualbragg fit --show-json' prints"
    exit 1
}
"$DUALBRAGG" fit --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | while read -r flag; do
    case $flag in --help | --show-defaults | --show-json) continue ;; esac
    grep -qF -e "$flag" "$SOURCE_DIR/docs/reference/configuration.md" || {
        echo "docs/reference/configuration.md does not mention $flag"
        exit 1
    }
done
