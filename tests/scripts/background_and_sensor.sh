#!/bin/sh
# Water behind an almost empty crystal: photons are counted from first principles, through a sensor and a mask.
. "$SOURCE_DIR/tests/scripts/setting_up"

common="-cell 50 60 80 90 90 90 -default_F 1e-9 -N 1 -lambda 1 -distance 50 -detpixels 40 -pixel 1 -fluence 1e24 -nointerpolate"
# shellcheck disable=SC2086
{
    sim $common -water 20 -oversample 3 -floatfile water.bin -pgmfile water.pgm -pgmscale 2
    sim $common -water 20 -oversample 3 -detector_thick 450 -detector_abs 300 -thicksteps 40 -floatfile sensor.bin
    sim $common -water 20 -oversample 3 -dmin 3 -floatfile cut.bin
    sim $common -water 20 -oversample 3 -detector_rotx 4 -detector_rotz 20 -nopolar -floatfile tilted.bin
}
cmp water.bin cut.bin # a resolution limit is one of the crystal
check '
per_sr = 2.57**2 * R2 * 1e24 * 20e-6**3 * 1e6 * 6.02214179e23 / 18
water, sensor, tilted = (floats(name + ".bin") for name in ("water", "sensor", "tilted"))
fast_size, slow_size, scale, grey = pgm("water.pgm")
true((fast_size, slow_size, scale) == (40, 40, 2), "PGM of %d x %d, scale %g" % (fast_size, slow_size, scale))
beam = 20.5 # mm: (D + p)/2 and half a pixel, from the corner
for slow in range(40):
    for fast in range(40):
        sums = [0, 0]
        for i in range(9):
            x, y = fast + (i % 3 + 0.5) / 3 - beam - 0.5, slow + (i // 3 + 0.5) / 3 - beam - 0.5
            r = math.sqrt(x * x + y * y + 2500)
            photons = per_sr * 50 / r**3 * (1 + (50 / r) ** 2) / 2 / 9
            sums[0] += photons
            sums[1] += photons * (1 - math.exp(-450 / 300 * r / 50))
        i = slow * 40 + fast
        same(water[i], sums[0], 1e-6, "water, pixel %d %d" % (fast, slow))
        same(sensor[i], sums[1], 2e-2, "water seen by a sensor, pixel %d %d" % (fast, slow))
        true(abs(grey[i] - min(255, math.floor(water[i] * 2))) <= 1, "grey level of pixel %d %d" % (fast, slow))
# without polarization every steradian gets the same: the sum is the solid angle that is printed
angle = float(open("log").read().split("subtended by detector = ")[1].split()[0])
same(sum(tilted), per_sr * angle, 1e-4, "photons per solid angle of the tilted detector")
'
