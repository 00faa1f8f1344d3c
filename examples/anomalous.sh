#!/bin/sh
# Makes eight stills of a small crystal with two iron atoms whose absorption edges lie 6 eV apart, each still with the spectrum
# of a pulse of a free-electron laser. Refines f'(E) and f''(E) of both atoms from the pixels, and compares edges and curves with
# the true ones.
#
#     examples/anomalous.sh [RESULTS]
#
# RESULTS: folder for all files (default: anomalous_results). DUALBRAGG: the program (default: dualbragg from PATH). PYTHON: draws
# the curves if it has matplotlib (default: python3). The run takes ten seconds. docs/tutorials/anomalous.md explains the steps.
set -eu
results=${1:-anomalous_results}
dualbragg=${DUALBRAGG:-$(command -v dualbragg || true)}
if [ ! -x "$dualbragg" ]; then
    echo "anomalous.sh: no program dualbragg; set DUALBRAGG to it" >&2
    exit 2
fi
if ! "$dualbragg" fit --help > /dev/null 2>&1; then
    echo "anomalous.sh: skipped, this build has no refinement"
    exit 77
fi
for part in gemmi Random123; do
    "$dualbragg" --version | grep -q "$part" || { echo "anomalous.sh: skipped, this build has no $part"; exit 77; }
done
dualbragg=$(cd "$(dirname "$dualbragg")" && pwd)/$(basename "$dualbragg")
mkdir -p "$results"
cd "$results"

# Numbers by chance, the same with every awk.
chance='function chance() { seed = seed * 16807 % 2147483647; return seed / 2147483647 }'

echo "A crystal: two irons, a sulphur and forty carbons, four times in a cell (model.pdb)"
awk "$chance"' BEGIN {
    seed = 1
    atom = "HETATM%5d %-4s %3s A%4d    %8.3f%8.3f%8.3f  1.00%6.2f          %2s\n"
    print "CRYST1   28.000   33.000   24.000  90.00  90.00  90.00 P 21 21 21    4"
    printf atom, 1, "FE1", "FES", 1, 5.1, 6.5, 7.9, 12, "FE"
    printf atom, 2, "FE2", "FES", 1, 7.3, 7.8, 8.8, 12, "FE"
    printf atom, 3, "S1", "FES", 1, 5.3, 8.6, 9.1, 14, "S"
    for (i = 4; i <= 43; i++) printf atom, i, "C1", "LIG", i, 2 + 18 * chance(), 2 + 18 * chance(), 2 + 18 * chance(), 20, "C"
}' > model.pdb

# f' and f'' of a step that is rounded by a lifetime; they belong together by Kramers and Kronig
curve() { # EDGE WIDTH
    awk -v edge="$1" -v width="$2" 'BEGIN {
        pi = atan2(0, -1); y = width / 2
        for (e = 7060; e <= 7180; e += 0.5) {
            x = e - edge
            print e, -4 + 3.4 / pi / 2 * log((x * x + y * y) / 1e4), 0.5 + 3.4 * (0.5 + atan2(x, y) / pi)
        }
    }'
}
edge1=7117 edge2=7123
curve $edge1 3 > true_1.tsv
curve $edge2 3 > true_2.tsv
curve 7120 1 > start.tsv # of both atoms: edges are not known yet

echo "Eight stills, each with an orientation and a spectrum of its own (still_1.img, pulse_1.txt ...)"
: > shots.txt
for n in 1 2 3 4 5 6 7 8; do
    awk "$chance"' BEGIN {
        seed = '$n' * 7919; for (i = 0; i < 9; i++) chance()
        for (e = -28; e <= 28; e += 4) print 7120 + e, -log(chance()) * exp(-e * e / 400) + 1e-3
    }' > pulse_$n.txt
    misset=$(awk "$chance"' BEGIN { seed = '$n' * 104729; for (i = 0; i < 9; i++) chance()
        printf "%.3f %.3f %.3f", 360 * chance(), 360 * chance(), 360 * chance() }')
    # shellcheck disable=SC2086 # three angles
    "$dualbragg" sim -model model.pdb -sites FES:FE1=true_1.tsv,FES:FE2=true_2.tsv -model_resolution 2.5 -cell 28 33 24 90 90 90 \
        -misset $misset -N 10 -gauss_xtal -spots closed -mosaic_rms 0.3 -spectrumfile pulse_$n.txt -fluence 3e27 -distance 25 \
        -detpixels 100 -pixel 0.32 -oversample 3 -water 0.03 -adc 0 -seed $n -noisefile still_$n.img --quiet
    # orientations as an indexing program has found them: off by 0.03 degree about each axis
    echo "$misset" | awk '{ printf "still_'$n'.img model.misset=[%.3f,%.3f,%.3f] model.spectrum=pulse_'$n'.txt\n", $1 + 0.03, $2 - 0.03,
        $3 + 0.03 }' >> shots.txt
