"""Places and excitation of spots on a still: our refined model beside experiments that DIALS refined.

usage: stills_dials.py OURS.REFL DIALS.EXPT...

The observed places, centroids of strong pixels, are those of OURS.REFL for all. Ranking is the chance that a reflection that
was found (three strong pixels or more) has more partiality, in DIALS a smaller turn to the Ewald sphere, than one that was not.
"""
import sys

import numpy as np
from dials.algorithms.refinement.prediction.managed_predictors import ExperimentsPredictorFactory
from dials.array_family import flex
from dxtbx.model.experiment_list import ExperimentListFactory


def predicted(path, spots):
    """Places (pixels) and turns to the Ewald sphere (degree) by DIALS."""
    experiments = ExperimentListFactory.from_json_file(path, check_format=False)
    table = flex.reflection_table()
    table["miller_index"] = spots["miller_index"]
    table["id"] = flex.int(len(spots), 0)
    table["panel"] = spots["panel"]
    table["entering"] = flex.bool(len(spots), True)
    ExperimentsPredictorFactory.from_experiments(experiments, force_stills=True)(table)
    xyz = table["xyzcal.px"].as_numpy_array()[:, :2]
    xyz[~table.get_flags(table.flags.predicted).as_numpy_array()] = np.nan
    return xyz, np.degrees(table["delpsical.rad"].as_numpy_array())


def ranking(score, found):
    order = np.argsort(np.where(np.isfinite(score), score, -np.inf), kind="stable")
    rank = np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    n = found.sum()
    return (rank[found].sum() - n * (n + 1) / 2) / (n * (len(score) - n))


def report(name, offset, score, found):
    r = np.sort(np.hypot(*offset[found].T))
    r = r[np.isfinite(r)]
    best = r[:len(r) * 9 // 10]
    print("%-24s %4d spots: off by %.3f pixels (rms of the best 90 %%), %.3f (rms of all), %.3f (median); ranking %.3f"
          % (name, len(r), np.sqrt((best ** 2).mean()), np.sqrt((r ** 2).mean()), np.median(r), ranking(score, found)))


ours = flex.reflection_table.from_file(sys.argv[1])
found = ours.get_flags(ours.flags.strong).as_numpy_array()
seen = ours["xyzobs.px.value"].as_numpy_array()[:, :2]
report("ours", seen - ours["xyzcal.px"].as_numpy_array()[:, :2], ours["partiality"].as_numpy_array(), found)
for path in sys.argv[2:]:
    xyz, turn = predicted(path, ours)
    report(path, seen - xyz, -abs(turn), found)
