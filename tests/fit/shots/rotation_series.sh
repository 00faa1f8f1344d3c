#!/bin/sh
# Frames of one rotating crystal share it: from an orientation that is known roughly, and from the cell alone.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
geometry() { # PREFIX
    grep -q '^6 of 6 shots in use' "$1.log" || fail "$1: frames were excluded: $(cat "$1.log")"
    near "$1: cell a" "$(refined "$1.json" cell_a)" 58 0.003
    near "$1: cell c" "$(refined "$1.json" cell_c)" 92 0.005
    near "$1: beam, fast" "$(refined "$1.json" beam_fast)" 45.15 0.001
    near "$1: beam, slow" "$(refined "$1.json" beam_slow)" 45.15 0.001
    near "$1: chi2" "$(sed -n 's/.*chi2 per degree of freedom .* -> //p' "$1.log")" 0.9 0.2
}

for frame in 0 1 2 3 4 5; do
    phi=$(awk -v n=$frame 'BEGIN { print 10 + n / 2 }')
    "$DUALBRAGG" sim -cell 58 58 92 90 90 90 -N 12 -gauss_xtal -default_F 1e6 -fluence 3e19 -lambda 1 -distance 100 -detpixels 600 -pixel 0.15 \
        -oversample 1 -spots closed -mosaic_rms 0.1 -misset 20 20 30 -phi "$phi" -osc 0.5 -water 30 -seed $((frame + 1)) \
        -noisefile frame_$frame.img > /dev/null
    echo frame_$frame.img >> frames.txt
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
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

# the angles of the crystal come back, though it stands at another phi on each frame
fit 0 series.yaml --output one
geometry one
grep -q '^  footprint_rms: \[0, 0\]$' one_shots/0001_frame_0.yaml || fail "a footprint of 0 is left open: $(cat one_shots/0001_frame_0.yaml)"
near "misset x" "$(refined one.json misset_x)" 20 0.005
near "misset y" "$(refined one.json misset_y)" 20 0.01
near "misset z" "$(refined one.json misset_z)" 30 0.01

# a cell twice and one half as long: each frame is found wrong, even at a minimum of the series; with joint intensities, too (axes
# that are exchanged: rotation_series_slow)
head -n 3 frames.txt > few.txt
how=model.symmetry=orthorhombic
for cell in "116.1, 58.05, 92.05" "29.02, 58.05, 92.05"; do
    fit 1 series.yaml --output wrong shots.list=few.txt "model.cell=[$cell, 90, 90, 90]" $how 'refine.cell_b={range: 0.5}'
    how="model.symmetry=P222 intensity=joint"
    grep -q '^dualbragg fit: not to be used: a minimum was found, but 3 of 3 shots are wrong; the first is frame_0.img' err ||
        fail "cell $cell: $(cat err)"
    [ "$(grep -c '^  frame_[0-2].img: after stages of all shots: ' wrong.log)" = 3 ] || fail "cell $cell: frames by name: $(cat wrong.log)"
done

# joint intensities of frames are judged by their light, too: with the right spread they have it, with another one they have not, and
# each frame says so; frames of one crystal are indexed in one way, even where the lattice has two
sed 's/symmetry: tetragonal/symmetry: P4/; 1a intensity: joint' series.yaml > light.yaml
fit 0 light.yaml --output lit --no-report shots.list=few.txt
near "joint intensities: light explained" "$(sed -n 's/^Light of 3 images: the model explains \([0-9]*\) %.*/\1/p' lit.log)" 100 3
grep -q '"intensities_usable": true' lit.json || fail "joint intensities of the right model: $(grep usable lit.json)"
fit 1 light.yaml --output dark --no-report model.mosaic_rms=0.03
grep -q 'not to be used: a minimum was found, but [56] of 6 shots are wrong' err || fail "joint intensities with a wrong spread: $(cat err)"
[ "$(grep -c '^  frame_[0-5].img: the model explains .* % of the light of its spots' dark.log)" -ge 5 ] || fail "frames by name: $(cat dark.log)"
grep -q '^Indexing:' lit.log dark.log && fail "frames of a series are indexed one by one: $(grep Indexing lit.log dark.log)"

