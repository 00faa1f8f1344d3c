"""Experiment lists of two sweeps of one crystal, on two settings of a goniometer and with the detector at two places: truth.expt, with
the crystal, and named.expt, whose circles stand 0.6 degree beside that, and whose distances are 0.2 mm too short and 0.3 mm too long."""
import json
from math import cos, radians, sin


def turn(axis, degree):
    c, s, (x, y, z) = cos(radians(degree)), sin(radians(degree)), axis
    return [[c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s],
            [z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)]]


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def by_angles(a):
    return product(turn((0, 0, 1), a[2]), product(turn((0, 1, 0), a[1]), turn((1, 0, 0), a[0])))


chi, wrong, stands = turn((0.6, 0, 0.8), 40), turn((0, 0.6, 0.8), 0.6), by_angles((20, 20, 30))
crystal = {"__id__": "crystal", "space_group_hall_symbol": " P 4", **{
    "real_space_" + name: [stands[i][k] * edge for i in range(3)] for k, (name, edge) in enumerate(zip("abc", (58, 58, 92)))}}


def experiments(settings, distances, crystals):
    out = {key: [] for key in ("experiment", "beam", "detector", "goniometer", "scan", "imageset")}
    out["__id__"] = "ExperimentList"
    for n, (rotation, distance) in enumerate(zip(settings, distances)):
        out["experiment"].append({"__id__": "Experiment", "identifier": str(n), **{
            k: n for k in ("beam", "detector", "goniometer", "scan", "imageset")}, **({"crystal": 0} if crystals else {})})
        out["beam"].append({"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": 1.0, "polarization_fraction": 0.5,
                            "polarization_normal": [0, 1, 0], "divergence": 0, "sigma_divergence": 0})
        out["detector"].append({"panels": [{
            "name": "", "type": "SENSOR_PAD", "fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0], "origin": [-40, 40, -distance],
            "raw_image_offset": [0, 0], "image_size": [400, 400], "pixel_size": [0.2, 0.2], "trusted_range": [-1, 1e9],
            "thickness": 0, "material": "", "mu": 0, "identifier": "", "mask": [], "gain": 1, "pedestal": 0,
            "px_mm_strategy": {"type": "SimplePxMmStrategy"}}],
            "hierarchy": {"name": "", "type": "", "fast_axis": [1, 0, 0], "slow_axis": [0, 1, 0], "origin": [0, 0, 0],
                          "raw_image_offset": [0, 0], "image_size": [0, 0], "pixel_size": [0, 0], "trusted_range": [0, 0],
                          "thickness": 0, "material": "", "mu": 0, "identifier": "", "mask": [], "gain": 1, "pedestal": 0,
                          "px_mm_strategy": {"type": "SimplePxMmStrategy"}, "children": [{"panel": 0}]}})
        out["goniometer"].append({"rotation_axis": [1, 0, 0], "fixed_rotation": [x for row in rotation for x in row],
                                  "setting_rotation": [1, 0, 0, 0, 1, 0, 0, 0, 1]})
        out["scan"].append({"image_range": [1, 5], "batch_offset": 0, "properties": {
            "oscillation": [10.0 + i for i in range(5)], "oscillation_width": [1.0] * 5, "exposure_time": [1.0] * 5,
            "epochs": [0.0] * 5}, "oscillation": [10.0, 1.0], "exposure_time": [1.0] * 5, "epochs": [0.0] * 5,
            "valid_image_ranges": {}})
        out["imageset"].append({"__id__": "ImageSequence", "template": "sweep_%d_####.img" % n, "mask": None, "gain": None,
                                "pedestal": None, "dx": None, "dy": None, "params": {}})
    out["crystal"], out["profile"], out["scaling_model"] = [crystal] if crystals else [], [], []
    return out


none = by_angles((0, 0, 0))
if __name__ == "__main__":
    json.dump(experiments((none, product(wrong, chi)), (100.2, 129.7), True), open("truth.expt", "w"))
    json.dump(experiments((none, chi), (100, 130), False), open("named.expt", "w"))
