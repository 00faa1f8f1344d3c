"""HTML for notebooks: tables, and small pictures of images."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import Any, Iterable, Sequence

import numpy

_SIZE = 256  # most pixels of a picture's longer side


def rows(title: str, given: Iterable[Sequence[Any]]) -> str:
    """Return a table without a head."""
    lines = "".join(f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>" for row in given)
    return f"<div><b>{html.escape(title)}</b><table>{lines}</table></div>"


def picture(image: Any) -> str:
    """Return a picture of an image (slow, fast), with dark spots. A pixel of the picture shows the brightest of its
    pixels."""
    step = -(-max(image.shape) // _SIZE)
    slow, fast = (-(-n // step) for n in image.shape)
    padded = numpy.zeros((slow * step, fast * step))
    padded[:image.shape[0], :image.shape[1]] = numpy.nan_to_num(image, posinf=0, neginf=0)
    brightest = numpy.log1p(padded.reshape(slow, step, fast, step).max((1, 3)).clip(0))
    shade = 255 - numpy.rint(255 * brightest / max(brightest.max(), 1e-300)).astype(numpy.uint8)
    lines = b"".join(b"\0" + row.tobytes() for row in shade)
    png = (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", fast, slow, 8, 0, 0, 0, 0)) +
           _chunk(b"IDAT", zlib.compress(lines)) + _chunk(b"IEND", b""))
    return f'<img alt="image" src="data:image/png;base64,{base64.b64encode(png).decode()}"/>'


def pictures(image: Any) -> str:
    """Return pictures of the first eight panels of an image; "" for regions."""
    return "" if image.ndim == 1 else "".join(picture(panel) for panel in image.reshape(-1, *image.shape[-2:])[:8])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