# images and a cell are enough: size, spreads, spindle and scales are refined, too, from what the spots of the frames show; the
# orientation is that of all frames, of which the first shows nothing
"$DUALBRAGG" sim -cell 58 58 92 90 90 90 -N 5 -default_F 1e-6 -lambda 1 -distance 100 -detpixels 600 -pixel 0.15 -oversample 1 -phi 9.5 \
    -osc 0.5 -water 30 -noisefile dark.img > /dev/null
echo dark.img | cat - few.txt > open.txt
cat > cell.yaml << 'END'
shots: {list: open.txt, series: yes}
model: {cell: [58.3, 58.3, 91.6, 90, 90, 90], symmetry: tetragonal}
END
fit 0 cell.yaml --output open
grep -q '^3 of 4 shots in use' open.log || fail "a series that begins with a dark frame: $(cat open.log)"
near "nothing named: cell a" "$(refined open.json cell_a)" 58 0.01
near "nothing named: cell c" "$(refined open.json cell_c)" 92 0.015
near "nothing named: blocks" "$(refined open.json Na)" 12 0.5
near "nothing named: mosaic variance" "$(refined open.json mosaic_variance)" 0.01 0.001
near "nothing named: chi2" "$(sed -n 's/.*chi2 per degree of freedom .* -> //p' open.log)" 0.9 0.2
grep -q 'spindle_tilt_across' open.log || fail "nothing named: the spindle is not refined: $(cat open.log)"

# joint intensities of one image, which is no list
cat > still.yaml << 'END'
image: frame_0.img
model: {cell: [58, 58, 92, 90, 90, 90], symmetry: P4}
intensity: joint
END
fit 0 still.yaml --output joint
grep -q '^1 shot of .*frame_0.img' joint.log || fail "joint intensities of an image: $(cat joint.log)"
near "joint intensities of an image: cell a" "$(awk '$1 == "cell_a" { print $2 }' joint.log)" 58 0.01
[ "$(grep -c . joint.hkl)" -gt 200 ] || fail "joint intensities of an image: $(grep -c . joint.hkl) reflections"

# a small cell shows 2 to 20 spots a frame: what none of them bears out alone they bear out together; not a cell twice as long
rm frames.txt
for frame in 0 1 2 3 4 5 6 7 8 9 10 11; do
    "$DUALBRAGG" sim -cell 10 11 13 90 90 90 -misset 20 30 40 -N 900 -gauss_xtal -default_F 20 -fluence 4e21 -lambda 0.9 -distance 50 \
        -detpixels 320 -pixel 0.2 -spots closed -mosaic_rms 0.05 -footprint_rms 0.1 0.1 -phi "$(awk -v n=$frame 'BEGIN { print 10 + n / 2 }')" \
        -osc 0.5 -water 0.0005 -seed $((frame + 1)) -noisefile small_$frame.img > /dev/null
    echo small_$frame.img >> frames.txt
done
cat > small.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [10, 11, 13, 90, 90, 90], symmetry: orthorhombic, find_orientation: yes}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}}
data: {min_strong_reflections: 1}
END
fit 0 small.yaml --output few_spots --no-report
grep -q '^12 of 12 shots in use' few_spots.log || fail "frames with few spots: $(grep excluded few_spots.log)"
fit 1 small.yaml --output few_wrong --no-report 'model.cell=[20, 11, 13, 90, 90, 90]'
grep -q '12 of 12 shots are wrong' err || fail "frames with few spots and a cell twice as long: $(cat err)"

# frames of a stage that begins far from their partialities are compared at the intensities that it finds: none is an outlier but one
# that is turned by 0.3 degree
for frame in 0 1 2 3 4 5 6 7 8 9; do
    angle=20
    [ $frame != 4 ] || angle=20.3
    "$DUALBRAGG" sim -cell 60 60 80 90 90 120 -misset $angle 35 50 -N 20 -gauss_xtal -default_F 1000 -fluence 1e25 -lambda 1 -distance 150 \
        -detpixels 300 -pixel 0.25 -spots closed -mosaic_rms 0.1 -footprint_rms 0.1 0.1 -phi "$(awk -v n=$frame 'BEGIN { print n / 2 }')" \
        -osc 0.5 -water 0.8 -seed $((frame + 1)) -noisefile turned_$frame.img > /dev/null
    echo turned_$frame.img >> turned.txt