done

echo "Refinement of both curves, 13 points each of f' and f'', with orientation and scale of each still (curves.yaml)"
cat > curves.yaml << 'END'
shots: {list: shots.txt}
model: {cell: [28, 33, 24, 90, 90, 90], Ncells: [10, 10, 10], shape: gauss, spots: closed, mosaic_rms: 0.3, oversample: 3, fluence: 3e27}
intensity: {hkl: model.pdb, model_resolution: 2.5, sites: "FES:FE1=start.tsv,FES:FE2=start.tsv"}
curves: {energies: [7084, 7156, 13], wings: [6, 0.3]}
data: {target: poisson, trusted: [-1, 65000]}
refine: {misset_x: , misset_y: , misset_z: , scale: }
END
"$dualbragg" fit curves.yaml --output found --quiet

number() { # KEY KIND: a number of found.json, of the first or second kind of sites
    awk -v key="\"$1\":" -v kind="$2" '$1 == key && ++seen == kind { print $2 + 0 }' found.json
}
failures=0
row() { # NAME TRUE FOUND ERROR: complains beyond four errors
    awk -v name="$1" -v true="$2" -v found="$3" -v error="$4" 'BEGIN {
        off = found - true
        ok = error > 0 && error < 3 && off * off < 16 * error * error
        printf "  %-30s %9.1f %9.1f +- %.1f  %s\n", name, true, found, error, ok ? "ok" : "FAILED"
        exit !ok
    }' || failures=$((failures + 1))
}
echo
echo "eV                                    true   refined"
row "edge of FE1" $edge1 "$(number edge 1)" "$(number edge_error 1)"
row "edge of FE2" $edge2 "$(number edge 2)" "$(number edge_error 2)"
row "FE2 above FE1 (area between f'')" $((edge2 - edge1)) "$(number shift 2)" "$(number shift_error 2)"
echo
echo "$results/found_curve1.tsv, found_curve2.tsv: refined curves with errors; true_1.tsv, true_2.tsv: the true ones"
echo "$results/found.html: stills beside their models"
if "${PYTHON:-python3}" -c "import matplotlib" > /dev/null 2>&1; then
    "${PYTHON:-python3}" - << 'END'
import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot
import numpy

_, axes = pyplot.subplots(1, 2, figsize=(9, 3.4))
for axis, column, label in (axes[0], 1, "f' (electrons)"), (axes[1], 2, "f'' (electrons)"):
    for kind in 1, 2:
        true, found = numpy.loadtxt("true_%d.tsv" % kind), numpy.loadtxt("found_curve%d.tsv" % kind)
        axis.plot(true[:, 0], true[:, column], "C%d-" % kind, lw=1)
        axis.errorbar(found[:, 0], found[:, column], found[:, column + 2], fmt="C%d." % kind, label="FES:FE%d" % kind)
    axis.set_xlim(found[0, 0], found[-1, 0])
    axis.set_xlabel("photon energy (eV)")
    axis.set_ylabel(label)
axes[1].legend(frameon=False)
pyplot.tight_layout()
pyplot.savefig("curves.png", dpi=90)
END
    echo "$results/curves.png: refined curves (points) over the true ones (lines)"
else
    echo "No figure of the curves: python3 has no matplotlib"
fi
[ $failures -eq 0 ]
