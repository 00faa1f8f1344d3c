"""What dxtbx makes of experiment lists and headers, against the image: bright pixels must be reflections.

usage: geometry.py EXECUTABLE
"""
import json
import math
import subprocess
import sys

import dxtbx
import numpy as np
from dxtbx.model.experiment_list import ExperimentListFactory
from scitbx import matrix

program = sys.argv[1]
FAST, SLOW, CELLS = 200, 160, 12
WHOLE = 1.5 / CELLS  # the central maximum ends at 1 / CELLS; half as much again for pixels and mosaic spread
COMMON = ("-cell 38 44 53 84 97 103 -misset 17 -8 41 -default_F 100 -N %d -lambda 0.97934 -distance 90 -pixel 0.25 -oversample 2 "
          "-fluence 1e28 -detpixels_f %d -detpixels_s %d -mosaic 0.05 -mosaic_domains 3 -quiet" % (CELLS, FAST, SLOW)).split()
SPINDLE = "-fdet_vector 0 1 0 -sdet_vector 0 0 1 -odet_vector 1 0 0 -beam_vector 1 0 0 -spindle_axis 0 0.6 0.8 -polar_vector 0 0 1"
# name, flags, whether the header says it all
CASES = [
    ("mosflm", "-mosflm", 1),
    ("mosflm off", "-mosflm -Xbeam 17.3 -Ybeam 21.9", 1),
    ("denzo off", "-denzo -Xbeam 17.3 -Ybeam 21.9", 1),
    ("xds", "-xds", 1),
    ("xds off", "-xds -ORGX 80.25 -ORGY 91.75", 1),
    ("adxv off", "-adxv -Xbeam 17.3 -Ybeam 21.9", 0),
    ("dials", "-dials", 0),
    ("mosflm two-theta", "-mosflm -twotheta 15", 0),
    ("xds two-theta", "-xds -twotheta -12", 0),
    ("adxv tilted", "-adxv -detector_rotx 2 -detector_roty -3 -detector_rotz 1.5", 0),
    ("dials tilted", "-dials -detector_rotx -4 -twotheta 5", 0),
    ("custom", SPINDLE, 0),
    ("turned still", "-mosflm -phi 33", 1),
]
HDF5 = "HDF5" in subprocess.run([program, "--version"], capture_output=True, text=True).stdout
failures = 0


def complain(*words):
    global failures
    failures += 1
    print("FAILED:", *words)


def simulate(flags):
    arguments = COMMON + flags.split() + "-intfile g_0007.img -adc 40 -floatfile g.f32 -exptfile g.expt".split()
    if HDF5:
        arguments += ["-hdf5file", "g.h5"]
    subprocess.run([program, "sim"] + arguments, check=True)
    return np.fromfile("g.f32", "<f4").reshape(SLOW, FAST)


def worst_index(experiment, image, phi):
    """Largest distance from whole Miller indices among the brightest pixels."""
    panel, s0 = experiment.detector[0], matrix.col(experiment.beam.get_s0())
    setting = matrix.sqr(experiment.crystal.get_A())
    if experiment.goniometer and experiment.scan:
        axis = matrix.col(experiment.goniometer.get_rotation_axis())
        setting = axis.axis_and_angle_as_r3_rotation_matrix(phi, deg=True) * setting
    inverse, worst, seen = setting.inverse(), 0, set()
    for index in np.argsort(image, axis=None)[::-1][:60]:
        slow, fast = divmod(int(index), FAST)
        ray = matrix.col(panel.get_pixel_lab_coord((fast + 0.5, slow + 0.5))).normalize() * s0.length()
        h = inverse * (ray - s0)
        seen.add(tuple(round(x) for x in h))
        worst = max(worst, max(abs(x - round(x)) for x in h))
    return worst, len(seen)


def apart_of(first, second, size):
    """mm between corners of two panels."""
    return max((matrix.col(first.get_pixel_lab_coord(p)) - matrix.col(second.get_pixel_lab_coord(p))).length()
               for p in ((0, 0), (size[0], 0), (0, size[1])))


def check_nxmx(name, path, listed, images):
    """An NXmx file says what the experiment list says, and has these images, one for each panel."""
    if not HDF5:
        return
    read = dxtbx.load(path)
    detector = read.get_detector()
    apart = max(apart_of(panel, other, panel.get_image_size()) for panel, other in zip(detector, listed.detector))
    if len(detector) != len(listed.detector) or not apart < 1e-9:
        complain(name, "NXmx: panels are %g mm apart" % apart)
    if [panel.get_image_size() for panel in detector] != [panel.get_image_size() for panel in listed.detector]:
        complain(name, "NXmx: sizes of panels")
    axes = [matrix.col(model.get_rotation_axis()) for model in (read.get_goniometer(), listed.goniometer)]
    beams = [matrix.col(model.get_s0()) for model in (read.get_beam(0), listed.beam)]
    if not (axes[0] - axes[1]).length() < 1e-12 or not (beams[0] - beams[1]).length() < 1e-12:
        complain(name, "NXmx: spindle or beam")
    if listed.scan and not np.allclose(read.get_scan().get_oscillation(), listed.scan.get_oscillation(), rtol=1e-12):
        complain(name, "NXmx: oscillation", read.get_scan().get_oscillation())
    for pixels, image in zip(read.get_raw_data(0), images):
        if not np.array_equal(pixels.as_numpy_array(), image):
            complain(name, "NXmx: pixels")


