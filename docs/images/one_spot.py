#!/usr/bin/env python3
"""Draws docs/images/one_spot.png: a spot as a sum of 10 to 10,000 samples, in closed form, and the differences.

    docs/images/one_spot.py PROGRAM [one_spot.png]

PROGRAM: dualbragg. Every sample is a run of its own, of a block with its own rotation and wavelength, drawn from
Gaussian distributions; 10,000 of them take a minute or two. Needs python3 and rsvg-convert (Debian: librsvg2-bin).
"""
import array
import base64
import concurrent.futures
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

SIZE, ZOOM = 30, 6  # pixels of the spot's picture, and of ours for each of them
COUNTS = [10, 100, 1000, 10000]
MISSET = (10, 20, 30)
MOSAIC, BANDWIDTH = 0.1, 0.002  # rms: degree, relative
SCENE = (f"-cell 78 78 38 90 90 90 -N 20 -gauss_xtal -default_F 100 -distance 100 -pixel 0.02 -detpixels {SIZE} "
         "-Xbeam -9.13 -Ybeam -24.92 -oversample 4 --threads 1 --quiet").split()


def render(program, folder, name, *flags):
    path = os.path.join(folder, name)
    subprocess.run([program, "sim", *SCENE, *flags, "-floatfile", path], check=True)
    image = array.array("f")
    with open(path, "rb") as file:
        image.frombytes(file.read())
    os.remove(path)
    return image


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def rotation(axis, degree):
    c, s = math.cos(math.radians(degree)), math.sin(math.radians(degree))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    m = [[float(a == b) for b in range(3)] for a in range(3)]
    m[j][j] = m[k][k] = c
    m[j][k], m[k][j] = -s, s
    return m


def turned(vector):
    """The misset (degree) of a block that is turned by a rotation vector (degree)."""
    length = math.hypot(*vector) or 1e-300
    x, y, z = (v / length for v in vector)
    c, s = math.cos(math.radians(length)), math.sin(math.radians(length))
    turn = [[c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s],
            [z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)]]
    u = turn
    for axis in (2, 1, 0):
        u = product(u, rotation(axis, MISSET[axis]))
    return [math.degrees(a) for a in (math.atan2(u[2][1], u[2][2]), math.atan2(-u[2][0], math.hypot(u[2][1], u[2][2])),
                                      math.atan2(u[1][0], u[0][0]))]


def samples(program, folder):
    """Means of the first 10, 100 ... samples."""
    draw = random.Random(1)
    flags = []
    for _ in range(COUNTS[-1]):
        misset = turned([draw.gauss(0, MOSAIC) for _ in range(3)])
        flags.append(["-misset", *(f"{m:.9f}" for m in misset), "-lambda", f"{1 + draw.gauss(0, BANDWIDTH):.12f}"])
    total, means = [0.0] * SIZE**2, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        images = pool.map(lambda i: render(program, folder, str(i), *flags[i]), range(len(flags)))
        for n, image in enumerate(images, 1):
            total = [t + v for t, v in zip(total, image)]
            if n in COUNTS:
                means.append([t / n for t in total])
    return means


def ramp(stops, t):
    t = min(max(t, 0), 1) * (len(stops) - 1)
    i = min(int(t), len(stops) - 2)
    return bytes(round(a + (b - a) * (t - i)) for a, b in zip(stops[i], stops[i + 1]))


LIGHT = [(255, 255, 255), (158, 202, 225), (49, 130, 189), (8, 48, 107), (5, 10, 40)]
SIGNED = [(178, 24, 43), (244, 165, 130), (255, 255, 255), (146, 197, 222), (33, 102, 172)]


def png(image, colour):
    rows = b"".join(ZOOM * (b"\0" + b"".join(ZOOM * colour(v) for v in image[i * SIZE:(i + 1) * SIZE])) for i in range(SIZE))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", SIZE * ZOOM, SIZE * ZOOM, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 9)),
              (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n"
    for kind, body in chunks:
        data += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return "data:image/png;base64," + base64.b64encode(data).decode()


def figure(sampled, closed):
    peak, box, gap, left, top = max(closed), SIZE * ZOOM, 12, 96, 34
    width, height = left + 5 * (box + gap), top + 2 * box + 64
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}" '
           f'height="{height}" font-family="DejaVu Sans, Helvetica, sans-serif" font-size="15" text-anchor="middle">'
           f'<rect width="{width}" height="{height}" fill="white"/>']

    def text(x, y, words, more=""):
        out.append(f'<text x="{x}" y="{y}" {more}>{words}</text>')

    def picture(column, row, image, colour):
        x, y = left + column * (box + gap), top + row * (box + 30)
        out.append(f'<image x="{x}" y="{y}" width="{box}" height="{box}" xlink:href="{png(image, colour)}"/>'
                   f'<rect x="{x}" y="{y}" width="{box}" height="{box}" fill="none" stroke="#888"/>')
        return x + box / 2

    for column, image in enumerate([*sampled, closed]):
        x = picture(column, 0, image, lambda v: ramp(LIGHT, (max(v, 0) / peak)**0.5))
        name = "closed form" if column == len(COUNTS) else f"{COUNTS[column]:,} samples"
        text(x, top - 11, name, 'font-weight="bold"' if column == len(COUNTS) else "")
    for column, image in enumerate(sampled):
        off = [a - b for a, b in zip(image, closed)]
        rms = math.sqrt(sum(d * d for d in off) / len(off))
        x = picture(column, 1, off, lambda v: ramp(SIGNED, 0.5 - 0.5 * v / (3 * rms)))
        text(x, top + 2 * box + 52, f"rms {100 * rms / peak:.2g} % of the peak")
        print(f"{COUNTS[column]} samples: rms difference {100 * rms / peak:.3f} % of the peak, largest "
              f"{100 * max(map(abs, off)) / peak:.3f} %")
    text(left / 2, top + box / 2, "photons", 'font-size="14"')
    text(left / 2, top + 1.5 * box + 20, "samples", 'font-size="14"')
    text(left / 2, top + 1.5 * box + 38, "− closed", 'font-size="14"')
    x, y, part = left + 4 * (box + gap), top + box + 62, (box - 1) / 48
    for name, stops, row in ((("0", "peak"), LIGHT, 0), (("+3 rms", "−3 rms"), SIGNED, 1)):
        for i in range(48):
            t = (i / 47)**0.5 if row == 0 else i / 47
            red, green, blue = ramp(stops, t)
            out.append(f'<rect x="{x + i * part}" y="{y + 60 * row}" width="{part + 1}" height="14" '
                       f'fill="rgb({red},{green},{blue})"/>')
        text(x, y + 60 * row + 31, name[0], 'font-size="13" text-anchor="start"')
        text(x + box, y + 60 * row + 31, name[1], 'font-size="13" text-anchor="end"')
    return "\n".join([*out, "</svg>"])


def main(program, output=os.path.join(os.path.dirname(os.path.abspath(__file__)), "one_spot.png")):
    with tempfile.TemporaryDirectory() as folder:
        closed = render(program, folder, "closed", "-lambda", "1", "-misset", *map(str, MISSET), "-spots", "closed",
                        "-mosaic_rms", str(MOSAIC), "-bandwidth_rms", str(BANDWIDTH))
        picture = figure(samples(program, folder), closed)
    subprocess.run(["rsvg-convert", "-o", output], input=picture.encode(), check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
