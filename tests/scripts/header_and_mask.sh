#!/bin/sh
# The geometry of an image that is there, for another simulation; pixels left out by a mask.
. "$SOURCE_DIR/tests/scripts/setting_up"

sim -cell 50 60 80 -default_F 100 -N 3 -lambda 1.2 -distance 90 -pixel 0.4 -detpixels_x 50 -detpixels_y 40 -Xbeam 7 -Ybeam 9 \
    -phi 3 -oversample 2 -intfile camera.img -floatfile first.bin -scale 1e-3
sim -cell 50 60 80 -default_F 100 -N 3 -oversample 2 -img camera.img -phi 3 -floatfile second.bin
check '
first, second = floats("first.bin"), floats("second.bin")
true(len(first) == len(second) == 2000, "sizes %d and %d" % (len(first), len(second)))
largest = max(first)
true(max(abs(a - b) for a, b in zip(first, second)) < 1e-4 * largest, "another geometry than that of the header")

# a mask: the same header, 0 for the pixels to be left out
with open("camera.img", "rb") as file:
    data = file.read()
size = int(smv("camera.img")[0]["HEADER_BYTES"])
keep = array.array("H", [0 if i % 7 == 0 else 1 for i in range(2000)])
if sys.byteorder != smv("camera.img")[0]["BYTE_ORDER"].split("_")[0]:
    keep.byteswap()
with open("mask.img", "wb") as file:
    file.write(data[:size] + keep.tobytes())
'
sim -cell 50 60 80 -default_F 100 -N 3 -oversample 2 -mask mask.img -phi 3 -floatfile masked.bin -intfile masked.img -scale 1e-3 -adc 33
check '
second, masked = floats("second.bin"), floats("masked.bin")
header, counts = smv("masked.img")
left = []
for i in range(2000):
    true(masked[i] == (0 if i % 7 == 0 else second[i]), "pixel %d of the masked image" % i)
    true(i % 7 or counts[i] == 33, "counts of the masked pixel %d" % i)
    if i % 7: left.append(second[i])
log = open("log").read()
mean = sum(left) / len(left)
same(float(log.split("mean= ")[1].split()[0]), mean, 1e-5, "mean without the masked pixels")
same(float(log.split(" rms= ")[1].split()[0]), math.sqrt(sum(x * x for x in left) / (len(left) - 1)), 1e-5, "rms")
same(float(log.split(" rmsd= ")[1].split()[0]), math.sqrt(sum((x - mean) ** 2 for x in masked) / 1999), 1e-5, "rmsd, masked pixels counted as 0")
'
