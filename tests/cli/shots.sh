#!/bin/sh
# Training sets: shots are the images that they are by themselves, on any number of threads and in any range; labels say where
# their spots are; wrong lists are refused with their line; what ends early leaves no file.
set -u
case $("$DUALBRAGG" --version) in *HDF5*) ;; *) echo "SKIPPED: this build writes no HDF5"; exit 77 ;; esac
case $("$DUALBRAGG" --version) in *Random123*) ;; *) echo "SKIPPED: this build makes no noise"; exit 77 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
sim() { "$DUALBRAGG" sim "$@" > said 2>&1 || { cat said; complain "sim $*"; }; }
base="-cell 78 78 38 90 90 90 -default_F 100 -N 12 -lambda 1.3 -distance 100 -fluence 1e26 -detpixels 150 -pixel 0.5 --quiet"
closed="$base -spots closed -mosaic_rms 0.2 --tolerance 1e-9"
vary="-jitter_cell 0.002 -jitter_fluence 0.2 -jitter_wavelength 0.001 -seed 4 -flicker 0.1"

# shellcheck disable=SC2086 # words
sim $closed $vary --random 7 -hdf5file a.h5 -noisefile n.h5 --threads 1
# shellcheck disable=SC2086
sim $closed $vary --random 7 -hdf5file b.h5 -noisefile m.h5 --threads 3
cmp a.h5 b.h5 && cmp n.h5 m.h5 || complain "files depend on the number of threads"
# shellcheck disable=SC2086
sim $closed $vary --random 7 --range 3 4 -noisefile part.h5
"$DUALBRAGG" compare n.h5#4 part.h5#2 -quiet || complain "a shot depends on the range that is made"

. "$SOURCE_DIR/tests/support/processes"
if [ -n "$mpi" ]; then
    # shellcheck disable=SC2086
    $mpi -n 3 "$DUALBRAGG" sim $closed $vary --random 7 -hdf5file p.h5 -noisefile q.h5 --threads 1 > said 2>&1 || cat said
    cmp a.h5 p.h5 && cmp n.h5 q.h5 || complain "files depend on the number of processes"
    printf 'misset=[1, 2, 3]\nmisset=random\nmatrix=missing.mat\n' > wrong.txt
    # shellcheck disable=SC2086
    $mpi -n 2 "$DUALBRAGG" sim $closed --shots wrong.txt -hdf5file x.h5 > said 2>&1 && complain "processes: no failure"
    [ "$(grep -c "shot 3: .*missing.mat" said)" = 1 ] || complain "processes: $(cat said)"
fi

# shots of a list are those of single runs
printf 'one.cbf model.misset=[10, 20, 30] model.fluence=2e26\n# none\nmisset=[1, 2, 3] cell=[80, 80, 40, 90, 90, 90] phi=3 seed=7\n' > list.txt
for spots in "$closed" "$base -mosaic 0.3 -mosaic_domains 3"; do
    # shellcheck disable=SC2086
    sim $spots --shots list.txt -hdf5file l.h5 -noisefile ln.h5 --threads 2
    # shellcheck disable=SC2086
    sim $spots --shots list.txt -hdf5file l1.h5 --threads 1
    cmp l.h5 l1.h5 || complain "labels depend on the number of threads"
    # shellcheck disable=SC2086
    sim $spots -misset 10 20 30 -fluence 2e26 -floatfile one.bin
    # shellcheck disable=SC2086
    sim $spots -misset 1 2 3 -cell 80 80 40 90 90 90 -phi 3 -noisefile two.h5 -seed 7
    "$DUALBRAGG" compare l.h5#1 one.bin -quiet || complain "the first shot of the list is another image than alone"
    "$DUALBRAGG" compare ln.h5#2 two.h5 -quiet || complain "the second shot of the list has other noise than alone"
done

# the photons that a pixel may lack, where they are chosen, go with each shot's own brightness, not with that of the flags
echo 'misset=[10, 20, 30] fluence=1e20' > dim.txt
# shellcheck disable=SC2086
sim $base -spots closed -mosaic_rms 0.2 --shots dim.txt -hdf5file dim.h5
# shellcheck disable=SC2086
sim $base -spots closed -mosaic_rms 0.2 -misset 10 20 30 -fluence 1e20 --tolerance 0 -floatfile dim.bin
"$DUALBRAGG" compare dim.h5 dim.bin -brightest 2e-6 -quiet || complain "a dim shot of a bright command lacks spots"

