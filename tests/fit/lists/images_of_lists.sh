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
# an image is the same however its name is written
ln -s set.h5 link.h5
mkdir -p o
for again in set.h5#02 ./set.h5#2 o/../set.h5#002 link.h5#2 "$PWD/link.h5#0002"; do
    { cat shots.txt; echo "$again model.misset=[50.06, -9.95, 70.04]"; } > twice.txt
    fit 3 many.yaml shots.list=twice.txt --output twice --no-report
    grep -qF "twice.txt:3: $again is listed in line 2, too" err || fail "an image listed twice, $again: $(cat err)"
done
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

# an image of two panels is its own list for their groups
for panel in 0 1; do
    printf 'p%s/%s\n' $panel "min_fs = $((200 * panel))" $panel "max_fs = $((200 * panel + 199))" $panel 'min_ss = 0' $panel 'max_ss = 399' \
        $panel 'fs = +x' $panel 'ss = -y' $panel "corner_x = $((200 * panel - 200))" $panel 'corner_y = 200'
done > panels.txt
{ printf 'photon_energy = 12398.42\nclen = 0.1\nres = 5000\nadu_per_photon = 1\ndata = /data\n' && cat panels.txt; } > two.geom
"$DUALBRAGG" sim -expt two.geom -cell 40 55 70 90 90 90 -misset 10 20 30 -N 14 -gauss_xtal -default_F 1e6 -fluence 3e19 -oversample 1 \
    -mosaic 0.1 -spots closed -water 30 -seed 5 -noisefile two.h5 > /dev/null
for key in '' 'expt: two.h5, '; do
    cat > groups.yaml << END
image: two.h5#1
model: {${key}cell: [40, 55, 70, 90, 90, 90], misset: [10.06, 20.05, 30.04], shape: gauss, Ncells: [12, 12, 12], mosaic_spread: 0.1,
        oversample: 1}
panel_groups: panels
refine: {misset_x: , misset_y: , misset_z: , panel_1:shift_fast: , panel_1:shift_slow: }
END
    fit 0 groups.yaml --output "groups_${key%%:*}" --no-report
    sed -n '/"parameters"/,$p' "groups_${key%%:*}.json" | grep -v 'seconds"' > "found_${key%%:*}"
done
cmp -s found_ found_expt || fail "panels of an image and of its list: $(diff found_ found_expt | head -5)"
near "shift of a panel" "$(refined groups_.json panel_1:shift_fast)" 0 0.02
exit $failures
