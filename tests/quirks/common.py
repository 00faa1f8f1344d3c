"""Running the program for the tests of quirks. Standard library only.

DUALBRAGG names the program. If REFERENCE names the reference program, it stands in for `dualbragg sim -compat`, so that
the sizes in these tests can be measured again; tests of what -compat does not take over are skipped then.
"""
import array
import math
import os
import subprocess
import sys
import tempfile
import unittest

DUALBRAGG = os.environ.get("DUALBRAGG", "dualbragg")
REFERENCE = os.environ.get("REFERENCE")

CELL = (45, 55, 70, 82, 97, 105)
WITHOUT_CELL = ("-misset 10 20 30 -default_F 100 -N 5 -lambda 1.3 -distance 70 -detpixels 64 -pixel 0.5 -nointerpolate "
                "-oversample 1").split()
BASE = ["-cell"] + [str(x) for x in CELL] + WITHOUT_CELL


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def reference_matrix(cell, wavelength):
    """A matrix file (as text) of the lattice that the reference makes of a cell, z component of c* included, with the
    edges forced back: both modes read the same lattice from it."""
    a, b, c = cell[:3]
    alpha, beta, gamma = (math.radians(x) for x in cell[3:])
    half = (alpha + beta + gamma) / 2
    volume = 2 * a * b * c * math.sqrt(
        math.sin(half) * math.sin(half - alpha) * math.sin(half - beta) * math.sin(half - gamma))
    a_star, b_star, c_star = (b * c * math.sin(alpha) / volume, c * a * math.sin(beta) / volume,
                              a * b * math.sin(gamma) / volume)
    cos_alpha, cos_beta, cos_gamma = math.cos(alpha), math.cos(beta), math.cos(gamma)
    cos_alpha_star = (cos_beta * cos_gamma - cos_alpha) / (math.sin(beta) * math.sin(gamma))
    cos_beta_star = (cos_gamma * cos_alpha - cos_beta) / (math.sin(gamma) * math.sin(alpha))
    cos_gamma_star = (cos_alpha * cos_beta - cos_gamma) / (math.sin(alpha) * math.sin(beta))
    sin_gamma_star = min(1, c / (volume * a_star * b_star))
    stars = [[a_star, 0, 0], [b_star * cos_gamma_star, b_star * sin_gamma_star, 0],
             [c_star * cos_beta_star, c_star * (cos_alpha_star - cos_beta_star * cos_gamma_star) / sin_gamma_star,
              c_star * volume / (a * b * c * sin_gamma_star)]]
    real = []
    for i, edge in enumerate((a, b, c)):
        direction = cross(stars[(i + 1) % 3], stars[(i + 2) % 3])
        length = math.sqrt(dot(direction, direction))
        real.append([x * edge / length for x in direction])
    triple = dot(real[0], cross(real[1], real[2]))
    columns = [[x / triple * wavelength for x in cross(real[(i + 1) % 3], real[(i + 2) % 3])] for i in range(3)]
    return "".join("%.17g %.17g %.17g\n" % tuple(columns[j][i] for j in range(3)) for i in range(3))


class Result:
    def __init__(self, status, out, err, image, folder):
        self.status, self.out, self.err, self.image, self.folder = status, out, err, image, folder
        self.sum = math.fsum(image)
        self.peak = max(image, default=0.0)

    def numbers(self, label):
        """The numbers of the line that begins with a label, words between them left out."""
        for line in self.out.splitlines():
            if line.strip().startswith(label):
                found = []
                for word in line.strip()[len(label):].replace("=", "= ").split():
                    try:
                        found.append(float(word))
                    except ValueError:
                        pass
                return found
        raise AssertionError("no line '%s' in:\n%s" % (label, self.out))


def off_by(image, right):
    """Largest difference, as a part of the right image's peak."""
    return max(abs(a - b) for a, b in zip(image.image, right.image)) / right.peak


class QuirkTest(unittest.TestCase):
    """Each test runs in a folder of its own, with a matrix file `base.mat` of the lattice that the reference makes of
    the cell of BASE."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = self.scratch.name
        self.write("base.mat", reference_matrix(CELL, 1.3))

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def path(self, name):
        return os.path.join(self.folder, name)

    def exists(self, name):
        return os.path.exists(self.path(name))

    def run_program(self, arguments, compat=False, program=None):
        if isinstance(arguments, str):
            arguments = arguments.split()
        name = self.path("image.f32")
        if os.path.exists(name):
            os.remove(name)
        command = list(program or ([REFERENCE] if compat and REFERENCE else [DUALBRAGG, "sim"]))
        tail = ["-floatfile", name, "-nopgm", "-noprogress"]
        if "-noisefile" not in arguments:
            tail.append("-nonoise")
        if not (compat and REFERENCE):
            tail += ["--digits", "9"] + (["-compat"] if compat else [])
        done = subprocess.run(command + list(arguments) + tail, cwd=self.folder, capture_output=True, text=True)
        image = array.array("f")
        if os.path.exists(name):
            with open(name, "rb") as file:
                image.frombytes(file.read())
            if sys.byteorder == "big":
                image.byteswap()
        return Result(done.returncode, done.stdout, done.stderr, image, self.folder)

    def default(self, arguments):
        result = self.run_program(arguments)
        self.assertEqual(result.status, 0, result.err)
        return result

    def compat(self, arguments):
        result = self.run_program(arguments, compat=True)
        self.assertEqual(result.status, 0, result.err)
        return result

    def both(self, arguments):
        """What default and -compat make of one command line."""
        return self.default(arguments), self.compat(arguments)

    def base(self, extra=""):
        """The base command line with further flags; its lattice is the same in both modes."""
        return ["-mat", "base.mat"] + WITHOUT_CELL + extra.split()

    def assertSize(self, found, expected):
        """Equal to as many digits as the expected number, given as text, has; one unit of the last may differ."""
        digits = len(expected.split(".")[1]) if "." in expected else 0
        self.assertLessEqual(abs(found - float(expected)), 10.0 ** -digits, "found %.6g" % found)

    def assertSame(self, a, b):
        """The same image: within 1e-6 of a pixel and 1e-9 of the peak."""
        self.assertEqual(len(a.image), len(b.image))
        self.assertGreater(len(a.image), 0)
        for x, y in zip(a.image, b.image):
            self.assertLessEqual(abs(x - y), 1e-6 * abs(y) + 1e-9 * b.peak)

    def assertIdentical(self, a, b):
        """The same bits."""
        self.assertGreater(len(a.image), 0)
        self.assertTrue(a.image == b.image, "the images differ")

    def assertDifferent(self, a, b):
        self.assertTrue(a.image != b.image, "the images are the same")

    def assertRefused(self, arguments, fragment, modes=(False, True)):
        """An error that says so, and no file."""
        for compat in modes:
            if compat and REFERENCE:
                continue
            result = self.run_program(arguments, compat)
            self.assertNotEqual(result.status, 0, "accepted, compat %s" % compat)
            self.assertGreater(result.status, 0, "crashed")
            self.assertIn(fragment, result.err)
            self.assertEqual(len(result.image), 0)

    def not_taken_over(self):
        if REFERENCE:
            self.skipTest("-compat does not do as the reference does")


def main():
    unittest.main(verbosity=1)
