"""Merged intensities beside the truth, by shell.

usage: truth.py TRUTH.hkl NAME=MERGED ... [--shells 8] [--common] [--sure] [--json FILE]

--common: reflections that all have. Without it, one that has faint reflections in addition looks worse.
--sure: those whose error is below the true mean intensity of their resolution; of others hardly anything was measured.

MERGED is an .npz of monte_carlo.py, an .mtz (I(+), SIGI(+) ...; python3-gemmi), or lines: those of dualbragg fit (PREFIX.hkl),
or h k l I sigma. A scale and a B factor are fitted to each, in place of those that no set of shots knows.

R       sum |F - F(true)| / sum F(true), F the root of I, 0 where I < 0
CC      correlation of I with the truth, within each shell; all: of F
CC1/2   between two halves of the shots
CC_ano  correlation of F(+) - F(-) with the true one, acentric pairs
pull    robust standard deviation of (I - I(true)) / sigma
"""
import argparse
import functools
import json

import numpy as np

from symmetry import inverse_square, representative, unique


def read_truth(path):
    h, k, l, f = np.loadtxt(path).T
    number = unique(np.column_stack([h, k, l]).astype(int))[0]
    order = np.argsort(number)
    return number[order], f[order]


def read_mtz(path):
    import gemmi
    mtz = gemmi.read_mtz_file(path)
    labels = [c.label for c in mtz.columns]
    hkl = np.array(mtz, copy=False)[:, :3].astype(int)
    column = {label: np.array(mtz.column_with_label(label)) for label in labels}
    parts = []
    for sign, mate in (("(+)", 1), ("(-)", -1)):
        value = column["I" + sign]
        halves = [column.get(name % sign, np.full(len(value), np.nan)) for name in ("IHALF1%s", "IHALF2%s")]
        count = column.get("N" + sign, np.ones(len(value)))
        here = np.isfinite(value)
        if mate < 0:  # centric ones have no mate
            here &= unique(hkl)[0] != unique(-hkl)[0]
        parts.append([unique(mate * hkl[here])[0]] + [x[here] for x in (value, column["SIGI" + sign], count, *halves)])
    return [np.concatenate(x) for x in zip(*parts)]


def read(path):
    """Numbers of `unique`, I, sigma, count, halves."""
    if path.endswith(".npz"):
        with np.load(path) as file:
            return [file[name] for name in ("number", "I", "sigma", "count", "half1", "half2")]
    if path.endswith(".mtz"):
        return read_mtz(path)
    lines = np.loadtxt(path)
    if lines.shape[1] >= 10:
        return [unique(lines[:, :3].astype(int))[0], *lines[:, 5:10].T]
    nothing = np.full(len(lines), np.nan)
    return [unique(lines[:, :3].astype(int))[0], lines[:, 3], lines[:, 4], np.ones(len(lines)), nothing, nothing]


def correlation(x, y):
    ok = np.isfinite(x) & np.isfinite(y)
    return np.corrcoef(x[ok], y[ok])[0, 1] if ok.sum() > 2 else np.nan


def to_truth(value, true, s):
    """Factors of scale and B that bring intensities to the true ones: least squares on intensities over the true mean at their
    resolution."""
    bins = np.searchsorted(np.quantile(s, np.linspace(0, 1, 21)[1:-1]), s)
    level = np.bincount(bins, true) / np.bincount(bins)
    weight = 1 / level[bins]
    own = np.bincount(bins, value * weight * true * weight) / np.bincount(bins, (true * weight) ** 2)
    middle = np.bincount(bins, s) / np.bincount(bins)
    good = own > 0
    slope, constant = np.polyfit(middle[good], np.log(own[good]), 1)
    return np.exp(-constant - slope * s)


def mean_at(s, value):
    """Mean of values at the resolution of each."""
    bins = np.searchsorted(np.quantile(s, np.linspace(0, 1, 21)[1:-1]), s)
    return (np.bincount(bins, value) / np.bincount(bins))[bins]


