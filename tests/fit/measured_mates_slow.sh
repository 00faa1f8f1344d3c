#!/bin/sh
# On measured stills symmetry mates scatter by their errors, which include that of partialities: without it, by two to three of
# them. Mates that the estimate has not seen do so, too: those across two-fold axes, where the symmetry given has four-fold ones.
set -eu
data=${SHARED_DIR:-$SOURCE_DIR/../shared}/realdata/thaumatin
[ -f "$data/thau_3_2_0005.cbf" ] || {
    echo "skipped: $data/thau_3_2_0005.cbf is absent; SHARED_DIR says where the measured images are"
    exit 77
}
. "$SOURCE_DIR/tests/support/scratch"
needs_fit
"$DUALBRAGG" --version | grep -q gemmi || {
    echo "skipped: this build has no gemmi"
    exit 77
}
for frame in 3 5 9; do
    for symmetry in tetragonal "P 41 21 2"; do
        "$DUALBRAGG" fit "$data/thau_3_2_000$frame.cbf" --cell 58.4,58.4,152.2 --symmetry "$symmetry" --no-report --quiet \
            --output "$frame" || fail "frame $frame: exit status $?"
        python3 - "$frame" "$symmetry" << 'END' || fail "frame $frame, $symmetry"
import json, math, sys
frame, symmetry = sys.argv[1:]
mates = json.load(open(frame + ".json"))["mates"]
rows = [[float(x) for x in line.split()] for line in open(frame + ".hkl") if line[0] != "#"]
rows = [r for r in rows if r[8] >= 0.05 and r[5] > 0]
four_fold, all_axes = {}, {}
def largest(h, k, l, two_folds):
    turned = [(h, k, l), (-k, h, l), (-h, -k, l), (k, -h, l)]
    if two_folds:
        turned += [(b, a, -c) for a, b, c in turned]
    return max(turned + [(-a, -b, -c) for a, b, c in turned])
for r in rows:
    hkl = [int(x) for x in r[:3]]
    all_axes.setdefault(largest(*hkl, True), []).append((largest(*hkl, False), r[4], r[5]))
across = sorted(abs(a[1] - b[1]) / math.hypot(a[2], b[2]) for like in all_axes.values() for i, a in enumerate(like)
                for b in like[:i] if a[0] != b[0])
unseen = 1.4826 * across[len(across) // 2]
print("frame %s, %s: %d pairs, error %.2f, %d strong pairs scatter by %.2f, by noise alone %.2f; %d across two-folds by %.2f" % (
    frame, symmetry, mates["pairs"], mates["error"], mates["strong_pairs"], mates["scatter"], mates["noise_scatter"],
    len(across), unseen))
if symmetry != "tetragonal":  # which has too few pairs for a close look
    assert mates["noise_scatter"] > 1.7 and 0.7 < mates["scatter"] < 1.5
assert mates["pairs"] >= 50 and len(across) > 90 and 0.7 < unseen < 1.5
END
    done
done
