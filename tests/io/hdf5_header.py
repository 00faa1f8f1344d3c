"""Master files that say things in the ways that beamlines have, and what must be understood of them.

usage: hdf5_header.py write FOLDER (prints the names of images, one a line), check JSON (of `dualbragg import`), or turned LIST
(of an image at two theta), circled LIST (of an image on three circles)"""
import json
import math
import os
import sys

import h5py
import numpy

from hdf5_files import group, number

FAST, SLOW, IMAGES = 40, 30, 4
STEPS = 0.5 * numpy.arange(IMAGES)
OMEGA = 10 + STEPS
SPINDLE, DETECTOR, BEAM = "sample/goniometer/", "instrument/detector/", "instrument/beam/"
SPECIFIC, CHAIN = DETECTOR + "detectorSpecific/", "sample/transformations/"
USUAL = {
    DETECTOR + "x_pixel_size": (2e-4, "m"),
    DETECTOR + "y_pixel_size": (2e-4, "m"),
    DETECTOR + "detector_distance": (0.1, "m"),
    DETECTOR + "beam_center_x": (20.5, "pixel"),
    DETECTOR + "beam_center_y": (12.0, "pixel"),
    DETECTOR + "sensor_material": numpy.bytes_("Si"),
    SPECIFIC + "x_pixels_in_detector": FAST,
    SPECIFIC + "y_pixels_in_detector": SLOW,
    BEAM + "incident_wavelength": (1.25, "angstrom"),
}
CASES = {}  # name: members, {number of an image: facts}, part of a notice


def case(name, members, facts, notice=None):
    CASES[name] = (USUAL | members, facts, notice)


def counts(images=IMAGES, kind="u2"):
    return numpy.random.default_rng(7).poisson(3, (images, SLOW, FAST)).astype(kind)


# --- scans: [start, width] of the first image and the last


def scan(name, members, first, last, notice=None, **more):
    members = {SPINDLE + key: value for key, value in members.items()}
    case(name, members, {1: {"scan": first} | more, IMAGES: {"scan": last}}, notice)


FORTH, BACK = ([10, 0.5], [11.5, 0.5]), ([0, -0.5], [-1.5, -0.5])
ends = -0.5 * numpy.arange(1, IMAGES + 1)
scan("increment", {"omega": (OMEGA, "deg"), "omega_increment": (0.5, "deg")}, *FORTH, sweep=[10, 2])
scan("array", {"omega": (OMEGA, "deg")}, *FORTH, sweep=[10, 2])
scan("end", {"omega": (OMEGA, "deg"), "omega_end": (OMEGA + 0.4, "deg")}, [10, 0.4], [11.5, 0.4])
scan("range_average", {"omega": (OMEGA, "deg"), "omega_range_average": (0.4, "deg")}, [10, 0.4], [11.5, 0.4])
scan("range_total", {"omega_start": (10, "deg"), "omega_range_total": (2.0, "deg")}, *FORTH)
scan("start_end", {"omega_start": (10, "deg"), "omega_end": (12, "deg")}, *FORTH)
scan("start", {"omega_start": (10, "deg"), "omega_increment": (0.5, "deg")}, *FORTH)
scan("scalar", {"omega": (10.0, "deg"), "omega_increment": (0.5, "deg")}, *FORTH)
scan("one_number", {"omega": ([10.0], "deg"), "omega_increment": ([0.5], "deg")}, *FORTH)
scan("two_numbers", {"omega": ([10.0, 10.5], "deg")}, *FORTH)
scan("back", {"omega": (-STEPS, "deg"), "omega_increment": (-0.5, "deg")}, *BACK, sweep=[0, -2])
scan("back_array", {"omega": (-STEPS, "deg")}, *BACK)
scan("back_end", {"omega": (-STEPS, "deg"), "omega_end": (ends, "deg")}, *BACK)
scan("radian", {"omega": (numpy.radians(OMEGA), "rad"), "omega_increment": (math.radians(0.5), "rad")}, *FORTH)
scan("mixed", {"omega": (1e3 * numpy.radians(OMEGA), "mrad"), "omega_increment": (0.5, "degrees")}, *FORTH)
scan("no_increment", {"omega": (OMEGA, "deg"), "omega_increment": (0.0, "deg")}, *FORTH)
scan("standing", {"omega": (numpy.full(IMAGES, 30.0), "deg"), "omega_increment": (0.0, "deg")}, [30, 0], [30, 0])
scan("round", {"omega": ((359 + STEPS) % 360, "deg")}, [359, 0.5], [0.5, 0.5], sweep=[359, 2])
scan("round_back", {"omega": ((1 - STEPS) % 360, "deg")}, [1, -0.5], [359.5, -0.5], sweep=[1, -2])
scan("round_two", {"omega": ([359.5, 0.0], "deg")}, [359.5, 0.5], [1, 0.5])
past = (359.5 + STEPS + 0.5) % 360
scan("round_end", {"omega": ((359.5 + STEPS) % 360, "deg"), "omega_end": (past, "deg"), "omega_range_average": (0.5, "deg")},
     [359.5, 0.5], [1, 0.5])  # fmt: skip
