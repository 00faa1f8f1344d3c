#!/bin/sh
# A stack of four modules and a .geom in which one of them is 0.4 pixels off: fit finds that, and writes the geometry back.
set -u
case $("$DUALBRAGG" --version) in *HDF5*) ;; *) echo "SKIPPED: this build reads no HDF5"; exit 77 ;; esac
case $("$DUALBRAGG" --version) in *fit*) ;; *) echo "SKIPPED: this build has no fit"; exit 77 ;; esac
. "$SOURCE_DIR/tests/support/python_with"
python=$(python_with "h5py") || { echo "SKIPPED: no Python with h5py"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
geometry() { # CLEN SHIFT
    printf 'photon_energy = 12000\nclen = %s\nres = 10000\nadu_per_photon = 1\ndim0 = %%\ndim2 = ss\ndim3 = fs\ndata = /data\n' "$1"
    for k in 0 1 2 3; do
        x=$([ $((k % 2)) = 0 ] && echo -410 || echo 10)
        y=$([ $k -lt 2 ] && echo -410 || echo 10)
        [ $k = 3 ] && x=$2
        printf 'm%d/dim1 = %d\nm%d/min_fs = 0\nm%d/max_fs = 399\nm%d/min_ss = 0\nm%d/max_ss = 399\n' $k $k $k $k $k $k
        printf 'm%d/fs = x\nm%d/ss = y\nm%d/corner_x = %s\nm%d/corner_y = %s\n' $k $k $k "$x" $k "$y"
    done
}
geometry "80 mm" 10.4 > true.geom
geometry /z 10 > nominal.geom
"$DUALBRAGG" sim -expt true.geom -cell 79 79 38 90 90 90 -misset 20 30 40 -default_F 200 -N 15 -spots closed -mosaic_rms 0.2 \
    -bandwidth_rms 0.002 -fluence 1e26 -oversample 1 -floatfile true.bin -quiet || exit 1
"$python" -c "
import h5py, numpy
true = numpy.fromfile('true.bin', '<f4').reshape(4, 400, 400)
counts = numpy.zeros((2, 4, 400, 400), 'i4')
counts[1] = numpy.random.default_rng(1).poisson(true * (3000 / true.max()) + 2)
with h5py.File('run.h5', 'w') as file:
    file.create_dataset('data', data=counts, chunks=(1, 4, 400, 400), compression='gzip')
    file['z'] = [70.0, 80.0]" || exit 1
cat > fit.yaml << END
image: run.h5#2
model: {expt: nominal.geom, cell: [79, 79, 38, 90, 90, 90], misset: [20, 30, 40], mosaic_rms: 0.2, bandwidth_rms: 0.002, spots: closed}
panel_groups: panels
intensity: free
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}, panel_3:shift_fast: {range: 0.5}}
output: refined
END
"$DUALBRAGG" fit fit.yaml > said 2>&1 || { tail -n 20 said; exit 1; }
grep -q "^clen = /z$" refined.geom || { echo "clen is not what it was"; exit 1; }
awk '/^m3\/corner_x/ { found = $3 } END { print "corner_x of m3:", found; exit !(found > 10.35 && found < 10.45) }' refined.geom || exit 1
"$DUALBRAGG" fit refined.yaml model.expt=refined.geom model.matrix=refined.mat --output again > said 2>&1 ||
    { echo "the refinement does not go on:"; tail -n 20 said; exit 1; }
# The same as a list of shots: the refined model of a shot lies in another folder, and names its image among many.
echo "run.h5#2" > list.txt
sed -e 's/^image.*/shots: {list: list.txt}/' -e 's/^panel_groups.*/panel_groups: {panel_3: [3]}/' -e 's/^output.*/output: listed/' fit.yaml > list.yaml
"$DUALBRAGG" fit list.yaml --no-report --threads 1 > said 2>&1 || { echo "a list of images in a file:"; tail -n 20 said; exit 1; }
grep -q "^image: .*/run.h5#2" listed_shots/0001_*.yaml || { echo "a shot's image:"; grep "^image" listed_shots/*.yaml; exit 1; }
