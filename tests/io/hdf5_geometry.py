"""Where experiment lists say that detectors of HDF5 files stand. usage: hdf5_geometry.py write FILE, or check LIST NAME
(NAME: what the list must say, of those below). write-one: its second image alone.

The numbers of the two measured files are those that dxtbx 3.12 reads, or that the detector's maker wrote."""
import json
import math
import sys

import h5py
import numpy

from hdf5_files import group, number

TWO_THETA, DISTANCE, OFFSET = math.radians(10), 150.0, (7.0, 4.5, 0.0)


def write(path, kept=slice(None)):
    """An NXmx file of a detector on an arm that swings about x, and a crystal that turns about y."""
    with h5py.File(path, "w") as file:
        group(file, "entry", "NXentry")
        group(file, "entry/data", "NXdata")["data"] = numpy.ones((3, 61, 103), "u2")[kept]
        detector = group(file, "entry/instrument/detector", "NXdetector")
        module = group(file, "entry/instrument/detector/module", "NXdetector_module")
        arm = group(file, "entry/instrument/detector/transformations", "NXtransformations")
        sample = group(file, "entry/sample", "NXsample")
        angles = group(file, "entry/sample/transformations", "NXtransformations")
        beam = group(file, "entry/instrument/beam", "NXbeam")
        turn, shift = {"transformation_type": "rotation"}, {"transformation_type": "translation"}
        place = "/entry/instrument/detector/transformations/"
        number(arm, "two_theta", TWO_THETA, "rad", vector=(-1, 0, 0), depends_on=".", **turn)
        number(arm, "z", DISTANCE / 10, "cm", vector=(0, 0, 2), depends_on="two_theta", **shift)
        number(module, "module_offset", 0.0, "mm", vector=(1, 0, 0), offset=OFFSET, depends_on=place + "z", **shift)
        for name, vector in (("fast_pixel_direction", (-1, 0, 0)), ("slow_pixel_direction", (0, -1, 0))):
            number(module, name, 1.5e-4, "m", vector=vector, depends_on="module_offset", **shift)
        module["data_origin"], module["data_size"] = (0, 0), (61, 103)
        number(angles, "omega", [10, 10.5, 11][kept], "deg", vector=(0, 1, 0), depends_on=".", **turn)
        number(angles, "omega_increment_set", 0.5, "deg")
        number(angles, "phi", [0.0], "deg", vector=(0, 0, 1), depends_on="omega", **turn)
        sample["depends_on"] = numpy.bytes_("/entry/sample/transformations/phi")
        number(beam, "incident_wavelength", [0.11, 0.12, 0.13][kept], "nm")
        detector["sensor_material"] = numpy.bytes_("CdTe")
        number(detector, "sensor_thickness", 750, "um")


def swung():
    """By hand, in the frame of our lists: z against the beam, x along the spindle, which is y in the frame of NeXus."""
    cosine, sine = math.cos(-TWO_THETA), math.sin(-TWO_THETA)
    about_x = numpy.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
    frame = numpy.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])
    fast, slow = frame @ about_x @ (-1, 0, 0), frame @ about_x @ (0, -1, 0)
    origin = frame @ about_x @ (numpy.array(OFFSET) + (0, 0, DISTANCE))
    return fast, slow, origin, 0.15, (103, 61), 1.2, (1, 0, 0), (10.5, 0.5)


EXPECTED = {
    "swung": swung(),
    "dls": ((1, 0, 0), (0, -1, 0), (-166.20416, 172.530785, -213.95897), 0.075, (4148, 4362), 0.98027356, (1, 0, 0), (174, 0.25)),
    "dectris": ((1, 0, 0), (0, -1, 0), (-120.55613, 118.98236, -134.255), 0.075, (3110, 3269), 0.9801122, (1, 0, 0), (0, 0.5)),
}


def check(path, name):
    with open(path) as file:
        experiment = json.load(file)
    panel, scan = experiment["detector"][0]["panels"][0], experiment["scan"][0]
    found = (panel["fast_axis"], panel["slow_axis"], panel["origin"], panel["pixel_size"][0], panel["image_size"],
             experiment["beam"][0]["wavelength"], experiment["goniometer"][0]["rotation_axis"], scan["oscillation"])
    wrong = [(a, b) for a, b in zip(found, EXPECTED[name]) if not numpy.allclose(a, b, rtol=1e-6, atol=1e-5)]
    for a, b in wrong:
        print(f"{name}: {a}, expected {b}")
    return bool(wrong)


if __name__ == "__main__":
    writing = {"write": slice(None), "write-one": slice(1, 2)}
    sys.exit(write(sys.argv[2], writing[sys.argv[1]]) if sys.argv[1] in writing else check(*sys.argv[2:]))
