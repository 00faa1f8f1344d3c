"""Looks at HDF5 images with h5py. usage: nexus_write.py floats|counts FILE RAW, nexus_write.py same LIST LIST; makes
lists and files of several modules: two LIST LIST, barrel LIST LIST, stack FILE FILE LIST LIST"""
import json
import math
import sys

import numpy


def look(path):
    import h5py
    import hdf5plugin  # noqa: F401

    with h5py.File(path) as file:
        data = file["entry/data/data"]
        numbers = {name: file["entry/" + name][()] for name in
                   ("instrument/beam/incident_wavelength", "instrument/detector/count_time",
                    "sample/transformations/phi", "instrument/detector/module_0000/data_size")}
        assert data.compression is None and "32008" in data._filters, data._filters
        mask = file["entry/instrument/detector"].get("pixel_mask")
        limit = file["entry/instrument/detector"].get("saturation_value")
        assert file["entry/definition"][()] == b"NXmx" and file["entry/data"].attrs["signal"] == b"data"
        return data[()], numbers, mask is not None and mask[()], limit and limit[()]


def floats(path, raw):
    pixels, numbers, mask, limit = look(path)
    assert pixels.dtype == "f4" and (pixels[0] == numpy.fromfile(raw, "<f4").reshape(pixels.shape[1:])).all()
    assert pixels.shape == (1, 61, 101) and mask is False and limit is None
    assert [value.tolist() for value in numbers.values()] == [[1.2], 0.25, [0], [61, 101]], numbers


def counts(path, raw):
    pixels, numbers, mask, limit = look(path)
    assert pixels.dtype == ("u2" if "16" in path else "i4") and limit == (65534 if "16" in path else 2**31 - 2)
    signal = numpy.fromfile(raw, "<f4").reshape(pixels.shape[1:])
    assert pixels.sum() > 100 and (pixels[0] == signal).all()
    inside = numpy.zeros(signal.shape, bool)
    inside[5:51, 10:81] = True
    assert ((mask == 0) == inside).all()


def same(first, second):
    """Lists, but for what an image cannot say: crystal, mask, how a sensor that is none is called."""
    read = [json.load(open(path)) for path in (first, second)]

    def compare(a, b, where):
        if isinstance(a, dict):
            for key in a:
                if key not in ("thickness", "mu", "material", "type", "px_mm_strategy", "trusted_range", "name"):
                    compare(a[key], b[key], where + "/" + key)
        elif isinstance(a, list):
            assert len(a) == len(b), where
            for i, (one, other) in enumerate(zip(a, b)):
                compare(one, other, "%s[%d]" % (where, i))
        elif isinstance(a, float):
            assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9), (where, a, b)
        else:
            assert a == b, (where, a, b)

    for model in ("detector", "goniometer", "scan"):
        compare(read[0][model], read[1][model], model)
    assert read[0]["beam"][0]["wavelength"] == read[1]["beam"][0]["wavelength"]
    thick = [document["detector"][0]["panels"][0]["thickness"] for document in read]
    assert math.isclose(*thick, abs_tol=1e-9), thick


def two(given, made):
    """A list of two panels in one array: the given one, and below it one that is moved and turned."""
    document = json.load(open(given))
    detector = document["detector"][0]
    panel = json.loads(json.dumps(detector["panels"][0]))
    turn = 0.02
    fast, slow = (numpy.array(panel[axis]) for axis in ("fast_axis", "slow_axis"))
    panel["fast_axis"] = list(fast * math.cos(turn) + slow * math.sin(turn))
    panel["slow_axis"] = list(slow * math.cos(turn) - fast * math.sin(turn))
    panel["origin"] = list(numpy.array(panel["origin"]) + [0.3, -1.2 * panel["image_size"][1] * panel["pixel_size"][1], 1.1])
    panel["raw_image_offset"] = [0, panel["image_size"][1]]
    detector["panels"].append(panel)
    detector["hierarchy"]["children"] = [{"panel": 0}, {"panel": 1}]
    json.dump(document, open(made, "w"))


def barrel(given, made):
    """A list of four panels in one array around the spindle, of which the first lies behind the sample."""
    document = json.load(open(given))
    detector = document["detector"][0]
    size = detector["panels"][0]["image_size"]
    panels = []
    for n, degrees in enumerate((130, 90, 30, -40)):
        panel = json.loads(json.dumps(detector["panels"][0]))
        cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        turn = numpy.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
        corner = [-3.0, 2.5, -40]
        for key, vector in (("fast_axis", (1, 0, 0)), ("slow_axis", (0, -1, 0)), ("origin", corner)):
            panel[key] = list(turn @ vector)
        panel["raw_image_offset"] = [0, n * size[1]]
        panels.append(panel)
    detector["panels"] = panels
    detector["hierarchy"]["children"] = [{"panel": n} for n in range(len(panels))]
    json.dump(document, open(made, "w"))


def stack(rows, stacked, given, made):
    """The modules of one array as arrays of a stack, named so that their order is not that of their names."""
    import h5py
    import hdf5plugin  # noqa: F401

    with h5py.File(rows) as source, h5py.File(stacked, "w") as file:
        for name in source:
            source.copy(name, file)
        pixels = file["entry/data/data"][()]
        del file["entry/data/data"]
        file["entry/data/data"] = pixels.reshape(pixels.shape[0], 2, pixels.shape[1] // 2, pixels.shape[2])
        detector = file["entry/instrument/detector"]
        for n in (0, 1):
            module = detector[f"module_{n:04}"]
            size = module["data_size"][()]
            del module["data_origin"], module["data_size"]
            module["data_origin"], module["data_size"] = numpy.array([n, 0, 0]), numpy.array([1, *size])
        detector.move("module_0000", "zz")
        for axis in ("fast_pixel_direction", "slow_pixel_direction"):
            detector["zz"][axis].attrs["depends_on"] = "/entry/instrument/detector/zz/module_offset"
    document = json.load(open(given))
    for panel in document["detector"][0]["panels"]:
        panel["raw_image_offset"] = [0, 0]
    json.dump(document, open(made, "w"))


{"floats": floats, "counts": counts, "same": same, "two": two, "barrel": barrel, "stack": stack}[sys.argv[1]](*sys.argv[2:])
