#!/bin/sh
# Names of CrystFEL events: each index and each path belongs to a % of the geometry, and a name without a number to one image.
set -u
case $("$DUALBRAGG" --version) in *HDF5*) ;; *) echo "SKIPPED: this build reads no HDF5"; exit 77 ;; esac
case $("$DUALBRAGG" --version) in *fit*) ;; *) echo "SKIPPED: this build has no fit"; exit 77 ;; esac
. "$SOURCE_DIR/tests/support/python_with"
python=$(python_with "h5py") || { echo "SKIPPED: no Python with h5py"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
"$python" -c "
import h5py, numpy
with h5py.File('ev.h5', 'w') as f:
    f['stack'] = numpy.arange(4 * 10 * 20, dtype='i4').reshape(4, 10, 20)
    f['plain'] = numpy.ones((10, 20), 'i4')
    for n, name in enumerate('ab'):
        f[name + '/img'] = numpy.full((10, 20), n, 'i4') * numpy.arange(20, dtype='i4')
with h5py.File('one.h5', 'w') as f:
    f['a/img'] = numpy.ones((10, 20), 'i4')
" || exit 1
geometry() { # DATA DIMS
    printf 'photon_energy = 9500 eV\nadu_per_photon = 1\nres = 10000\nclen = 0.1\ndata = %s\n%b' "$1" "$2"
    printf 'p/min_fs = 0\np/max_fs = 19\np/min_ss = 0\np/max_ss = 9\np/fs = x\np/ss = y\np/corner_x = -10\np/corner_y = -5\n'
}
geometry /stack 'dim0 = %\ndim1 = ss\ndim2 = fs\n' > stack.geom
geometry /plain 'dim0 = ss\ndim1 = fs\n' > plain.geom
geometry /data/../%/img 'dim0 = ss\ndim1 = fs\n' | sed 's,/data/\.\./,/,' > groups.geom
view() { # GEOMETRY IMAGE WORDS: refused with these; without them it is read
    "$DUALBRAGG" view "$2" -expt "$1" -o view.png > out 2>&1
    status=$?
    if [ -z "$3" ]; then
        [ $status = 0 ] || { echo "FAILED: $2 with $1: $(cat out)"; failed=1; }
    elif [ $status = 0 ] || ! grep -qF -e "$3" out; then
        echo "FAILED: $2 with $1 ends with $status and does not say '$3': $(cat out)"
        failed=1
    fi
}
view stack.geom "ev.h5#//1" ""
view stack.geom "ev.h5#2" ""
view stack.geom "ev.h5#//1/3" "expected 1 indices behind //"
view stack.geom "ev.h5#zz//1" "expected no path before //"
view plain.geom ev.h5 ""
view plain.geom "ev.h5#//5" "expected 0 indices behind //"
view groups.geom "ev.h5#b//" ""
view groups.geom "ev.h5#2" ""
view groups.geom "ev.h5#b//7" "expected 0 indices behind //"
view groups.geom ev.h5 "has 2 images; name one of them"
view groups.geom one.h5 ""
exit $failed
