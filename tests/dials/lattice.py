"""Compares a lattice that DIALS found with the one that was simulated.

usage: lattice.py FOUND.EXPT TRUTH.EXPT LARGEST_EDGE_ERROR(percent) LARGEST_ANGLE(degree) SPOTS.REFL LEAST_SHARE_INDEXED
"""
import sys

import numpy as np
from dials.array_family import flex
from dxtbx.model.experiment_list import ExperimentListFactory


def setting(path):
    experiments = ExperimentListFactory.from_json_file(path, check_format=False)
    if len(experiments) != 1:
        sys.exit("FAILED: expected one lattice in %s, found %d" % (path, len(experiments)))
    return np.array(experiments[0].crystal.get_A()).reshape(3, 3), experiments[0]


def cell(real):
    edges = np.linalg.norm(real, axis=1)
    cosines = [real[i] @ real[j] / edges[i] / edges[j] for i, j in ((1, 2), (0, 2), (0, 1))]
    return list(edges) + list(np.degrees(np.arccos(cosines)))


found, experiment = setting(sys.argv[1])
truth, _ = setting(sys.argv[2])
basis = np.rint(np.linalg.inv(found) @ truth)  # DIALS may choose other axes of the same lattice
if abs(abs(np.linalg.det(basis)) - 1) > 1e-6:
    sys.exit("FAILED: another lattice: %s" % (np.linalg.inv(found) @ truth))
found = found @ basis
u, _, v = np.linalg.svd(found @ np.linalg.inv(truth))
angle = np.degrees(np.arccos(np.clip((np.trace(u @ v) - 1) / 2, -1, 1)))
cells = [cell(np.linalg.inv(m)) for m in (found, truth)]
edge = max(100 * abs(a - b) / b for a, b in zip(cells[0][:3], cells[1][:3]))
tilt = max(abs(a - b) for a, b in zip(cells[0][3:], cells[1][3:]))
spots = flex.reflection_table.from_file(sys.argv[5])
share = sum(1 for h in spots["miller_index"] if h != (0, 0, 0)) / len(spots)
centre = experiment.detector[0].get_beam_centre_px(experiment.beam.get_s0())
print("cell", " ".join("%.3f" % x for x in cells[0]), "instead of", " ".join("%g" % round(x, 6) for x in cells[1]))
print("edges off by %.4f %%, angles by %.4f degree, orientation by %.4f degree; %d spots, %.1f %% indexed; beam centre %.3f %.3f"
      % (edge, tilt, angle, len(spots), 100 * share, *centre))
if not (edge <= float(sys.argv[3]) and tilt <= float(sys.argv[4]) and angle <= float(sys.argv[4]) and share >= float(sys.argv[6])):
    sys.exit("FAILED: expected at most %s %%, %s degree, and %s of the spots indexed" % (sys.argv[3], sys.argv[4], sys.argv[6]))
