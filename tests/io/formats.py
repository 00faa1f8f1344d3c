"""Readers of SMV images, PGM pictures and raw floats that share nothing with the program. Standard library only."""
import array
import re
import sys


class Malformed(Exception):
    pass


def _require(condition, text):
    if not condition:
        raise Malformed(text)


def _words(code, data, big_endian):
    numbers = array.array(code)
    numbers.frombytes(data)
    if big_endian != (sys.byteorder == "big"):
        numbers.byteswap()
    return numbers


def smv(path):
    """Header as a list of (key, value) in the file's order, and the pixels."""
    with open(path, "rb") as file:
        data = file.read()
    _require(data[:2] == b"{\n", "begins with %r" % data[:2])
    match = re.match(rb"\{\nHEADER_BYTES= *(\d+);\n", data)
    _require(match, "HEADER_BYTES is not the first key")
    size = int(match.group(1))
    _require(size % 512 == 0 and size <= len(data), "header of %d bytes" % size)
    text, _, padding = data[2:size].partition(b"\f")
    _require(text.rstrip(b"\n").endswith(b"}"), "no brace before the form feed")
    _require(not padding.strip(b" "), "something behind the form feed")
    keys = []
    for line in text.decode("ascii").splitlines():
        if line == "}":
            break
        key, equals, value = line.partition("=")
        _require(equals, "line %r" % line)
        keys.append((key, value))
    header = {key: value.rstrip(";").strip() for key, value in keys}
    _require(len(header) == len(keys), "a key is there twice")
    types = {"unsigned_short": ("H", 2), "signed_long": ("i", 4)}
    code, width = types[header["TYPE"]]
    fast, slow = int(header["SIZE1"]), int(header["SIZE2"])
    _require(len(data) == size + fast * slow * width, "%d bytes of pixels for %d x %d" % (len(data) - size, fast, slow))
    return keys, header, _words(code, data[size:], header["BYTE_ORDER"] == "big_endian")


def pgm(path):
    """Width, height, scale from the comment, levels."""
    with open(path, "rb") as file:
        data = file.read()
    match = re.match(rb"P5\n(\d+) (\d+)\n# pixels scaled by (\S+)\n255\n", data)
    _require(match, "header %r" % data[:60])
    width, height = int(match.group(1)), int(match.group(2))
    levels = data[match.end():]
    _require(len(levels) == width * height, "%d levels for %d x %d" % (len(levels), width, height))
    return width, height, float(match.group(3)), levels


def floats(path):
    with open(path, "rb") as file:
        return _words("f", file.read(), False)


def write_smv(path, fast, slow, values, keys=(), big_endian=False):
    """An SMV image of unsigned 16-bit numbers with further keys."""
    text = "{\nHEADER_BYTES= 1024;\nDIM=2;\nBYTE_ORDER=%s_endian;\nTYPE=unsigned_short;\nSIZE1=%d;\nSIZE2=%d;\n" % (
        "big" if big_endian else "little", fast, slow)
    text += "".join("%s=%s;\n" % pair for pair in keys) + "}\n\f"
    numbers = array.array("H", values)
    if big_endian != (sys.byteorder == "big"):
        numbers.byteswap()
    with open(path, "wb") as file:
        file.write(text.encode("ascii").ljust(1024) + numbers.tobytes())
