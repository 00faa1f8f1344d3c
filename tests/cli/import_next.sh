#!/bin/sh
# Every command that import proposes runs; an orientation that is another image's is not proposed.
. "$SOURCE_DIR/tests/cli/expectations"
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
"$DUALBRAGG" --version | grep -q JSON || { echo "skipped: no experiment lists"; exit 77; }
"$DUALBRAGG" fit --help > /dev/null 2>&1 || { echo "skipped: this build has no refinement"; exit 77; }
cell="78 78 38 90 90 90"
# shellcheck disable=SC2086 # words
{
    succeed orient -cell $cell -misset 10 20 30 -lambda 1 -o right.mat --quiet
    succeed orient -cell $cell -misset 50 -10 70 -lambda 1 -o wrong.mat --quiet
    still="-N 30 -default_F 20000 -fluence 3e21 -distance 100 -detpixels 500 -pixel 0.2 -spots closed -mosaic_rms 0.15 --quiet"
    succeed sim -mat right.mat -lambda 1 $still -intfile a_0001.img -exptfile a.expt -scale 1
    succeed sim -mat wrong.mat -lambda 1 $still -intfile b_0001.img -exptfile b.expt -scale 1
    succeed sim -mat right.mat -lambda 1 $still -phi 40 -osc 0.5 -intfile turned_0001.img -scale 1
    succeed sim -mat right.mat -lambda 1 $still -twotheta 20 -intfile swung_0001.img -scale 1
}
python3 - <<'PYTHON'
import copy
import json
import re

lines = json.load(open("a.expt"))
lines["crystal"].append(copy.deepcopy(lines["crystal"][0]))
lines["experiment"].append(dict(lines["experiment"][0], crystal=1))
json.dump(lines, open("two.expt", "w"))
image = open("a_0001.img", "rb").read()
open("dark_0001.img", "wb").write(re.sub(rb"WAVELENGTH=[^;]*;", lambda m: b" " * len(m[0]), image[:512]) + image[512:])
# a header of another program: a still at 40 degree, whose crystal is described as it stands
header = re.sub(rb"CONVENTION=[^;]*;", b"", image[:1024]).replace(b"PHI=0;", b"PHI=40;").replace(b"OSC_START=0;", b"OSC_START=40;")
open("angled_0001.img", "wb").write(header.ljust(1024) + image[1024:])
open("m.pdb", "w").write("CRYST1   78.000   78.000   38.000  90.00  90.00  90.00 P 1           1\n"
                         "ATOM      1  N   GLY A   1       9.400   2.700   1.100  1.00 12.50           N\n")
open("det.geom", "w").write("clen = 0.1\nphoton_energy = 12398\nres = 5000\np0/min_fs = 0\np0/max_fs = 499\np0/min_ss = 0\n"
                            "p0/max_ss = 499\np0/fs = +1.0x\np0/ss = -1.0y\np0/corner_x = -250\np0/corner_y = 250\n")
PYTHON
# next FILES: the command that import proposes
next() {
    # shellcheck disable=SC2086 # words
    "$DUALBRAGG" import $1 > ../out 2> ../err
    sed -n '/^next:$/{n;s/^ *dualbragg //;p;}' ../out
}
run=""
for files in "a_0001.img right.mat" "a_0001.img wrong.mat" "a_0001.img a.expt" "a_0001.img b.expt" "a_0001.img two.expt" \
    "dark_0001.img two.expt" "dark_0001.img right.mat" "dark_0001.img m.pdb" "a_0001.img m.pdb" "a_0001.img right.mat m.pdb" \
    "a_0001.img" "right.mat" "right.mat m.pdb" "two.expt" "two.expt m.pdb" "det.geom m.pdb" "det.geom right.mat" \
    "turned_0001.img right.mat"; do
    command=$(next "$files")
    [ "$command" ] || { complain "import $files: no command"; continue; }
    case $run in *"[$command]"*) continue ;; esac
    run="$run[$command]"
    status=0
    eval "set -- $command"
    case $1 in fit) set -- "$@" --no-report --output ../fitted data.dmin=4.5 ;; esac
    "$DUALBRAGG" "$@" > ../printed 2>&1 || status=$?
    [ $status -le 1 ] || complain "import $files: $*: exit status $status: $(tail -n 2 ../printed)"
done
# told FILES TEXT
told() {
    next "$1" > /dev/null
    grep -qF -- "$2" ../out || complain "import $1: '$2' is not in: $(cat ../out)"
}
not_told() {
    next "$1" > /dev/null
    grep -qF -- "$2" ../out && complain "import $1: '$2' is in: $(cat ../out)"
}
told "a_0001.img right.mat" "fit a_0001.img --matrix right.mat"
not_told "a_0001.img right.mat" "does not fit"
told "a_0001.img wrong.mat" "near nodes of the lattice of wrong.mat, as by chance"
told "a_0001.img wrong.mat" "fit a_0001.img --cell 78,78,38,90,90,90"
not_told "a_0001.img a.expt" "find_orientation"
told "a_0001.img b.expt" "model.find_orientation=yes"
told "a_0001.img two.expt" "--expt two.expt model.expt_number=0"
not_told "turned_0001.img right.mat" "does not fit"
not_told "swung_0001.img right.mat" "does not fit"
not_told "angled_0001.img right.mat" "does not fit"
told "angled_0001.img right.mat" "fit angled_0001.img --matrix right.mat"
told "$SOURCE_DIR/examples/data/thaumatin.cbf $SOURCE_DIR/examples/data/thaumatin.mat" "thaumatin.cbf --matrix"
told "swung_0001.img" "two theta       20 degree"
not_told "a_0001.img" "two theta"
finish
