"""What dxtbx makes of XPARM.XDS files, against what dualbragg makes of them; and of those that dualbragg wrote.

usage: xds.py EXECUTABLE
"""
import subprocess
import sys

import dxtbx
from cctbx import uctbx
from dxtbx.model.experiment_list import ExperimentListFactory
from rstbx.cftbx.coordinate_frame_converter import coordinate_frame_converter
from scitbx import matrix

program = sys.argv[1]
failures = 0
HEAD = """XPARM.XDS    VERSION Jan 10, 2022
     1       42.5000    0.2500  %s
       0.979340       %s
    89     57.9000     57.9000    150.2000  90.000  90.000  90.000
      31.240000     -39.850000      28.147000
     -40.110000       4.010000      41.550000
     -79.900000    -114.600000     -56.120000
"""
DETECTOR = """ %8d      487       619    0.172000    0.172000
     %s  %12.6f
       %s
       %s
       0.000000       0.000000       1.000000
"""
SEGMENTS = """         1         1       487         1       195
    0.00    0.00    0.00  1.00000  0.00000  0.00000  0.00000  1.00000  0.00000
         2         1       487       213       619
    0.35   -0.25    0.40  0.999998 0.002000 0.00000 -0.002000 0.999998 0.00000
"""
WHOLE = """         1         1       487         1       619
    0.00    0.00    0.00  1.00000  0.00000  0.00000  0.00000  1.00000  0.00000
"""
AXIS, BEAM = "  1.000000  0.000000  0.000000", "0.000000       0.000000       1.021096"
CENTRE, X, Y = "243.700000 301.200000", "1.000000       0.000000       0.000000", "0.000000       1.000000       0.000000"
# name, axis, beam, distance, x axis, y axis, segments
CASES = [
    ("plain", AXIS, BEAM, 180, X, Y, WHOLE),
    ("axis and beam off", " -0.003100  0.999990 -0.002000", "0.004300      -0.002100       1.021084", 180, X, Y, WHOLE),
    ("two-theta", AXIS, BEAM, 165, "1.000000 0.000000 0.000000", "0.000000 0.965926 0.258819", WHOLE),
    ("x to the left", " -1.000000  0.000000  0.000000", "0.000000       0.000000       1.021096", -180,
     "-1.000000 0.000000 0.000000", Y, WHOLE),
    ("segments", AXIS, BEAM, 180, X, Y, SEGMENTS),
]


def complain(*words):
    global failures
    failures += 1
    print("FAILED:", *words)


def xds_file(name, axis, beam, distance, x, y, segments):
    path = name.replace(" ", "_") + "_XPARM.XDS"
    with open(path, "w") as out:
        out.write(HEAD % (axis, beam))
        out.write(DETECTOR % (segments.count("\n") // 2, CENTRE, distance, x, y))
        out.write(segments)
    return path


def apart(a, b):
    return (matrix.col(a) - matrix.col(b)).length()


def check(name, path):
    listed = path + ".expt"
    subprocess.run([program, "sim", "-expt", path, "-exptfile", listed, "-default_F", "1", "-N", "2", "-floatfile", "x.bin",
                    "-oversample", "1", "-fluence", "1e20", "-quiet"], check=True)
    ours, theirs = ExperimentListFactory.from_json_file(listed, check_format=False)[0], dxtbx.load(path)
    detector = theirs.get_detector()
    if len(detector) != len(ours.detector):
        return complain(name, len(ours.detector), "panels, expected", len(detector))
    worst = 0
    for a, b in zip(detector, ours.detector):
        size = a.get_image_size()
        if size != b.get_image_size():
            complain(name, "size", b.get_image_size(), "expected", size)
        for p in ((0, 0), (size[0], 0), (0, size[1]), size):
            worst = max(worst, apart(a.get_pixel_lab_coord(p), b.get_pixel_lab_coord(p)))
    beam = apart(theirs.get_beam().get_s0(), ours.beam.get_s0())
    axis = apart(theirs.get_goniometer().get_rotation_axis(), ours.goniometer.get_rotation_axis())
    frames = coordinate_frame_converter(path)
    crystal = max(apart(frames.get("real_space_" + k), v) for k, v in zip("abc", ours.crystal.get_real_space_vectors()))
    start = ours.scan.get_oscillation() if ours.scan else (None, None)
    print("%-18s panels %.6f mm, beam %.1e, axis %.1e, crystal %.1e A, scan %s" % (name, worst, beam, axis, crystal, start))
    if not (worst < 1e-3 and beam < 1e-6 and axis < 1e-6 and crystal < 1e-4):
        complain(name)
    if start != (42.5, 0.25):
        complain(name, "scan")


for case in CASES:
    check(case[0], xds_file(*case))
sys.exit(1 if failures else 0)
