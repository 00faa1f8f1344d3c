#!/bin/sh
# A sweep in XDS's frame: where the beam is, a region, the structure factor cache, sums over the sweep's parts.
. "$SOURCE_DIR/tests/scripts/setting_up"

common="-mat A.mat -lambda 1.2 -N 5 -xds -distance 120 -ORGX 41.5 -ORGY 27.5 -pixel 0.5 -detpixels_x 90 -detpixels_y 60
        -oversample 2 -nointerpolate -nopolar"
# shellcheck disable=SC2086
{
    sim $common -hkl P1.hkl -dump P1.cache -phi 2 -osc 1 -phisteps 4 -floatfile whole.bin -intfile whole.img
    sim $common -dump P1.cache -phi 2 -osc 1 -phisteps 4 -floatfile cached.bin
    cmp whole.bin cached.bin
    sim $common -hkl P1.hkl -phi 2 -osc 0.5 -phisteps 2 -floatfile first.bin
    sim $common -hkl P1.hkl -phi 2.5 -osc 0.5 -phisteps 2 -floatfile second.bin
    sim $common -hkl P1.hkl -phi 2 -osc 1 -phisteps 4 -roi 10 29 5 44 -floatfile roi.bin -intfile roi.img -scale 1e-3
    sim $common -default_F 100 -dmin 90 -floatfile beam.bin
}
check '
whole, first, second, roi = (floats(name + ".bin") for name in ("whole", "first", "second", "roi"))
largest = max(whole)
for i, value in enumerate(whole):
    true(abs(value - (first[i] + second[i]) / 2) <= 1e-6 * largest, "pixel %d is not the mean over the sweep" % i)
counts = smv("roi.img")[1]
for slow in range(60):
    for fast in range(90):
        i = slow * 90 + fast
        inside = 10 <= fast <= 29 and 5 <= slow <= 44
        true(roi[i] == (whole[i] if inside else 0), "pixel %d %d of the region" % (fast, slow))
        true(inside or counts[i] == 0, "counts outside the region")
header = smv("whole.img")[0]
for key, value in [("XDS_ORGX", 41.5), ("XDS_ORGY", 27.5), ("CLOSE_DISTANCE", 120), ("OSC_START", 2), ("OSC_RANGE", 1)]:
    same(float(header[key]), value, 1e-6, key)
# at low resolution there is the direct beam only; XDS counts pixels from 1
beam = floats("beam.bin")
middle = [sum(f(i) * beam[i] for i in range(len(beam))) / sum(beam) for f in (lambda i: i % 90 + 1, lambda i: i // 90 + 1)]
true(abs(middle[0] - 41.5) < 0.05 and abs(middle[1] - 27.5) < 0.05, "the beam is at %s" % middle)
'
