#!/bin/sh
# The benchmark measures every row, finds no allocation in warm calls, sees whether another program's images are
# the same, and leaves nothing behind when that program fails. (reports_slow.sh has the larger loads.)
. "$SOURCE_DIR/tests/bench/report_expectations"

echo "Two sizes, two loads, two precisions"
expect_status 0 --quick --loads none --sizes 32,48 --repeats 3 --threads 2 --output "$work/plain"
count 8 '"samples_per_pixel"' "$work/plain.json"
for timing in forward_warm gradient_warm forward_cold gradient_cold; do
    count 8 "\"$timing\"" "$work/plain.json"
done
count 4 '"size": 48' "$work/plain.json"
count 4 '"samples_per_pixel": 100' "$work/plain.json"
count 0 '"reference": {' "$work/plain.json"
count 16 '^| \(32\|48\)² ' "$work/plain.md"
cmp "$work/plain.md" "$work/out"
holds "$(smallest "$work/plain.json" min) > 0"
holds "$(smallest "$work/plain.json" gradient_over_forward) > 0.1"
holds "$(largest "$work/plain.json" warm_allocations) == 0"

count 0 'Realistic loads' "$work/plain.md"

echo "A limit of samples leaves images out; a single call reports nothing"
expect_status 0 --quick --loads none --sizes 8,32 --sample-limit 0.001 --repeats 1 --output "$work/limited"
count 2 '"samples_per_pixel"' "$work/limited.json"
expect_status 0 --once list,mixed,derivatives --sizes 8
[ ! -s "$work/out" ] || fail "a single call prints"

echo "Misuse"
expect_status 2 --loads sources,
expect_status 2 --loads oddity
expect_status 2 --once still
expect_status 2 --once oddity,mixed,image
expect_status 2 --sample-limit 0
expect_status 2 --sizes 32,
expect_status 2 --repeats 0
expect_status 2 --isa mmx
expect_status 2 --device 1
expect_status 4 --device abacus
expect_status 2 --bogus
expect_status 3 --output "$work/missing/x"
expect_status 3 --quick --loads none --sizes 8 --reference "$work/missing/program"

[ -x "${DUALBRAGG:-}" ] || { echo "without the program: no comparison was tried"; exit 0; }

echo "A program with the same images, one with others, and two that fail"
stand_in same --precision mixed --quiet
(cd "$work" && TMPDIR=tmp "$bench" --quick --loads none --sizes 32 --repeats 2 --program "$DUALBRAGG" --reference ./same --output same \
    > out 2> err) || { cat "$work/err"; fail "a reference with a relative name"; }
count 4 '"reference": {' "$work/same.json"
holds "$(smallest "$work/same.json" correlation) > 0.999999"
holds "$(largest "$work/same.json" largest_difference) < 1e-5"
holds "$(largest "$work/same.json" largest_difference) > 0"
count 6 '"largest_difference": 0.0,' "$work/same.json" # mixed is mixed; sim is the library, four times
holds "$(smallest "$work/same.json" over_dualbragg_sim) > 0"

stand_in other -distance 101 --quiet
expect_status 0 --quick --loads none --sizes 32 --repeats 1 --program "$DUALBRAGG" --reference "$work/other" --output "$work/other"
holds "$(largest "$work/other.json" largest_difference) > 1e-3"

expect_status 3 --quick --loads none --sizes 32 --repeats 1 --reference false --output "$work/failed"
grep -q 'false: expected exit status 0' "$work/err" || fail "the failing program is not named"
expect_status 3 --quick --loads none --sizes 32 --repeats 1 --reference true --output "$work/failed"
grep -q 'true: expected a float image' "$work/err" || fail "the missing image is not named"
[ ! -e "$work/failed.json" ] || fail "a report of a failed run"
[ -z "$(ls "$work/tmp")" ] || fail "left behind: $(ls "$work/tmp")"
