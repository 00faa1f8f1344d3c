"""Intensities as the first years of serial crystallography had them: sums of pixels in boxes, scaled and averaged.

usage: monte_carlo.py FOLDER OUT.npz [--shots N] [--radius 5] [--band 0.006] [--d-min 2]

FOLDER is one that make_set.py made. Orientations, cells, panels and mean wavelengths are the true ones, from the labels: what is
missing is nothing but partiality. Every reflection whose node a photon of a wavelength within the band would bring to
diffraction is predicted at the place where it does, and its pixels within the radius are summed, less the median of the ring
around them. Shots get a scale each, in thirty rounds, and means are plain means.
"""
import argparse
import glob
import json
import os

import h5py
import hdf5plugin  # noqa: F401 (opens packed data)
import numpy as np

from symmetry import absent, sphere, unique


class Detector:
    """Panels of a list, one below the other in the image."""

    def __init__(self, path):
        with open(path) as file:
            panels = json.load(file)["detector"][0]["panels"]
        self.axes = np.array([[p["fast_axis"], p["slow_axis"], p["origin"]] for p in panels], float)
        self.edge, self.size = panels[0]["pixel_size"][0], panels[0]["image_size"]

    def places(self, direction):
        """Panel (-1: none), pixels along fast and slow."""
        panel, place = np.full(len(direction), -1), np.zeros((len(direction), 2))
        for p, (fast, slow, origin) in enumerate(self.axes):
            uvw = direction @ np.linalg.inv([fast, slow, origin])
            with np.errstate(divide="ignore", invalid="ignore"):
                at = uvw[:, :2] / uvw[:, 2:] / self.edge
            here = (uvw[:, 2] > 0) & (at > 0).all(1) & (at < self.size).all(1)
            panel[here], place[here] = p, at[here]
        return panel, place


def predicted(hkl, ub, wavelength, band):
    """Reflections within the band, and the directions of their rays, in the frame of DIALS."""
    q = hkl @ (np.diag([-1, 1, -1]) @ ub).T
    own = 2 * q[:, 2] / (q ** 2).sum(1)  # the wavelength that diffracts, with the beam along -z
    found = abs(own / wavelength - 1) < band
    return hkl[found], q[found] - np.array([0, 0, 1]) / own[found, None]


def box_sums(image, detector, panel, place, radius):
    """Counts less background, and which boxes are whole."""
    outer = 2 * radius + 1
    window = int(outer + 1)
    fast, slow = np.floor(place).astype(int).T
    whole = (fast >= window) & (slow >= window) & (fast < detector.size[0] - window) & (slow < detector.size[1] - window)
    fast, slow, place = fast[whole], slow[whole], place[whole]
    step = np.arange(-window, window + 1)
    rows = (panel[whole] * detector.size[1] + slow)[:, None, None] + step[None, :, None]
    columns = fast[:, None, None] + step[None, None, :]
    pixels = image[rows, columns].astype(float)
    far = np.hypot(columns + 0.5 - place[:, 0, None, None], step[None, :, None] + slow[:, None, None] + 0.5 - place[:, 1, None, None])
    inside, ring = far < radius, (far > radius + 1) & (far < outer)
    background = np.nanmedian(np.where(ring, pixels, np.nan), axis=(1, 2))
    mean = np.nanmean(np.where(ring & (abs(pixels - background[:, None, None]) < 4 * np.sqrt(background[:, None, None] + 1)), pixels, np.nan), axis=(1, 2))
    good = (pixels < 65000).all((1, 2))
    return np.where(good, (np.where(inside, pixels, 0)).sum((1, 2)) - mean * inside.sum((1, 2)), np.nan), whole


def mean_wavelength(beam, shot):
    if "incident_wavelength_1Dspectrum" not in beam:
        return beam["incident_wavelength"][0]
    wavelength = beam["incident_wavelength_1Dspectrum"]
    return np.average(wavelength[shot if len(wavelength) > 1 else 0], weights=beam["incident_wavelength_1Dspectrum_weights"][shot])


