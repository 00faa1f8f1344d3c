#!/bin/sh
# 20 frames of 0.5 degree: crystal, spindle and beam from all of them at once, for docs/results/rotation-series.md.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
shared() { near "$1" "$(refined one.json "$1")" "$2" "$3"; } # NAME TRUTH TOLERANCE

for frame in $(seq 0 19); do
    name=frame_$(printf %02d "$frame").img
    "$DUALBRAGG" sim -cell 78 78 38 90 90 90 -N 20 -gauss_xtal -default_F 1e6 -fluence 1e19 -lambda 1 -distance 150 -detpixels 1000 \
        -pixel 0.172 -oversample 1 -spots closed -mosaic_rms 0.1 -misset 20 20 30 -phi "$(awk -v n="$frame" 'BEGIN { print n / 2 }')" \
        -osc 0.5 -water 30 -seed $((frame + 1)) -noisefile "$name" > /dev/null
    echo "$name" >> frames.txt
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [78.05, 78.05, 38.03, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [18, 18, 18], spots: closed, mosaic_rms: 0.15,
        oversample: 1, spindle_tilt: [0.1, -0.1], misset: [20.05, 19.95, 30.05]}
refine:
  misset_x: {range: 1}
  misset_y: {range: 1}
  misset_z: {range: 1}
  cell_a: {range: 0.5}
  cell_c: {range: 0.5}
  Na: {min: 5, max: 60}
  Nb: {follows: Na}
  Nc: {follows: Na}
  mosaic_variance: {min: 0, max: 1}
  beam_fast: {range: 1}
  beam_slow: {range: 1}
  spindle_tilt_beam: {range: 1}
  spindle_tilt_across: {range: 1}
END
"$DUALBRAGG" fit series.yaml --output one > out 2> err || fail "$(cat err)"
sed -n '/^After/,$p' out
shared misset_x 20 0.0006
shared misset_y 20 0.0006
shared misset_z 30 0.0005
shared cell_a 78 0.0004
shared cell_c 38 0.0003
shared Na 20 0.1
shared mosaic_variance 0.01 0.0002
shared beam_fast 86.172 0.0005
shared beam_slow 86.172 0.0005
shared spindle_tilt_beam 0 0.005
shared spindle_tilt_across 0 0.008

# frames of a crystal that turns forwards and backwards, as their headers say
turning() { # NAME PHI STEP: three frames NAME_N.img from that phi on, listed in NAME.txt
    for frame in 0 1 2; do
        "$DUALBRAGG" sim -cell 58 58 92 90 90 90 -N 12 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 600 \
            -pixel 0.15 -oversample 1 -spots closed -mosaic_rms 0.1 -misset 20 20 30 -phi "$(awk -v n=$frame -v p="$2" -v s="$3" 'BEGIN { print p + n * s }')" \
            -osc "$3" -water 30 -seed $((frame + 1)) -noisefile "$1_$frame.img" > /dev/null
        echo "$1_$frame.img" >> "$1.txt"
    done
}
turning ahead 10 0.5
turning back 11.5 -0.5
cat > turns.yaml << 'END'
shots: {list: back.txt, series: yes}
model: {cell: [58.05, 58.05, 92.05, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [12, 12, 12], spots: closed, mosaic_rms: 0.1,
        oversample: 1, misset: [20.1, 19.95, 30.1]}
refine:
  misset_x: {range: 1}
  misset_y: {range: 1}
  misset_z: {range: 1}
  cell_a: {range: 0.5}
  cell_c: {range: 0.5}
  beam_fast: {range: 1}
  beam_slow: {range: 1}
data: {model_error: 0}
END
fit 0 turns.yaml --output back
near "backwards: misset x" "$(refined back.json misset_x)" 20 0.01
near "backwards: misset y" "$(refined back.json misset_y)" 20 0.01
near "backwards: misset z" "$(refined back.json misset_z)" 30 0.01

# a cell with a and c exchanged: each frame says that it is wrong
fit 1 turns.yaml --output wrong shots.list=ahead.txt "model.cell=[92.05, 58.05, 58.05, 90, 90, 90]" model.symmetry=orthorhombic \
    'refine.cell_b={range: 0.5}'
[ "$(grep -c '^  ahead_[0-2].img: after stages of all shots: ' wrong.log)" = 3 ] || fail "exchanged axes: frames by name: $(cat wrong.log)"

# without the frames' common intensities the same model is found, but the orientation less well
sed 's/.*_\(.\).img/& \1/' ahead.txt | awk '{ print $1, "model.phi=" 10 + $2 / 2, "model.osc=0.5" }' > said.txt
fit 0 turns.yaml --output ahead shots.list=ahead.txt
fit 0 turns.yaml --output said shots.list=said.txt shots.series=no refine.misset_x.shared=yes refine.misset_y.shared=yes \
    refine.misset_z.shared=yes refine.cell_a.shared=yes refine.cell_c.shared=yes
for name in misset_x misset_y misset_z; do
    near "$name, angles and sharing by hand" "$(refined said.json $name)" "$(refined ahead.json $name)" 0.01
    awk -v ahead="$(value ahead.json $name error)" -v said="$(value said.json $name error)" 'BEGIN { exit !(ahead > 0 && ahead < 0.7 * said) }' ||
        fail "$name: parts of reflections do not help: +- $(value ahead.json $name error), without them $(value said.json $name error)"
done

# the refined models are a series again, for any refined quantities
cat > cell.yaml << 'END'
shots: {list: ahead.txt, series: yes}
model: {cell: [58.3, 58.3, 91.6, 90, 90, 90], symmetry: tetragonal}
END
fit 0 cell.yaml --output open
before=$(sed -n 's/.*chi2 per degree of freedom .* -> //p' open.log)
fit 0 open.yaml --output again
near "chi2 of the refined models" "$(sed -n 's/.*chi2 per degree of freedom \([0-9.]*\) ->.*/\1/p' out)" "$before" 0.01

# slices of a tenth of a degree with a few spots each, of which cell and orientation alone are named
for frame in 0 1 2 3 4 5 6 7 8 9 10 11; do
    "$DUALBRAGG" sim -cell 12 14 16 90 90 90 -misset 20 30 40 -N 600 -gauss_xtal -default_F 20 -fluence 4e21 -lambda 0.7 -distance 50 \
        -detpixels 320 -pixel 0.2 -spots closed -mosaic_rms 0.09 -footprint_rms 0.1 0.1 -phi "$(awk -v n=$frame 'BEGIN { print 10 + n / 10 }')" \
        -osc 0.1 -water 0.0005 -seed $((frame + 1)) -noisefile slice_$frame.img > /dev/null
    echo slice_$frame.img >> slices.txt
done
cat > slices.yaml << 'END'
shots: {list: slices.txt, series: yes}
model: {cell: [12, 14, 16, 90, 90, 90], misset: [20.01, 29.99, 40.01], symmetry: orthorhombic}
END
fit 0 slices.yaml --output named
near "slices: cell a" "$(refined named.json cell_a)" 12 0.003
near "slices: cell b" "$(refined named.json cell_b)" 14 0.003
near "slices: cell c" "$(refined named.json cell_c)" 16 0.003
! sed -n '/Stage 3/,/^After/p' named.log | grep -q '^ *[0-9]* *-[0-9.]* ' || fail "slices: chi2 is below 0: $(cat named.log)"