scan("round_total", {"omega_start": (359, "deg"), "omega_end": (1, "deg"), "omega_increment": (0.5, "deg")}, [359, 0.5], [360.5, 0.5])
scan("round_total_twice", {"omega_start": (0, "deg"), "omega_end": (800, "deg")}, [0, 200], [600, 200])
for _name, _ends, _width in (("round_one", {"omega_end": ([0.25], "deg")}, 0.75),
                             ("round_one_stated", {"omega_end": ([0.5], "deg"), "omega_range_average": ([1.0], "deg")}, 1),
                             ("whole_circle", {"omega": ([0.0], "deg"), "omega_end": ([360.0], "deg")}, 360),
                             ("half_circle", {"omega": ([0.0], "deg"), "omega_end": ([200.0], "deg")}, 200),
                             ("round_one_back", {"omega": ([0.25], "deg"), "omega_end": ([359.5], "deg")}, -0.75)):  # fmt: skip
    _members = {SPINDLE + key: value for key, value in ({"omega": ([359.5], "deg")} | _ends).items()}
    case(_name, _members | {"data/data_000001": counts(1)}, {1: {"scan": [_members[SPINDLE + "omega"][0][0], _width]}})
scan("not_known", {"omega": (numpy.full(IMAGES, math.nan), "deg")}, [0, 0], [0, 0], "angle of omega is not a number")
scan("screen", {"omega": ([0, 45, 90, 135], "deg")}, [0, None], [135, None], "how far the crystal turns")
scan("screen_wide", {"omega": ([0, 45, 90, 135], "deg"), "omega_increment": (0.25, "deg")}, [0, 0.25], [135, 0.25])
for _axis in ("phi", "chi", "kappa"):
    _members = {"omega": (numpy.zeros(IMAGES), "deg"), _axis: (OMEGA, "deg"), _axis + "_increment": (0.5, "deg")}
    scan(_axis, _members, *FORTH, "about " + _axis)
seam = {"data/data_000001": counts(20), SPINDLE + "omega": (numpy.tile(0.1 * numpy.arange(10), 2), "deg")}
case("seam", seam, {1: {"sweep": "not one"}, 10: {"scan": [0.9, 0.1]}, 11: {"scan": [0, 0.1]}, 20: {"scan": [0.9, 0.1]}})

# more images than angles are read around one
long = {"data/data_000001": counts(100), SPINDLE + "omega": (5 + 0.2 * numpy.arange(100), "deg")}
case("long", long, {n: {"scan": [5 + 0.2 * (n - 1), 0.2]} for n in (1, 33, 34, 60, 68, 100)})


def circle(name, angle, vector, depends_on="."):
    """An axis of the sample's chain, of which the last is where the chain begins."""
    attributes = {"vector": vector, "depends_on": depends_on, "transformation_type": "rotation"}
    return {CHAIN + name: (angle, "deg", attributes), "sample/depends_on": numpy.bytes_("/entry/" + CHAIN + name)}


stage = {CHAIN + "x": (0.0, None, {"vector": (1, 0, 0), "depends_on": "omega", "transformation_type": "translation"}),
         "sample/depends_on": numpy.bytes_("/entry/" + CHAIN + "x")}  # fmt: skip