def files_of(folder):
    """Of the shots of a set, in their order."""
    return sorted(glob.glob(os.path.join(folder, "counts*.h5")), key=lambda path: (len(path), path))


def observed(path, detector, nodes, radius, band):
    """Of the shots of a file, numbered from 0."""
    with h5py.File(path) as file:
        for i, image in enumerate(file["entry/data/data"]):
            wavelength = mean_wavelength(file["entry/instrument/beam"], i)
            hkl, rays = predicted(nodes, file["entry/shots/ub_matrix"][i], wavelength, band)
            panel, place = detector.places(rays)
            hkl, panel, place = hkl[panel >= 0], panel[panel >= 0], place[panel >= 0]
            value, whole = box_sums(image, detector, panel, place, radius)
            hkl, value = hkl[whole][np.isfinite(value)], value[np.isfinite(value)]
            yield np.column_stack([np.full(len(hkl), i), unique(hkl)[0], value])


def observations(folder, shots, radius, band, d_min=2):
    """Shot, number of `unique` and intensity of each. What is found of a file is kept beside it."""
    detector, nodes = Detector(os.path.join(folder, "true.expt")), sphere(d_min * 0.98)
    nodes, begin = nodes[~absent(nodes)], 0
    for path in files_of(folder):
        kept = "%s_boxes_%g_%g.npy" % (path[:-3], radius, band)
        if not os.path.exists(kept):
            np.save("part.npy", np.concatenate(list(observed(path, detector, nodes, radius, band))))
            os.rename("part.npy", kept)
        own, (count, *_) = np.load(kept), h5py.File(path)["entry/data/data"].shape
        own[:, 0] += begin
        yield own[own[:, 0] < shots]
        begin += count
        if begin >= shots:
            break


def means(number, value, count):
    n = np.bincount(number, minlength=count)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(number, value, count) / n
        variance = np.bincount(number, (value - mean[number]) ** 2, count) / (n - 1) / n
    return mean, np.sqrt(variance), n


def scales(shot, pair, value, rounds=30):
    """A factor for each shot, such that it agrees with the means of reflections that others show, too (mates together)."""
    place = np.unique(pair, return_inverse=True)[1]
    common = np.bincount(place)[place] > 1
    shot, place, value = shot[common], np.unique(place[common], return_inverse=True)[1], value[common]
    scale = np.ones(shot.max() + 1)
    for _ in range(rounds):
        mean = means(place, value * scale[shot], place.max() + 1)[0][place]
        with np.errstate(divide="ignore", invalid="ignore"):
            fitted = np.sqrt(np.bincount(shot, mean ** 2) / np.bincount(shot, value ** 2))
        scale = np.where(np.isfinite(fitted), fitted, scale)
        scale /= np.median(scale[np.unique(shot)])
    return scale


def merge(shot, reflection, value):
    """Scaled means: numbers, I, sigma, count, and the means of two halves of the shots."""
    number, place = np.unique(reflection, return_inverse=True)
    scale, shots = np.ones(shot.max() + 1), shot.astype(int)
    found = scales(shots, reflection // 2, value)
    scale[:len(found)] = found
    value = value * scale[shots]
    halves = [means(place[shots % 2 == k], value[shots % 2 == k], len(number))[0] for k in (0, 1)]
    return (number, *means(place, value, len(number)), *halves)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("output")
    parser.add_argument("--shots", type=int, default=1000000)
    parser.add_argument("--radius", type=float, default=5)
    parser.add_argument("--band", type=float, default=0.006)
    parser.add_argument("--d-min", type=float, default=2)
    a = parser.parse_args()
    all_of_them = np.concatenate(list(observations(a.folder, a.shots, a.radius, a.band, a.d_min)))
    np.savez(a.output, *[], **dict(zip(("number", "I", "sigma", "count", "half1", "half2"),
                                       merge(all_of_them[:, 0].astype(int), all_of_them[:, 1].astype(int), all_of_them[:, 2]))))


if __name__ == "__main__":
    main()
