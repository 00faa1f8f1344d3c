"""Renders a rotation series whose truth is known to 0.001 degree, and that is no Gaussian model: sampled spots of square blocks,
turned in pairs by +r and -r (so that their mean is not turned), Wilson amplitudes, water, photon noise.

usage: series.py DUALBRAGG FOLDER [NOISE_SEED [SCALE]]

Writes FOLDER/frame_NN.img, frames.txt, series.yaml and truth.expt. With a folder that has images without noise (frame_NN.f32)
only the noise is made anew. SCALE multiplies the photons.
"""
import math
import os
import random
import subprocess
import sys

FRAMES, WIDTH, PAIRS, SPREAD = 20, 0.5, 12, 0.06  # degree
MISSET, TILT, STEPS = (20, 20, 30), ("0.1", "-0.2"), 25
CELL, DETECTOR = "78 78 38 90 90 90", "-lambda 1 -distance 150 -detpixels 1000 -pixel 0.172"
SERIES = """shots: {list: frames.txt, series: yes}
model: {cell: [78.05, 78.05, 38.03, 90, 90, 90], symmetry: tetragonal, shape: gauss, Ncells: [18, 18, 18], spots: closed,
        mosaic_rms: 0.15, oversample: 1, misset: [20.05, 19.95, 30.05]}
refine:
  misset_x: {range: 1}
  misset_y: {range: 1}
  misset_z: {range: 1}
  cell_a: {range: 0.5}
  cell_c: {range: 0.5}
  Na: {min: 5, max: 60}
  Nb: {follows: Na}
  Nc: {follows: Na}
  mosaic_variance: {min: 0, max: 1}
  beam_fast: {range: 1}
  beam_slow: {range: 1}
  spindle_tilt_beam: {range: 1}
  spindle_tilt_across: {range: 1}
"""


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def about(axis, degree):
    """Rotation about x, y or z (0, 1, 2)."""
    c, s = math.cos(math.radians(degree)), math.sin(math.radians(degree))
    m = [[float(i == j) for j in range(3)] for i in range(3)]
    k, l = (axis + 1) % 3, (axis + 2) % 3
    m[k][k] = m[l][l] = c
    m[k][l], m[l][k] = -s, s
    return m


def misset(turn):
    """The angles that turn the crystal, after its misset, by small angles about x, y and z: the same for -turn, backwards."""
    length = math.hypot(*turn)
    x, y, z = (v / length for v in turn)
    k, t = [[0, -z, y], [z, 0, -x], [-y, x, 0]], math.radians(length)
    square = product(k, k)
    r = [[float(i == j) + math.sin(t) * k[i][j] + (1 - math.cos(t)) * square[i][j] for j in range(3)] for i in range(3)]
    m = product(r, product(about(2, MISSET[2]), product(about(1, MISSET[1]), about(0, MISSET[0]))))
    return [math.degrees(v) for v in (math.atan2(m[2][1], m[2][2]), -math.asin(m[2][0]), math.atan2(m[1][0], m[0][0]))]


def run(*command):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


def write_amplitudes(path):
    random.seed(7)
    known = {}
    with open(path, "w") as out:
        for h in range(-46, 47):
            for k in range(-46, 47):
                for l in range(-22, 23):
                    s = (h / 78) ** 2 + (k / 78) ** 2 + (l / 38) ** 2
                    if not 0 < s <= 0.36:
                        continue
                    key = tuple(sorted((abs(h), abs(k)))) + (abs(l),)
                    if key not in known:
                        known[key] = 1e6 * math.sqrt(-math.log(1 - random.random())) * math.exp(-15 * s / 4)
                    out.write("%d %d %d %.1f\n" % (h, k, l, known[key]))


def blocks():
    random.seed(3)
    for _ in range(PAIRS):
        turn = [random.gauss(0, SPREAD) for _ in range(3)]
        yield misset(turn)
        yield misset([-v for v in turn])


def render(program, name, phi):
    """Photons of a frame; its steps lie at the middles of their intervals."""
    parts = ["%s.%d" % (name, b) for b in range(2 * PAIRS)]
    for part, angles in zip(parts, blocks()):
        run(program, "sim", "-cell", *CELL.split(), *DETECTOR.split(), "-N", 30, "-hkl", "amplitudes.hkl", "-nointerpolate", "-fluence",
            1e19 / len(parts), "-oversample", 2, "-misset", *angles, "-phi", phi + WIDTH / STEPS / 2, "-osc", WIDTH, "-phisteps", STEPS,
            "-spindle_tilt", *TILT, "-water", 60, "-floatfile", part)
    run(program, "add", *parts, "-o", name)
    for part in parts:
        os.remove(part)


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    seed, scale = (sys.argv[3:] + ["1", "1"][len(sys.argv) - 3:])[:2]
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    write_amplitudes("amplitudes.hkl")
    for frame in range(FRAMES):
        name, phi = "frame_%02d" % frame, WIDTH * frame
        if not os.path.exists(name + ".f32"):
            render(program, name + ".f32", phi)
        run(program, "noise", "-floatfile", name + ".f32", *DETECTOR.split(), "-scale", scale, "-phi", phi, "-osc", WIDTH, "-calibration", 0,
            "-adc", 40, "-seed", 100 * int(seed) + frame, "-noisefile", name + ".img")
    with open("frames.txt", "w") as out:
        out.write("".join("frame_%02d.img\n" % frame for frame in range(FRAMES)))
    with open("series.yaml", "w") as out:
        out.write(SERIES)
    run(program, "sim", "-cell", *CELL.split(), *DETECTOR.split(), "-N", 30, "-default_F", 1, "-misset", *MISSET, "-phi", 0, "-osc", WIDTH,
        "-spots", "closed", "-spindle_tilt", *TILT, "-roi", 0, 1, 0, 1, "-floatfile", os.devnull, "-exptfile", "truth.expt")


main()
