#!/bin/sh
# The benchmark's realistic loads and spots in closed form; its loads are the same as flags and as the library takes them.
. "$SOURCE_DIR/tests/bench/report_expectations"

echo "Realistic loads"
expect_status 0 --quick --sizes 8 --repeats 1 --loads sources,list,interpolate,layers,boxes,block --output "$work/loads"
count 16 '"samples_per_pixel"' "$work/loads.json"
count 2 '"samples_per_pixel": 2000,' "$work/loads.json"
count 4 '"pixels": 80000,' "$work/loads.json"
count 4 '"forward_cold"' "$work/loads.json"
count 16 '"gradient_warm"' "$work/loads.json"
count 2 '^| sensor with 3 layers | 65536 | ' "$work/loads.md"
holds "$(largest "$work/loads.json" warm_allocations) == 0"
count 6 '"bright":' "$work/loads.json" # the two of the main tables, and four that are whole detectors
holds "$(largest "$work/loads.json" double) < 7e-8"
holds "$(smallest "$work/loads.json" mixed) > 7e-8"
grep -q '^| 200 shoeboxes / one block of as many pixels | at most | ' "$work/loads.md" || fail "no ratio of shoeboxes"
count 1 '"one_thread": {' "$work/loads.json"
[ ! -x "${DUALBRAGG:-}" ] || holds "$(values "$work/loads.json" memory_beyond_image_bytes) > 1e5"
[ -z "$(ls "$work/tmp")" ] || fail "left behind: $(ls "$work/tmp")"

echo "Spots in closed form"
expect_status 0 --quick --sizes none --loads spots --repeats 2 --output "$work/spots"
count 32 '"over_closed_image"' "$work/spots.json"
count 32 '"warm_allocations"' "$work/spots.json"
count 16 '"precision": "mixed"' "$work/spots.json"
count 7 '"rms_error"' "$work/spots.json"
count 0 '"samples_per_pixel"' "$work/spots.json"
grep -q '^## Error against time' "$work/spots.md" || fail "no table of errors"
holds "$(smallest "$work/spots.json" min) > 0"
holds "$(smallest "$work/spots.json" boxes) > 10"
holds "$(largest "$work/spots.json" exact_difference) < 2e-6" # tolerance 1e-6, mixed precision
holds "$(largest "$work/spots.json" exact_difference) > 1e-8"
holds "$(smallest "$work/spots.json" rms_error) < 2e-3"
if command -v python3 > /dev/null; then
    mkdir -p "$work/tree/bench" "$work/tree/docs/images"
    cp "$SOURCE_DIR/bench/publish_spots.py" "$SOURCE_DIR/bench/README.md" "$work/tree/bench"
    python3 "$work/tree/bench/publish_spots.py" --from "$work/spots"
    grep -q '</svg>' "$work/tree/docs/images/error-against-time.svg" || fail "no figure"
    count 32 '^| .* | \(closed\|sampled\), ' "$work/tree/bench/README.md"
    count "$(grep -c '^## ' "$SOURCE_DIR/bench/README.md")" '^## ' "$work/tree/bench/README.md" # the other sections stay
fi

[ -x "${DUALBRAGG:-}" ] || { echo "without the program: no comparison was tried"; exit 0; }

echo "Loads are the same as flags and as the library takes them"
stand_in flags --precision double --quiet
expect_status 0 --quick --sizes 8 --repeats 1 --program "$DUALBRAGG" --reference "$work/flags" --output "$work/flags" \
    --loads sources,domains,oversample,phi,list,interpolate,round30,gauss5,layers,curved,water
count 26 '"reference": {' "$work/flags.json"
count 39 '"largest_difference": 0.0,' "$work/flags.json" # double rows, and sim of every row
holds "$(largest "$work/flags.json" largest_difference) < 1e-5"
