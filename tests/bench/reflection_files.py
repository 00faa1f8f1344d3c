"""Merged and unmerged reflection files of joint intensities, as gemmi and iotbx read them, beside the text of the same.

usage: reflection_files.py PREFIX SHOTS D_MIN, with the cell in $AMPLITUDES_CELL (bench/amplitudes/symmetry.py)
"""
import os
import sys

import gemmi
import numpy as np

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "bench", "amplitudes"))
from symmetry import CELL, inverse_square, representative, unique  # noqa: E402

prefix, shots, d_min = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
wrong = []


def same(what, a, b, tolerance=2e-3):
    """Both have a value, and about the same one, or neither has."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    both = np.isnan(a) == np.isnan(b)
    near = np.isclose(a, b, rtol=tolerance, equal_nan=True)
    if a.shape != b.shape or not (both & near).all():
        wrong.append("%s: %d of %d differ" % (what, (~(both & near)).sum() if a.shape == b.shape else len(a), len(b)))


def in_order(number, *columns):
    order = np.argsort(number)
    return [np.asarray(number)[order]] + [np.asarray(c)[order] for c in columns]


text = np.loadtxt(prefix + ".hkl")
lines = in_order(unique(text[:, :3].astype(int))[0], *text[:, 3:].T)
number = lines[0]
if len(np.unique(number)) != len(number) or len(number) < 300:
    wrong.append("%s.hkl: %d lines, %d reflections" % (prefix, len(number), len(np.unique(number))))

# merged, by gemmi
mtz = gemmi.read_mtz_file(prefix + ".mtz")
cell = [mtz.cell.a, mtz.cell.b, mtz.cell.c, mtz.cell.alpha, mtz.cell.beta, mtz.cell.gamma]
if mtz.spacegroup.number != 96 or not np.allclose(cell, [CELL[0], CELL[0], CELL[1], 90, 90, 90]):
    wrong.append("space group %s, cell %s" % (mtz.spacegroup.hm, cell))
hkl = np.array(mtz, copy=False)[:, :3].astype(int)
column = {c.label: np.array(c) for c in mtz.columns}
asu = gemmi.ReciprocalAsu(mtz.spacegroup)
if not all(asu.is_in(list(map(int, h))) for h in hkl):
    wrong.append("%s.mtz: indices outside of the asymmetric unit" % prefix)
operations = mtz.spacegroup.operations()
centric = np.array([operations.is_reflection_centric(list(map(int, h))) for h in hkl])
same("centric reflections have no mate", column["I(-)"][centric], np.full(centric.sum(), np.nan))
names = ("F", "SIGF", "I", "SIGI", "N", "IHALF1", "IHALF2")
parts = [in_order(unique(mate * hkl[here])[0], *(column[n + sign][here] for n in names))
         for sign, mate in (("(+)", 1), ("(-)", -1))
         for here in [np.isfinite(column["I" + sign])]]
found = in_order(*(np.concatenate(x) for x in zip(*parts)))
same("reflections of the merged file", found[0], number)
if len(found[0]) == len(number):
    for name, a, b in zip(names, found[1:], lines[1:]):
        same(name, a, b)
plus, minus = (1 / column["SIGI" + sign] ** 2 for sign in ("(+)", "(-)"))
mean = (np.nan_to_num(column["I(+)"] * plus) + np.nan_to_num(column["I(-)"] * minus)) / (np.nan_to_num(plus) + np.nan_to_num(minus))
same("IMEAN", column["IMEAN"], mean)
same("N", column["N"], np.nan_to_num(column["N(+)"]) + np.nan_to_num(column["N(-)"]))

# unmerged, by gemmi
unmerged = gemmi.read_mtz_file(prefix + "_unmerged.mtz")
unmerged.switch_to_original_hkl()
data = np.array(unmerged, copy=False)
of = {c.label: data[:, i] for i, c in enumerate(unmerged.columns)}
if len(unmerged.batches) != shots or not set(of["BATCH"].astype(int)) <= {b.number for b in unmerged.batches}:
    wrong.append("%d batches of %d shots" % (len(unmerged.batches), shots))
taken = of["FLAG"] == 0
own = unique(data[:, :3].astype(int))[0][taken]
place = np.searchsorted(number, own).clip(max=len(number) - 1)
if not (number[place] == own).all():
    wrong.append("measurements of reflections that are not merged")
weight = (of["SIGI"][taken] / of["SCALEUSED"][taken]) ** -2
value = np.bincount(place, weight * of["I"][taken] / of["SCALEUSED"][taken], len(number)) / np.bincount(place, weight, len(number))
if not (of["FRACTIONCALC"] > 0).all() or not (of["FRACTIONCALC"] <= 1.001).all():
    wrong.append("partialities from %g to %g" % (of["FRACTIONCALC"].min(), of["FRACTIONCALC"].max()))
shown = np.bincount(place, minlength=len(number))
strong = (lines[3] > 10 * lines[4]) & (shown > 0)
off = np.median(abs(value[strong] / lines[3][strong] - 1))
if not off < 0.05 or not (shown > 0).mean() > 0.9:
    wrong.append("means of the measurements are off by %.3f, of %.2f of the reflections" % (off, (shown > 0).mean()))

# both, by cctbx
try:
    from iotbx import mtz as cctbx
except ImportError:
    cctbx = None
    print("left out: there is no iotbx (Debian: python3-cctbx)")
if cctbx:
    arrays = {",".join(a.info().labels): a for a in cctbx.object(prefix + ".mtz").as_miller_arrays()}
    intensity = arrays["I(+),SIGI(+),I(-),SIGI(-)"]
    read = in_order(unique(np.array(list(intensity.indices())))[0], np.array(intensity.data()), np.array(intensity.sigmas()))
    same("reflections, by iotbx", read[0], number)
    if len(read[0]) == len(number):
        same("I, by iotbx", read[1], lines[3])
        same("sigma, by iotbx", read[2], lines[4])
    if not intensity.anomalous_flag() or intensity.space_group_info().type().number() != 96 or not intensity.is_xray_intensity_array():
        wrong.append("iotbx: not anomalous intensities of space group 96")
    if not intensity.d_min() > d_min * 0.999 or not inverse_square(representative(number)).max() <= d_min ** -2 * 1.001:
        wrong.append("resolution to %g" % intensity.d_min())
    raw = {a.info().labels[0]: a for a in cctbx.object(prefix + "_unmerged.mtz").as_miller_arrays(merge_equivalents=False)}
    if raw["I"].size() != len(data):
        wrong.append("iotbx: %d measurements of %d" % (raw["I"].size(), len(data)))
print("%d reflections, %d measurements, gemmi %s%s" % (len(number), len(data), gemmi.__version__, ", iotbx" if cctbx else ""))
print("\n".join(wrong))
sys.exit(bool(wrong))
