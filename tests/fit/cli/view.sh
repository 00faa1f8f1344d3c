#!/bin/sh
# dualbragg view: pictures and pages of measured images; spots that are found are where the crystal predicts them. The page
# in a browser where Debian's chromium is there.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
needs_noise
"$DUALBRAGG" --version | grep -q PNG || { echo "skipped: this build has no PNG pictures"; exit 77; }
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
crystal="-cell 40 55 70 90 90 90 -misset 37 11 53 -N 14 -spots closed -mosaic_rms 0.1"
# shellcheck disable=SC2086 # words
"$DUALBRAGG" sim $crystal -lambda 1 -distance 100 -detpixels 400 -pixel 0.2 -oversample 1 -default_F 1e6 -water 30 \
    -fluence 3e19 -seed 3 -noisefile '<b>a_0001.img' -hdf5file a.h5 --quiet

# expect STATUS TEXT ARGUMENTS...
expect() {
    expected=$1 text=$2 status=0
    shift 2
    "$DUALBRAGG" view "$@" > out 2> err || status=$?
    [ "$status" -eq "$expected" ] || fail "view $*: exit status $status instead of $expected: $(cat err)"
    cat out err | grep -qF -e "$text" || fail "view $*: '$text' is not in: $(cat out err)"
}

expect 0 "a.png, " '<b>a_0001.img' -o a.png
expect 0 "predicted ones" '<b>a_0001.img' -cell 40 55 70 90 90 90 -misset 37 11 53 -o a.html
expect 2 "-o FILE.png or -o FILE.html" '<b>a_0001.img'
expect 2 "-o FILE.png or -o FILE.html" '<b>a_0001.img' -o a.gif
expect 2 "expected an image" -o b.png
expect 2 "one more" '<b>a_0001.img' a.h5 -o b.png
expect 2 "lower end first" '<b>a_0001.img' -counts 10 10 -o b.png
expect 2 "XMIN XMAX from 0 to 399, the smaller one first, found 400 410" '<b>a_0001.img' -roi 400 410 0 10 -o b.png
expect 0 "ends.png" '<b>a_0001.img' -roi 5 399 7 399 -o ends.png
expect 0 "beyond.png" '<b>a_0001.img' -roi 5 2147483647 7 2147483647 -o beyond.png
cmp -s ends.png beyond.png || complain "-roi: ends beyond the image are not its ends"
expect 0 "-roi: the last pixel along the slow axis is 399, not 400" '<b>a_0001.img' -roi 5 399 7 400 -o beyond.png
expect 3 "nothing.img" nothing.img -o b.png
head -c 9000 '<b>a_0001.img' > cut.img
expect 3 "cut.img" cut.img -o b.png
[ ! -e b.png ] || fail "a picture is left of a failure"
ln -s '<b>a_0001.img' link.png
expect 2 "link.png" '<b>a_0001.img' -o link.png

"$DUALBRAGG" sim -cell 40 -default_F 1e5 -N 5 -lambda 1 -distance 30 -detpixels 64 -pixel 0.2 -fluence 1e22 -seed 1 \
    -noisefile small_0001.img --quiet
expect 0 "predicted ones" small_0001.img -cell 40 -o small.png
"$DUALBRAGG" --version | grep -q JSON && {
    "$DUALBRAGG" sim -cell 40 -default_F 1e5 -N 5 -lambda 1 -distance 30 -detpixels 64 -pixel 0.2 -intfile listed_0001.img \
        -exptfile listed.expt --quiet
    LC_ALL=C sed 's/"mask": null/"mask": "lost.pickle"/' listed.expt > masked.expt
    expect 0 "the mask of the images is not used" listed_0001.img -expt masked.expt -o listed.png
}

# An image of readout noise does not tell the gain, but is shown.
"$DUALBRAGG" sim -cell 40 -default_F 10 -N 5 -lambda 1 -distance 100 -detpixels 400 -fluence 1 -readout 20 -adc 200 -seed 1 \
    -noisefile dark.img --quiet
LC_ALL=C sed 's/^GAIN=/XAIN=/' dark.img > unknown.img
expect 0 "unknown.img: the image does not tell the gain" unknown.img -o unknown.png

