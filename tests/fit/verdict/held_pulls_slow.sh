#!/bin/sh
# Are the errors right beside a distance that is held? Stills whose headers have distances up to 0.5 % off, at two-theta 0 and 34
# degrees: how far refined values are off, in errors, has a root mean square near 1, for cell, orientation, beam, and for the
# distance that spots ask for.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
printf 'model: {matrix: A.mat, symmetry: orthorhombic}\n' > free.yaml
python3 -S - << 'END'
import json
import math
import os
import random
import subprocess

PROGRAM = os.environ["DUALBRAGG"]
DISTANCE, PIXEL, PIXELS = 100, 0.1, 800


def program(*words):
    return subprocess.run([PROGRAM] + [str(w) for w in words], capture_output=True, text=True)


def still(number, swing, draw):
    """Off by what, in errors: of all refined quantities; of the distance. Empty if spots determine the distance."""
    cell = [round(draw.uniform(*edge), 3) for edge in ((30, 45), (50, 60), (68, 85))]
    turn = [round(draw.uniform(-60, 60), 2) for _ in range(3)]
    beam = [round(PIXELS * PIXEL / 2 + draw.uniform(-2, 2), 3) for _ in range(2)]
    found = DISTANCE * (1 + draw.uniform(-0.005, 0.005))
    detector = ["-lambda", 1, "-pixel", PIXEL, "-detpixels", PIXELS, "-twotheta", swing]
    program("orient", "-cell", *cell, 90, 90, 90, "-misset", *turn, "-o", "A.mat")
    program("sim", *detector, "-default_F", 250, "-cell", *cell, 90, 90, 90, "-misset", *turn, "-N", 60, "-distance", DISTANCE,
            "-Xbeam", beam[0], "-Ybeam", beam[1], "-b_factor", 12, "-polar", 0.9, "-spots", "closed", "-mosaic_rms", 0.12,
            "-bandwidth_rms", 0.001, "-footprint_rms", 0.03, "-fluence", 1e24, "-water", 0.1, "-floatfile", "photons.bin", "--quiet")
    program("noise", *detector, "-distance", found, "-Xbeam", beam[0] + draw.uniform(-0.3, 0.3), "-Ybeam",
            beam[1] + draw.uniform(-0.3, 0.3), "-floatfile", "photons.bin", "-noisefile", "still.img", "-adc", 0,
            "-calibration", 0, "-seed", number + 1, "--quiet")
    ended = program("fit", "free.yaml", "--image", "still.img", "--output", "one", "--no-report", "--quiet")
    if ended.returncode != 0:
        return {}
    result = json.load(open("one.json"))
    if result["distance_step"] is None:
        return {}
    truth = {"misset_x": 0, "misset_y": 0, "misset_z": 0, "cell_a": cell[0], "cell_b": cell[1], "cell_c": cell[2],
             "beam_fast": beam[1] + PIXEL / 2, "beam_slow": beam[0] + PIXEL / 2}
    off = {p["name"]: (p["refined"] - truth[p["name"]]) / p["error"] for p in result["parameters"] if p["name"] in truth}
    off["distance"] = (result["distance_step"] - (DISTANCE - found)) / result["distance_error"]
    return off


draw = random.Random(7)
pulls = {}
for number in range(36):
    for name, off in still(number, 34 * (number % 2), draw).items():
        pulls.setdefault(name, []).append(off)
wrong = 0
for name, off in pulls.items():
    rms = math.sqrt(sum(x * x for x in off) / len(off))
    print(f"{name}: {len(off)} stills, root mean square {rms:.2f}, most {max(map(abs, off)):.2f}")
    wrong += not (0.6 < rms < 1.5 and max(map(abs, off)) < 4.5)
raise SystemExit(wrong > 0 or len(pulls["distance"]) < 20)
END