. "$SOURCE_DIR/tests/support/python_with"
python=$(python_with "h5py, hdf5plugin") || true
# shellcheck disable=SC2086
sim $closed --random 3 -hdf5file s.h5 -sase 0.002 0.0004
# a spectrum of each direction of the beam, in the middle of which spots stay
# shellcheck disable=SC2086
sim $base --random 1 -hdf5file v.h5 -hdivrange 2 -hdivsteps 3 -sase 0.002 0.0008 -noreflections
# shellcheck disable=SC2086
sim $base -mosaic 0.3 -mosaic_domains 3 --random 2 -hdf5file w.h5 -water 1000
# shellcheck disable=SC2086
sim $base -mosaic 0.3 -mosaic_domains 3 --random 2 -hdf5file d.h5
# shellcheck disable=SC2086
sim $base --random 2 -hdf5file e.h5 -noreflections
# a spectrum, whose part each reflection selects
printf '1.29 1\n1.3 2\n1.31 1\n' > three.txt
echo 'misset=[10, 20, 30] spectrum=three.txt' > of_three.txt
# shellcheck disable=SC2086
sim $closed -bandwidth_rms 0.002 --shots of_three.txt -hdf5file three.h5
# shellcheck disable=SC2086
sim $closed -bandwidth_rms 0.002 -misset 10 20 30 -spectrumfile three.txt -spotfile spots.txt
if [ -n "$python" ]; then
    "$python" -B "$SOURCE_DIR/tests/cli/shots.py" a.h5 s.h5 w.h5 d.h5 e.h5 v.h5 three.h5 spots.txt || complain "labels"
fi

printf 'cells=[9, 9, 9]\n' > former.txt
# shellcheck disable=SC2086
"$DUALBRAGG" sim ${base%--quiet} -spots closed -mosaic_rms 0.2 --shots former.txt -hdf5file former.h5 > said 2>&1 && grep -q "former.txt:1: cells is called Ncells now" said ||
    complain "a former key: $(cat said)"

refuse() {
    expected=$1
    shift
    "$DUALBRAGG" sim "$@" > said 2>&1
    code=$?
    [ $code -ge 2 ] && [ $code -le 5 ] && grep -q -- "$expected" said || complain "$*: $code: $(cat said); expected: $expected"
}
bad() {
    printf 'misset=[1, 2, 3]\n%s\n' "$2" > bad.txt
    # shellcheck disable=SC2086
    refuse "bad.txt:2: $1" $closed --shots bad.txt -hdf5file x.h5
}
bad "misset: expected 3 numbers, found 2" "misset=[1, 2]"
bad "misset: expected 3 numbers, found '\[1, 2, 3, 4\]'" "misset=[1, 2, 3, 4]"
bad "a bracket or quote stays open in 'misset=" "misset=[1, 2, 3"
for shared in oversample=2 beam_centre_px=[10,10] beam_tilt=[1,0] polarization=0.5 exposure=2 distance=3 default_F=7 k_sol=0.3 spots=closed anomalous=yes point_pixel=1 expt_frame=1 pixel_size=0.1 spindle_tilt=[0,0]; do
    bad "${shared%%=*}: all shots" "$shared"
