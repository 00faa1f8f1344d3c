"""An independent reader of the files that dualbragg sim writes, and a model of single pixels. Standard library only."""
import array
import cmath
import math
import sys

R2 = 7.94079248018965e-30  # Thomson scattering length squared (m^2)
FLUENCE = 1 / R2


def floats(path):
    values = array.array("f")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    if sys.byteorder == "big":
        values.byteswap()
    return values


def smv(path):
    """Header as a dictionary, pixels as 16-bit numbers."""
    with open(path, "rb") as file:
        data = file.read()
    text = data[: data.index(b"}")].decode("ascii")
    if not text.startswith("{\n"):
        sys.exit("%s: no SMV header" % path)
    header = dict(entry.strip().split("=", 1) for entry in text[2:].split(";") if "=" in entry)
    size = int(header["HEADER_BYTES"])
    pixels = array.array("H")
    pixels.frombytes(data[size:])
    if header["BYTE_ORDER"] != sys.byteorder + "_endian":
        pixels.byteswap()
    if size % 512 or len(pixels) != int(header["SIZE1"]) * int(header["SIZE2"]):
        sys.exit("%s: header of %d bytes, %d pixels of %s x %s" %
                 (path, size, len(pixels), header["SIZE1"], header["SIZE2"]))
    return header, pixels


def pgm(path):
    with open(path, "rb") as file:
        kind, size, comment, depth, pixels = file.read().split(b"\n", 4)
    fast, slow = map(int, size.split())
    if kind != b"P5" or depth != b"255" or len(pixels) != fast * slow:
        sys.exit("%s: not an 8-bit PGM of %d x %d pixels" % (path, fast, slow))
    return fast, slow, float(comment.split()[-1]), pixels


def same(found, expected, tolerance, what):
    if not abs(found - expected) <= tolerance * max(abs(found), abs(expected)):
        sys.exit("%s: found %.10g, expected %.10g" % (what, found, expected))


def true(condition, what):
    if not condition:
        sys.exit(what)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def turn_xyz(v, angles):
    """About x, then y, then z of the laboratory (degree)."""
    x, y, z = v
    a, b, c = (math.radians(angle) for angle in angles)
    y, z = y * math.cos(a) - z * math.sin(a), y * math.sin(a) + z * math.cos(a)
    x, z = x * math.cos(b) + z * math.sin(b), -x * math.sin(b) + z * math.cos(b)
    x, y = x * math.cos(c) - y * math.sin(c), x * math.sin(c) + y * math.cos(c)
    return x, y, z


def diffraction(n, h):
    """|sum of n waves|^2, the phase of each 2 pi h after the last."""
    return abs(sum(cmath.exp(2j * math.pi * h * i) for i in range(n))) ** 2


def pixel(position, area, normal, beam, wavelength, lattice, cells, f):
    """Photons in a pixel from a parallelepiped of n cells, unpolarized; lengths of the detector in m, others in A."""
    r = math.sqrt(dot(position, position))
    d = [x / r for x in position]
    q = [(x - y) / wavelength for x, y in zip(d, beam)]
    h = [dot(a, q) for a in lattice]
    crystal = math.prod(diffraction(n, index) for n, index in zip(cells, h))
    omega = area * dot(position, normal) / r**3
    return omega * (1 + dot(d, beam) ** 2) / 2 * f(h) ** 2 * crystal
