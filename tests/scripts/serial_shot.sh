#!/bin/sh
# Shots of a serial experiment: random orientations, flux and beam size, pink beam, mosaic domains.
. "$SOURCE_DIR/tests/scripts/setting_up"

shot="-hkl P1.hkl -cell 50 60 80 90 90 90 -misset random -lambda 1.2 -samplesize 4e-5 -flux 1e14 -exposure 0.01 -beamsize 0.005
      -dispersion 1 -dispsteps 3 -divergence 1 -divsteps 2 -mosaic 0.4 -mosaic_domains 4 -distance 80 -detpixels 64 -pixel 0.6 -nointerpolate"
# shellcheck disable=SC2086
{
    sim $shot -misset_seed 11 -floatfile a.bin -intfile a.img -scale 1 -adc 0
    cp log log_a
    sim $shot -seed 11 -floatfile b.bin
    cmp a.bin b.bin
    sim $shot -misset_seed 12 -floatfile c.bin
    if cmp -s a.bin c.bin; then echo "another seed, the same image"; exit 1; fi
    # the orientation as printed, given back
    sim $shot -misset $(sed -n 's/^random orientation misset angles: \([-0-9. ]*\) deg.*/\1/p' log_a) -floatfile d.bin
    sim $shot -misset_seed 11 -fluence 1 -floatfile e.bin
    grep -q "the fluence follows from the flux" log
}
check '
a, c, d, e = (floats(name + ".bin") for name in "acde")
true(max(abs(x - y) for x, y in zip(a, d)) < 1e-3 * max(a), "another orientation than that printed")
true(a == e, "the flux does not win over the fluence")
log = open("log_a").read()
same(float(log.split("incident fluence: ")[1].split()[0]), 1e14 * 0.01 / 5e-6**2, 1e-6, "fluence")
true("created a total of 12 sources" in log and "created a total of 4 mosaic domains" in log, "numbers of sources and domains")
true("8x7x5 cells" in log, "cells: " + log.split(" xtal: ")[1].split("\n")[0])
header, counts = smv("a.img")
same(float(header["WAVELENGTH"]), 1.2, 1e-9, "WAVELENGTH")
true(all(abs(n - min(65535, x)) <= 0.5 + 1e-6 * x for n, x in zip(counts, a)), "counts are not photons")
'
