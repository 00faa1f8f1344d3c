#!/bin/sh
# The command line of dualbragg fit: help, defaults, and mistakes that must be named before any work is done.
set -eu
[ -n "${DUALBRAGG-}" ] && "$DUALBRAGG" --version | grep -q . || {
    echo "no program to test"
    exit 77
}
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
# expect STATUS TEXT ARGUMENTS...: exit status and part of stderr; no file may be left behind.
expect() {
    status=$1 text=$2
    shift 2
    before=$(ls)
    found=0
    "$DUALBRAGG" fit "$@" > out 2> err || found=$?
    [ "$found" -eq "$status" ] || fail "fit $*: exit status $found instead of $status: $(cat err)"
    grep -qF -e "$text" err || fail "fit $*: stderr says '$(cat err)' instead of '$text'"
    [ "$(grep -cv '^dualbragg fit: note: dualbragg help fit shows' err)" -eq 1 ] || fail "fit $*: not one line on stderr: $(cat err)"
    rm -f out err
    [ "$(ls)" = "$before" ] || fail "fit $*: left files behind"
}

cat > good.yaml << 'TEXT'
image: no.cbf
model: {cell: [78, 78, 38, 90, 90, 90]}
refine:
  misset_x: {range: 0.5}
TEXT
printf 'refine:\n  misset_x: {min: 2, max: 1}\n' > crossed.yaml
printf 'image: a.cbf\nmodell: {}\n' > typo.yaml
printf 'refine:\n  misset_q:\n' > parameter.yaml
printf 'image: [1, 2\n' > syntax.yaml
printf 'refine: {misset_x: }\n' > no_image.yaml
echo 'not an image at all' > text.cbf

"$DUALBRAGG" fit --help | grep -q 'usage: dualbragg fit CONFIG.yaml' || fail "--help"
"$DUALBRAGG" fit --show-defaults > defaults.yaml || fail "--show-defaults"
grep -q '^# image: ' defaults.yaml || fail "--show-defaults has no image"

expect 2 'expected a configuration'
# Files of a measurement in place of a configuration: what is missing, and what to type.
"$DUALBRAGG" sim -cell 40 -N 3 -default_F 10 -detpixels 16 -lambda 1 -distance 100 -intfile a.img -exptfile a.expt --quiet
"$DUALBRAGG" orient -cell 40 -misset 1 2 3 -o a.mat --quiet
expect 3 'no spots were found' a.img --output a
expect 3 'no spots were found' --symmetry tetragonal a.img --output a
expect 2 "expected a folder" a.img b.img --output a
expect 2 'a.expt: found an experiment list of DIALS, expected an image, too: dualbragg fit IMAGE --expt a.expt' a.expt
expect 2 'expected an image, too: dualbragg fit IMAGE --matrix a.mat' a.mat
# Names of files are taken as they are, whatever they mean in YAML.
mkdir 'run #3'
for name in 'run #3/a.expt' '[a].expt' 'a: b.expt' '"a\.expt'; do
    cp a.expt "$name"
    expect 3 'blank image' a.img --expt "$name" model.misset=1,2,3 --output a
done
expect 3 'run #3/a.mat' a.img --matrix 'run #3/a.mat' --output a
# Numbers are separated by blanks or commas, values from flags by a blank or =.
for cell in '--cell 78 78 38 no.cbf' '--cell 78,78,38 no.cbf' '--cell=78,78,38 no.cbf' '--cell 78, 78, 38 no.cbf' 'no.cbf --cell 78' \
    'no.cbf --cell=78 78 38 model.Ncells=20,20,20'; do
    # shellcheck disable=SC2086 # words
    expect 3 'no.cbf' --threads=2 $cell --symmetry tetragonal 'model.beam_centre_px=8 8'
done
expect 2 "expected a list of 3 numbers" good.yaml model.Ncells=20,20
expect 2 "expected a list of 3 numbers" good.yaml 'model.Ncells=20 20 20 20'
expect 2 "number" good.yaml 'model.Ncells=20 x 20'
expect 2 "--image b.img: expected no further image, found 'a.img'" a.img --image b.img
expect 2 "--image b.img: expected no further image, found 'no.cbf'" --cell 78 --image b.img --symmetry cubic no.cbf
expect 3 'no.cbf' --cell 78 --image no.cbf
expect 2 'expected images' --cell 78,78,38
expect 2 '--symmetry: expected an image, or --cell, too' good.yaml --symmetry tetragonal
expect 2 'good.yaml: expected an image, found a configuration; --cell' good.yaml --cell 78,78,38
expect 3 'no.cbf' no.cbf --cell 78,78,38 --symmetry tetragonal
expect 2 "--cell: expected a finite number (A, degree), found 'x'" text.cbf --cell 78,x,38
expect 2 'expected a folder' a.cbf b.cbf --cell 78,78,38 --output result
# Results of several images have different names, or none is refined.
expect 2 'x/no.cbf and y/no.cbf: the output files of both would be no_refined.*' other.cbf x/no.cbf y/no.cbf --cell 78
expect 2 'no.cbf and no.img: the output files of both would be r/no_refined.*' no.cbf no.img --cell 78 --output r/
expect 2 'no.h5#2 and no_2.h5: the output files of both would be no_2_refined.*' no.h5#1 no.h5#2 no_2.h5 --cell 78
expect 2 'a.cbf and b.cbf: the output files of both would be all.*' a.cbf b.cbf --cell 78 output=all
expect 2 "unknown flag '--quite'; the nearest known one is '--quiet'" good.yaml --quite
expect 2 "unknown flag '--quite'; the nearest known one is '--quiet'" --quite good.yaml
expect 2 "unknown flag '--quite'; the nearest known one is '--quiet'" --quite
expect 2 '--threads: expected a whole number' good.yaml --threads two
expect 2 '--image: expected FILE' good.yaml --image
expect 2 '--precision: expected double or mixed' good.yaml --precision half
expect 2 'expected KEY=VALUE' good.yaml data.dmin
expect 2 "argument 'data.dmn=3': data.dmn: unknown key; the nearest known one is 'dmin'" good.yaml data.dmn=3
expect 2 'crossed.yaml:2: refine.misset_x: bounds cross: min 2 is not below max 1' crossed.yaml
expect 2 "typo.yaml:2: modell: unknown key; the nearest known one is 'model'" typo.yaml
expect 2 "parameter.yaml:2: refine.misset_q: unknown parameter 'misset_q'; the nearest known one is 'misset_x'" parameter.yaml
expect 2 'syntax.yaml:2: ' syntax.yaml
expect 2 'no_image.yaml: no image' no_image.yaml
expect 3 'missing.yaml' missing.yaml
expect 3 'no.cbf' good.yaml
expect 3 'no/such/place.yaml: cannot write' good.yaml --output no/such/place
expect 3 'text.cbf' good.yaml --image text.cbf
expect 2 'would replace the input' good.yaml --output good
expect 2 "instruction set" good.yaml --isa sse9
expect 2 'bounds cross' good.yaml 'refine.misset_x={min: 3, max: 3}'
# what --show-defaults prints is itself a configuration that can be read
expect 3 'no.cbf' defaults.yaml --image no.cbf

[ "$failures" -eq 0 ]