along_x = {"rotation_axis": [0, 0, 1]}
case("chain", circle("omega", OMEGA, (-1, 0, 0)), {1: {"scan": [10, 0.5]} | along_x})
case("chain_stage", circle("omega", OMEGA, (-1, 0, 0)) | stage, {1: {"scan": [10, 0.5]} | along_x})
case("chain_back", circle("omega", -STEPS, (-1, 0, 0)) | {CHAIN + "omega_end": (ends, "deg")}, {2: {"scan": [-0.5, -0.5]} | along_x})
case("chain_screen", circle("omega", [0, 45, 90, 135], (-1, 0, 0)), {2: {"scan": [45, None]}}, "how far the crystal turns")
# Phi on a kappa that stands 30 degrees off. Own axes x, y, z are z, y, -x of NeXus.
tilted = {"rotation_axis": [0, -math.sin(math.radians(30)), math.cos(math.radians(30))]}
case("circles", circle("omega", 0, (-1, 0, 0)) | circle("kappa", [30], (0, 0, 1), "omega") | circle("phi", OMEGA, (-1, 0, 0), "kappa"),
     {2: {"scan": [10.5, 0.5]} | tilted}, "another axis than the detector")  # fmt: skip

case("circle_unknown", circle("omega", math.nan, (-1, 0, 0)) | circle("phi", OMEGA, (-1, 0, 0), "omega"),
     {2: {"error": None, "pixels": [FAST, SLOW]}}, "has no angle")  # fmt: skip
case("angle_unknown", {SPINDLE + "omega": ([10, 10.5, math.nan, 11.5], "deg"), SPINDLE + "omega_increment": 0.5}, {3: {"scan": [11, 0.5]}})

# --- two theta of 20 degrees, which lists show

TURNED = (
    ("two_theta", {"two_theta": ([0, 20, 20, 20], "deg")}),
    ("two_theta_start", {"two_theta_start": (math.radians(20), "rad"), "two_theta": None}),
    ("two_theta_transformed", {"../transformations/two_theta": (numpy.full(IMAGES, 20), "degree")}),
    ("two_theta_scalar", {"two_theta": (20e3 * math.pi / 180, "mrad")}),
)
for _name, _members in TURNED:
    case(_name, {(DETECTOR + "goniometer/" + key).replace("goniometer/../", ""): value for key, value in _members.items()}, {2: {"error": None}},
         "two-theta 20 degree")  # fmt: skip

# --- a module at distance 0, which its chain does not know


def module(distance):
    """A detector of one module that faces the beam."""
    at = DETECTOR + "module/"
    moves = {"transformation_type": "translation", "offset": (4.1e-3, 2.4e-3, 0), "offset_units": "m"}
    to = {"depends_on": "/entry/" + DETECTOR + "transformations/z"}
    return {
        DETECTOR + "transformations/z": (distance, "m", {"transformation_type": "translation", "vector": (0, 0, 1), "depends_on": "."}),
        at + "fast_pixel_direction": (2e-4, "m", moves | to | {"vector": (-1, 0, 0)}),
        at + "slow_pixel_direction": (2e-4, "m", moves | to | {"vector": (0, -1, 0)}),
        at + "data_origin": numpy.array([0, 0]),
        at + "data_size": numpy.array([SLOW, FAST]),
    }


case("module", module(0.2), {1: {"distance": 200, "beam_centre": [20.5, 12.0]}})
case("circled", module(0.2) | circle("omega", OMEGA, (-1, 0, 0)) | circle("kappa", 30, (0, 0, 1), "omega") |
     circle("phi", 40, (-1, 0, 0), "kappa"), {2: {"scan": [10.5, 0.5]}})  # fmt: skip
case("module_at_0", module(0.0), {1: {"distance": 100, "beam_centre": [20.5, 12.0]}}, "at the sample")

# --- units; zeros and what makes no sense

placed = {"distance": 100, "pixel_size": [0.2, 0.2], "beam_centre": [20.5, 12.0], "sensor": 450}


def lengths(unit, factor):
    one = {"x_pixel_size": 0.2, "y_pixel_size": 0.2, "detector_distance": 100, "sensor_thickness": 0.45}
    return {DETECTOR + name: (value * factor, unit) for name, value in one.items()}


for _unit, _factor in (("m", 1e-3), ("mm", 1), ("millimetre", 1), ("um", 1e3), ("micrometer", 1e3), ("\xb5m", 1e3)):
    case(f"length{len(CASES)}", lengths(_unit, _factor), {1: placed})
