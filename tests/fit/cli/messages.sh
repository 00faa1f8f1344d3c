#!/bin/sh
# What dualbragg fit says when it cannot go on, and that it says so before any long work.
set -eu
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
needs_noise
# expect STATUS TEXT ARGUMENTS...
expect() {
    status=$1 text=$2 found=0
    shift 2
    "$DUALBRAGG" fit "$@" --quiet --no-report --threads 1 > out 2> err || found=$?
    [ "$found" -eq "$status" ] || { echo "FAILED: fit $*: exit status $found instead of $status: $(cat err)"; failures=$((failures + 1)); }
    [ -z "$text" ] || grep -qF -e "$text" err || { echo "FAILED: fit $*: '$(cat err)' instead of '$text'"; failures=$((failures + 1)); }
}
render() { # FILE FLAGS...
    file=$1
    shift
    "$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -lambda 1 -distance 100 -detpixels 400 -pixel 0.2 -oversample 1 -spots closed \
        -mosaic 0.1 -water 30 -fluence 3e19 -seed 3 -noisefile "$file" "$@" > /dev/null
}
render blank.img -default_F 1e-3
render crystal.img -default_F 1e6 -misset 37 11 53
cat > fit.yaml << 'TEXT'
model: {cell: [40, 55, 70, 90, 90, 90], misset: [37.05, 11.05, 53.05], shape: gauss, Ncells: [14, 14, 14], mosaic_spread: 0.1,
        oversample: 1}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, cell_a: {range: 0.5}, cell_b: {range: 0.5}, cell_c: {range: 0.5}}
TEXT

