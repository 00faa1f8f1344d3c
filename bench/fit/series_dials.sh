#!/bin/sh
# A rotation series of 20 x 0.5 degree with photon noise, its spindle tilted by 0.1 and -0.1 degree, which headers do not say:
# rendered as a sum over steps (block of 20 cells, one domain), then indexed and refined by DIALS with the freedoms of a refinement
# by `dualbragg fit`. A second list, as PREFIX.expt of that, is compared, too.
#     sh bench/fit/series_dials.sh PROGRAM FOLDER [PREFIX.expt]
set -eu
program=$(realpath "$1") here=$(cd "$(dirname "$0")" && pwd)
ours=${3:+$(realpath "$3")}
mkdir -p "$2" && cd "$2"
python3 -B "$here/../../tests/dials/amplitudes.py" 78 78 38 90 90 90 1.9 > p1.hkl
for i in $(seq 1 20); do
    name=f_$(printf %04d "$i")
    "$program" sim -cell 78 78 38 90 90 90 -misset 20 20 30 -hkl p1.hkl -N 20 -square_xtal -oversample 2 -lambda 1 -distance 150 \
        -detpixels 1000 -pixel 0.172 -mosflm -phi "$(awk "BEGIN { print ($i - 1) / 2 }")" -osc 0.5 -phisteps 20 -spindle_tilt 0.1 -0.1 \
        -fluence 1e26 -water 0.5 -seed "$i" -noisefile "$name.img" -exptfile "$name.expt" > "log_$i" 2>&1
done
free="detector.fix_list=Dist,Tau1,Tau2,Tau3 goniometer.fix=None"
{
    dials.import f_*.img
    dials.find_spots imported.expt
    # shellcheck disable=SC2086 # $free is to be split
    dials.index imported.expt strong.refl space_group=P4 $free
    # shellcheck disable=SC2086
    dials.refine indexed.expt indexed.refl scan_varying=False $free
} > log_dials 2>&1
# shellcheck disable=SC2086 # none or one
python3 "$here/series_dials.py" f_0001.expt 0.0125 refined.expt $ours
