"""Intensities of a few measured stills beside calculated ones, and beside each other.

usage: few_shots.py REFERENCE.mtz SHOT.hkl ...

SHOT.hkl are those that dualbragg fit --model-image writes. Counts reflections that are measured (partiality above 0.3, error
below a third of the value), those that two of the shots share, and how intensities agree: correlation of logarithms, and R of
amplitudes after a scale and a B factor for each shot.
"""
import sys

import gemmi
import numpy as np

mtz = gemmi.read_mtz_file(sys.argv[1])
group, asu = mtz.spacegroup, gemmi.ReciprocalAsu(mtz.spacegroup)
operations = group.operations()
table = np.array(mtz, copy=False)
column = [c.label for c in mtz.columns].index(next(c.label for c in mtz.columns if c.type == "F"))


def unique(hkl):
    return tuple(asu.to_asu([int(x) for x in hkl], operations)[0])


known = {unique(row[:3]): row[column] ** 2 for row in table}
resolution = {unique(row[:3]): mtz.cell.calculate_d([int(x) for x in row[:3]]) for row in table}


def scaled(value, reference, d):
    """Brought to the reference by a scale and a B."""
    slope, constant = np.polyfit(1 / d ** 2, np.log(value / reference), 1)
    return value / np.exp(constant + slope / d ** 2)


shots = []
for path in sys.argv[2:]:
    lines = np.loadtxt(path, usecols=range(10))
    good = (lines[:, 8] > 0.3) & (lines[:, 5] < lines[:, 4] / 3)
    own = {}
    for row in lines[good]:
        name = unique(row[:3])
        if name in known and known[name] > 0:
            own[name] = row[4]
    names = list(own)
    value, reference, d = (np.array([x[n] for n in names]) for x in (own, known, resolution))
    value = scaled(value, reference, d)
    shots.append(dict(zip(names, value)))
    r = abs(np.sqrt(value) - np.sqrt(reference)).sum() / np.sqrt(reference).sum()
    print("%s: %d predicted with partiality above 0.3, %d measured, correlation of log I with the calculated ones %.2f, R %.2f" % (
        path.rsplit("/")[-1], (lines[:, 8] > 0.3).sum(), len(names), np.corrcoef(np.log(value), np.log(reference))[0, 1], r))
every = set().union(*shots)
inside = sum(d > min(resolution[n] for n in every) for d in resolution.values())
print("together: %d of %d unique reflections (%.1f %%)" % (len(every), inside, 100 * len(every) / inside))
for i in range(len(shots)):
    for k in range(i):
        common = sorted(set(shots[i]) & set(shots[k]))
        if len(common) > 2:
            a, b = (np.array([s[n] for n in common]) for s in (shots[i], shots[k]))
            print("shots %d and %d: %d common, correlation of log I %.2f" % (k + 1, i + 1, len(common), np.corrcoef(np.log(a), np.log(b))[0, 1]))
        else:
            print("shots %d and %d: %d common" % (k + 1, i + 1, len(common)))
