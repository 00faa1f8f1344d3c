"""Images of amorphous matter against a calculation of its own, pixel by pixel, in Python's standard library.

I = r_e^2 x fluence x molecules x mean over sub-pixels and sources of sum over layers of sign(F) F^2 P omega A
"""
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
R_E_SQUARED = 7.94079248018965e-30
AVOGADRO = 6.02214179e23
DEFAULT_FLUENCE = 125932015286227086360700780544.0

failures = 0


def complain(text):
    global failures
    failures += 1
    print("FAILED:", text)


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        complain(f"dualbragg {' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr}")
    return done


def image(path):
    with open(path, "rb") as file:
        data = file.read()
    return struct.unpack(f"<{len(data) // 4}f", data)


def amplitude(points, x):
    """Cubic Lagrange through one point below the interval of x, its ends and one above, without those that there are
    not; before the first point and behind the last one their F."""
    if x < points[0][0] or x >= points[-1][0]:
        return points[0 if x < points[0][0] else -1][1]
    i = max(n for n in range(len(points) - 1) if points[n][0] <= x)
    window = points[max(i - 1, 0):i + 3]
    total = 0.0
    for n, (xn, yn) in enumerate(window):
        term = yn
        for m, (xm, _) in enumerate(window):
            if m != n:
                term *= (x - xm) / (xn - xm)
        total += term
    return total


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    return tuple(x / math.sqrt(dot(a, a)) for x in a)


def polarization(d, i, axis, kahn):
    b = unit(cross(axis, i))
    e = unit(cross(i, b))
    return 0.5 * (1 + dot(d, i) ** 2 - kahn * (dot(d, e) ** 2 - dot(d, b) ** 2))


