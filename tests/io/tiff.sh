#!/bin/sh
# TIFF images of all kinds of numbers, layouts and compressions, MarCCD and mar345 images are read with the pixels that were
# written, and what does not count is left out. Damaged ones are refused with a message. Geometry comes from headers.
set -u
python=
for candidate in "${DIALS_PYTHON:-}" /usr/bin/python3 python3; do
    [ -n "$candidate" ] && "$candidate" -c "import numpy" > /dev/null 2>&1 && python=$candidate && break
done
[ -n "$python" ] || { echo "SKIPPED: no Python with numpy"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
complain() { echo "$*"; failed=1; }
cp "$SOURCE_DIR/tests/fuzz/corpus/fabio.mar2300" .
"$python" -B "$SOURCE_DIR/tests/io/tiff_files.py" . > files || exit 1
case $("$DUALBRAGG" --version) in
*TIFF*) ;;
*)
    "$DUALBRAGG" compare marks.tif marks.tif.floats > said 2>&1
    grep -q "Debian: libtiff-dev" said || complain "no name of a package: $(cat said)"
    grep -v "tif" files > others; mv others files ;;
esac
grep -v "|" files > good
while read -r image floats left_out; do
    "$DUALBRAGG" compare "$image" "$floats" -quiet -json result.json > said 2>&1 || complain "$image: $(cat said)"
    grep -q "\"left_out\": $left_out\b" result.json || complain "$image: $(grep left_out result.json), not $left_out"
done < good
grep "|" files > bad
while IFS='|' read -r image expected; do
    "$DUALBRAGG" compare "$image" fabio.mar2300.floats > said 2>&1
    code=$?
    [ $code -ge 2 ] && [ $code -le 3 ] && grep -qE -- "$expected" said || complain "$image: $code: $(cat said); expected: $expected"
done < bad

# state IMAGE FLAG...: the image's geometry, with the flags in $more, is that of the flags
more=
state() {
    image=$1
    shift
    common="-cell 60 60 60 90 90 90 -default_F 1 -N 1 -roi 0 1 0 1 -floatfile place.bin --quiet"
    # shellcheck disable=SC2086 # flags
    "$DUALBRAGG" sim -img "$image" $more $common -exptfile a.expt > said 2>&1 || complain "$image: $(cat said)"
    # shellcheck disable=SC2086
    "$DUALBRAGG" sim "$@" $common -exptfile b.expt > said 2>&1 || complain "$*: $(cat said)"
    "$python" -B - << PYTHON || complain "$image: not $*"
import json
def numbers(value):
    if isinstance(value, dict): return [n for k in sorted(value) for n in numbers(value[k])]
    if isinstance(value, list): return [n for v in value for n in numbers(v)]
    return [float(value)] if isinstance(value, (int, float)) else []
a, b = (json.load(open(name)) for name in ("a.expt", "b.expt"))
keys = ("beam", "detector", "goniometer", "scan")
a, b = ([n for k in keys for n in numbers(e[k])] for e in (a, b))
assert len(a) == len(b) and all(abs(p - q) <= 1e-9 * max(1, abs(q)) for p, q in zip(a, b)), (a, b)
PYTHON
}
panel="-detpixels_x 53 -detpixels_y 37 -pixel 0.079346 -lambda 0.97918 -phi 12.5 -osc 0.5"
# shellcheck disable=SC2086 # flags
for order in 0 1; do
    state mar${order}u2.mccd $panel -pix0_vector 0.15025 0.0014480645 -0.001626593
done
state fabio.mar2300 -detpixels 30 -pixel 0.15 -lambda 1.5418 -phi 10 -osc 0.5 -pix0_vector 0.1234 0.002175 -0.002325
# A rotation past 360 degree is not one back by almost as much.
# shellcheck disable=SC2086 # flags
state round.mccd ${panel% -phi*} -phi 359.75 -osc 0.5 -pix0_vector 0.15025 0.0014480645 -0.001626593
state round.mar2300 -detpixels 30 -pixel 0.15 -lambda 1.5418 -phi 359.75 -osc 0.5 -pix0_vector 0.1234 0.002175 -0.002325
# Without a distance the header still has the beam centre; at two-theta this needs the distance.
more="-distance 150.25"
# shellcheck disable=SC2086 # flags
state far.mccd $panel -pix0_vector 0.15025 0.0014480645 -0.001626593
more="-distance 123.4"
state far.mar2300 -detpixels 30 -pixel 0.15 -lambda 1.5418 -phi 10 -osc 0.5 -pix0_vector 0.1234 0.002175 -0.002325
"$DUALBRAGG" import far.mccd far_up.mccd -json far.json > said 2>&1
grep -q "nan" said far.json && complain "import: $(grep nan said far.json)"
"$DUALBRAGG" sim -img far_up.mccd -cell 60 60 60 90 90 90 -default_F 1 -N 1 -roi 0 1 0 1 -floatfile place.bin > said 2>&1
grep -q "far_up.mccd: the header states no distance, beam centre" said || complain "far_up.mccd: $(cat said)"
exit $failed