case("centre_mm", lengths("mm", 1) | {DETECTOR + "beam_center_x": (4.1, "mm"), DETECTOR + "beam_center_y": (2.4, "mm")}, {1: placed})
for _name, _factor in (("metres", 1e-3), ("millimetres", 1)):
    case("bare_" + _name, lengths(None, _factor), {1: placed}, "without units")
for _unit, _value in (("nm", 0.125), ("pm", 125), ("keV", 12.398419843320026 / 1.25), ("Angstrom", 1.25), (None, 1.25)):
    case(f"wavelength{len(CASES)}", {BEAM + "incident_wavelength": (_value, _unit)}, {1: {"wavelength": 1.25}})
WAVES = {"incident_wavelength": ([1.2, 1.25, 1.3, 1.35], "angstrom"), "incident_energy": ([10e3, 9918.735874656021, 9e3, 8e3], "eV")}
for _name, (_list, _unit) in WAVES.items():
    _members = {BEAM + "incident_wavelength": None}
    case(_name + "_each", _members | {BEAM + _name: (_list, _unit)}, {2: {"wavelength": 1.25}},
         "photon energy" if _name == "incident_energy" else None)  # fmt: skip
    case(_name + "_spectrum", _members | {BEAM + _name: (_list[:3], _unit)},
         {2: {"error": "expected one wavelength or one for each of 4 images, found 3"}})  # fmt: skip
case("energy", {BEAM + "incident_wavelength": None, SPECIFIC + "photon_energy": (9918.735874656021, "eV")},
     {1: {"wavelength": 1.25}}, "photon energy")  # fmt: skip
case("furlong", {DETECTOR + "detector_distance": (1, "furlong")}, {1: {"error": "expected units of a length"}})
for _name, _key, _value, _lost in (
    ("no_wavelength", BEAM + "incident_wavelength", (0.0, "angstrom"), "wavelength"),
    ("endless_wavelength", BEAM + "incident_wavelength", (math.inf, "angstrom"), "wavelength"),
    ("no_distance", DETECTOR + "detector_distance", (0.0, "m"), "distance"),
    ("negative_distance", DETECTOR + "detector_distance", (-0.1, "m"), "distance"),
    ("no_pixel_size", DETECTOR + "x_pixel_size", (0.0, "m"), "pixel_size"),
):
    case(_name, {_key: _value}, {1: {_lost: None, "pixels": [FAST, SLOW], "error": None}},
         None if _name.startswith("no") else "makes no sense")  # fmt: skip
case("no_centre", {DETECTOR + "beam_center_x": 0.0, DETECTOR + "beam_center_y": 0.0}, {1: {"beam_centre": None, "error": None}})
for _key in (DETECTOR + "saturation_value", SPECIFIC + "countrate_correction_count_cutoff", DETECTOR + "bit_depth_image"):
    case(f"zero{len(CASES)}", {_key: 0}, {1: {"masked": [0, 0, 0]}})
case("no_sensor", {DETECTOR + "sensor_thickness": (0.0, "m")}, {1: {"sensor": None, "error": None}})
stokes = numpy.tile([1, 0.98, 0, 0], (IMAGES, 1))
case("polarized", {BEAM + "incident_polarization_stokes": stokes}, {2: {"polarization": 0.98}})

# --- counts and masks: [least, largest], mean, [gaps, overloaded, bad]


def pixels(name, values, least_and_largest, mean, masked, members=None, image=1):
    case(name, {"data/data_000001": values} | (members or {}),
         {image: {"counts": [*least_and_largest, mean], "masked": masked}})  # fmt: skip


def noise(kind):
    """Counts about 0 on a detector that was corrected."""
    values = numpy.random.default_rng(3).normal(0.3, 1, (IMAGES, SLOW, FAST))
    return values.astype(kind) if kind[0] == "f" else numpy.rint(values).astype(kind)


def marked(values, *marks):
    """Row 5 + n has mark number n."""
    for row, mark in enumerate(marks):
        values[:, 5 + row] = mark
    return values


def ranges(values, rows=0):
    kept = numpy.delete(values[0], range(5, 5 + rows), axis=0).astype(float)
    return [kept.min(), kept.max()], kept.mean()


for _kind in ("i2", "i4", "f4"):
    pixels("noise_" + _kind, noise(_kind), *ranges(noise(_kind)), [0, 0, 0])
