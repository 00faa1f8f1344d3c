"""How far refined lattices, spindle and beam are from those that were rendered.

usage: series_dials.py TRUTH.EXPT HALF_STEP(degree) FOUND.EXPT...
"""
import sys

import numpy as np
from dxtbx.model.experiment_list import ExperimentListFactory


def load(path):
    return ExperimentListFactory.from_json_file(path, check_format=False)[0]


def rotation(axis, degree):
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    k, t = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), np.radians(degree)
    return np.eye(3) + np.sin(t) * k + (1 - np.cos(t)) * k @ k


def edges(setting):
    return np.linalg.norm(np.linalg.inv(setting), axis=1)


def matrix_of(rows):
    return np.array(rows).reshape(3, 3)


def setting(e):
    """The reciprocal axes in the laboratory, at a spindle angle of 0."""
    g = e.goniometer
    return matrix_of(g.get_setting_rotation()) @ matrix_of(g.get_fixed_rotation()) @ matrix_of(e.crystal.get_A())


def angle(a, b):
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), np.dot(a, b)))


truth = load(sys.argv[1])
axis = truth.goniometer.get_rotation_axis()
# steps of a rendered rotation lie at the left edges of their intervals
wanted = rotation(axis, -float(sys.argv[2])) @ setting(truth)
centre = np.array(truth.detector[0].get_beam_centre_px(truth.beam.get_s0()))
print("%-28s %10s %10s %12s %12s %12s %12s" % ("", "a (1e-5)", "c (1e-5)", "lattice (deg)", "to axis (deg)", "spindle (deg)", "beam (pixels)"))
for path in sys.argv[3:]:
    e = load(path)
    found = setting(e)
    found = found @ np.rint(np.linalg.inv(found) @ wanted)  # DIALS may choose other axes of the same lattice
    ratio = edges(found) / edges(wanted) - 1
    u, _, v = np.linalg.svd(found @ np.linalg.inv(wanted))
    turn = np.degrees(np.arccos(np.clip((np.trace(u @ v) - 1) / 2, -1, 1)))
    spindle = e.goniometer.get_rotation_axis()
    beam = np.array(e.detector[0].get_beam_centre_px(e.beam.get_s0()))
    in_crystal = (u @ v).T @ np.array(spindle)  # the whole laboratory may be turned
    print("%-28s %10.2f %10.2f %12.5f %12.5f %12.5f %8.4f %8.4f  distance %.4f" % (
        path, 1e5 * (ratio[0] + ratio[1]) / 2, 1e5 * ratio[2], turn, angle(in_crystal, axis), angle(spindle, axis), *(beam - centre), e.detector[0].get_distance()))
