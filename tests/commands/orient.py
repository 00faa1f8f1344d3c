"""Orientation matrices against a calculation of their own, in Python's standard library: A = U B wavelength."""
import os
import random
import struct
import subprocess
import sys
import tempfile
from math import acos, cos, degrees, pi, radians, sin, sqrt

PROGRAM = sys.argv[1]
TRICLINIC = (45.0, 55.0, 70.0, 82.0, 97.0, 105.0)
failures = 0


def complain(text):
    global failures
    failures += 1
    print("FAILED:", text)


def run(*arguments, text=None):
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        complain(f"dualbragg {' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr}")
    return done.stdout


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def rotation(x, y, z):
    """About x, then y, then z (degree)."""
    cx, sx, cy, sy, cz, sz = (f(radians(t)) for t in (x, y, z) for f in (cos, sin))
    rx = [[1, 0, 0], [0, cx, -sx], [0, sx, cx]]
    ry = [[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]]
    rz = [[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]]
    return product(rz, product(ry, rx))


def reciprocal(cell, ubtoa=False):
    """B: a* along x, b* in the xy plane. UBtoA takes a c*z that is wrong for cells like this one."""
    a, b, c = cell[:3]
    ca, cb, cg = (cos(radians(t)) for t in cell[3:])
    sa, sb, sg = (sin(radians(t)) for t in cell[3:])
    volume = a * b * c * sqrt(1 - ca * ca - cb * cb - cg * cg + 2 * ca * cb * cg)
    a_star, b_star, c_star = b * c * sa / volume, c * a * sb / volume, a * b * sg / volume
    ca_star, cb_star, cg_star = (cb * cg - ca) / (sb * sg), (cg * ca - cb) / (sg * sa), (ca * cb - cg) / (sa * sb)
    sg_star = sqrt(1 - cg_star * cg_star)
    z = c_star * volume / (a * b * c * sg_star) if ubtoa else 1 / c
    return [[a_star, b_star * cg_star, c_star * cb_star],
            [0, b_star * sg_star, c_star * (ca_star - cb_star * cg_star) / sg_star],
            [0, 0, z]]


def printed(text):
    """The matrix of a MOSFLM file, after a look at its form."""
    rows = [list(map(float, line.split())) for line in text.splitlines()]
    if [len(row) for row in rows] != [3, 3, 3, 3, 3, 3, 3, 6, 3]:
        complain(f"this is not the form of a MOSFLM matrix file:\n{text}")
        return [[0.0] * 3] * 3
    for word in text.split()[:9]:
        if len(word.split(".")[1]) != 8:
            complain(f"expected eight decimals, found {word}")
    if "-0.00000000" in text:
        complain("zeros are printed as negative")
    return rows[:3]


def compare(what, found, expected, tolerance=0.51e-8):
    worst = max(abs(found[i][j] - expected[i][j]) for i in range(3) for j in range(3))
    if not worst <= tolerance:
        complain(f"{what}: off by {worst}; found {found}, expected {expected}")


def scaled(matrix, factor):
    return [[factor * x for x in row] for row in matrix]


def matrices():
    b = reciprocal(TRICLINIC)
    compare("a cell", printed(run("orient", "-cell", *TRICLINIC)), b)
    compare("wavelength", printed(run("orient", "-cell", *TRICLINIC, "-lambda", 1.3)), scaled(b, 1.3))
    compare("energy", printed(run("orient", "-cell", *TRICLINIC, "-energy", 12398.42)), b)
    turned = product(rotation(10, -20, 130), b)
    compare("misset", printed(run("orient", "-cell", *TRICLINIC, "-misset", 10, -20, 130)), turned)
    u = rotation(-35, 60, 5)
    flat = [repr(x) for row in u for x in row]
    compare("a rotation matrix", printed(run("orient", "-cell", *TRICLINIC, "-umat", *flat)), product(u, b))
    compare("a rotation matrix, then misset",
            printed(run("orient", "-cell", *TRICLINIC, "-umat", *flat, "-misset", 10, -20, 130)),
            product(rotation(10, -20, 130), product(u, b)))

    run("orient", "-cell", *TRICLINIC, "-misset", 10, -20, 130, "-lambda", 1.3, "-o", "A.mat")
    with open("A.mat", encoding="ascii") as file:
        content = file.read()
    compare("a file", printed(content), scaled(turned, 1.3))
    if run("orient", "-cell", *TRICLINIC, "-misset", 10, -20, 130, "-lambda", 1.3, "-o", "B.mat", "-q") != "":
        complain("--quiet prints")
    # what was rounded to 8 decimals stays within one of the last
    again = printed(run("orient", "-mat", "A.mat", "-lambda", 1.3))
    compare("a matrix of a matrix", again, printed(content), 1.1e-8)
    compare("a matrix turned", printed(run("orient", "-mat", "A.mat", "-lambda", 1.3, "-misset", 0, 0, 90)),
            product(rotation(0, 0, 90), printed(content)), 1.1e-8)

    compare("-compat", printed(run("orient", "-cell", *TRICLINIC, "-misset", 1, 2, 3, "-compat", "-lambda", 1.1)),
            scaled(product(rotation(1, 2, 3), reciprocal(TRICLINIC, True)), 1.1))
    compare("-compat, two right angles", printed(run("orient", "-cell", 45, 55, 70, 90, 97, 90, "-compat")),
            reciprocal((45, 55, 70, 90, 97, 90)))


