"""Writes TIFF and MarCCD images of many kinds with numpy alone. usage: tiff_files.py FOLDER

Prints a line for each image: its name, the file of raw floats that a reader must find, and the number of pixels that must
be left out; or for a file that must be refused: its name, | and a part of the message."""
import gzip
import os
import struct
import sys
import zlib

import numpy

FAST, SLOW = 53, 37
HEADER = "# Detector: PILATUS test\r\n# Pixel_size 172e-6 m x 172e-6 m\r\n# Silicon sensor, thickness 0.000450 m\r\n" \
    "# Wavelength 0.9 A\r\n# Detector_distance 0.25 m\r\n# Beam_xy (20.5, 18.25) pixels\r\n# Count_cutoff 900 counts\r\n"


def counts(kind):
    y, x = numpy.mgrid[0:SLOW, 0:FAST]
    return ((x * 7919 + y * 104729 + (x * y) % 97 * 31) % 4001 % (201 if kind[-1] == "1" else 4001)).astype(kind)


def packbits(row):
    """Runs of the same byte, and single bytes."""
    out, i = bytearray(), 0
    while i < len(row):
        n = 1
        while n < 128 and i + n < len(row) and row[i + n] == row[i]:
            n += 1
        out += struct.pack("b", 1 - n if n > 1 else 0) + row[i:i + 1]
        i += n
    return bytes(out)


def compress(block, method):
    if method == 1:
        return block.tobytes()
    if method == 32773:
        return b"".join(packbits(row.tobytes()) for row in block)
    return zlib.compress(block.tobytes())


def predicted(block):
    """Horizontal differences, in the numbers of the type."""
    difference = block.copy()
    difference[:, 1:] -= block[:, :-1]
    return difference


def tiff(name, pages, order="<", big=False, tile=None, rows=None, method=1, predictor=1, text=None, extra=()):
    """pages: arrays. order: of bytes. big: BigTIFF."""
    long = "Q" if big else "I"
    out = bytearray((b"II" if order == "<" else b"MM") + (struct.pack(order + "HHHQ", 43, 8, 0, 16) if big else
                                                          struct.pack(order + "HI", 42, 8)))
    link = len(out) - (8 if big else 4)
    for page in pages:
        height, width = page.shape
        kind = page.dtype.newbyteorder(order)
        blocks = []
        if tile:
            for y in range(0, height, tile[1]):
                for x in range(0, width, tile[0]):
                    block = numpy.zeros((tile[1], tile[0]), page.dtype)
                    part = page[y:y + tile[1], x:x + tile[0]]
                    block[:part.shape[0], :part.shape[1]] = part
                    blocks.append(block)
        else:
            blocks = [page[y:y + (rows or height)] for y in range(0, height, rows or height)]
        places, sizes = [], []
        for block in blocks:
            data = compress((predicted(block) if predictor == 2 else block).astype(kind), method)
            places.append(len(out))
            sizes.append(len(data))
            out += data + b"\0" * (-len(data) % 8)
        entries = [(256, "I", [width]), (257, "I", [height]), (258, "H", [8 * page.dtype.itemsize]), (259, "H", [method]),
                   (262, "H", [1]), (277, "H", [1]),
                   (339, "H", [{"u": 1, "i": 2, "f": 3}[page.dtype.kind]])]
        entries += [(322, "I", [tile[0]]), (323, "I", [tile[1]]), (324, long, places), (325, long, sizes)] if tile else \
            [(273, long, places), (278, "I", [rows or height]), (279, long, sizes)]
        if predictor != 1:
            entries.append((317, "H", [predictor]))
        if text:
            entries.append((270, "s", text.encode() + b"\0"))
        entries = sorted([e for e in entries if e[0] not in [x[0] for x in extra]] + list(extra))
        fields = b""
        for tag, code, values in entries:
            value = values if code == "s" else struct.pack(order + "%d%s" % (len(values), code), *values)
            if len(value) > (8 if big else 4):
                place = len(out)
                out += value + b"\0" * (-len(value) % 8)
                value = struct.pack(order + long, place)
            number = {"s": 2, "H": 3, "I": 4, "Q": 16}[code]
            fields += struct.pack(order + "HH" + long, tag, number, len(values)) + value.ljust(8 if big else 4, b"\0")
        struct.pack_into(order + long, out, link, len(out))
        out += struct.pack(order + ("Q" if big else "H"), len(entries)) + fields
        link = len(out)
        out += struct.pack(order + long, 0)
    with open(name, "wb") as file:
        file.write(out)
    return bytes(out)