# Dark levels hide the readout noise, so that it is not said to be measured.
python3 - << 'END'
import math, random, struct
random.seed(1)
side, counts = 320, []
for pixel in range(side * side):
    photons, chance, term = 0, random.random(), math.exp(-0.05)
    while chance > term:
        chance, photons = chance - term, photons + 1
        term *= 0.05 / photons
    quarter = 2 * (pixel // side >= side // 2) + (pixel % side >= side // 2)
    counts.append(round(30 * photons + 100 + 40 * quarter + random.gauss(0, 2)))
header = "{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1=%d;\nSIZE2=%d;\n" \
    "PIXEL_SIZE=0.1;\nIMAGE_PEDESTAL=100;\n}\n" % (side, side)
with open("levels.img", "wb") as file:
    file.write(header.encode().ljust(512) + struct.pack("<%dH" % len(counts), *counts))
END
expect 0 "gain 30 is measured" levels.img -o levels.png
grep -q "dark levels of" err || complain "dark levels are not said to be subtracted"

# An image that cannot be read is read only once.
mkfifo pipe.img
head -c 90000 levels.img > pipe.img &
expect 3 "pipe.img: truncated" pipe.img -o pipe.png
wait

# What a header does not say: no geometry, a picture all the same, and flags that give it.
"$DUALBRAGG" sim -cell 40 -default_F 10 -N 5 -lambda 1 -distance 100 -detpixels 64 -intfile b.img --quiet
LC_ALL=C sed 's/DISTANCE=/XISTANCE=/g' b.img > lost.img
expect 0 "no distance; -distance MM" lost.img -o lost.png
expect 0 "predicted ones" lost.img -distance 100 -cell 40 -o lost.png

"$DUALBRAGG" --version | grep -q HDF5 && {
    # two panels where their chains place them, and where nothing is known of them
    expect 0 "modules.html" "$SOURCE_DIR/tests/fuzz/corpus/hdf5_modules.nxs#1" -o modules.html
    expect 0 "no places of its panels; -expt FILE" "$SOURCE_DIR/tests/fuzz/corpus/hdf5_stack.h5#2" -o stack.png
    expect 2 "expected the first image as FILE#N" a.h5 -sum 2 -o b.png
    expect 0 "sum.html" "$SOURCE_DIR/tests/fuzz/corpus/hdf5_stack.h5#1" -sum 2 -o sum.html
}
"$DUALBRAGG" --version | grep -q TIFF && {
    # pages of a file may be of different sizes
    python3 - << 'END'
import struct
def page(at, fast, slow, last):
    entries = [(256, 4, 1, fast), (257, 4, 1, slow), (258, 3, 1, 16), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, at),
               (277, 3, 1, 1), (278, 4, 1, slow), (279, 4, 1, 2 * fast * slow)]
    directory = at + 2 * fast * slow
    after = directory + 2 + 12 * len(entries) + 4
    bytes_ = struct.pack("<%dH" % (fast * slow), *range(fast * slow)) + struct.pack("<H", len(entries))
    for tag, kind, count, value in entries:
        bytes_ += struct.pack("<HHI", tag, kind, count) + (struct.pack("<I", value) if kind == 4 else struct.pack("<HH", value, 0))
    return bytes_, directory, after
for name, sizes in (("two", [(40, 30), (30, 40)]), ("same", [(40, 30), (40, 30)])):
    at, pieces, directories = 8, [], []
    for fast, slow in sizes:
        bytes_, directory, at = page(at, fast, slow, 0)
        pieces.append(bytes_)
        directories.append(directory)
    with open(name + ".tif", "wb") as file:
        file.write(b"II*\0" + struct.pack("<I", directories[0]))
        for bytes_, following in zip(pieces, directories[1:] + [0]):
            file.write(bytes_ + struct.pack("<I", following))
END
    expect 0 "same.png" "same.tif#1" -sum 2 -o same.png
    expect 3 "two.tif#2: expected panels like those of the first image, 40 x 30 pixels in all, found 30 x 40" "two.tif#1" -sum 2 -o two.png
}
# bad pixels by a mask, a part, blocks, colours
"$DUALBRAGG" sim -cell 40 -default_F 0.001 -water 1 -N 5 -lambda 1 -distance 100 -detpixels 400 -pixel 0.2 -roi 100 399 0 399 \
    -intfile mask.img --quiet
