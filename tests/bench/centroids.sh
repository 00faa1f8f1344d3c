#!/bin/sh
# The comparison with centroids looks at whole spots: on a rendered still, whose model is right, held-out spots are where
# and as bright as refined models say, and least squares on centroids finds the crystal, too.
set -eu
"$DUALBRAGG" fit --help > /dev/null 2>&1 || { echo "skipped: no refinement"; exit 77; }
python3 -c "import numpy" 2> /dev/null || { echo "skipped: no numpy"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$BINARY_DIR/stand_in" "$work/still" > /dev/null
cat > "$work/still.yaml" << END
image: still.img
model: {matrix: still.mat, symmetry: tetragonal, beam_centre_px: [611.3, 588.8]}
data: {dmin: 2.6}
END
python3 "$SOURCE_DIR/bench/fit/centroids.py" "$DUALBRAGG" 1 "$work/out" "$work/still.yaml" > "$work/out.md"
cat "$work/out.md"
python3 - "$work/out.md" << 'END'
import sys

rows = [line.split("|")[1:4] for line in open(sys.argv[1]) if line.startswith("| ") and "(0)" in line]
figures = {name.strip(): [float(v.split()[0]) for v in values] for name, *values in rows}
expected = {"position, rms of the best 90 % (pixels)": (0, 0.2), "chi2/dof": (0.9, 1.3), "correlation": (0.95, 1),
            "strong pixels explained (%)": (75, 100), "ranking": (0.8, 1)}
wrong = [(name, figures[name]) for name, (least, most) in expected.items()
         if not all(least <= v <= most for v in figures[name])]
sys.exit(print(wrong) or 1 if wrong else 0)
END