faint = numpy.rint(numpy.random.default_rng(5).normal(0.05, 0.4, (IMAGES, SLOW, FAST))).astype("i4")
pixels("faint", faint, *ranges(faint), [0, 0, 0])
pixels("noise_marks", marked(noise("i4"), -(2**31), 2**31 - 1), *ranges(noise("i4"), 2), [0, FAST, FAST])
pixels("noise_float", marked(noise("f4"), -(2.0**31), 2.0**31, 2.0**32, -32768, math.nan), *ranges(noise("f4"), 5), [0, 2 * FAST, 3 * FAST])
pixels("plain_marks", marked(counts(kind="i4"), -1, -2), *ranges(counts(), 2), [FAST, 0, FAST])
for _kind, _largest in (("u1", 2**8), ("u2", 2**16), ("u4", 2**32)):
    pixels("largest_" + _kind, marked(counts(kind=_kind), _largest - 1, _largest - 2), *ranges(counts(), 2), [0, 0, 2 * FAST])
stated = numpy.delete(marked(counts(), 2**16 - 1, 2**16 - 2)[0], 5, axis=0)
pixels("stated", marked(counts(), 2**16 - 1, 2**16 - 2), [0, 2**16 - 2], stated.mean(), [0, 0, FAST],
       {DETECTOR + "saturation_value": 2**16 - 2})  # fmt: skip
pixels("underload", noise("i4"), [0, noise("i4")[0].max()], noise("i4")[0][noise("i4")[0] >= 0].mean(),
       [(noise("i4")[0] == -1).sum(), 0, (noise("i4")[0] < -1).sum()], {DETECTOR + "underload_value": 0})  # fmt: skip
pixels("underload_low", noise("i4"), *ranges(noise("i4")), [0, 0, 0], {DETECTOR + "underload_value": -20})
lines = numpy.zeros((SLOW, FAST), "u4")
lines[5:7] = 1
each = numpy.stack([numpy.roll(lines, n, axis=0) for n in range(IMAGES)])
for _name, _mask in (("bool", lines.astype(bool)), ("byte", lines.astype("u1")), ("deep", lines[None]), ("each", each)):
    pixels("mask_" + _name, counts(), *ranges(counts(), 2), [2 * FAST, 0, 0], {DETECTOR + "pixel_mask": _mask})
third = numpy.delete(counts()[2], (7, 8), axis=0)
pixels("mask_of_third", counts(), [third.min(), third.max()], third.mean(), [2 * FAST, 0, 0], {DETECTOR + "pixel_mask": each}, 3)
pixels("one_threshold", counts()[:, None], *ranges(counts(), 2), [2 * FAST, 0, 0], {DETECTOR + "pixel_mask": lines})
two = numpy.stack([marked(counts(), 9), 2 * counts()], axis=1)
thresholds = {SPECIFIC + "threshold_1/threshold_energy": 5000.0, SPECIFIC + "threshold_2/threshold_energy": 9000.0}
case("two_thresholds", {"data/data_000001": two} | thresholds, {
    1: {"panels": None, "counts": [0, two[0, 0].max(), two[0, 0].mean()]},
    IMAGES + 1: {"counts": [0, 2 * counts()[0].max(), 2 * counts()[0].mean()]},
}, "2 thresholds with energies 5000, 9000")  # fmt: skip

channels = {f"{DETECTOR}{name}_channel/pixel_mask": mask for name, mask in
            (("threshold_1", lines), ("threshold_2", 0 * lines), ("difference", numpy.roll(lines, 2, axis=0)))}  # fmt: skip
three = numpy.stack([counts(), 2 * counts(), 3 * counts()], axis=1)
case("three_channels", {"data/data_000001": three} | channels, {
    1: {"panels": None, "counts": [0, ranges(counts(), 2)[0][1]], "masked": [2 * FAST, 0, 0]},
    IMAGES + 2: {"counts": [0, 2 * counts()[1].max(), 2 * counts()[1].mean()], "masked": [0, 0, 0]},
    2 * IMAGES + 3: {"counts": [0, 3 * third.max(), 3 * third.mean()], "masked": [2 * FAST, 0, 0]},
}, "3 thresholds")  # fmt: skip
pixels("one_channel", counts()[:, None], *ranges(counts(), 2), [2 * FAST, 0, 0],
       {f"{DETECTOR}threshold_1_channel/pixel_mask": lines})  # fmt: skip


