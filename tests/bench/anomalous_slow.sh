#!/bin/sh
# A small set of bench/anomalous is made, and pixels tell its edges better than sums in boxes of the same model do. Structure factors
# at the mean energy of each box put edges where they are not.
set -eu
. "$SOURCE_DIR/tests/support/python_with"
PYTHON=$(python_with numpy) || { echo "skipped: no numpy"; exit 77; }
"$DUALBRAGG" --version | grep -q gemmi || { echo "skipped: no gemmi"; exit 77; }
model=$SHARED_DIR/realdata/models/1m2a.pdb
[ -e "$model" ] || { echo "skipped: no $model"; exit 77; }
PYTHONPATH=$BINARY_DIR/python
export PYTHONPATH
"$PYTHON" -c "import dualbragg" || { echo "skipped: no Python package"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$PYTHON" "$SOURCE_DIR/bench/anomalous/make_set.py" "$DUALBRAGG" "$folder/set" "$model" --shots 2 --pixels 256
"$PYTHON" "$SOURCE_DIR/bench/anomalous/information.py" "$folder/set" --shots 2 > "$folder/bounds"
cat "$folder/bounds"
awk '/^pixels/ { pixels = $(NF - 1) } /^sums in boxes/ { sums = $(NF - 1) } END { exit !(pixels > 0 && sums > 1.2 * pixels) }' "$folder/bounds" || {
    echo "sums in boxes are as good as pixels"
    exit 1
}
awk '/^sums, mean/ { error = $8 + 0 } /^with mean/ { off = $8 + 0 } END { exit !(error > 0 && off * off > 9 * error * error) }' "$folder/bounds" || {
    echo "mean energies are as good as spectra"
    exit 1
}
