"""What DIALS makes of refined lists and tables (lists_slow.sh).

    lists.py two A.expt B.expt OUT.expt        two stills as one list with a shared beam and detector
    lists.py check LIST.expt TABLE...          identifiers agree, models are shared, s1 hits the predicted places
    lists.py places LIST.expt TABLE            centroids in millimetres are those that DIALS makes of pixels; sums near fits
    lists.py index LIST.expt TABLE STRONG OUT  spots of find_spots with the indices of our reflections
    lists.py compare INTEGRATED TABLE          intensities of DIALS against ours
"""
import json
import math
import sys

import numpy
from dials.array_family import flex
from dxtbx.model.experiment_list import ExperimentListFactory


def experiments(path):
    return ExperimentListFactory.from_json_file(path, check_format=False)


def table(path):
    return flex.reflection_table.from_file(path)


def two(first, second, out):
    a, b = (json.load(open(name)) for name in (first, second))
    for kind in ("crystal", "imageset"):
        a[kind] += b[kind]
    a["experiment"].append(dict(a["experiment"][0], crystal=1, imageset=1))
    for number, experiment in enumerate(a["experiment"]):
        experiment["identifier"] = "still-%d" % number
    json.dump(a, open(out, "w"))


def check(path, *tables):
    found = experiments(path)
    good = len(found) == len(tables) and len(found.detectors()) == 1 and len(found.beams()) == 1
    good = good and [e.identifier for e in found] == ["still-%d" % n for n in range(len(found))]
    for experiment, name in zip(found, tables):
        rows = table(name)
        good = good and dict(rows.experiment_identifiers()) == {0: experiment.identifier}
        hits = [experiment.detector[0].get_ray_intersection_px(s1) for s1 in rows["s1"]]
        off = max(math.hypot(x - at[0], y - at[1]) for (x, y), at in zip(hits, rows["xyzcal.px"]))
        print("%s: %d rows of %s, s1 off by %.5f pixels" % (name, len(rows), experiment.identifier, off))
        good = good and off < 1e-3 and len(rows) > 500
    return good


def places(path, name):
    found, rows = experiments(path), table(name)
    rows = rows.select(rows.get_flags(rows.flags.indexed))
    again = rows.copy()
    again.centroid_px_to_mm(found)
    off = flex.max((rows["xyzobs.mm.value"] - again["xyzobs.mm.value"]).norms())
    spread = flex.max((rows["xyzobs.mm.variance"] - again["xyzobs.mm.variance"]).norms())
    seen = (rows["xyzobs.px.value"] - rows["xyzcal.px"]).norms()
    ratio = flex.median(rows["intensity.sum.value"] / rows["intensity.prf.value"])
    print("%d centroids, millimetres off by %.1e (variances %.1e), %.3f pixels from predictions; sums are %.3f of fits"
          % (len(rows), off, spread, flex.median(seen), ratio))
    return len(rows) > 100 and off < 1e-9 and spread < 1e-12 and flex.median(seen) < 0.2 and abs(ratio - 1) < 0.05


def index(path, ours, strong, out):
    found, ours, spots = experiments(path), table(ours), table(strong)
    predicted = numpy.array(list(ours["xyzcal.px"]))[:, :2]
    seen = numpy.array(list(spots["xyzobs.px.value"]))[:, :2]
    square = ((seen[:, None] - predicted[None]) ** 2).sum(-1)
    nearest = flex.size_t([int(i) for i in square.argmin(1)])
    for column in ("miller_index", "xyzcal.px", "s1"):
        spots[column] = ours[column].select(nearest)
    spots["id"] = flex.int(len(spots), 0)
    spots["entering"] = flex.bool(len(spots), True)
    spots.experiment_identifiers()[0] = found[0].identifier
    spots = spots.select(flex.bool([bool(d < 1) for d in square.min(1)]))
    spots.set_flags(flex.bool(len(spots), True), spots.flags.indexed)
    spots.centroid_px_to_mm(found)
    spots["xyzcal.mm"] = spots["xyzobs.mm.value"]
    spots.as_file(out)
    print("%d of %d spots are within a pixel of our reflections" % (len(spots), len(nearest)))
    return len(spots) > 0.9 * len(nearest)


def compare(integrated, ours):
    theirs, ours = table(integrated), table(ours)
    theirs = theirs.select(theirs.get_flags(theirs.flags.integrated_sum))
    own = dict(zip(ours["miller_index"], ours["intensity.prf.value"]))
    pairs = zip(theirs["miller_index"], theirs["intensity.sum.value"])
    both = numpy.array([(value, own[hkl]) for hkl, value in pairs if hkl in own])
    correlation = numpy.corrcoef(both.T)[0, 1]
    print("%d intensities of DIALS, %d of them ours, too: correlation %.5f" % (len(theirs), len(both), correlation))
    return len(both) > 0.9 * len(theirs) > 50 and correlation > 0.99


sys.exit({"two": two, "check": check, "places": places, "index": index, "compare": compare}[sys.argv[1]](*sys.argv[2:]) is False)