def write(folder):
    for name, (members, facts, _) in CASES.items():
        with h5py.File(os.path.join(folder, name + ".h5"), "w") as file:
            for path, kind in (("", "NXentry"), ("data", "NXdata"), ("sample", "NXsample"), ("instrument", "NXinstrument"),
                               ("instrument/detector", "NXdetector"), ("instrument/beam", "NXbeam")):
                group(file, "entry/" + path, kind)
            if any("/module/" in path for path in members):
                group(file, "entry/instrument/detector/module", "NXdetector_module")
            for path, value in ({"data/data_000001": counts()} | members).items():
                value = value if isinstance(value, tuple) else (value,)
                if value[0] is not None:
                    number(file["entry"], path, value[0], *value[1:2], **(value[2] if len(value) > 2 else {}))
        for image in facts:
            print(f"{name}.h5#{image}")


def close(found, expected):
    if isinstance(expected, str):
        return isinstance(found, str) and expected in found
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) >= len(expected) and all(map(close, found, expected))
    if expected is None or found is None:
        return expected is None and found is None
    return math.isclose(found, expected, rel_tol=1e-5, abs_tol=1e-9)


def check(path):
    with open(path) as file:
        told = {entry["file"]: entry for entry in json.load(file)["files"]}
    wrong = 0
    for name, (_, images, notice) in CASES.items():
        for image, facts in images.items():
            entry = told[f"{name}.h5#{image}"]
            found = entry["facts"] | {"error": entry["error"]}
            for key, expected in facts.items():
                if not close(found.get(key), expected):
                    print(f"{name}.h5#{image}: {key}: expected {expected}, found {found.get(key)} {entry['error'] or ''}")
                    wrong += 1
            if notice is None and entry["notices"] or notice and not any(notice in line for line in entry["notices"]):
                print(f"{name}.h5#{image}: expected {'no notice' if notice is None else notice}, found {entry['notices']}")
                wrong += 1
    return wrong > 0


def check_turned(path):
    """The detector has swung about the sample and the spindle, x of lists, in its sense."""
    with open(path) as file:
        panel = json.load(file)["detector"][0]["panels"][0]
    c, s = math.cos(math.radians(20)), math.sin(math.radians(20))
    about_x = numpy.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    expected = {"origin": (-20.5 * 0.2, 12 * 0.2, -100), "fast_axis": (1, 0, 0), "slow_axis": (0, -1, 0)}
    wrong = [key for key in expected if not numpy.allclose(panel[key], about_x @ expected[key], atol=1e-6)]
    print(*(f"{path}: {key}: expected {about_x @ expected[key]}, found {panel[key]}\n" for key in wrong), end="")
    return len(wrong) > 0


def check_circled(path):
    """Kappa turns about -z of lists what phi turned about x; omega, outside of both, is the spindle."""
    with open(path) as file:
        listed = json.load(file)
    goniometer = listed["goniometer"][0]
    kappa, phi = math.radians(30), math.radians(40)
    about_z = [[math.cos(kappa), math.sin(kappa), 0], [-math.sin(kappa), math.cos(kappa), 0], [0, 0, 1]]
    about_x = [[1, 0, 0], [0, math.cos(phi), -math.sin(phi)], [0, math.sin(phi), math.cos(phi)]]
    expected = {"rotation_axis": [1, 0, 0], "fixed_rotation": numpy.matmul(about_z, about_x).ravel(),
                "setting_rotation": numpy.eye(3).ravel()}  # fmt: skip
    wrong = [key for key in expected if not numpy.allclose(goniometer[key], expected[key], atol=1e-9)]
    print(*(f"{path}: {key}: expected {expected[key]}, found {goniometer[key]}\n" for key in wrong), end="")
    fraction = listed["beam"][0]["polarization_fraction"]  # not stated
    if not math.isclose(fraction, 0.999):
        print(f"{path}: expected a polarization of 0.999, found {fraction}")
    return len(wrong) > 0 or not math.isclose(fraction, 0.999)


if __name__ == "__main__":
    sys.exit({"write": write, "check": check, "turned": check_turned, "circled": check_circled}[sys.argv[1]](sys.argv[2]))