expect 3 'no spots were found' fit.yaml --image blank.img model.find_orientation=yes
expect 3 'blank image: it has 0 strong pixels' fit.yaml --image blank.img
expect 2 'data.roi: [0, 9, 0, 400] reaches beyond the image of 400 x 400 pixels' fit.yaml --image crystal.img 'data.roi=[0, 9, 0, 400]'
# a region is a mask
python3 -S - << 'END'
with open("crystal.img", "rb") as image, open("mask.img", "wb") as mask:
    mask.write(image.read(1024))
    mask.write(b"".join(b"\1\0" if 60 <= n % 400 <= 380 and 20 <= n // 400 <= 300 else b"\0\0" for n in range(400 * 400)))
END
expect 0 '' fit.yaml --image crystal.img --output region 'data.roi=[60, 380, 20, 300]'
expect 0 '' fit.yaml --image crystal.img --output masked data.mask=mask.img
for name in region masked; do sed -n '/"parameters"/,$p' $name.json | grep -v 'seconds"' > $name.txt; done
grep -q cell_c region.txt || { echo "FAILED: no parameters of a region"; failures=$((failures + 1)); }
cmp region.txt masked.txt || { echo "FAILED: a region is not a mask: $(diff region.txt masked.txt | head -5)"; failures=$((failures + 1)); }
for list in reflections spots boxes; do
    expect 2 'chooses shoeboxes of free intensities; known structure factors take those of their brightest reflections' fit.yaml \
        --image crystal.img "data.$list=none.txt" 'intensity={hkl: none.hkl}'
done
echo 'refine: {misset_x: {range: 1}}' > open.yaml
expect 3 'model: expected cell, matrix or expt, or find_orientation: yes' open.yaml --image crystal.img
expect 3 'use model.find_orientation: yes' fit.yaml --image crystal.img 'model.misset=[2, 3, 4]' data.excitation_angle=0.05 \
    data.min_strong_reflections=100
# edges that no crystal has
expect 3 'no orientation of the cell 2 2 2 90 90 90 explains the spots: none of them tells one orientation from another' \
    crystal.img --cell 2
# a distance in metres: before the search, and before a refinement; a little above the limit it is nobody's fault
expect 3 'neighbouring reflections of a cell of 40, 55, 70 A are 0.025 pixels apart at most (wavelength 1 A, pixels of 0.2 mm), so that no image tells them apart; expected more than 8 mm' \
    crystal.img --cell 40 55 70 model.distance=0.2
expect 3 'expected more than 8 mm' fit.yaml --image crystal.img model.distance=7.9
expect 1 'not to be used' fit.yaml --image crystal.img model.distance=8.1
# refused before the search, which would find no spots
expect 2 'refine.cell_a: the start 40 is below min 41' fit.yaml --image blank.img model.find_orientation=yes 'refine.cell_a={min: 41, max: 42}'
# images that cannot be read, where nothing says what is refined
printf 'none_1.img\nnone_2.img\n' > none.txt
echo 'shots: {list: none.txt}' > list.yaml
expect 3 'none_2.img: cannot open' list.yaml 'model.cell=[40, 55, 70]'
expect 3 'dualbragg fit: no spots were found' blank.img --cell 40 55 70 'model.find_orientation={lattices: 2}'
# a line that is refused leaves no folder of models
echo 'crystal.img model.misett=[1,2,3]' > wrong.txt
printf 'shots: {list: wrong.txt}\nmodel: {cell: [40, 55, 70]}\n' > wrong.yaml
expect 2 "model.misett: unknown key; the nearest known one is 'misset'" wrong.yaml --output refused
[ ! -e refused_shots ] || { echo "FAILED: refused_shots is left"; failures=$((failures + 1)); }
expect 3 'found 0.968627 keV (a wavelength of 12.8 A)' crystal.img --cell 40 55 70 model.wavelength=12.8 model.sensor_material=Si \
    model.sensor_thickness=450
printf '12.3 1\n12.5 1\n' > kev.txt
expect 3 'kev.txt: expected a mean near the given wavelength, 1 A (12398.4 eV), found 12.4 A; the file looks like keV' fit.yaml \
    --image crystal.img model.spectrum=kev.txt model.wavelength=1
if "$DUALBRAGG" --version | grep -q gemmi; then
    expect 2 "its symbol (P 43 21 2), found 'P 41 21 22'" blank.img model.symmetry='P 41 21 22'
    expect 2 "its symbol (P 43 21 2), found 'p 41 21 22'" blank.img model.symmetry='p 41 21 22'
    expect 3 'dualbragg fit: none.mat: cannot open' crystal.img --cell 40 55 70 --symmetry P222 intensity=joint model.matrix=none.mat
    expect 3 'dualbragg fit: no spots were found' blank.img intensity=joint model.symmetry=P222
    render near_edge.img -default_F 1e6 -misset 37 11 53 -lambda 1.741
    # curves of f' and f'' of sites
    cat > site.pdb << 'TEXT'
CRYST1   40.000   55.000   70.000  90.00  90.00  90.00 P 1           1
HETATM    1 FE1  FES A   1       5.100   6.500   7.900  1.00 12.00          FE
HETATM    2 C1   LIG A   2      12.100  16.500  17.900  1.00 12.00           C
TEXT
    for energy in 7080 7100 7120 7140 7160; do echo "$energy -5 2"; done > site.tsv
    echo near_edge.img > site.txt
    cat > curves.yaml << 'TEXT'
shots: {list: site.txt}
model: {cell: [40, 55, 70, 90, 90, 90], misset: [37.05, 11.05, 53.05], shape: gauss, Ncells: [14, 14, 14], spots: closed, oversample: 1}
intensity: {hkl: site.pdb, sites: "FES:FE1=site.tsv"}
curves: {energies: [7090, 7150, 7]}
refine: {misset_x: , misset_y: , misset_z: }
TEXT
    expect 2 'curves.energies: 7.09 to 7.15 look like keV: energies are in eV' curves.yaml 'curves.energies=[7.09, 7.15, 7]'
    expect 2 'expected first < last (eV) and 3 to 200 points (kinds of sites: 1), found 7150, 7090, 7' curves.yaml 'curves.energies=[7150, 7090, 7]'
    for wings in '[8, 0]' '[0, 0.3]'; do
        expect 2 'curves.wings: expected how near to the ends (eV) and a standard deviation (electrons), both above 0' curves.yaml \
            "curves.wings=$wings"
    done
    expect 2 'curves.wings: expected at least a tenth of the distance of points, 10 eV, found 0.006 eV; if it is in keV, give 6' curves.yaml \
        'curves.wings=[0.006, 0.3]'
    expect 2 'curves.wings: expected at most the range of all points, 60 eV, found 6000 eV' curves.yaml 'curves.wings=[6000, 0.3]'
    expect 2 'curves.energies: 1.734 to 1.749 look like wavelengths in A: energies are in eV' curves.yaml 'curves.energies=[1.734, 1.749, 7]'
    expect 2 'expected first < last (eV) and 3 to 200 points' curves.yaml 'curves.energies=[7090, 7150, 2]'
    sed '/^shots/d' curves.yaml > still.yaml
    expect 2 'many shots share these curves: expected shots.list' still.yaml --image near_edge.img
    sed 's/, sites: .*}/}/' curves.yaml > without.yaml
    expect 2 'expected kinds of sites as intensity.sites, too' without.yaml
    expect 2 'sites: expected SITES=FILE or SITES=table[:SHIFT]' curves.yaml intensity.sites=FES:FE1
    expect 3 'FE2' curves.yaml intensity.sites=FES:FE2=site.tsv
    expect 3 'none.tsv: cannot open' curves.yaml intensity.sites=FES:FE1=none.tsv
    expect 3 '7060' curves.yaml 'curves.energies=[7060, 7150, 7]'
    expect 3 'expected a curve that reaches there, found one from 7130 to 7150 eV' curves.yaml 'curves.energies=[7130, 7150, 7]'
fi
# right and wrong results
expect 0 '' fit.yaml --image crystal.img
grep -q 'Judged by' fit_refined.log || { echo "FAILED: no verdict in the log"; failures=$((failures + 1)); }
grep -q '"usable": true' fit_refined.json || { echo "FAILED: no verdict in the JSON file"; failures=$((failures + 1)); }
# first of all one sentence: may it be used? What is printed is what matters; the log has all, and so has --verbose.
grep -q '"use": "The model may be used: ' fit_refined.json || fail "no sentence in the JSON file: $(head -n 30 fit_refined.json)"
# what is noticed before there is a log is in it, too
sed 's/Ncells/cells/' fit.yaml > former.yaml
"$DUALBRAGG" fit former.yaml --image crystal.img --output fit_refined --no-report --threads 1 > printed
for file in printed fit_refined.log; do grep -q '^former.yaml:1: model.cells is called model.Ncells now' $file || fail "$file: no former key: $(head -5 $file)"; done
expect 2 '--resume: expected a list of shots' fit.yaml --image crystal.img --resume
"$DUALBRAGG" fit fit.yaml --image crystal.img --no-report --threads 1 > printed
"$DUALBRAGG" fit fit.yaml --image crystal.img --no-report --threads 1 --verbose > verbose
grep -A 1 '^After' printed | grep -q '^The model may be used: [0-9]* of [0-9]* spots found without it lie at its reflections' ||
    fail "no sentence below the end: $(cat printed)"
for detail in 'eval\.' 'to refine' 'at most'; do
    ! grep -q "$detail" printed || fail "'$detail' is printed: $(cat printed)"
    grep -q "$detail" verbose || fail "'$detail' is not printed with --verbose: $(cat verbose)"
    grep -q "$detail" fit_refined.log || fail "'$detail' is not in the log"
done
[ "$(wc -l < verbose)" -eq "$(wc -l < fit_refined.log)" ] || fail "--verbose prints other lines than the log has"
expect 1 'not to be used' fit.yaml --image crystal.img 'model.cell=[40, 55, 35, 90, 90, 90]'
grep -q '^The model must not be used: ' fit_refined.log || fail "no sentence: $(cat fit_refined.log)"
for file in fit_refined.log fit_refined.yaml; do
    grep -q 'NOT TO BE USED: a minimum was found' $file || { echo "FAILED: $file does not warn of its result"; failures=$((failures + 1)); }
done
expect 0 '' fit.yaml --image crystal.img model.find_orientation=yes
grep -q 'hand was not tested' fit_refined.log || { echo "FAILED: nothing is said of the hand"; failures=$((failures + 1)); }
[ "$failures" -eq 0 ]
