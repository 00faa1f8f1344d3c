"""Reads SMV images and raw floats with Python's standard library alone, and says what is wrong with them."""
import array
import math
import re
import sys


def floats(path):
    values = array.array("f", open(path, "rb").read())
    if sys.byteorder == "big":
        values.byteswap()
    return list(values)


def smv(path):
    data = open(path, "rb").read()
    size = int(re.search(rb"HEADER_BYTES= *(\d+);", data).group(1))
    header = dict(re.findall(r"(\w+)=([^;\n]*);", data[:size].decode("ascii")))
    kind = {"unsigned_short": "H", "signed_long": "i"}[header["TYPE"]]
    numbers = array.array(kind, data[size:])
    if (header["BYTE_ORDER"] == "little_endian") != (sys.byteorder == "little"):
        numbers.byteswap()
    assert len(numbers) == int(header["SIZE1"]) * int(header["SIZE2"]), "pixels are missing"
    return header, list(numbers)


def noisy(expected_file, image_file, photons):
    """The image is the expected one plus 40 with Poisson's noise, and holds that many photons."""
    expected = floats(expected_file)
    header, numbers = smv(image_file)
    assert float(header["IMAGE_PEDESTAL"]) == 40 and float(header["GAIN"]) == 1, header
    found = [n - 40 for n in numbers]
    assert sum(found) == int(photons), "%d photons, the report says %s" % (sum(found), photons)
    bright = [(f, e) for f, e in zip(found, expected) if e > 20]
    assert len(bright) > 100, "only %d bright pixels" % len(bright)
    # sum of z^2: mean n, variance 2 n + sum 1/mean; six standard deviations
    z2 = sum((f - e) ** 2 / e for f, e in bright)
    deviation = math.sqrt(2 * len(bright) + sum(1 / e for _, e in bright))
    assert abs(z2 - len(bright)) < 6 * deviation, "sum of z^2 %g of %d pixels" % (z2, len(bright))
    z = (sum(found) - sum(expected)) / math.sqrt(sum(expected))
    assert abs(z) < 6, "%g standard deviations too many photons" % z
    assert all(f == 0 for f, e in zip(found, expected) if e == 0), "photons out of nothing"


def clean(expected_file, image_file, scale, gain, adc, limit):
    """The image is the expected one, amplified and rounded."""
    expected = floats(expected_file)
    header, numbers = smv(image_file)
    assert float(header["GAIN"]) == float(gain) and float(header["ADC_OFFSET"]) == float(adc), header
    for i, (number, e) in enumerate(zip(numbers, expected)):
        signal = e * float(scale) * float(gain) + float(adc)
        wanted = min(math.floor(signal + 0.5), int(limit))
        at_border = abs(signal + 0.5 - round(signal + 0.5)) < 1e-6
        assert number == wanted or at_border, "pixel %d: %d, expected %d" % (i, number, wanted)


def part(whole_file, part_file, fast_pixels, left, right, top, bottom):
    """The second image is the first one within a region of interest, and 0 outside."""
    whole, region = smv(whole_file)[1], smv(part_file)[1]
    for i, (w, r) in enumerate(zip(whole, region)):
        fast, slow = i % int(fast_pixels), i // int(fast_pixels)
        inside = int(left) <= fast <= int(right) and int(top) <= slow <= int(bottom)
        assert r == (w if inside else 0), "pixel (%d, %d): %d, in the whole image %d" % (fast, slow, r, w)


def rounded(float_file, image_file, limit):
    """The image is the floats, rounded and limited."""
    for i, (f, n) in enumerate(zip(floats(float_file), smv(image_file)[1])):
        limited = max(0, min(f, int(limit)))
        assert abs(n - limited) <= 0.5 + 1e-7 * limited, "pixel %d: %d from %.9g" % (i, n, f)


def write(path, *values):
    array.array("f", [float(v) for v in values]).tofile(open(path, "wb"))


globals()[sys.argv[1]](*sys.argv[2:])