def mar_ccd(name, pixels, order="<", distance=150.25, twotheta=0, bias=10, photons=50, turn=(12.5, 13, 0.5)):
    """The words that readers use, at the places that the maker states."""
    height, width = pixels.shape
    size = pixels.dtype.itemsize
    tags = [(256, width), (257, height), (258, 8 * size), (259, 1), (273, 4096), (278, height), (279, pixels.nbytes)]
    out = bytearray(4096)
    out[:8] = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, 8)
    struct.pack_into(order + "H", out, 8, len(tags))
    for i, (tag, value) in enumerate(tags):
        struct.pack_into(order + "HHII", out, 10 + 12 * i, tag, 4, 1, value)
    words = {1024: 2, 1060: 3072, 1104: width, 1108: height, 1112: size, 1128: 65000, 1136: 1, 1664: distance * 1e3,
             1668: 20500, 1672: 18250, 1680: 2500, 1692: twotheta * 1e3, 1708: turn[0] * 1e3, 1724: twotheta * 1e3,
             1740: turn[1] * 1e3, 1756: 4, 1760: turn[2] * 1e3, 1796: 79346, 1800: 79346, 1804: bias * 1e3, 1808: photons, 1932: 97918}
    for place, value in words.items():
        struct.pack_into(order + "i", out, place, int(round(value)))
    out[1028:1032] = b"MMX\0"
    out[2368:2383] = b"112312002026.00"
    out += pixels.astype(pixels.dtype.newbyteorder(order)).tobytes()
    with open(name, "wb") as file:
        file.write(out)
    return bytes(out)


def report(name, pixels, left_out=0):
    floats = name.replace("#", "_") + ".floats"
    numpy.asarray(pixels).astype("f4").tofile(floats)
    print(name, floats, left_out)


