#!/bin/sh
# Refines a measured still of a thaumatin crystal from a starting model that is spoilt on purpose, and checks that it
# comes back.
#
#     examples/thaumatin.sh [RESULTS]
#
# RESULTS: folder for the results (default: thaumatin_results). DUALBRAGG: the program (default: dualbragg from PATH).
# The image is in data/, beside this script.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
results=${1:-thaumatin_results}
data=$here/data
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

# thaumatin.yaml starts 0.2 degrees and 0.3 % away from the matrix
"$dualbragg" fit "$here/thaumatin.yaml" --image "$data/thaumatin.cbf" --output "$results/thaumatin" \
    "model.matrix=$data/thaumatin.mat"

# Did it come back? The orientation is compared with the matrix; cell, distance and tilt with the results of whole images
# of this crystal (docs/results/measured-stills.md). With the header's 351 mm edges would be 1.5 % too long.
model() { # KEY NUMBER: a number of a list in the refined model
    awk -v key="$1:" -v n="$2" '$1 == key { gsub(/[][,]/, " "); print $(n + 1) }' "$results/thaumatin.yaml"
}
statistic() { # KEY 1|2: of the starting model, of the refined one
    awk -v key="\"$1\":" -v n="$2" '$1 == "\"statistics\":" { inside = 1 } inside && $1 == key && ++seen == n { print $2 + 0 }' \
        "$results/thaumatin.json"
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
echo "Back from the spoilt start?"
for i in 1 2 3; do check "misset $i (degrees)" "$(model misset $i)" -0.4 0.4; done
check "cell edge a (A)" "$(model cell 1)" 57.2 57.9
check "cell edge c (A)" "$(model cell 3)" 149.0 150.8
check "distance (mm)" "$(model distance 1)" 343.3 347.0
check "detector turned about y (degrees)" "$(model detector_rotation 2)" 0.3 0.44
check "spots' places, rms error (pixels)" "$(statistic centroid_rms 2)" 0 0.8
check "strong pixels explained, start" "$(statistic strong_explained 1)" 0 0.12
check "strong pixels explained, refined" "$(statistic strong_explained 2)" 0.5 1
[ $failures -eq 0 ]
