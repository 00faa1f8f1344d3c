"""Indices of P43212 (Laue class 4/mmm): asymmetric unit with Bijvoet mates apart, absences, resolution."""
import os

import numpy as np

CELL = tuple(float(x) for x in os.environ.get("AMPLITUDES_CELL", "79.1,38.4").split(","))  # a = b, c (A)
# rotations of 422 on x, y, z; on indices they act transposed, which is the same set
ROTATIONS = np.array([np.diag(d) for d in ((1, 1, 1), (-1, -1, 1), (1, -1, -1), (-1, 1, -1))]
                     + [[[0, 1, 0], [1, 0, 0], [0, 0, -1]], [[0, -1, 0], [-1, 0, 0], [0, 0, -1]],
                        [[0, -1, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]])


def inverse_square(hkl, cell=CELL):
    """1/d^2."""
    h = np.asarray(hkl, float)
    return (h[..., 0] ** 2 + h[..., 1] ** 2) / cell[0] ** 2 + h[..., 2] ** 2 / cell[1] ** 2


def _code(hkl):
    return ((hkl[..., 0] + 512) * 1024 + hkl[..., 1] + 512) * 1024 + hkl[..., 2] + 512


def _index(code):
    return np.stack([code // 1048576 - 512, code // 1024 % 1024 - 512, code % 1024 - 512], -1)


def unique(hkl):
    """Numbers that equivalent reflections share: (with Bijvoet mates apart, mates together). The larger of two mates is +."""
    hkl = np.asarray(hkl, int)
    plus = np.max([_code(hkl @ r) for r in ROTATIONS], axis=0)
    minus = np.max([_code(-hkl @ r) for r in ROTATIONS], axis=0)
    pair = np.maximum(plus, minus)
    return np.where(plus >= minus, 2 * pair, 2 * pair + 1), pair


def representative(number):
    """Index of a number of `unique` (mates apart)."""
    number = np.asarray(number)
    hkl = _index(number // 2)
    return np.where((number % 2)[..., None] == 1, -hkl, hkl)


def absent(hkl):
    """By the screw axes 43 along c, 21 along a and b."""
    h, k, l = np.moveaxis(np.asarray(hkl), -1, 0)
    return ((h == 0) & (k == 0) & (l % 4 != 0)) | ((l == 0) & (((k == 0) & (h % 2 != 0)) | ((h == 0) & (k % 2 != 0))))


def sphere(d_min, cell=CELL):
    """All indices to a resolution, 0 0 0 left out."""
    h, l = int(cell[0] / d_min) + 1, int(cell[1] / d_min) + 1
    grid = np.stack(np.meshgrid(np.arange(-h, h + 1), np.arange(-h, h + 1), np.arange(-l, l + 1), indexing="ij"), -1).reshape(-1, 3)
    s = inverse_square(grid, cell)
    return grid[(s > 0) & (s <= d_min ** -2)]