def good():
    number = 0
    for kind in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"):
        pixels = counts(kind) if kind != "i1" else counts("u1").astype("i2").__sub__(100).astype("i1")
        for method, predictor in ((1, 1), (8, 1), (32946, 2), (32773, 1)):
            if predictor == 2 and kind[0] == "f":
                continue
            shape = [{}, {"rows": 7}, {"tile": (16, 32)}][number % 3]
            order, big = "<>"[number // 2 % 2], number % 5 == 0
            name = "n%d_%s.tif" % (number, kind)
            tiff(name, [pixels], order, big, method=method, predictor=predictor, **shape)
            report(name, pixels)
            number += 1
    pixels = counts("u2")
    pixels[3, 4:6] = 65535
    tiff("saturated.tif", [pixels])
    report("saturated.tif", pixels, 2)
    pixels = counts("i4") % 1000
    pixels[2:4] = -1
    pixels[9, 9] = -2
    tiff("pilatus.tif", [pixels], text=HEADER, rows=10)
    report("pilatus.tif", pixels, int((pixels < 0).sum() + (pixels >= 900).sum()))
    pixels = counts("i2") - 1000
    tiff("negative.tif", [pixels])
    report("negative.tif", pixels)
    for kind in ("i4", "f4", "u4"):  # area detectors write -1 between modules and -2 for pixels that do not work
        pixels = counts(kind)
        pixels[7:9], pixels[20, 11] = (-1, -2) if kind != "u4" else (0xffffffff, 0xfffffffe)
        tiff("gaps_%s.tif" % kind, [pixels])
        report("gaps_%s.tif" % kind, pixels, 2 * FAST + 1)
    pixels = counts("f4") / 7
    pixels[5, 5:8] = numpy.nan, numpy.inf, -numpy.inf
    tiff("marks.tif", [pixels])
    report("marks.tif", numpy.where(numpy.isfinite(pixels), pixels, 0), 3)
    pages = [counts("u2") + i for i in range(4)]
    tiff("pages.tif", pages, ">", rows=5, method=8)
    for i in (1, 4):
        os.link("pages.tif", "pages%d.tif" % i)
        report("pages%d.tif#%d" % (i, i), pages[i - 1])
    for order in "<>":
        for kind in ("u2", "u4"):
            pixels = counts(kind)
            pixels[0, :2] = 65535, 0
            left_out = int((pixels >= 65000).sum() + (pixels == 0).sum())
            name = "mar%d%s.mccd" % (order == ">", kind)
            mar_ccd(name, pixels, order)
            report(name, pixels - 10.0, left_out)
    for name, twotheta in (("far.mccd", 0), ("far_up.mccd", 20)):  # their writer did not know the distance
        mar_ccd(name, counts("u2") + 1, distance=0, twotheta=twotheta)
        report(name, counts("u2") + 1 - 10.0, int((counts("u2") == 64999).sum()))
    with open("fabio.mar2300", "rb") as file:
        plate = bytearray(file.read())
    mar_ccd("round.mccd", counts("u2") + 1, turn=(359.75, 0.25, 0))
    report("round.mccd", counts("u2") + 1 - 10.0, 0)
    words = struct.unpack("<16i", plate[:64])
    with open("round.mar2300", "wb") as file:
        file.write(struct.pack("<16i", *words[:10], 359750, 250, *words[12:]) + plate[64:])
    plate[36:40] = bytes(4)
    with open("far.mar2300", "wb") as file:
        file.write(plate)
    # written by fabio 0.14: another packer; three pixels beyond 16 bits, of which one is saturated
    y, x = numpy.mgrid[0:30, 0:30]
    pixels = (x * 7919 + y * 104729 + (x * y) % 97 * 31) % 4001
    pixels[10, 20], pixels[11, 3], pixels[15, 15], pixels[20, 8] = 70000, 65535, 999999, 249999
    pixels[0, 0] = pixels[29, 29] = 0
    report("fabio.mar2300", pixels, 3)
    report("far.mar2300", pixels, 3)
    report("round.mar2300", pixels, 3)


def bad():
    def write(name, content, message):
        with open(name, "wb") as file:
            file.write(content)
        print("%s|%s" % (name, message))

    pixels = counts("u2")
    whole = tiff("x.tif", [pixels], rows=7, method=8)
    write("cut.tif", whole[:len(whole) // 2], "damaged TIFF image: it cannot be opened")
    plain = bytearray(tiff("x.tif", [pixels]))
    write("short.tif", plain[:8], "damaged TIFF image")
    tiff("far.tif", [pixels], extra=[(273, "I", [10**9])])
    print("far.tif|damaged TIFF image: the strip with pixel 0 0 cannot be read")
    tiff("rows.tif", [pixels], rows=9, extra=[(257, "I", [9 * 1000]), (273, "I", [8]), (279, "I", [9 * 2 * FAST])])
    print("rows.tif|damaged TIFF image: the strip with pixel 0 9 cannot be read|cannot be opened")
    tiff("counts.tif", [pixels], rows=9, extra=[(279, "I", [9 * 2 * FAST - 1] * 5)])
    print("counts.tif|damaged TIFF image: the strip with pixel 0 0 cannot be read")
    tiff("huge.tif", [pixels], extra=[(256, "I", [2**17]), (257, "I", [2**17]), (278, "I", [2**17])])
    print("huge.tif|found a shape of 131072 x 131072")
    tiff("colour.tif", [pixels], extra=[(277, "H", [3])])
    print("colour.tif|expected one number for each pixel, found 3")
    tiff("bits.tif", [pixels], extra=[(258, "H", [12])])
    print("bits.tif|found 12 bits of sample format 1")
    tiff("jpeg.tif", [pixels], extra=[(259, "H", [7])])
    print("jpeg.tif|found method 7")
    write("packed.tif.gz", gzip.compress(whole), "found a TIFF image packed by gzip.*unpack it to a file first")
    broken = bytearray(whole)
    broken[20:40] = b"\xff" * 20
    write("broken.tif", broken, "damaged TIFF image: the strip with pixel 0 0 cannot be read")
    circle = bytearray(tiff("x.tif", [pixels]))
    circle[-4:] = circle[4:8]
    write("circle.tif#2", circle, "damaged TIFF image|expected image 2")
    os.rename("circle.tif#2", "circle.tif")
    mar = mar_ccd("x.mccd", pixels)
    write("cut.mccd", mar[:-1], "expected 53 x 37 pixels of 2 bytes behind byte 4096, found 3921")
    mar_ccd("near.mccd", pixels, distance=-1)
    print("near.mccd|header of MarCCD, byte 1664: expected a distance > 0, found -1")
    with open("fabio.mar2300", "rb") as file:
        plate = file.read()
    write("cut.mar2300", plate[:-300], "damaged pixels: expected 900, found the end of the data after")
    write("head.mar2300", plate[:4096], "expected a header of 4096 bytes and pixels, found 4096 bytes")
    write("high.mar2300", plate[:8] + struct.pack("<i", 10**6) + plate[12:], "expected a table of 1000000 pixels above 65535")
    write("side.mar2300", plate[:4] + struct.pack("<i", 31) + plate[8:], "found 900 pixels in rows of 31")
    write("spiral.mar2300", plate[:12] + struct.pack("<i", 2) + plate[16:], "found a spiral one")
    write("place.mar2300", plate[:4096] + struct.pack("<i", 901) + plate[4100:], "byte 4096: expected a pixel from 1 to 900")
    write("line.mar2300", plate.replace(b"X: 0030", b"X: 0031"), "expected 'CCP4 packed image, X: 30, Y: 30'")


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    good()
    bad()
