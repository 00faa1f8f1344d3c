"""How large pulls of refined curves should be: what noise and the priors make of the true curves of a set of make_set.py.

usage: pulls.py FOLDER found_4.json found_16.json ...

A result has the covariance C = (N + P)^-1, with N of the stills and P of the priors (docs/theory/anomalous.md). Were the true curves
a sample of the priors, pulls would be 1. These curves are one sample, whose distance d from what the priors ask for is known: errors
have the covariance C N C and the mean C P d. So the mean square of pulls has an expected value, and a spread by chance, which
follows from the correlation of pulls: hundreds of points are few independent numbers.
"""
import json
import os
import sys

import numpy as np

EDGE, REACH, WINGS, WINGS_SIGMA = 7120, 10, 12, 0.3  # eV; electrons: as in fit.yaml; REACH: DB_EDGE_REACH


def kramers_kronig(energy):
    """f' at each point by an f'' that is 1 at one of them and 0 at all others."""
    step, matrix = energy[1] - energy[0], np.zeros((energy.size, energy.size))
    for j, top in enumerate(energy):
        for low, slope in (top - step, 1 / step), (top, -1 / step):
            high = low + step
            value, mirrored = 1 + slope * (energy - top), 1 + slope * (-energy - top)  # of the line and its extension
            logs = [np.log(np.where(abs(energy - e) > 1e-9, abs(energy - e), 1)) for e in (low, high)]  # neighbours cancel
            far = np.log((energy + high) / (energy + low))
            matrix[:, j] -= (value * (logs[1] - logs[0]) + mirrored * far + 2 * slope * step) / np.pi
    return matrix


def rows_of_priors(energy, start, chosen):
    """Rows and values in units of their standard deviations; start: f', f'' of the first kind, f', f'' of the second."""
    points, step, relation = energy.size, energy[1] - energy[0], kramers_kronig(energy)
    rows, values = {"smoothness": [], "wings": [], "kramers_kronig": []}, {"smoothness": [], "wings": [], "kramers_kronig": []}

    def add(name, row, value, sigma):
        rows[name].append(row / sigma)
        values[name].append(value / sigma)

    unit = np.eye(start.size)
    for kind in range(start.size // points // 2):
        curve = [unit[(2 * kind + c) * points:(2 * kind + c + 1) * points] for c in (0, 1)]
        bends = [curve[c][1:-1] - 0.5 * curve[c][:-2] - 0.5 * curve[c][2:] for c in (0, 1)]
        bend = np.pad(abs(bends[1] @ start), 1)
        lively = np.array([bend[abs(energy - e) <= max(REACH, step)].max() for e in energy]) / bend.max()
        factor = np.maximum(chosen["calm"], lively)
        for c in 0, 1:
            for i in range(1, points - 1):
                row = bends[c][i - 1]
                add("smoothness", row, (1 - lively[i]) * (row @ start), chosen["smoothness"] * factor[i])
            for i in np.flatnonzero(np.minimum(energy - energy[0], energy[-1] - energy) <= WINGS):
                add("wings", curve[c][i], curve[c][i] @ start, WINGS_SIGMA)
        for i in range(points):
            row = curve[0][i] - relation[i] @ curve[1]
            add("kramers_kronig", row, row @ start, chosen["kramers_kronig"] * factor[i])
    return {name: (np.array(rows[name]), np.array(values[name])) for name in rows}


def take(found, folder):
    """Covariance by noise and priors, refined curves, start, truth."""
    number = {p["name"]: i for i, p in enumerate(found["parameters"])}
    energy = np.array(found["curves"][0]["energy"])
    index = [number["%s:%d:%d" % (name, kind, i)] for kind in range(len(found["curves"])) for name in ("fp", "fdp")
             for i in range(energy.size)]
    list_of = [found["parameters"][i] for i in index]
    error = np.array([p["error"] for p in list_of]) / np.sqrt(max(1, found["chi2_reduced"][1]))
    truth = []
    for kind in range(len(found["curves"])):
        table = np.loadtxt(os.path.join(folder, "true_%d.tsv" % (kind + 1)))
        truth += [np.interp(energy, table[:, 0], table[:, c]) for c in (1, 2)]
    covariance = np.array(found["correlation"])[np.ix_(index, index)] * np.outer(error, error)
    return energy, covariance, *(np.array([p[k] for p in list_of]) for k in ("refined", "start")), np.concatenate(truth)


def main():
    folder, *names = sys.argv[1:]
    print("| shots | part | points | independent | pull | expected | by noise | by priors |")
    for name in names:
        with open(name) as file:
            found = json.load(file)
        energy, covariance, refined, start, truth = take(found, folder)
        priors = rows_of_priors(energy, start, found["curve_priors"])
        inverse = sum(rows.T @ rows for rows, _ in priors.values())
        bias = covariance @ sum(rows.T @ (values - rows @ truth) for rows, values in priors.values())
        noise, square = covariance - covariance @ inverse @ covariance, np.diag(covariance)
        everywhere = np.tile(energy, start.size // energy.size)
        near, wing = abs(everywhere - EDGE) <= REACH + 2, np.minimum(everywhere - energy[0], energy[-1] - everywhere) <= WINGS
        for part, of in ("all", near | True), ("near the edge", near), ("between", ~near & ~wing), ("wings", wing):
            scale = np.sqrt(np.outer(square[of], square[of]))
            alike, off = noise[np.ix_(of, of)] / scale, bias[of] / np.sqrt(square[of])
            mean = [np.trace(alike) / of.sum(), (off ** 2).mean()]
            spread = np.sqrt(2 * (alike ** 2).sum() + 4 * off @ alike @ off) / of.sum()
            pull = np.sqrt(((refined - truth)[of] ** 2 / square[of]).mean() / max(1, found["chi2_reduced"][1]))
            print("| %d | %s | %d | %.0f | %.2f | %.2f \u00b1 %.2f | %.2f | %.2f |" % (
                found["used"], part, of.sum(), np.trace(alike) ** 2 / (alike ** 2).sum(), pull, np.sqrt(sum(mean)),
                spread / 2 / np.sqrt(sum(mean)), *np.sqrt(mean)))
        shares = []
        for prior, (rows, values) in priors.items():
            pull_of = covariance @ rows.T
            shares.append("%s %.2f, %.2f" % (prior, ((pull_of ** 2).sum(1) / square).mean(),
                                             ((pull_of @ (values - rows @ truth)) ** 2 / square).mean()))
        print("  mean square of pulls by a sample of each prior, and by the true curves: " + "; ".join(shares))
        print("  smallest eigenvalue of the correlation %.2g" % np.linalg.eigvalsh(np.array(found["correlation"]))[0])


if __name__ == "__main__":
    main()
