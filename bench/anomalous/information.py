"""How well pixels, and sums in boxes, can tell edges of a set of make_set.py apart at best: the bound of Cramer and Rao.

usage: PYTHONPATH=build/release/python information.py FOLDER [--shots 8] [--half 6]

The truth of each shot is rendered in boxes about its brightest reflections, with derivatives by a shift of each kind's curve and by
the shot's scale. Poisson counts have the information sum g g^T / m, over pixels or over the sums in boxes. The forward model is the
same, geometry is known, and so are the shapes of the curves. A table of integrated intensities, with a mean energy for each, cannot
do better than the sums. What it does is computed, too: sums in boxes are compared with a model whose structure factors are those of
the mean energy of the box's light; all else is exact. Edges are then not only less certain, but off by a bias.
"""
import argparse
import os

import numpy as np

import dualbragg

EV = 12398.4198  # eV A


def read_shots(folder, count):
    with open(os.path.join(folder, "known.txt")) as file:
        for line in list(file)[:count]:
            words = line.split(" model.")[1:]
            yield dict(word.strip().split("=", 1) for word in words)


def numbers(text):
    return [float(x) for x in text.strip("[]").split(",")]


def experiment(folder, shot, sites, spectrum):
    return dualbragg.Experiment(
        expt="true.expt", hkl="model.pdb", sites=sites, model_resolution=2.8, cell=numbers(shot["cell"]), misset=numbers(shot["misset"]),
        Ncells=numbers(shot["Ncells"]), mosaic_tensor=numbers(shot["mosaic_tensor"]), shape="gauss", spots="closed", strain_rms=0.0002,
        divergence_rms=(0.2, 0.1), footprint_rms=(0.003, 0.003), bandwidth_rms=4e-5, polarization=1, oversample=2, spectrum=spectrum,
        fluence=4e25 * float(shot["scale"]))


def moved(curve, by):
    return np.stack([curve[:, 0]] + [np.interp(curve[:, 0] - by, curve[:, 0], curve[:, c]) for c in (1, 2)], 1)


def sums_at_mean_energy(e, plan, kinds, curves, energies, count, step):
    """Sums of boxes whose structure factors have one energy each, and slopes by the shifts of both curves: curves are constant."""
    found = np.zeros((3, count))

    def at(values):
        for name, curve, value in zip(kinds, curves, values):
            e.set_site_curve(name, np.stack([curve[:, 0]] + [np.full(len(curve), v) for v in value], 1))
        plan.update(e)
        return plan.forward().reshape(count, -1).sum(1)

    def values_at(energy, shifts):
        return [[np.interp(energy - shift, curve[:, 0], curve[:, c]) for c in (1, 2)] for curve, shift in zip(curves, shifts)]

    for energy in np.unique(np.rint(energies)):
        own = np.rint(energies) == energy
        found[0, own] = at(values_at(energy, (0, 0)))[own]
        for k in range(2):
            shift = step * np.eye(2)[k]
            found[1 + k, own] = ((at(values_at(energy, shift)) - at(values_at(energy, -shift))) / (2 * step))[own]
    for name, curve in zip(kinds, curves):
        e.set_site_curve(name, curve)
    plan.update(e)
    return found


def boxes_of(image, half):
    """Boxes about the brightest places, which do not overlap: panel (rows of the image), slices."""
    panels = image.reshape(16, -1, image.shape[1])
    size, taken, found = panels.shape[1], np.zeros(panels.shape, bool), []
    for at in np.argsort(panels, axis=None)[::-1][:20000]:
        p, y, x = np.unravel_index(at, panels.shape)
        if panels[p, y, x] < 1:
            break
        if taken[p, y, x] or min(x, y) < half or max(x, y) >= size - half:
            continue
        rows, columns = slice(y - half, y + half + 1), slice(x - half, x + half + 1)
        if not taken[p, rows, columns].any():
            found.append((p, rows, columns))
        taken[p, rows, columns] = True
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--shots", type=int, default=8)
    parser.add_argument("--half", type=int, default=6)
    parser.add_argument("--background", type=float, default=0.05, help="photons of a pixel")
    a = parser.parse_args()
    os.chdir(a.folder)
    kinds, step = ["FES:FE1", "FES:FE2"], 0.5
    curves = [np.loadtxt("true_%d.tsv" % (k + 1)) for k in range(2)]
    by_pixels, by_boxes, by_means, pull, count = np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(2), 0
    for shot in read_shots(".", a.shots):
        e = experiment(".", shot, "%s=true_1.tsv,%s=true_2.tsv" % tuple(kinds), shot["spectrum"])
        places = boxes_of(dualbragg.Plan(e).forward(), a.half)
        count += len(places)
        plan = dualbragg.Plan(e, dtype=float, regions=places)
        truth, slopes = plan.forward().copy(), []
        for name, curve in zip(kinds, curves):
            sides = []
            for way in (1, -1):
                e.set_site_curve(name, moved(curve, way * step))
                plan.update(e)
                sides.append(plan.forward().copy())
            e.set_site_curve(name, curve)
            slopes.append((sides[0] - sides[1]) / (2 * step))
        slopes.append(truth)  # by the logarithm of the scale
        model, g = truth.reshape(len(places), -1) + a.background, np.array(slopes).reshape(3, len(places), -1)
        wavelength = plan.mean_wavelength().reshape(len(places), -1)
        light = truth.reshape(len(places), -1)
        mean = np.array([np.average(EV / w[w > 0], weights=i[w > 0]) for w, i in zip(wavelength, light)])
        at_mean = sums_at_mean_energy(e, plan, kinds, curves, mean, len(places), step)
        for way, m, s in (by_pixels, model, g), (by_boxes, model.sum(1), g.sum(2)), (by_means, model.sum(1), at_mean[[1, 2, 0]]):
            n = (s.reshape(3, -1) / m.ravel()) @ s.reshape(3, -1).T
            way += n[:2, :2] - np.outer(n[:2, 2], n[2, :2]) / n[2, 2]
        missed = (at_mean[[1, 2, 0]] / model.sum(1)) @ (light.sum(1) - at_mean[0])  # n of the last way
        pull += missed[:2] - n[:2, 2] * missed[2] / n[2, 2]
    print("%d boxes of %d shots" % (count, a.shots))
    off = np.linalg.solve(by_means, pull)
    for name, n in ("pixels", by_pixels), ("sums in boxes", by_boxes), ("sums, mean energies", by_means):
        c = np.linalg.inv(n)
        apart = np.sqrt(c[0, 0] + c[1, 1] - 2 * c[0, 1])
        print("%-20s errors of the edges %.3f, %.3f eV, of their difference %.3f eV; 2 eV by 5 sigma from %.1f shots"
              % (name, c[0, 0] ** 0.5, c[1, 1] ** 0.5, apart, a.shots * (apart / 0.4) ** 2))
    print("with mean energies edges are off by %.2f, %.2f eV, their difference by %.2f eV" % (*off, off[1] - off[0]))


if __name__ == "__main__":
    main()
