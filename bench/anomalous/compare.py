"""Refined curves of a set of make_set.py against the true ones: a row of a table for each result, and a figure.

usage: compare.py FOLDER FIGURE.png fit_4.json fit_16.json ...

rms: of refined f' and f'' (electrons) from the truth, over all points of all kinds. pull: rms of the same in standard errors. Edges:
where the true curve, which has points every 0.5 eV, rises through the middle between its ends. Shift: how far the last kind lies
above the first, by the area between both, as dualbragg fit tells it. If wavelengths were refined (make_set.py --offset), a line
compares offsets of spectra with the true ones, also without the mean of both.
"""
import json
import os
import sys

import numpy as np


EV = 12398.4198
WINGS = 12  # eV at both ends that define the level, as in fit.yaml


def edge_of(energy, second):
    """Where straight lines rise through the middle between both ends, where they are steepest."""
    low, high = second[energy <= energy[0] + WINGS], second[energy >= energy[-1] - WINGS]
    level, rise = (low.mean() + high.mean()) / 2, np.diff(second)
    crossed = np.flatnonzero((second[:-1] <= level) & (second[1:] > level))
    i = crossed[np.argmax(rise[crossed])]
    return energy[i] + (level - second[i]) / rise[i] * (energy[i + 1] - energy[i])


def print_offsets(found, true):
    """true: of the shots of the list (eV); spectra are told too high by them."""
    column = found["local"].index("wavelength")
    used = [(shot["start"][column], shot["refined"][column], shot["error"][column], of)
            for shot, of in zip(found["shots"], true) if shot["used"]]
    start, refined, error, true = np.array(used).T
    off, error = EV / start - EV / refined - true, EV / refined ** 2 * error
    print("  offsets of %.2f eV (rms), mean %.2f eV: found ones are off by %.2f eV (rms), mean %.2f, about it %.2f; errors %.2f, pulls %.2f" % (
        np.sqrt(np.mean(true ** 2)), true.mean(), np.sqrt(np.mean(off ** 2)), off.mean(), off.std(), np.sqrt(np.mean(error ** 2)),
        np.sqrt(np.mean((off / error) ** 2))))


def main():
    folder, figure, *names = sys.argv[1:]
    drawn = None
    print("| shots | rms f' | rms f'' | pull | errors of the edges (eV) | off by (eV) | shift (eV) | seconds |")
    for name in names:
        with open(os.path.join(folder, name)) as file:
            found = json.load(file)
        off, pulls, edges, errors, true_edges = [[], []], [], [], [], []
        for k, curve in enumerate(found["curves"]):
            energy, true = np.array(curve["energy"]), np.loadtxt(os.path.join(folder, "true_%d.tsv" % (k + 1)))
            for column, key in (1, "fp"), (2, "fdp"):
                away = np.array(curve[key]) - np.interp(energy, true[:, 0], true[:, column])
                off[column - 1] += list(away)
                pulls += list(away / curve[key + "_error"])
            inside = (true[:, 0] >= energy[0]) & (true[:, 0] <= energy[-1])
            true_edges.append(edge_of(true[inside, 0], true[inside, 2]))
            edges.append(curve["edge"])
            errors.append(curve["edge_error"])
        rms = [np.sqrt(np.mean(np.square(x))) for x in (*off, pulls)]
        last = found["curves"][-1]
        apart = "%.2f \u00b1 %.2f" % (last["shift"], last["shift_error"]) if len(edges) > 1 else ""
        print("| %d | %.2f | %.2f | %.2f | %s | %s | %s | %.0f |" % (
            found["used"], *rms, ", ".join("%.2f" % e for e in errors), ", ".join("%.1f" % (e - t) for e, t in zip(edges, true_edges)),
            apart, found["seconds"]))
        if "wavelength" in found["local"]:
            print_offsets(found, np.loadtxt(os.path.join(folder, "offsets.txt"))[:len(found["shots"])])
        drawn = found
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    _, axes = pyplot.subplots(1, 2, figsize=(9, 3.4))
    for axis, key, column, label in (axes[0], "fp", 1, "f' (electrons)"), (axes[1], "fdp", 2, "f'' (electrons)"):
        for k, curve in enumerate(drawn["curves"]):
            true = np.loadtxt(os.path.join(folder, "true_%d.tsv" % (k + 1)))
            axis.plot(true[:, 0], true[:, column], "C%d-" % k, lw=1)
            axis.errorbar(curve["energy"], curve[key], curve[key + "_error"], fmt="C%d." % k, ms=4, lw=0.8, label=curve["sites"])
        axis.set_xlim(curve["energy"][0], curve["energy"][-1])
        axis.set_xlabel("photon energy (eV)")
        axis.set_ylabel(label)
    axes[1].legend(frameon=False)
    pyplot.tight_layout()
    pyplot.savefig(figure, dpi=90)


if __name__ == "__main__":
    main()
