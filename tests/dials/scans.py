"""Scans of which the crystal varies (scan_slow.sh).

    scans.py make OUT.expt                   six images of a crystal that turns by 0.02 degrees from point to point
    scans.py predicted LIST SPOTS...         our spots of an image are where DIALS predicts them
    scans.py compare LIST OTHER DEGREES      both have one scan, in which the crystals lie alike at all points
"""
import json
import math
import sys

import dials.array_family.flex  # noqa: F401 (converters)
from dials.algorithms.spot_prediction import ScanVaryingReflectionPredictor
from dxtbx.model import BeamFactory, Crystal, DetectorFactory, GoniometerFactory, ScanFactory
from dxtbx.model.experiment_list import ExperimentListFactory
from scitbx import matrix
from scitbx.array_family import flex

IMAGES, STEP = 6, 0.5


def experiments(path):
    return ExperimentListFactory.from_json_file(path, check_format=False)


def turn(axis, angle):
    return matrix.col(axis).normalize().axis_and_angle_as_r3_rotation_matrix(angle, deg=True)


def make(path):
    upright = turn((1, 2, 3), 40)
    crystal = Crystal(*[upright * matrix.col(v) for v in ((57, 0, 0), (0, 66, 0), (0, 0, 39))], "P1")
    first = matrix.sqr(crystal.get_A())
    points = [(turn((0, 1, 0), 0.02 * i) * first).elems for i in range(IMAGES + 1)]
    crystal.set_A_at_scan_points(flex.mat3_double(points))
    scan = ScanFactory.make_scan((1, IMAGES), [0.1] * IMAGES, (10, STEP), list(range(IMAGES)))
    detector = DetectorFactory.simple("PAD", 100, (40, 41.5), "+x", "-y", (0.1, 0.1), (820, 810), (-1, 65535))
    models = {"beam": BeamFactory.simple(1.0), "detector": detector, "goniometer": GoniometerFactory.single_axis(),
              "scan": scan, "crystal": crystal}
    experiment = dict({"__id__": "Experiment", "identifier": "slips", "imageset": 0}, **{kind: 0 for kind in models})
    listed = {kind: [model.to_dict()] for kind, model in models.items()}
    images = {"__id__": "ImageSequence", "template": "frame_####.img"}
    json.dump(dict(listed, __id__="ExperimentList", experiment=[experiment], imageset=[images]), open(path, "w"))


def points_of(crystal):
    return [crystal.get_A_at_scan_point(i) for i in range(crystal.num_scan_points)]


def predicted(path, *lists):
    experiment = experiments(path)[0]
    rows = ScanVaryingReflectionPredictor(experiment, dmin=1.9).for_ub(flex.mat3_double(points_of(experiment.crystal)))
    good = True
    for name in lists:
        image = int(name.split("_")[-1].split(".")[0])
        words = [line.split() for line in open(name) if line[0] != "#"]
        ours = {tuple(map(int, w[:3])): (float(w[4]), float(w[5])) for w in words}
        off = [math.hypot(x - ours[hkl][0], y - ours[hkl][1]) for hkl, (x, y, z) in
               zip(rows["miller_index"], rows["xyzcal.px"]) if image - 0.9 < z < image - 0.1 and hkl in ours]
        off.sort()
        print("image %d: %d spots, off by %.3f pixels, at most %.3f" % (image, len(off), off[len(off) // 2], off[-1]))
        good = good and len(off) > 50 and off[len(off) // 2] < 0.12 and off[-1] < 0.5
    return good


def compare(path, other, most):
    ours, theirs = experiments(other), experiments(path)
    if len(ours) != 1 or ours[0].scan.get_image_range() != (1, IMAGES) or ours[0].identifier != "slips":
        print("%s: %d experiments" % (other, len(ours)))
        return False
    off = []
    for a, b in zip(points_of(theirs[0].crystal), points_of(ours[0].crystal)):
        between = matrix.sqr(b) * matrix.sqr(a).inverse()
        off.append(math.degrees(math.sqrt(sum(e * e for e in (between - matrix.identity(3)).elems) / 2)))
    print("%s: %d points, off by up to %.4f degrees" % (other, len(off), max(off, default=0)))
    return len(off) == IMAGES + 1 and max(off) < float(most)


sys.exit({"make": make, "predicted": predicted, "compare": compare}[sys.argv[1]](*sys.argv[2:]) is False)