done
bad "nonsense is no key" "a.cbf nonsense=3"
bad "seed: expected a whole number" "seed=0"
bad "phi_steps: expected a whole number, found 1.5" "phi_steps=1.5"
bad "expected KEY=VALUE, found 'b'" "a b"
bad "misset: expected a key once" "model.misset=[1, 2, 3] phi=3 misset=random"
bad "seed: expected a key once" "a.cbf seed=4 seed=5"
bad "shape: 'cube' is no choice" "shape=cube"
printf '# none\n' > empty.txt
# shellcheck disable=SC2086
refuse "expected shots" $closed --shots empty.txt -hdf5file x.h5
printf 'misset=[1, 2, 3]\nmatrix=missing.mat\n' > list2.txt
# shellcheck disable=SC2086
refuse "shot 2: .*missing.mat" $closed --shots list2.txt -hdf5file x.h5
# wrong lines are found before the first shot is rendered, which would take hours
printf '1.2 1\n1.21 2\n' > pair.txt
late() {
    printf 'misset=[1, 2, 3]\n%s\n' "$2" > late.txt
    # shellcheck disable=SC2086
    timeout -k 5 60 "$DUALBRAGG" sim $base -detpixels 3000 -oversample 30 -mosaic 0.3 -mosaic_domains 100 --shots late.txt -hdf5file x.h5 > said 2>&1
    code=$?
    [ $code = 3 ] && grep -q -- "shot 2: $1" said || complain "late $2: $code: $(cat said); expected: $1"
}
late ".*missing.mat" "matrix=missing.mat"
late ".*missing.txt" "spectrum=missing.txt"
late "cell" "cell=[78, 78, 38, 20, 20, 100]"
late "expected stills or rotations alone in one file, found both" "phi_step=1"
late "expected as many wavelengths as the first shot has, found 2" "spectrum=pair.txt"
# shellcheck disable=SC2086
refuse "expected two numbers of shots from 1 to 5" $closed --random 5 --range 4 9 -hdf5file x.h5
# shellcheck disable=SC2086
refuse "-intfile is for one image" $closed --random 5 -intfile x.img
# shellcheck disable=SC2086
refuse "found both" $closed --random 5 --shots list.txt -hdf5file x.h5
# shellcheck disable=SC2086
refuse "would replace the input" $closed --shots list.txt -hdf5file list.txt

# a point spread is that of whole images, and of a shot, not of its number in the file
# shellcheck disable=SC2086
sim $base --random 2 -noisefile spread.h5 -psf gauss -psf_fwhm 500 -seed 4
# shellcheck disable=SC2086
sim $base --random 2 --range 2 2 -noisefile second.h5 -psf gauss -psf_fwhm 500 -seed 4
# shellcheck disable=SC2086
sim $base --random 2 --range 2 2 -noisefile sharp.h5 -seed 4
"$DUALBRAGG" compare spread.h5#2 second.h5 -quiet || complain "a point spread: a shot depends on the range that is made"
"$DUALBRAGG" compare second.h5 sharp.h5 -quiet && complain "many shots have no point spread"
# shellcheck disable=SC2086
refuse "-psf with -roi: expected whole images" $base --random 2 -noisefile x.h5 -psf gauss -psf_fwhm 500 -roi 0 9 0 9

# a spectrum is in the file, or no shot has one
# shellcheck disable=SC2086
refuse "a spectrum to be made" $closed --random 2 -hdf5file x.h5 -sase 0.002 0.0004 -spectrumfile pair.txt
# the resolution of a spectrometer is that of the spectra in the list, and has no effect without any
for energy in 9000 9005 9010 9015; do echo "$energy 1"; done > even.txt
echo 'misset=[1, 2, 3] spectrum=even.txt' > one_spectrum.txt
# shellcheck disable=SC2086
"$DUALBRAGG" sim ${base%--quiet} --shots one_spectrum.txt -spectrum_resolution 10 -hdf5file x.h5 > said 2>&1 || complain "spectrum_resolution: $(cat said)"
grep -q "no effect" said && complain "spectrum_resolution: a notice about spectra that are there"
rm -f x.h5
# shellcheck disable=SC2086
"$DUALBRAGG" sim ${base%--quiet} -spectrum_resolution 10 -floatfile x.bin > said 2>&1
grep -q "spectrum resolution: 10 eV has no effect without a spectrum file" said || complain "no word about spectrum_resolution: $(cat said)"
rm -f x.bin

# in another unit
echo "9.54 1" > kev.txt
echo 'misset=[1, 2, 3] spectrum=kev.txt' > in_kev.txt
# shellcheck disable=SC2086
refuse "kev.txt: expected a mean near the given wavelength, 1.3 A" $base --shots in_kev.txt -hdf5file x.h5

