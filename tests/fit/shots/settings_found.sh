#!/bin/sh
# Two sweeps of one crystal, on two settings of a goniometer and with the detector at two places, from images and a cell: an
# experiment list without crystals names the circles, which stand 0.6 degree beside that, and the distances, of which one is 0.2
# mm too short, the other 0.3 mm too long. The spots of both tell the orientation; each setting and place gets its own.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
"$DUALBRAGG" --version | grep -q JSON || { echo "skipped: no JSON"; exit 77; }
cp "$SOURCE_DIR/tests/fit/shots/two_settings.py" lists.py
python3 -S lists.py
for sweep in 0 1; do
    for frame in 1 2 3 4 5; do
        "$DUALBRAGG" sim -expt truth.expt -expt_number $sweep -expt_frame $frame -N 12 -gauss_xtal -default_F 1e6 -fluence 3e19 \
            -oversample 1 -spots closed -mosaic_rms 0.1 -water 30 -seed $((5 * sweep + frame)) \
            -noisefile sweep_${sweep}_000$frame.img > /dev/null
    done
done
cat > series.yaml << 'END'
shots: {list: named.expt, series: yes}
model: {cell: [58.1, 58.1, 92.1, 90, 90, 90], symmetry: tetragonal}
data: {dmin: 2.4}
END
fit 0 series.yaml --output found --no-report
grep -q '^10 of 10 shots in use' found.log || fail "frames were excluded: $(grep excluded found.log)"
near "cell a" "$(refined found.json cell_a)" 58 0.02
near "cell c" "$(refined found.json cell_c)" 92 0.03
python3 -S - << 'END' || fail "the settings: $(cat settings.txt)"
import json
import sys
from math import acos, degrees

from lists import chi, product, wrong

result, list_ = json.load(open("found.json")), json.load(open("found.expt"))
at = result["local"].index("distance")
distances = [shot["refined"][at] for shot in result["shots"]]


def axes(number):  # unit vectors of an experiment's crystal as it stands, as columns
    experiment = list_["experiment"][number]
    crystal, fixed = list_["crystal"][experiment["crystal"]], list_["goniometer"][experiment["goniometer"]]["fixed_rotation"]
    rows = [[x / sum(y * y for y in crystal["real_space_" + n]) ** 0.5 for x in crystal["real_space_" + n]] for n in "abc"]
    return product([fixed[3 * i:3 * i + 3] for i in range(3)], [[row[i] for row in rows] for i in range(3)])


expected, found = product(product(wrong, chi), axes(0)), axes(-1)
trace = sum(expected[i][k] * found[i][k] for i in range(3) for k in range(3))
off = degrees(acos(min(1, (trace - 1) / 2)))
open("settings.txt", "w").write("%s, %g degree" % (distances, off))
sys.exit(not (all(abs(d - 100.2) < 0.02 for d in distances[:5]) and all(abs(d - 129.7) < 0.02 for d in distances[5:]) and
              len(set(distances)) == 2 and off < 0.01))
END
grep -q "^  from .*sweep_1_0001.img on" found.log || fail "the printout does not name the second setting: $(cat found.log)"

# a first frame that is not there takes no sweep along; the list names the circles, each line an image
{ echo missing_0001.img; ls sweep_0_000[1-3].img sweep_1_000[1-3].img; } > frames.txt
sed 's/named.expt/frames.txt/; s/^model: {/&expt: named.expt, /' series.yaml > frames.yaml
fit 0 frames.yaml --output few --no-report
grep -q '^6 of 7 shots in use' few.log || fail "a missing first frame: $(grep excluded few.log)"
near "cell a by half of the frames" "$(refined few.json cell_a)" 58 0.02