expect 0 "part.html" '<b>a_0001.img' -mask mask.img -roi 50 249 20 119 -bin 2 -colours heat -log -norings -noobserved -o part.html

python3 - << 'END' || fail "pages do not hold what they should"
import base64, json, re, struct, zlib
def data(page, name):
    text = open(page, encoding="utf-8").read()
    match = re.search(r'<script type="[a-z/]*" id="%s"([^>]*)>(.*?)</script>' % name, text, re.S)
    return match.group(1), match.group(2)
def values(page, name):
    head, text = data(page, name)
    set_ = dict(re.findall(r'data-(\w+)="([^"]*)"', head))
    count = int(set_["fast"]) * int(set_["slow"])
    raw = zlib.decompress(base64.b64decode(text))
    assert len(raw) == 3 * count
    return [float(set_["offset"]) + float(set_["unit"]) * (raw[i] | raw[count + i] << 8 | raw[2 * count + i] << 16) for i in range(count)]
about = json.loads(data("a.html", "data-about")[1])
file = open("<b>a_0001.img", "rb").read()
header = dict(re.findall(rb"(\w+)=([^;]*);", file[:2048]))
start = int(header[b"HEADER_BYTES"])
stored = struct.unpack("<160000H", file[start:start + 320000])
pedestal = float(header[b"ADC_OFFSET"])
kinds = values("a.html", "data-kinds")
page = values("a.html", "data-values")
wrong = [i for i in range(160000) if not kinds[i] and abs(page[i] - (stored[i] - pedestal)) > 1e-3]
assert not wrong, (len(wrong), wrong[:3])
assert about["frames"] == {"fast": 400, "slow": 400, "bin": 1, "first": [0, 0]}, about["frames"]
assert len(about["observed"]) > 20 and len(about["predicted"]) > 40, (len(about["observed"]), len(about["predicted"]))
near = [min((o["place"][0] - p["place"][0]) ** 2 + (o["place"][1] - p["place"][1]) ** 2 for p in about["predicted"]) ** 0.5
        for o in about["observed"]]
assert sorted(near)[int(0.8 * len(near))] < 0.5, sorted(near)
part = json.loads(data("part.html", "data-about")[1])
assert part["frames"] == {"fast": 100, "slow": 50, "bin": 2, "first": [50, 20]}, part["frames"]
kinds = values("part.html", "data-kinds")
assert kinds[:25] == [2] * 25 and kinds[25:100] == [0] * 75, kinds[:100]
def rows_of(name):
    png, raw = open(name, "rb").read(), b""
    width, height = struct.unpack(">2I", png[16:24])
    at = 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        raw += png[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    raw, rows, above, n = zlib.decompress(raw), [], bytearray(3 * width), 3 * width + 1
    for y in range(height):
        filter_, row = raw[y * n], bytearray(raw[y * n + 1:(y + 1) * n])
        for i in range(3 * width if filter_ else 0):
            a, b, c = (row[i - 3] if i > 2 else 0), above[i], (above[i - 3] if i > 2 else 0)
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[i] = row[i] + (0, a, b, (a + b) // 2, paeth)[filter_] & 255
        rows.append(row)
        above = row
    return rows
assert len(rows_of("a.png")) > 400
# a small image: its legend is whole, and no mark is beside the image
small = rows_of("small.png")
white = [all(v == 255 for row in small for v in row[3 * x:3 * x + 3]) for x in range(len(small[0]) // 3)]
assert all(white[-8:]) and not all(white[-30:]), white[-30:]
assert all(v == 255 for row in small[:64] for v in row[3 * 64:]), "marks beside the image"
END

. "$SOURCE_DIR/tests/support/browser"
if [ -z "$browser" ]; then
    echo "no chromium: the page is not tried"
    exit
fi
run_checks a.html "$SOURCE_DIR/tests/fit/cli/view_check.js" view
[ "$(grep -c '^ok' checks)" -ge 14 ] || fail "only $(grep -c '^ok' checks) checks"