class Setup:
    """A detector in the XDS frame: fast x, slow y, beam z, the beam in the middle. Lengths in m."""
    pixels = 24
    pixel = 4e-3
    distance = 0.06
    oversample = 1
    fluence = DEFAULT_FLUENCE
    polar = 0.0  # None: no factor
    wavelength = 1e-10
    sources = None  # (direction of photon travel, weight, wavelength)
    thickness, depth, layers = 0.0, 1.0, 1
    size = (1e-4, 1e-4, 1e-4)
    density, weight = 1.0, 18.0
    points = ()

    def __init__(self, **given):
        self.__dict__.update(given)

    def layer(self, t, d):
        if not self.thickness:
            return 1.0
        step = self.thickness / self.layers / self.depth / d[2]
        return math.exp(-t * step) - math.exp(-(t + 1) * step)

    def sample(self, x, y, t, sources):
        depth = t * self.thickness / self.layers
        r = (x, y, self.distance + depth)
        length = math.sqrt(dot(r, r))
        d = unit(r)
        omega = self.pixel ** 2 * r[2] / length ** 3
        total = 0.0
        for i, weight, wavelength in sources:
            q = math.sqrt(sum((a - b) ** 2 for a, b in zip(d, i))) / wavelength
            f = amplitude(self.points, q / 2 * 1e-10)
            p = 1.0 if self.polar is None else polarization(d, i, (1.0, 0.0, 0.0), self.polar)
            total += weight * math.copysign(f * f, f) * p
        return total * omega * self.layer(t, d)

    def molecules(self):
        return self.size[0] * self.size[1] * self.size[2] * self.density * 1e6 * AVOGADRO / self.weight

    def expected(self):
        sources = self.sources or [((0.0, 0.0, 1.0), 1.0, self.wavelength)]
        factor = R_E_SQUARED * self.fluence * self.molecules()
        factor /= self.oversample ** 2 * sum(weight for _, weight, _ in sources)
        centre = self.pixels * self.pixel / 2
        values = []
        for slow in range(self.pixels):
            for fast in range(self.pixels):
                total = 0.0
                for sub in range(self.oversample ** 2):
                    x = (fast + (sub % self.oversample + 0.5) / self.oversample) * self.pixel - centre
                    y = (slow + (sub // self.oversample + 0.5) / self.oversample) * self.pixel - centre
                    for t in range(self.layers):
                        total += self.sample(x, y, t, sources)
                values.append(factor * total)
        return values

    def flags(self):
        flags = ["-xds", "-detpixels", self.pixels, "-pixel", 1e3 * self.pixel, "-distance", 1e3 * self.distance,
                 "-oversample", self.oversample, "-fluence", repr(self.fluence),
                 "-lambda", repr(self.wavelength * 1e10), "--quiet"]
        flags += ["-nopolar"] if self.polar is None else ["-polar", self.polar]
        if self.thickness:
            flags += ["-detector_thick", 1e6 * self.thickness, "-detector_abs", 1e6 * self.depth,
                      "-detector_thicksteps", self.layers]
        if self.sources:
            with open("sources", "w", encoding="ascii") as file:
                for i, weight, wavelength in self.sources:
                    file.write(f"{-10 * i[0]!r} {-10 * i[1]!r} {-10 * i[2]!r} {weight!r} {wavelength!r}\n")
            flags += ["-sourcefile", "sources"]
        return flags

    def matter(self, abscissa="-stol", unit=1.0):
        with open("matter.stol", "w", encoding="ascii") as file:
            file.writelines(f"{x * unit!r} {y!r}\n" for x, y in self.points)
        return [abscissa, "matter.stol"]


def compare(what, found, expected, relative=3e-7, of_largest=1e-9):
    """Output is in single precision: 6e-8 of a value."""
    largest = max(map(abs, expected))
    if len(found) != len(expected) or not largest > 0:
        complain(f"{what}: {len(found)} pixels, largest expected {largest}")
        return
    worst = max(abs(a - b) / (relative * abs(b) + of_largest * largest) for a, b in zip(found, expected))
    print(f"{what}: {worst:.3f} of the tolerance; {min(expected):.6g} to {max(expected):.6g} photons")
    if not worst <= 1:
        complain(f"{what}: differs from the independent calculation")


WATER = [(0.0, 2.57), (0.05, 2.6), (0.11, 2.9), (0.16, 3.6), (0.2, 3.1), (0.27, 2.5), (0.4, 1.6)]
SIGNED = [(0.1, 1.0), (0.2, -0.5), (0.25, -1.5), (0.35, 2.0), (0.5, 0.25)]


def slanted(x, y):
    return unit((x, y, 1.0))


def main():
    three = [(slanted(0, 0), 1.0, 1e-10), (slanted(0.02, -0.01), 0.25, 1.1e-10), (slanted(-0.01, 0.03), 3.0, 0.9e-10)]
    cases = {
        "water": (Setup(points=WATER), []),
        "oversampled, polarized": (Setup(points=WATER, oversample=3, polar=0.9), []),
        "without polarization": (Setup(points=WATER, polar=None, oversample=2), []),
        "outside the curve on both sides, negative amplitudes": (Setup(points=SIGNED, wavelength=0.7e-10), []),
        "two points": (Setup(points=[(0.1, 3.0), (0.3, 2.0)]), []),
        "three points": (Setup(points=[(0.1, 3.0), (0.15, 2.0), (0.4, 2.5)]), []),
        "air": (Setup(points=WATER, size=(25e-3, 1e-4, 1e-4), density=1.2e-3, weight=28),
                ["-thick", 25, "-density", 1.2e-3, "-MW", 28]),
        "sizes": (Setup(points=WATER, size=(2e-4, 5e-5, 8e-5)),
                  ["-amorphous_thickness", 0.2, "-amorphous_width", 0.05, "-amorphous_height", 0.08]),
        "sizes of nonBragg": (Setup(points=WATER, size=(2e-4, 5e-5, 8e-5)),
                              ["-thickness", 0.2, "-width", 0.05, "-height", 0.08]),
        "one size for all": (Setup(points=WATER, size=(5e-5, 5e-5, 5e-5)), ["-samplesize", 0.05]),
        "the beam clips": (Setup(points=WATER, size=(3e-4, 2e-5, 2e-5)), ["-samplesize", 0.3, "-beamsize", 0.02]),
        "molecules": (Setup(points=WATER, size=(1, 1, 1), density=1e15 / AVOGADRO / 1e6, weight=1),
                      ["-molecules", 1e15, "-MW", 44]),
        "flux": (Setup(points=WATER, fluence=1e12 * 0.1 / (5e-5) ** 2, size=(1e-4, 5e-5, 5e-5)),
                 ["-flux", 1e12, "-exposure", 0.1, "-beamsize", 0.05]),
        "a table that ends inside the image at both ends": (Setup(points=WATER[2:5]), []),
        "sensor layers": (Setup(points=WATER, thickness=450e-6, depth=300e-6, layers=3, oversample=2), []),
        "weighted sources": (Setup(points=WATER, sources=three, polar=0.5, oversample=2), []),
    }
    for what, (setup, more) in cases.items():
        run("amorphous", *setup.flags(), *setup.matter(), *more, "-floatfile", "image")
        compare(what, image("image"), setup.expected())

    # the number of molecules in the beam is said as it counts
    for what in ("sizes", "molecules"):
        setup, more = cases[what]
        flags = [flag for flag in setup.flags() if flag != "--quiet"]
        said = run("amorphous", *flags, *setup.matter(), *more, "-floatfile", "image").stdout
        found = re.search(r"^(\S+) molecules$", said, re.M)
        if not found or not math.isclose(float(found[1]), setup.molecules(), rel_tol=1e-5):
            complain(f"{what}: expected {setup.molecules():.6g} molecules in {said}")

    # the largest of negative pixels is said
    setup = Setup(points=[(x, -f) for x, f in WATER])
    flags = [flag for flag in setup.flags() if flag != "--quiet"]
    said = run("amorphous", *flags, *setup.matter(), "-floatfile", "image").stdout
    expected = setup.expected()
    found = [float(x) for x in re.search(r"^max_I = (\S+)  at (\S+) (\S+)$", said, re.M).groups()]
    slow, fast = divmod(max(range(len(expected)), key=image("image").__getitem__), setup.pixels)
    at = [max(expected), (fast + 0.5) * setup.pixel, (slow + 0.5) * setup.pixel]
    if not all(math.isclose(x, y, rel_tol=1e-5) for x, y in zip(found, at)):
        complain(f"the largest of negative pixels is {at}, not {found}")

    # the other first columns
    setup = Setup(points=WATER)
    for abscissa, multiple in (("-4stol", 4.0), ("-Q", 4 * math.pi)):
        run("amorphous", *setup.flags(), *setup.matter(abscissa, multiple), "-floatfile", "image")
        compare(abscissa, image("image"), setup.expected())
    run("amorphous", *setup.flags(), *setup.matter(), "-floatfile", "image", "--precision", "mixed")
    # single precision inside: 1e-6 of the largest pixel
    compare("mixed precision", image("image"), setup.expected(), of_largest=1e-6)
    one = image("image")
    run("amorphous", *setup.flags(), *setup.matter(), "-floatfile", "image", "--precision", "mixed", "--threads", 3)
    if image("image") != one:
        complain("another number of threads, another image")

    # a crystal in front: the sum of the two
    crystal = ["-cell", 40, 50, 60, 90, 100, 90, "-misset", 10, 20, 30, "-default_F", 30, "-N", 3]
    setup = Setup(points=WATER, oversample=2, polar=0.9, sources=three, thickness=300e-6, depth=200e-6, layers=2)
    run("sim", *setup.flags(), *crystal, "-floatfile", "crystal")
    run("sim", *setup.flags(), *crystal, *setup.matter(), "-amorphous_thickness", 0.001, "-floatfile", "both")
    setup.size = (1e-6, 1e-4, 1e-4)
    compare("a crystal and water", image("both"), [a + b for a, b in zip(image("crystal"), setup.expected())])
    # a resolution limit is the crystal's
    run("sim", *setup.flags(), *crystal, *setup.matter(), "-amorphous_thickness", 0.001, "-dmin", 1000, "-floatfile", "cut")
    compare("water beyond the crystal's resolution", image("cut"), setup.expected())
    # and phi steps and domains do not multiply the water
    run("sim", *setup.flags(), *crystal, *setup.matter(), "-amorphous_thickness", 0.001, "-dmin", 1000, "-osc", 1,
        "-mosaic", 0.5, "-mosaic_domains", 3, "-floatfile", "cut")
    compare("water in a sweep", image("cut"), setup.expected())


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
sys.exit(1 if failures else 0)
