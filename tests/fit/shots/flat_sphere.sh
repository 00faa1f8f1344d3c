#!/bin/sh
# Electrons see so little of a curved Ewald sphere that distance and tilts of the detector do the same to places as cell and
# orientation: a series that names nothing holds them, and says so. Large blocks look alike, which is no failure.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
for frame in 0 1 2 3 4 5 6 7; do
    "$DUALBRAGG" sim -cell 10.7 7.3 11.1 90 108 90 -misset 20 30 40 -N 4000 -gauss_xtal -default_F 10 -fluence 1e24 -lambda 0.02508 \
        -distance 440 -detpixels 256 -pixel 0.11 -spots closed -mosaic_rms 0.2 -footprint_rms 0.12 0.12 -oversample 1 \
        -phi "$(awk -v n=$frame 'BEGIN { print 10 + n / 2 }')" -osc 0.5 -water 0.001 -seed $((frame + 1)) -noisefile frame_$frame.img > /dev/null
    echo frame_$frame.img >> frames.txt
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [10.7, 7.3, 11.1, 90, 108, 90], symmetry: monoclinic, distance: 440}
END
fit 0 series.yaml --output electrons --no-report
grep -qE '^  (distance|detector_rot.|spindle_tilt_[a-z]*) ' electrons.log && fail "a geometry that places do not tell is refined: $(cat electrons.log)"
grep -q 'the distance was held at 440 mm' electrons.log || fail "nothing is said of the distance: $(cat electrons.log)"
a=$(refined electrons.json cell_a)
near "cell a" "$a" 10.7 0.02
near "ratio of the edges" "$(awk -v a="$a" -v b="$(refined electrons.json cell_b)" 'BEGIN { print a / b }')" 1.46575 0.003
# the data cannot tell the distance: edges may be 1 % off, all together
error=$(value electrons.json cell_a error)
near "error of cell a" "$error" 0.107 0.003
near "error of cell b" "$(value electrons.json cell_b error)" 0.073 0.003
grep -q 'changes the cell.s edges by the same factor, which their errors allow for by 1 %' electrons.log || fail "nothing is said of the edges' errors"
near "cell beta" "$(refined electrons.json cell_beta)" 108 0.2
