#!/bin/sh
# What a shared library exports is declared in public headers, or in those of src/base, of sums over shoeboxes and of
# surroundings of pixels, which the refinement and backends of devices use: these are not installed and promise nothing.
set -eu
command -v readelf > /dev/null || { echo "skipped: no readelf"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE_DIR"
# the only headers of the inside that export
inside="$(grep -l DB_API src/base/*.h) src/loss/block.h src/loss/box_weight.h src/surroundings/surroundings.h fit/config/config_move.h"
find src fit -name "*.h" ! -path "*/include/*" -exec grep -l DB_API {} + | sort > "$work/exporting"
# shellcheck disable=SC2086 # a list
printf '%s\n' $inside | sort > "$work/expected"
diff "$work/expected" "$work/exporting"

# shellcheck disable=SC2086 # a list
cat src/include/dualbragg/*.h src/include/dualbragg/expert/*.h fit/include/dualbragg/*.h fit/include/dualbragg/expert/*.h $inside | tr -c 'a-zA-Z0-9_' '\n' | sort -u > "$work/words"
for library in src/libdualbragg.a fit/libdualbragg_fit.a src/libdualbragg.so fit/libdualbragg_fit.so; do
    [ -f "$BINARY_DIR/$library" ] || continue
    readelf --wide --symbols --dyn-syms "$BINARY_DIR/$library" 2> "$work/log" |
        awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 ~ /^[0-9]+$/ { print $8 }' | sort -u > "$work/exported"
    grep -vE '^_(init|fini)$|^__|^\.gomp_' "$work/exported" | comm -23 - "$work/words" > "$work/undeclared"
    if [ -s "$work/undeclared" ]; then
        echo "$library exports what no public header declares:"
        cat "$work/undeclared"
        exit 1
    fi
    [ "$(wc -l < "$work/exported")" -gt 10 ] || { echo "$library: expected more than 10 exported symbols"; exit 1; }
    cp "$work/exported" "$work/$(echo "$library" | tr / _)"
    echo "$library: $(wc -l < "$work/exported") symbols"
done
# The refinement uses what the core exports: a shared library hides the rest.
if [ -f "$BINARY_DIR/fit/libdualbragg_fit.a" ]; then
    readelf --wide --symbols "$BINARY_DIR/fit/libdualbragg_fit.a" 2> "$work/log" > "$work/symbols"
    awk '$5 == "GLOBAL" && $7 == "UND" && $8 ~ /^db_/ { print $8 }' "$work/symbols" | sort -u > "$work/used"
    awk '$5 == "GLOBAL" && $7 ~ /^[0-9]+$/ { print $8 }' "$work/symbols" | sort -u > "$work/own"
    if comm -23 "$work/used" "$work/own" | comm -23 - "$work/src_libdualbragg.a" | grep .; then
        echo "the refinement uses these, which libdualbragg does not export"
        exit 1
    fi
fi
for kind in a so; do
    [ -f "$work/src_libdualbragg.$kind" ] && [ -f "$work/fit_libdualbragg_fit.$kind" ] || continue
    if comm -12 "$work/src_libdualbragg.$kind" "$work/fit_libdualbragg_fit.$kind" | grep -v '^_'; then
        echo "both libraries have these"
        exit 1
    fi
done