done
cat > turned.yaml << 'END'
shots: {list: turned.txt, series: yes}
model: {cell: [60, 60, 80, 90, 90, 120], symmetry: P622}
END
fit 0 turned.yaml --output one_off --no-report
grep -q '^9 of 10 shots in use' one_off.log || fail "a frame that is turned: $(grep 'in use\|excluded' one_off.log)"
grep -q '^excluded: turned_4.img: outlier: ' one_off.log || fail "a frame that is turned: $(grep excluded one_off.log)"
# nor is a frame outside the crowd that is only brighter, as long as scales of frames have to wait
"$DUALBRAGG" sim -cell 60 60 80 90 90 120 -misset 20 35 50 -N 20 -gauss_xtal -default_F 1000 -fluence 2e25 -lambda 1 -distance 150 \
    -detpixels 300 -pixel 0.25 -spots closed -mosaic_rms 0.1 -footprint_rms 0.1 0.1 -phi 2 -osc 0.5 -water 0.8 -seed 5 \
    -noisefile turned_4.img > /dev/null
fit 0 turned.yaml --output bright --no-report
grep -q '^10 of 10 shots in use' bright.log || fail "a frame that is brighter: $(grep 'in use\|excluded' bright.log)"

cp few.txt frames.txt
# without a cell: from the spots of all frames together, with the spindle's turn taken out
if "$DUALBRAGG" --version | grep -q gemmi; then
    sed 's/cell: [[][^]]*[]], //; s/misset: [[][^]]*[]]/find_orientation: yes/' series.yaml > unknown.yaml
    fit 0 unknown.yaml --output no_cell
    grep -q '^cell found: ' no_cell.log || fail "the cell was not looked for: $(cat no_cell.log)"
    grep -q '^the spots of [0-9]* images were searched together' no_cell.log || fail "searches: $(grep searche no_cell.log)"
    grep -q '^3 of 3 shots in use' no_cell.log || fail "without a cell frames were excluded: $(cat no_cell.log)"
    near "without a cell: cell a" "$(refined no_cell.json cell_a)" 58 0.005
    near "without a cell: cell c" "$(refined no_cell.json cell_c)" 92 0.01
fi

# a crystal that slips on its way, in a beam that flickers: the orientation is linear between knots, here the first and the last
# frame, and each frame has a scale, relative to the first
rm frames.txt
photons() { echo "1 0.8 1.2 0.9" | cut -d ' ' -f $(($1 + 1)); }
for frame in 0 1 2 3; do
    "$DUALBRAGG" sim -cell 58 58 92 90 90 90 -N 12 -gauss_xtal -default_F 1e6 -fluence "$(awk -v p="$(photons $frame)" 'BEGIN { print 3e19 * p }')" \
        -lambda 1 -distance 100 -detpixels 600 -pixel 0.15 -oversample 1 -spots closed -mosaic_rms 0.1 -misset "$(awk -v n=$frame 'BEGIN { print 20 + 0.03 * n }')" 20 30 -osc 0.5 \
        -phi "$(awk -v n=$frame 'BEGIN { print 10 + n / 2 }')" -water 30 -seed $((frame + 1)) -noisefile frame_$frame.img > /dev/null
    echo frame_$frame.img >> frames.txt
done
fit 0 series.yaml --output slips shots.knots=10 refine.scale.min=0.1
for frame in 0 1 2 3; do
    angle=$(sed -n 's/^  misset: \[\(.*\), .*, .*\].*/\1/p' slips_shots/000$((frame + 1))_frame_$frame.yaml)
    near "misset x of frame $frame" "$angle" "$(awk -v n=$frame 'BEGIN { print 20 + 0.03 * n }')" 0.004
    near "scale of frame $frame" "$(sed -n 's/^  scale: \([0-9.]\)/\1/p' slips_shots/000$((frame + 1))_frame_$frame.yaml)" "$(photons $frame)" 0.03
done

# one scale of all frames is no other than that of the free intensities
fit 2 series.yaml --output none refine.scale.shared=yes
grep -q 'parameter scale: if shared by all frames of a series' out err || fail "a shared scale: $(cat out err)"
