#!/bin/sh
# The benchmark measures every row, finds no allocation in warm calls, sees whether another program's images are
# the same, and leaves nothing behind when that program fails.
set -eu
bench=$BINARY_DIR/bench/dualbragg_bench
[ -x "$bench" ] || { echo "skipped: this build has no benchmark"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
export TMPDIR="$work/tmp"
unset NB_C_BIN

fail() {
    echo "$1"
    exit 1
}

# count NUMBER PATTERN FILE: so many lines have it.
count() {
    found=$(grep -c -- "$2" "$3" || true)
    [ "$found" = "$1" ] || fail "expected $1 lines with '$2' in ${3##*/}, found $found"
}

# largest FILE KEY, smallest FILE KEY: of all values that the key has.
values() { sed -n "s/.*\"$2\": \\([^,]*\\),*\$/\\1/p" "$1"; }
largest() { values "$1" "$2" | sort -g | tail -n 1; }
smallest() { values "$1" "$2" | sort -g | head -n 1; }

# holds EXPRESSION: arithmetic on numbers as the reports print them.
holds() { awk "BEGIN { exit !($1) }" || fail "does not hold: $1"; }

expect_status() {
    status=0
    wanted=$1
    shift
    "$bench" "$@" > "$work/out" 2> "$work/err" || status=$?
    [ "$status" = "$wanted" ] || { cat "$work/err"; fail "$*: expected status $wanted, found $status"; }
}

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
fi

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

# stand_in NAME FLAGS: a program that understands the flags of the reference.
stand_in() {
    name=$1
    shift
    printf '#!/bin/sh\nexec "%s" sim "$@" %s\n' "$DUALBRAGG" "$*" > "$work/$name"
    chmod +x "$work/$name"
}

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

echo "Loads are the same as flags and as the library takes them"
stand_in flags --precision double --quiet
expect_status 0 --quick --sizes 8 --repeats 1 --program "$DUALBRAGG" --reference "$work/flags" --output "$work/flags" \
    --loads sources,domains,oversample,phi,list,interpolate,round30,gauss5,layers,curved,water
count 26 '"reference": {' "$work/flags.json"
count 39 '"largest_difference": 0.0,' "$work/flags.json" # double rows, and sim of every row
holds "$(largest "$work/flags.json" largest_difference) < 1e-5"

stand_in other -distance 101 --quiet
expect_status 0 --quick --loads none --sizes 32 --repeats 1 --program "$DUALBRAGG" --reference "$work/other" --output "$work/other"
holds "$(largest "$work/other.json" largest_difference) > 1e-3"

expect_status 3 --quick --loads none --sizes 32 --repeats 1 --reference false --output "$work/failed"
grep -q 'false: expected exit status 0' "$work/err" || fail "the failing program is not named"
expect_status 3 --quick --loads none --sizes 32 --repeats 1 --reference true --output "$work/failed"
grep -q 'true: expected a float image' "$work/err" || fail "the missing image is not named"
[ ! -e "$work/failed.json" ] || fail "a report of a failed run"
[ -z "$(ls "$work/tmp")" ] || fail "left behind: $(ls "$work/tmp")"