# noise on an image of such a file, whose geometry goes on
printf 'misset=[1, 2, 3]\nmisset=[4, 5, 6] seed=9\n' > two.txt
# shellcheck disable=SC2086
sim $base -lambda 1.2 -Xbeam 30 -Ybeam 33 -roi 0 149 20 130 --shots two.txt -hdf5file f.h5 -noisefile fn.h5
"$DUALBRAGG" noise -floatfile f.h5#2 -seed 9 -calibration 0 -noisefile g.h5 --quiet > said 2>&1 || complain "noise of HDF5: $(cat said)"
"$DUALBRAGG" compare fn.h5#2 g.h5 -quiet || complain "noise on an image of a file is not that of the shot"
"$DUALBRAGG" noise -floatfile f.h5#2 -noisefile f.h5 > said 2>&1 && complain "noise replaces its input"
"$DUALBRAGG" noise -floatfile f.h5 -noisefile h.h5 > said 2>&1
grep -q "several images; name one" said || complain "noise of several images: $(cat said)"
"$DUALBRAGG" noise -floatfile f.h5#1 -detpixels 100 -noisefile h.h5 > said 2>&1
grep -q "expected 100 x 100 pixels, as the detector has, found 150 x 150" said || complain "noise, other shape: $(cat said)"

# going on with a file: the images and labels of the whole set; other flags are refused, and leave it as it was
cat > same.py << 'END'
import sys
import h5py
import hdf5plugin  # noqa: F401
import numpy
first, second = [h5py.File(name) for name in sys.argv[1:]]
names = []
first.visit(names.append)
for name in names:
    if isinstance(first[name], h5py.Dataset):
        assert numpy.array_equal(first[name][()], second[name][()]), name
END
# shellcheck disable=SC2086
sim $closed $vary --random 7 --range 1 3 -hdf5file r.h5 -noisefile rn.h5
cp r.h5 before.h5
# shellcheck disable=SC2086
refuse "r.h5: cannot write: distance differs" $closed $vary --random 7 -distance 90 -hdf5file r.h5 -noisefile rn.h5 --resume
# shellcheck disable=SC2086
refuse "shot 3: r.h5: its last image is not the one" $closed $vary --random 7 -N 13 -hdf5file r.h5 -noisefile rn.h5 --resume
# shellcheck disable=SC2086
refuse "expected at most 2 shots in a file to continue, found 3" $closed --random 2 -hdf5file r.h5 --resume
# shellcheck disable=SC2086
refuse "b.h5: expected 3 shots, as in r.h5, found 7" $closed --random 7 -hdf5file r.h5 -noisefile b.h5 --resume
# shellcheck disable=SC2086
sim $closed --random 2 -noisefile wn.h5 -wavelengthfile ww.h5
rm ww.h5
# shellcheck disable=SC2086
refuse "ww.h5: expected 2 shots, as in wn.h5, found 0" $closed --random 2 -noisefile wn.h5 -wavelengthfile ww.h5 --resume
cmp before.h5 r.h5 || complain "a refused run changes the file"
# shellcheck disable=SC2086
sim $closed $vary --random 7 -hdf5file r.h5 -noisefile rn.h5 --resume
"$DUALBRAGG" compare r.h5#6 a.h5#6 -quiet && "$DUALBRAGG" compare rn.h5#7 n.h5#7 -quiet || complain "resumed: other images"
[ -z "$python" ] || { "$python" same.py a.h5 r.h5 && "$python" same.py n.h5 rn.h5; } || complain "resumed: other content"
head -c 20000 a.h5 > cut.h5
# shellcheck disable=SC2086
refuse "cut.h5: " $closed $vary --random 7 -hdf5file cut.h5 --resume

# stopped in the middle: whole images stay
# shellcheck disable=SC2086
"$DUALBRAGG" sim $closed --random 100000 -hdf5file x.h5 --threads 1 > said 2>&1 &
sleep 0.3
kill -TERM $!
wait $!
[ $? = 143 ] && [ -z "$(find . -name '.dualbragg*')" ] || complain "stopped: $(cat said); $(ls -A)"
[ ! -e x.h5 ] || "$DUALBRAGG" compare x.h5#1 x.h5#1 -quiet || complain "a run that is stopped leaves no whole file"
exit $failed
