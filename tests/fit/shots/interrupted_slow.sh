#!/bin/sh
# Intensities that lattices, or frames of a series, share, and a series of two crystals: a run that is ended wherever state is kept, and gone on with by any number of processes,
# has the result of one that was left alone.
set -eu
. "$SOURCE_DIR/tests/support/shots"
. "$SOURCE_DIR/tests/support/interrupted"
mkdir -p images
awk 'function a(x) { return x < 0 ? -x : x }
     BEGIN { for (h = -17; h <= 17; h++) for (k = -23; k <= 23; k++) for (l = -29; l <= 29; l++) {
         x = sin(12.9898 * a(h) + 78.233 * a(k) + 37.719 * a(l)) * 43758.5453
         print h, k, l, 2e5 + 1.6e6 * (x - int(x) + (x < 0)) ^ 2 } }' > all.hkl
render() { # ARGUMENTS...: of sim
    "$DUALBRAGG" sim -cell 40 55 70 90 90 90 -N 14 -gauss_xtal -hkl all.hkl -fluence 3e19 -lambda 1 -distance 100 -detpixels 400 -pixel 0.2 \
        -oversample 1 -spots closed -mosaic_rms 0.05 "$@" > /dev/null
}
for image in 1 2 3 4 5 6; do
    for number in 0 1; do
        angles="$((image * 20 + number * 45)) $((image * 7 + 10)) 30"
        # shellcheck disable=SC2086
        render -misset $angles -water $((number * 30)) -floatfile crystal_$number.f32
        echo "$angles" | sed "s|\(.*\) \(.*\) \(.*\)|images/two_$image.img model.misset=[\1.06, \2.05, \3.04]|" >> lattices.txt
    done
    "$DUALBRAGG" add crystal_0.f32 crystal_1.f32 -o sum.f32 > /dev/null
    "$DUALBRAGG" noise -floatfile sum.f32 -detpixels 400 -pixel 0.2 -distance 100 -lambda 1 -calibration 0 -seed $image \
        -noisefile images/two_$image.img > /dev/null
    render -misset 20 20 30 -phi "$((10 + image / 2)).$((image % 2 * 5))" -osc 0.5 -water 30 -seed $image -noisefile images/frame_$image.img
    echo images/frame_$image.img >> frames.txt
    turn="-phi $((4 * image)) -osc 0.3"
    # shellcheck disable=SC2086
    render -misset 20 20 30 $turn -water 30 -floatfile crystal_0.f32
    # shellcheck disable=SC2086
    render -misset 71 -25 55 $turn -floatfile crystal_1.f32
    "$DUALBRAGG" add crystal_0.f32 crystal_1.f32 -o sum.f32 > /dev/null
    "$DUALBRAGG" noise -floatfile sum.f32 -detpixels 400 -pixel 0.2 -distance 100 -lambda 1 -calibration 0 -seed $image \
        -noisefile images/pair_$image.img > /dev/null
    pair="images/pair_$image.img model.phi=$((4 * image)) model.osc=0.3"
    echo "$pair model.misset=[20.05, 19.97, 30.05]" >> first.txt
    echo "$pair model.misset=[71.04, -24.96, 55.03]" >> second.txt
done
cat first.txt second.txt > crystals.txt
joint_intensities 2.5 100 | sed 's/list: shots.txt/list: crystals.txt, series: yes/; /^intensity: joint/d; /^intensities:/d' > crystals.yaml
joint_intensities 2.5 100 | sed 's/list: shots.txt/list: lattices.txt/' > lattices.yaml
joint_intensities 2.5 100 |
    sed 's/list: shots.txt/list: frames.txt, series: yes/; s/mosaic_rms: 0.05,/mosaic_rms: 0.05, misset: [20.05, 19.97, 30.05],/' > series.yaml

for name in ${names:-lattices series crystals}; do
    fit 0 $name.yaml --output whole --no-report --threads 1
    grep -q 'excluded' whole.log && fail "$name: $(grep 'excluded' whole.log)"
    result whole.json > expected
    generations="2 3 4 5"
    [ $name != lattices ] || generations="2 3 4" # it keeps its state four times
    for generation in $generations; do
        ended $name $generation 1 1
        cmp -s whole.hkl cut.hkl || fail "$name, generation $generation: other intensities"
    done
    killed $name
    [ -z "$mpi" ] || for generation in 2 3 ${generations##* }; do ended $name $generation 3 2; done
done

[ $failures -eq 0 ]