def keywords():
    b = reciprocal(TRICLINIC)
    u = [[-0.84965, 0.00295893, 0.527339], [0.479689, -0.411082, 0.775184], [0.219073, 0.911594, 0.347857]]
    umat = " ".join(str(x) for row in u for x in row)
    cell = "CELL " + " ".join(map(str, TRICLINIC))
    text = f"# as for UBtoA\n{cell}\nMISSET 50 60 70\n\nUMATRIX {umat}\nMISSET 1 2 3\nMISSET -5 10 20\nWAVE 1.2\n"
    expected = product(product(u, product(rotation(1, 2, 3), rotation(-5, 10, 20))), b)
    # U is written with six digits; the nearest rotation is taken
    compare("keywords", printed(run("orient", "-keywords", "-", text=text)), scaled(expected, 1.2), 3e-8)
    compare("keywords with -compat", printed(run("orient", "-keywords", "-", "-compat", text=f"{cell}\nMISSET 1 2 3\n")),
            product(rotation(1, 2, 3), reciprocal(TRICLINIC, True)))
    given = product(rotation(20, 30, 40), b)
    flat = " ".join(repr(x) for row in given for x in row)
    compare("a matrix as keyword", printed(run("orient", "-keywords", "-", text=f"MATRIX {flat}\nWAVE 2\n")),
            scaled(given, 2))
    compare("a cell after a matrix", printed(run("orient", "-keywords", "-", text=f"MATRIX {flat}\n{cell}\n")), b)
    same = run("orient", "-cell", *TRICLINIC, "-misset", "random", "-misset_spread", 3, "-misset_seed", 42)
    if same != run("orient", "-keywords", "-", text=f"{cell}\nRANDOM 3 42\n"):
        complain("RANDOM 3 42 is not -misset random -misset_spread 3 -misset_seed 42")


def angle_between(a, b):
    r = product(a, [list(row) for row in zip(*b)])
    return degrees(acos(max(-1.0, min(1.0, (r[0][0] + r[1][1] + r[2][2] - 1) / 2))))


def random_orientations():
    cube = ("-cell", 1, 1, 1, 90, 90, 90)
    unit = rotation(0, 0, 0)
    turns = [printed(run("orient", *cube, "-misset", "random", "-misset_seed", seed)) for seed in range(1, 201)]
    # uniform rotations: P(angle < t) = (t - sin t)/pi; the largest distance of 200 of them, at 1 % 0.115
    angles = sorted(angle_between(turn, unit) for turn in turns)
    law = [(radians(t) - sin(radians(t))) / pi for t in angles]
    distance = max(max(abs(p - i / 200), abs(p - (i + 1) / 200)) for i, p in enumerate(law))
    print(f"random orientations: distance {distance:.3f} from the uniform distribution of angles")
    if not distance < 0.115:
        complain("random orientations are not uniform")
    caps = [printed(run("orient", *cube, "-misset", "random", "-seed", seed, "-compat")) for seed in range(1, 101)]
    largest = max(angle_between(turn, unit) for turn in caps)
    if not 80 < largest <= 90.001:
        complain(f"-compat: largest random rotation {largest}, expected just below 90 degree")
    if printed(run("orient", *cube, "-misset", "random", "-seed", 5)) != turns[4]:
        complain("-seed is not the seed of -misset random")


def image(path):
    with open(path, "rb") as file:
        data = file.read()
    return struct.unpack(f"<{len(data) // 4}f", data)


def round_trip():
    """The same image from a cell with misset angles, from the matrix, and from the flags that describe the matrix."""
    common = ["-default_F", 100, "-N", 4, "-lambda", 1.3, "-distance", 70, "-detpixels", 40, "-pixel", 0.5,
              "-oversample", 1, "--quiet", "-floatfile"]
    dice = random.Random(3)
    for _ in range(5):
        misset = [dice.uniform(-180, 180) for _ in range(3)]
        cell = ["-cell", *TRICLINIC, "-misset", *map(repr, misset)]
        run("sim", *cell, *common, "cell")
        run("orient", *cell, "-lambda", 1.3, "-o", "A.mat", "-q")
        run("sim", "-mat", "A.mat", *common, "matrix")
        flags = run("orient", *cell, "-lambda", 1.3, "-print", "flags").split()
        run("sim", *flags, *common, "flags")
        by_cell = image("cell")
        # h, k, l below 30 times relative 5e-9/0.015 of the matrix: 1e-5 of a node's distance, spots are 1/N wide
        for name, tolerance in (("matrix", 2e-4), ("flags", 1e-6)):
            worst = max(abs(a - b) for a, b in zip(by_cell, image(name))) / max(by_cell)
            if not worst <= tolerance:
                complain(f"sim by {name}: {worst} of the peak from sim by cell and misset {misset}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    matrices()
    keywords()
    random_orientations()
    round_trip()
    os.chdir("/")
sys.exit(1 if failures else 0)
