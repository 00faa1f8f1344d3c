"""How well pixels, and sums in boxes, can tell edges of a set of make_set.py apart at best: the bound of Cramer and Rao.

usage: PYTHONPATH=build/release/python information.py FOLDER [--shots 8] [--half 6]

The truth of each shot is rendered in boxes about its brightest reflections, with derivatives by a shift of each kind's curve and by
the shot's scale. Poisson counts have the information sum g g^T / m, over pixels or over the sums in boxes. The forward model is the
same, geometry is known, and so are the shapes of the curves. A table of integrated intensities, with a mean energy for each, cannot
do better than the sums.
"""
import argparse
import os

import numpy as np

import dualbragg


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
    by_pixels, by_boxes, count = np.zeros((2, 2)), np.zeros((2, 2)), 0
    for shot in read_shots(".", a.shots):
        e = experiment(".", shot, "%s=true_1.tsv,%s=true_2.tsv" % tuple(kinds), shot["spectrum"])
        places = boxes_of(dualbragg.Plan(e).forward(), a.half)
        count += len(places)
        plan = dualbragg.Plan(e, dtype=float, regions=places)
        truth, slopes = plan.forward().copy(), []
        for name, curve in zip(kinds, curves):
            sides = []
            for way in (1, -1):
                moved = np.stack([curve[:, 0]] + [np.interp(curve[:, 0] - way * step, curve[:, 0], curve[:, c]) for c in (1, 2)], 1)
                e.set_site_curve(name, moved)
                plan.update(e)
                sides.append(plan.forward().copy())
            e.set_site_curve(name, curve)
            slopes.append((sides[0] - sides[1]) / (2 * step))
        slopes.append(truth)  # by the logarithm of the scale
        model, g = truth.reshape(len(places), -1) + a.background, np.array(slopes).reshape(3, len(places), -1)
        for way, m, s in (by_pixels, model, g), (by_boxes, model.sum(1), g.sum(2)):
            n = (s.reshape(3, -1) / m.ravel()) @ s.reshape(3, -1).T
            way += n[:2, :2] - np.outer(n[:2, 2], n[2, :2]) / n[2, 2]
    print("%d boxes of %d shots" % (count, a.shots))
    for name, n in ("pixels", by_pixels), ("sums in boxes", by_boxes):
        c = np.linalg.inv(n)
        apart = np.sqrt(c[0, 0] + c[1, 1] - 2 * c[0, 1])
        print("%-14s errors of the edges %.3f, %.3f eV, of their difference %.3f eV; 2 eV by 5 sigma from %.1f shots"
              % (name, c[0, 0] ** 0.5, c[1, 1] ** 0.5, apart, a.shots * (apart / 0.4) ** 2))


if __name__ == "__main__":
    main()
