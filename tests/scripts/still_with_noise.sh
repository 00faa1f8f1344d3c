#!/bin/sh
# A still as users of nanoBragg make it: matrix, list, three images on the photon scale, no PGM.
. "$SOURCE_DIR/tests/scripts/setting_up"

crystal="-hkl P1.hkl -mat A.mat -lambda 1.2 -N 6 -fluence 1e28 -oversample 1 -nointerpolate"
camera="-distance 90 -pixel 0.4 -detpixels_x 100 -detpixels_y 80 -Xbeam 15 -Ybeam 20"
# shellcheck disable=SC2086
sim $crystal $camera -floatfile float.bin -intfile int.img -noisefile noise.img -scale 3 -adc 10 -seed 1 -nopgm
files=$(ls -A | tr '\n' ' ')
[ "$files" = "A.mat P1.hkl errors float.bin int.img log noise.img " ] || { echo "files: $files"; exit 1; }

check '
x = floats("float.bin")
true(len(x) == 8000, "float.bin has %d pixels" % len(x))
header, counts = smv("int.img")
for key, value in [("SIZE1", 100), ("SIZE2", 80), ("PIXEL_SIZE", 0.4), ("DISTANCE", 90), ("WAVELENGTH", 1.2), ("PHI", 0),
                   ("OSC_RANGE", 0), ("TWOTHETA", 0)]:
    same(float(header[key]), value, 1e-9, key)
for i, value in enumerate(x):
    expected = min(65535, math.floor(value * 3 + 10 + 0.5))
    true(abs(counts[i] - expected) <= (abs(value * 3 % 1 - 0.5) < 1e-3), "pixel %d: %d counts, expected %d" % (i, counts[i], expected))

# the noise image is on the photon scale, with any scale of the other
noise = smv("noise.img")[1]
bright = [i for i in range(8000) if noise[i] < 65535]
mean, photons = sum(x[i] for i in bright), sum(noise[i] - 10 for i in bright)
true(mean > 1000, "only %g photons" % mean)
true(abs(photons - mean) < 6 * math.sqrt(mean), "%d photons on the noise image, %g expected" % (photons, mean))
chi = sum((noise[i] - 10 - x[i]) ** 2 / x[i] for i in bright if x[i] > 5)
count = sum(x[i] > 5 for i in bright)
true(abs(chi / count - 1) < 6 * math.sqrt(3 / count), "variance over mean is %g for %d pixels" % (chi / count, count))

# MOSFLM: beam along x, fast z, slow -y, Xbeam along slow, half a pixel further
lattice = [(50, 0, 0), (0, 60, 0), (0, 0, 80)]
def listed(h):
    a, b, c = (math.ceil(v - 0.5) for v in h)
    return 20 + (a * a * 7 + b * b * 3 + c * c * 5) % 83 if abs(a) <= 9 and abs(b) <= 9 and abs(c) <= 12 else 0
largest = max(x)
for fast, slow in [(0, 0), (99, 79), (13, 71), (50, 40), (51, 38), (76, 12), divmod(x.index(largest), 100)[::-1]]:
    at = (0.090, 0.0152 - (slow + 0.5) * 0.0004, (fast + 0.5) * 0.0004 - 0.0202)
    expected = 1e28 * R2 * pixel(at, 0.0004**2, (1, 0, 0), (1, 0, 0), 1.2, lattice, (6, 6, 6), listed)
    true(abs(x[slow * 100 + fast] - expected) < 1e-6 * expected + 1e-9 * largest,
         "pixel %d %d: %g, expected %g" % (fast, slow, x[slow * 100 + fast], expected))
log = open("log").read()
same(float(log.split("max_I = ")[1].split()[0]), largest, 1e-5, "max_I")
same(float(log.split("mean= ")[1].split()[0]), sum(x) / 8000, 1e-5, "mean")
'

# the same again, with any number of threads, has the same bits
# shellcheck disable=SC2086
sim $crystal $camera -noisefile again.img -nopgm -scale 3 -adc 10 -seed 1 --threads 3
cmp noise.img again.img
