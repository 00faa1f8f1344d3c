#!/bin/sh
# The report in a real browser: no errors, images drawn, zoom works, values are those of the image.
# Needs Debian's chromium (or CHROMIUM); without it the test shows up as skipped. With KEEP=FOLDER page and screenshots
# stay there.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
. "$SOURCE_DIR/tests/support/browser"
if [ -z "$browser" ]; then
    echo "skipped: no chromium"
    exit 77
fi
"$DUALBRAGG" --version | grep -qi png || {
    echo "skipped: this build has no PNG pictures"
    exit 77
}
"$BINARY_DIR/stand_in" stand_in
mv stand_in.img '<b>stand&in.img'
"$DUALBRAGG" fit "$SOURCE_DIR/tests/fit/spoilt_still.yaml" --image '<b>stand&in.img' --output result model.matrix=stand_in.mat \
    --quiet

run_checks result.html "$SOURCE_DIR/tests/fit/report/report_check.js" report
[ "$(grep -c '^ok' checks)" -ge 50 ] || fail "only $(grep -c '^ok' checks) checks"

# The value shown is the image's own: two bytes per pixel after the header, pedestal included.
pixel() {
    sed -n "s/^pixel //p" checks
}
if [ -n "$(pixel)" ]; then
    set -- $(pixel)
    fast=$1 slow=$2 measured=$4
    header() {
        head -c 1024 '<b>stand&in.img' | tr -d '\0' | sed -n "s/.*$1=\([^;]*\);.*/\1/p" | head -n 1
    }
    offset=$(($(header HEADER_BYTES) + 2 * (slow * $(header SIZE1) + fast)))
    stored=$(($(od -A n -t u2 -j $offset -N 2 '<b>stand&in.img') - $(header ADC_OFFSET)))
    awk -v a="$measured" -v b="$stored" 'BEGIN { exit !(a == b) }' ||
        fail "pixel $fast, $slow: $measured shown, $stored in the image"
else
    fail "no pixel was told"
fi

# Where scripts are forbidden the page says where the numbers are.
sed "s|</title>|&<meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'\">|" result.html > plain.html
browse --dump-dom "file://$work/plain.html" > plain_dom.html || fail "the browser ended with status $?"
grep -q '<canvas' plain_dom.html && fail "scripts run although they are forbidden"
grep -q 'the text log (.log)' plain_dom.html || fail "without scripts the page does not name the log"

if [ -n "${KEEP:-}" ]; then
    mkdir -p "$KEEP"
    browse --window-size=1300,7000 --screenshot="$work/page.png" "file://$work/result.html"
    browse --window-size=1300,1900 --screenshot="$work/zoom.png" "file://$work/checked.html"
    browse --window-size=1300,1200 --screenshot="$work/plain.png" "file://$work/plain.html"
    browse --print-to-pdf="$work/page.pdf" "file://$work/result.html"
    cp result.html checked.html result.json ./*.png ./*.pdf "$KEEP"
fi
echo "$(wc -c < result.html) bytes"
[ $failures -eq 0 ]
