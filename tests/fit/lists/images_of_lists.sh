#!/bin/sh
# Lists that fit has written name images of a file with many so that a list in any folder leads to them.
set -eu
case $("$DUALBRAGG" --version) in *HDF5*) ;; *) echo "SKIPPED: this build writes no HDF5"; exit 77 ;; esac
. "$SOURCE_DIR/tests/support/shots"
printf 'misset=[10, 20, 30]\nmisset=[50, -10, 70]\n' > set.txt
"$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 -pixel 0.2 \
    -oversample 1 -mosaic 0.1 -spots closed -water 30 -seed 5 --shots set.txt -noisefile set.h5 > /dev/null
printf 'set.h5#1 model.misset=[10.06, 20.05, 30.04]\nset.h5#2 model.misset=[50.06, -9.95, 70.04]\n' > shots.txt
{ shots_model 100 && cat << 'END'; } > many.yaml
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}}
END
mkdir o
fit 0 many.yaml --output o/run --no-report
for list in o/run.expt o/run_shots/*.expt; do
    grep -qF "\"$(pwd -P)/set.h5\"" "$list" || fail "$list: no whole path: $(grep -F set.h5 "$list")"
done
sed 's/shots.txt/o\/run.expt/; s/cell: [^]]*\], //; s/, distance: 100//' many.yaml > again.yaml
fit 0 again.yaml --output second --no-report
grep -q '^2 of 2 shots in use' out || fail "the list written leads to no images: $(cat out)"
# one image of many, too
fit 0 o/run_shots/0001_*.yaml --output one --no-report
grep -qF "\"$(pwd -P)/set.h5\"" one.expt || fail "one.expt: no whole path: $(grep -F set.h5 one.expt)"
exit $failures