def check(name, flags, header_is_enough):
    image = simulate(flags)
    experiment = ExperimentListFactory.from_json_file("g.expt")[0]
    worst, reflections = worst_index(experiment, image, 0)
    print("%-17s %3d reflections, indices whole within %.3f" % (name, reflections, worst), end="")
    if not worst < WHOLE or reflections < 5:
        complain(name, "the brightest pixels are no reflections of the list's crystal")
    check_nxmx(name, "g.h5", experiment, [image])
    counts = experiment.imageset.get_raw_data(0)[0].as_numpy_array()
    scale = 55000 / image.max()
    if counts.shape != image.shape or abs(counts - (image * scale + 40)).max() > 1:
        complain(name, "pixels")
    corrected = experiment.imageset.get_corrected_data(0)[0].as_numpy_array()
    if abs(corrected - image).max() > 2 / scale:
        complain(name, "photons after pedestal and gain")

    read = dxtbx.load("g_0007.img")
    panel, listed = read.get_detector()[0], experiment.detector[0]
    apart = max((matrix.col(panel.get_pixel_lab_coord(p)) - matrix.col(listed.get_pixel_lab_coord(p))).length()
                for p in ((0, 0), (FAST, 0), (0, SLOW)))
    print("; header off by %.4f mm%s" % (apart, "" if header_is_enough else " (an SMV header cannot say more)"))
    if header_is_enough and not apart < 1e-3:
        complain(name, "dxtbx reads another geometry from the header")
    if abs(read.get_beam().get_wavelength() - 0.97934) > 1e-9 or abs(panel.get_pixel_size()[0] - 0.25) > 1e-9:
        complain(name, "wavelength or pixel size of the header")


for case in CASES:
    check(*case)

# a scan: the crystal at phi = 0, turned to the image by the goniometer
picture = simulate("-xds -phi 40 -osc 0.2 -phisteps 1")
turning = ExperimentListFactory.from_json_file("g.expt")[0]
deviation, count = worst_index(turning, picture, 40)
print("scan              %3d reflections, indices whole within %.3f" % (count, deviation))
if not deviation < WHOLE or turning.scan.get_image_range() != (7, 7) or turning.scan.get_oscillation() != (40, 0.2):
    complain("scan")
check_nxmx("scan", "g.h5", turning, [picture])
if not math.isclose(turning.crystal.get_unit_cell().parameters()[5], 103, abs_tol=1e-6):
    complain("cell", turning.crystal.get_unit_cell())

# a sensor: dxtbx corrects for parallax, with the mean depth times the part of the photons that are absorbed
simulate("-mosflm -detector_thick 450 -detector_material Si -lambda 0.97934")
panel = ExperimentListFactory.from_json_file("g.expt")[0].detector[0]
if (panel.get_type(), panel.get_material()) != ("SENSOR_PAD", "Si") or abs(panel.get_thickness() - 0.45) > 1e-12:
    complain("sensor", panel.get_type(), panel.get_material(), panel.get_thickness())
if panel.get_px_mm_strategy().name() != "ParallaxCorrectedPxMmStrategy" or not 3 < panel.get_mu() < 5:
    complain("parallax", panel.get_px_mm_strategy().name(), panel.get_mu())
for where in ((1, 1), (40, 3), (49, 39)):  # mm from the corner
    ray = matrix.col(panel.get_lab_coord(where)).normalize()
    cosine = abs(ray.dot(matrix.col(panel.get_normal())))
    x = 0.45 * panel.get_mu() / cosine
    depth, absorbed = 0.45 * (1 / x - 1 / math.expm1(x)), 1 - math.exp(-x)
    pixel = panel.millimeter_to_pixel(where)
    for i, axis in enumerate((panel.get_fast_axis(), panel.get_slow_axis())):
        expected = depth * absorbed * ray.dot(matrix.col(axis)) / cosine
        if abs(pixel[i] * 0.25 - where[i] - expected) > 1e-6:
            complain("parallax at", where, "is", pixel[i] * 0.25 - where[i], "mm, expected", expected)

# several panels, each tilted by itself, and an image with noise
if HDF5:
    with open("g.expt") as file:
        several = json.load(file)
    tilted, first = several["detector"][0], several["detector"][0]["panels"][0]
    tilted["panels"] = []
    for number in range(12):
        turn = matrix.col((1, 2, number - 5)).axis_and_angle_as_r3_rotation_matrix(3 * number, deg=True)
        tilted["panels"].append(dict(first, name="p%d" % number, image_size=[40, 20 + number],
                                     fast_axis=tuple(turn * matrix.col((1, 0, 0))), slow_axis=tuple(turn * matrix.col((0, -1, 0))),
                                     origin=(-20 + 9.5 * (number % 4), 15 - 8 * (number // 4), -90 - number)))
    tilted["hierarchy"]["children"] = [{"panel": number} for number in range(12)]
    with open("several.expt", "w") as file:
        json.dump(several, file)
    subprocess.run([program, "sim"] + "-expt several.expt -default_F 100 -N 12 -fluence 1e28 -quiet -hdf5file s.h5 -floatfile s.f32 "
                   "-noisefile n.h5".split(), check=True)
    sheet, images, row = np.fromfile("s.f32", "<f4").reshape(-1, 40), [], 0
    for number in range(12):
        images.append(sheet[row:row + 20 + number])
        row += 20 + number
    check_nxmx("several", "s.h5", ExperimentListFactory.from_dict(several, check_format=False)[0], images)
    noisy = [pixels.as_numpy_array() for pixels in dxtbx.load("n.h5").get_raw_data(0)]
    if abs(sum(pixels.sum() for pixels in noisy) / sheet.sum() - 1) > 0.05 or noisy[3].dtype != np.int32:
        complain("several: noise", sum(pixels.sum() for pixels in noisy), sheet.sum())
    print("several           %d panels as NXmx" % len(noisy))
sys.exit(1 if failures else 0)
