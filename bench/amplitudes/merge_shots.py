"""Intensities that dualbragg fit measured shot by shot, scaled and averaged without its own merging.

usage: merge_shots.py UNSURE OUT.npz SHOT.hkl ...

SHOT.hkl are those of `dualbragg fit --model-image` with free intensities: F^2 of the model's spot, its error, partiality. Means are
weighted by the errors and a relative error of the partiality, UNSURE; reflections of a partiality below 0.15 are left out. Shots
get a scale each.
"""
import sys

import numpy as np

from monte_carlo import scales
from symmetry import absent, unique

LEAST, UNSURE = 0.15, float(sys.argv[1])


def weighted(place, value, weight, count):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.bincount(place, weight * value, count) / np.bincount(place, weight, count)


shot, number, value, error = [], [], [], []
for i, path in enumerate(sys.argv[3:]):
    lines = np.loadtxt(path, usecols=range(10))
    hkl = lines[:, :3].astype(int)
    good = (lines[:, 8] > LEAST) & ~absent(hkl)
    shot.append(np.full(good.sum(), i))
    number.append(unique(hkl[good])[0])
    value.append(lines[good, 4])
    error.append(lines[good, 5])
shot, number, value, error = (np.concatenate(x) for x in (shot, number, value, error))
reliable = value > 5 * error
found = scales(shot[reliable], number[reliable] // 2, value[reliable])
scale = np.ones(shot.max() + 1)
scale[:len(found)] = found
names, place = np.unique(number, return_inverse=True)
count, value, error = len(names), value * scale[shot], error * scale[shot]
mean = weighted(place, value, 1 / error ** 2, count)
for _ in range(3):
    weight = 1 / (error ** 2 + (UNSURE * mean[place]) ** 2)
    mean = weighted(place, value, weight, count)
halves = [weighted(place[shot % 2 == k], value[shot % 2 == k], weight[shot % 2 == k], count) for k in (0, 1)]
np.savez(sys.argv[2], number=names, I=mean, sigma=np.bincount(place, weight, count) ** -0.5, count=np.bincount(place), half1=halves[0], half2=halves[1])