def judge(truth, merged, shells=8, sure=0):
    """Rows of figures by shell, the last of all. sure: largest error, as a part of the true mean intensity at the resolution; 0: any."""
    true_number, f = truth
    number, value, sigma, count, half1, half2 = merged
    place = np.searchsorted(true_number, number).clip(max=len(true_number) - 1)
    known = (true_number[place] == number) & np.isfinite(value)
    number, value, sigma, count, half1, half2, place = (x[known] for x in (number, value, sigma, count, half1, half2, place))
    s = inverse_square(representative(number))
    factor = to_truth(value, f[place] ** 2, s)
    value, sigma, half1, half2 = (x * factor for x in (value, sigma, half1, half2))
    if sure:
        kept = ~(sigma > sure * mean_at(s, f[place] ** 2))
        number, value, sigma, count, half1, half2, place, s = (x[kept] for x in (number, value, sigma, count, half1, half2, place, s))
    own = np.sqrt(np.maximum(value, 0))
    all_s = inverse_square(representative(true_number))
    edges = np.quantile(all_s, np.linspace(0, 1, shells + 1))
    edges[-1] *= 1.001
    # pairs
    order = np.argsort(number)
    first = order[:-1][(number[order][:-1] // 2 == number[order][1:] // 2)]
    second = order[1:][(number[order][:-1] // 2 == number[order][1:] // 2)]
    rows = []
    for low, high in list(zip(edges[:-1], edges[1:])) + [(0, edges[-1])]:
        here, pair = (s >= low) & (s < high), (s[first] >= low) & (s[first] < high)
        error = (value - f[place] ** 2)[here] / sigma[here]
        error = error[np.isfinite(error)]
        whole = low == 0
        rows.append({
            "d": float(high ** -0.5), "reflections": int(here.sum()), "pairs": int(pair.sum()),
            "complete": float(here.sum() / ((all_s >= low) & (all_s < high)).sum()),
            "multiplicity": float(count[here].mean()),
            "R": float(abs(own - f[place])[here].sum() / f[place][here].sum()),
            "CC": float(correlation(own[here], f[place][here]) if whole else correlation(value[here], f[place][here] ** 2)),
            "CC1/2": float(correlation(half1[here], half2[here])),
            "CC_ano": float(correlation((own[first] - own[second])[pair], (f[place][first] - f[place][second])[pair])),
            "pull": float(1.4826 * np.median(abs(error - np.median(error)))) if len(error) else None,
            "pull_mean": float(np.median(error)) if len(error) else None})
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("truth")
    parser.add_argument("merged", nargs="+")
    parser.add_argument("--shells", type=int, default=8)
    parser.add_argument("--common", action="store_true")
    parser.add_argument("--sure", action="store_true")
    parser.add_argument("--json")
    a = parser.parse_args()
    truth, everything = read_truth(a.truth), {}
    paths = dict(((name or path), path) for name, _, path in (named.rpartition("=") for named in a.merged))
    values = {name: read(path) for name, path in paths.items()}
    if a.common:
        both = functools.reduce(np.intersect1d, [v[0][np.isfinite(v[1])] for v in values.values()])
        values = {name: [x[np.isin(v[0], both)] for x in map(np.asarray, v)] for name, v in values.items()}
    for name, value in values.items():
        rows = everything[name] = judge(truth, value, a.shells, a.sure)
        print("%s\n     d/A  unique  complete  multiplicity      R     CC  CC1/2  CC_ano  pull" % name)
        for r in rows:
            print("%s%5.2f %7d %8.1f %% %13.1f %6.3f %6.3f %6.3f %7.3f %5.2f" % (
                "all" if r is rows[-1] else "   ", r["d"], r["reflections"], 100 * r["complete"], r["multiplicity"], r["R"], r["CC"], r["CC1/2"],
                r["CC_ano"], r["pull"] or np.nan))
    if a.json:
        with open(a.json, "w") as out:
            json.dump(everything, out, indent=1)


if __name__ == "__main__":
    main()
