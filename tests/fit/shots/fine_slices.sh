#!/bin/sh
# Frames of a tenth of a degree, on each of which a small cell has a few spots: intensities of all frames together are those
# that were rendered, also by a model whose spots are too narrow along the spindle.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
for frame in 0 1 2 3 4 5 6 7 8 9 10 11; do
    "$DUALBRAGG" sim -cell 12 14 16 90 90 90 -misset 20 30 40 -N 600 -gauss_xtal -default_F 20 -fluence 4e21 -lambda 0.7 -distance 50 \
        -detpixels 320 -pixel 0.2 -spots closed -mosaic_rms 0.09 -footprint_rms 0.1 0.1 -phi "$(awk -v n=$frame 'BEGIN { print 10 + n / 10 }')" \
        -osc 0.1 -water 0.0005 -seed $((frame + 1)) -noisefile frame_$frame.img > /dev/null
    echo frame_$frame.img >> frames.txt
done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [12, 14, 16, 90, 90, 90], misset: [20.01, 29.99, 40.01], symmetry: orthorhombic, Ncells: [600, 600, 600], mosaic_rms: 0.06,
        footprint_rms: [0.1, 0.1]}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}}
END
fit 0 series.yaml --output narrow --no-report
grep -q '^12 of 12 shots in use' narrow.log || fail "frames with few spots were excluded: $(cat narrow.log)"
python3 -S - << 'END' || fail "intensities of the series: $(cat narrow.hkl)"
import math
import sys

full = []
truth = 20**2 * 4e21 / 1.2593201528622709e29  # free intensities count for the fluence by default
for line in open("narrow.hkl"):
    if line.startswith("#"):
        continue
    square, sigma, part, light, _, model = map(float, line.split()[3:9])
    if part > 0.98:
        full.append((square / truth, sigma / truth, model / light))
mean = sum(s for s, _, _ in full) / len(full)
pulls = math.sqrt(sum(((s - 1) / e) ** 2 for s, e, _ in full) / len(full))
kept = sum(m for _, _, m in full) / len(full)
print("%d reflections: F^2 %.4f of the truth, pulls %.2f, light of the model %.4f" % (len(full), mean, pulls, kept))
sys.exit(not (len(full) > 30 and abs(mean - 1) < 0.02 and 0.6 < pulls < 1.5 and abs(kept - 1) < 0.01))
END

# frames without spots of the crystal are no series
: > dark.txt
for frame in 0 1 2; do
    "$DUALBRAGG" sim -cell 12 14 16 90 90 90 -misset 20 30 40 -N 600 -gauss_xtal -spots closed -default_F 1e-6 -fluence 4e21 -lambda 0.7 -distance 50 -detpixels 320 \
        -pixel 0.2 -phi "$(awk -v n=$frame 'BEGIN { print 10 + n / 10 }')" -osc 0.1 -water 0.0005 -seed $((frame + 1)) -noisefile dark_$frame.img > /dev/null
    echo dark_$frame.img >> dark.txt
done
fit 3 series.yaml --output dark shots.list=dark.txt
grep -q 'blank series: all frames together show 0 predicted reflections' err || fail "frames without spots: $(cat err)"
