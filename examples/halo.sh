#!/bin/sh
# Renders a still of a small crystal without and with a diffuse halo about its spots, and puts both images into one picture.
#
#     examples/halo.sh [RESULTS]
#
# RESULTS: folder for the images (default: halo_results). DUALBRAGG: the program (default: dualbragg from PATH).
# docs/howto/halo.md explains the halo, and refines it.
set -eu
results=${1:-halo_results}
dualbragg=${DUALBRAGG:-$(command -v dualbragg || true)}
if [ ! -x "$dualbragg" ]; then
    echo "halo.sh: no program dualbragg; set DUALBRAGG to it" >&2
    exit 2
fi
if ! "$dualbragg" view --help > /dev/null 2>&1 || ! "$dualbragg" --version | grep -q PNG; then
    echo "halo.sh: skipped, this build makes no pictures"
    exit 77
fi
mkdir -p "$results"

still() { # NAME FLAGS...
    name=$1
    shift
    "$dualbragg" sim -cell 78 78 38 90 90 90 -misset 10 20 30 -N 20 -default_F 100 -lambda 1 -fluence 1e28 -distance 120 \
        -detpixels 400 -pixel 0.3 -spots closed -mosaic_rms 0.05 "$@" -floatfile "$results/$name.bin" --quiet
}
echo "A still without a halo"
still plain
echo "The same with displacements of 0.3 A (rms) that are correlated over 40 A"
still halo -diffuse_sigma 0.3 -diffuse_gamma 40

echo "Their difference: Bragg spots stay the same, so it is the halo alone"
"$dualbragg" compare "$results/plain.bin" "$results/halo.bin" -pngfile "$results/difference.png" || true # they are not equal

# one image above the other, with one scale of colours
cat "$results/plain.bin" "$results/halo.bin" > "$results/both.bin"
"$dualbragg" noise -floatfile "$results/both.bin" -detpixels_f 400 -detpixels_s 800 -pixel 0.3 -distance 120 -lambda 1 \
    -intfile "$results/both.img" -scale 1 -adc 0 --quiet
"$dualbragg" view "$results/both.img" -counts 0 60 -norings -noobserved -o "$results/both.png" > "$results/view.log"
echo
echo "$results/both.png: above without, below with a halo; it surrounds every spot, and grows with the resolution"
echo "$results/difference.png: the halo alone"
