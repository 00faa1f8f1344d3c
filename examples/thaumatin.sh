#!/bin/sh
# Refines a thaumatin still whose starting model is spoilt on purpose, and checks that it comes back.
#
#     examples/thaumatin.sh [RESULTS [DATA]]
#
# RESULTS: folder for the results (default: thaumatin_results). DATA: folder with thau_3_2_0003.cbf and .mat (default:
# $SHARED_DIR/realdata/thaumatin, SHARED_DIR being ../shared beside the checkout). Without the measured frame
# (PILATUS3 6M, beamline I24 of Diamond Light Source, from the DIALS data files, CC-BY 4.0) a stand-in with photon noise
# and a known answer is rendered and refined instead, by the program stand_in: beside dualbragg in a build, in
# ../libexec/dualbragg where that is installed. DUALBRAGG: the program (default: dualbragg from PATH).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
results=${1:-thaumatin_results}
data=${2:-${SHARED_DIR:-$here/../../shared}/realdata/thaumatin}
dualbragg=${DUALBRAGG:-$(command -v dualbragg || true)}
if [ ! -x "$dualbragg" ]; then
    echo "thaumatin.sh: no program dualbragg; set DUALBRAGG to it" >&2
    exit 2
fi
if ! "$dualbragg" fit --help > /dev/null 2>&1; then
    echo "thaumatin.sh: skipped, this build has no refinement"
    exit 77
fi
mkdir -p "$results"

image=$data/thau_3_2_0003.cbf
matrix=$data/thau_3_2_0003.mat
kind=measured
if [ ! -r "$image" ] || [ ! -r "$matrix" ]; then
    kind=stand-in
    echo "No measured frame in $data: rendering a stand-in"
    folder=$(dirname "$(readlink -f "$dualbragg")")
    stand_in=$folder/stand_in
    [ -x "$stand_in" ] || stand_in=$folder/../libexec/dualbragg/stand_in
    if [ ! -x "$stand_in" ]; then
        echo "thaumatin.sh: no program stand_in in $folder, nor in $folder/../libexec/dualbragg; name a folder of data" >&2
        exit 2
    fi
    "$stand_in" "$results/stand_in"
    image=$results/stand_in.img
    matrix=$results/stand_in.mat
fi

# thaumatin.yaml starts 0.2 degrees and 0.3 % away from the matrix
"$dualbragg" fit "$here/thaumatin.yaml" --image "$image" --output "$results/thaumatin" "model.matrix=$matrix"

# Did it come back? The matrix holds the answer: for the stand-in exactly, for the measured frame as far as indexing of
# the spots' centroids knows it.
model() { # KEY NUMBER: a number of a list in the refined model
    awk -v key="$1:" -v n="$2" '$1 == key { gsub(/[][,]/, " "); print $(n + 1) }' "$results/thaumatin.yaml"
}
statistic() { # KEY 1|2: of the starting model, of the refined one
    awk -v key="\"$1\":" -v n="$2" '$1 == key && ++seen == n { print $2 + 0 }' "$results/thaumatin.json"
}
failures=0
check() { # NAME VALUE LEAST MOST
    awk -v name="$1" -v value="$2" -v least="$3" -v most="$4" 'BEGIN {
        ok = value != "" && value + 0 >= least + 0 && value + 0 <= most + 0
        printf "  %-32s %10.4f  expected %10.4f to %10.4f  %s\n", name, value, least, most, ok ? "ok" : "FAILED"
        exit !ok
    }' || failures=$((failures + 1))
}
echo
echo "Back from the spoilt start? ($kind frame)"
if [ $kind = measured ]; then
    for i in 1 2 3; do check "misset $i (degrees)" "$(model misset $i)" -0.1 0.1; done
    check "cell edge a (A)" "$(model cell 1)" 58.337 58.511
    check "cell edge c (A)" "$(model cell 3)" 152.081 152.537
    check "beam centre, fast (pixels)" "$(model beam_centre_px 1)" 1261.33 1262.33
    check "beam centre, slow (pixels)" "$(model beam_centre_px 2)" 1307.01 1308.01
    check "strong pixels explained, start" "$(statistic strong_explained 1)" 0 0.08
    check "strong pixels explained, refined" "$(statistic strong_explained 2)" 0.18 1
else
    for i in 1 2 3; do check "misset $i (degrees)" "$(model misset $i)" -0.01 0.01; done
    check "cell edge a (A)" "$(model cell 1)" 58.397 58.403
    check "cell edge c (A)" "$(model cell 3)" 152.19 152.21
    check "beam centre, fast (pixels)" "$(model beam_centre_px 1)" 611.27 611.33
    check "beam centre, slow (pixels)" "$(model beam_centre_px 2)" 588.77 588.83
    check "crystal size Na (cells)" "$(model cells 1)" 15.7 16.3
    check "crystal size Nc (cells)" "$(model cells 3)" 7.8 8.2
    check "strong pixels explained, start" "$(statistic strong_explained 1)" 0 0.2
    check "strong pixels explained, refined" "$(statistic strong_explained 2)" 0.95 1
fi
[ $failures -eq 0 ]
