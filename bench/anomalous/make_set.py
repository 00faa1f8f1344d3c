"""Renders stills of a free-electron laser about an absorption edge, of crystals whose curves f'(E) and f''(E) are known.

usage: make_set.py DUALBRAGG FOLDER MODEL.pdb [--curve MEASURED.tsv] [--shots 16] [--pixels 512] [--apart 2] [--seed 1]
                   [--photons 1] [--offset 0] [--threads 1]

Without --curve: ferredoxin (1m2a), FES:FE1 and FES:FE2 with edges about 7120 eV that lie --apart eV apart. With it: one kind, YB:YB
of lysozyme (4bs7), whose curve is measured (yb_scan_fp_fdp.tsv), with an edge at 8944 eV.

Each shot has an orientation, cell, brightness, block size, mosaic spread, bend, strain and spectrum of its own: 1 % wide, with
spikes of 0.2 %, in channels of 1 eV. The detector has 16 panels that are displaced in their plane by 0.1 mm and turned by 0.05 degree. Counts have
photon noise and the scattering of water. Shots that are there already are kept.

--offset: the spectrum that an experimenter is told of a shot is shifted, by this many eV (rms); fit.yaml then refines the wavelength
of each shot, with this standard deviation as prior, and curves reach farther. Images stay the same.

FOLDER/counts_N.h5    shot N; fit.txt: all of them, for dualbragg fit, as an experimenter knows them: orientations are off by 0.02
                      degree, spectra are exact; blurred.txt: spectra as by a spectrometer that blurs by 10 eV, in channels of 5 eV
                      (blurred.yaml undoes it)
FOLDER/nominal.expt, true.expt     the detector as an experimenter knows it, and as it is
FOLDER/offsets.txt    with --offset: by how much (eV) the spectrum told of each shot is too high
FOLDER/true_K.tsv     true curve of kind K; start.tsv: a step without structure
FOLDER/fit.yaml       the configuration; known.txt and known.yaml: true geometry and spreads, scale and curves open
"""
import argparse
import json
import os
import subprocess

import numpy as np

EV = 12398.4198
SAMPLES = {
    "iron": dict(cell=(67.2, 59.8, 47.2, 90, 110.3, 90), symmetry="C 1 2 1", edge=7120.0, kinds=("FES:FE1", "FES:FE2"), d_min=2.8),
    "ytterbium": dict(cell=(79.1, 79.1, 38.4, 90, 90, 90), symmetry="P 43 21 2", edge=8944.0, kinds=("YB:YB",), d_min=2.8),
}
PIXEL, POINTS, REACH = 0.15, 46, 90  # mm; points of the refined curves; eV on both sides of the edge
FLUENCE = 4e25
CONFIGURATION = """shots: {list: %(list)s}
model:
  expt: %(expt)s
  cell: %(cell)s
  spots: closed
  shape: gauss
  Ncells: [40, 40, 40]
  mosaic_tensor: [0.0006, 0.0006, 0.0006, 0, 0, 0] # degree^2
  strain_rms: 0.0002
  bandwidth_rms: %(band)g               # of a channel
  spectrum_resolution: %(resolution)g   # eV, full width at half maximum
  divergence_rms: [0.2, 0.1]
  footprint_rms: [0.003, 0.003]
  polarization: 1
  oversample: 2                         # as the stills were made: another one bends curves
  fluence: %(fluence)g
%(groups)sintensity: {hkl: model.pdb, sites: "%(sites)s", model_resolution: %(d_min)g}
curves: {energies: [%(low)g, %(high)g, %(points)d]%(priors)s}
data: {target: poisson, pixels: shoeboxes, max_shoeboxes: 1000, trusted: [-1, 65000]}
refine:
%(refine)s
"""
REFINE = """  misset_x: {range: 0.3}
  misset_y: {range: 0.3}
  misset_z: {range: 0.3}
  cell_a: {range: 0.5}
%s  cell_c: {range: 0.5}
  mosaic_xx: {min: 0, max: 0.02}
  mosaic_yy: {min: 0, max: 0.02}
  mosaic_zz: {min: 0, max: 0.02}
  mosaic_yz: {min: -0.02, max: 0.02}
  mosaic_zx: {min: -0.02, max: 0.02}
  mosaic_xy: {min: -0.02, max: 0.02}
  scale: {}
%s  panel_groups:shift_fast: {prior: [0, 0.15]}
  panel_groups:shift_slow: {prior: [0, 0.15]}
  panel_groups:turn_normal: {prior: [0, 0.1]}"""


def step(energy, edge, low, high, width, line, constant):
    """f' and f'' of a step that a lifetime has rounded, with a resonance behind it: f'' of both have these f'."""
    x, y = energy - edge, width / 2
    line_x, line_y = energy - edge - 5, 4.0
    second = low + (high - low) * (0.5 + np.arctan2(x, y) / np.pi) + line * line_y ** 2 / (line_x ** 2 + line_y ** 2)
    first = constant + (high - low) / np.pi * 0.5 * np.log((x ** 2 + y ** 2) / 1e4) + line * line_y * line_x / (line_x ** 2 + line_y ** 2)
    return np.stack([energy, first, second], 1)


def reach_of(a):
    """How far refined curves reach from the edge (eV): to shifted spectra that move by four offsets."""
    return REACH + 4 * int(np.ceil(7 * a.offset / 4))


def curves(a, sample):
    """The true ones, and the start."""
    edge, reach = sample["edge"], reach_of(a)
    energy = np.arange(edge - reach - 10, edge + reach + 10.5, 0.5)
    if not a.curve:
        half = a.apart / 2
        return ([step(energy, edge + s, 0.5, 3.9, 3, 0.9, -4) for s in (-half, half)], step(energy, edge, 0.5, 3.9, 1, 0, -4))
    measured = np.loadtxt(a.curve)
    return [np.stack([energy] + [np.interp(energy, measured[:, 0], measured[:, c]) for c in (1, 2)], 1)], \
        step(energy, edge, 3.8, 10, 1, 0, -12.3)


def spectrum(random, edge):
    """Weights of channels of 1 eV: spikes are those of noise, seen through a short pulse."""
    energy = np.arange(-REACH, REACH + 0.5)
    envelope, spike = 0.01 * edge / 2.355, 0.002 * edge / 2.355
    kernel = np.exp(-(np.arange(-60, 61) / (2 * spike)) ** 2)  # of the field: twice as wide
    field = [np.convolve(random.normal(size=energy.size + 120), kernel, "valid") for _ in (0, 1)]
    middle = random.normal(0, 0.0007 * edge)
    weight = (field[0] ** 2 + field[1] ** 2) * np.exp(-((energy - middle) / envelope) ** 2 / 2)
    weight[weight < 1e-3 * weight.max()] = 0
    return edge + energy, weight / weight.sum()


def blurred(energy, weight):
    away = (energy[:, None] - energy) / (10 / 2.355)
    wide = np.exp(-away ** 2 / 2) @ weight
    middle = energy[2::5][:len(wide) // 5]
    sums = wide[:len(middle) * 5].reshape(-1, 5).sum(1)
    return middle, sums / sums.sum()


def write_spectrum(path, energy, weight):
    kept = weight > 1e-3 * weight.max()
    np.savetxt(path, np.stack([energy, weight], 1)[kept], fmt="%.3f %.7g")


def panels(pixels, distance, displaced):
    random, size = np.random.default_rng(16), pixels // 4
    for row in range(4):
        for column in range(4):
            turn, shift = np.radians(random.normal(0, 0.05)) * displaced, random.normal(0, [0.1, 0.1, 0]) * displaced
            fast, slow = np.array([np.cos(turn), np.sin(turn), 0]), np.array([np.sin(turn), -np.cos(turn), 0])
            middle = np.array([column - 1.5, 1.5 - row, 0]) * (size + 8) * PIXEL + [0.1, -0.2, -distance] + shift
            yield {"name": "p%d%d" % (row, column), "type": "SENSOR_PAD", "fast_axis": list(fast), "slow_axis": list(slow),
                   "origin": list(middle - (fast + slow) * size * PIXEL / 2), "raw_image_offset": [0, (4 * row + column) * size],
                   "image_size": [size, size], "pixel_size": [PIXEL, PIXEL], "trusted_range": [0, 65534], "thickness": 0,
                   "material": "", "mu": 0, "gain": 1, "pedestal": 0, "mask": [], "identifier": "",
                   "px_mm_strategy": {"type": "SimplePxMmStrategy"}}


def write_geometry(path, a, sample, displaced):
    wavelength = EV / sample["edge"]
    distance = (a.pixels / 2 + 12) * PIXEL / np.tan(2 * np.arcsin(wavelength / 2 / (1.15 * sample["d_min"])))
    content = {"__id__": "ExperimentList", "experiment": [{"__id__": "Experiment", "identifier": "", "beam": 0, "detector": 0}],
               "beam": [{"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": wavelength, "divergence": 0,
                         "sigma_divergence": 0, "polarization_normal": [0, 1, 0], "polarization_fraction": 0.5, "flux": 0, "transmission": 1}],
               "detector": [{"panels": list(panels(a.pixels, distance, displaced)),
                             "hierarchy": {"name": "", "type": "", "fast_axis": [1, 0, 0], "slow_axis": [0, 1, 0], "origin": [0, 0, 0],
                                           "children": [{"panel": i} for i in range(16)]}}],
               "goniometer": [], "scan": [], "crystal": [], "imageset": []}
    with open(path, "w") as out:
        json.dump(content, out, indent=1)


def configuration(a, sample, name, known):
    cell, edge = sample["cell"], sample["edge"]
    fitted = dict(list=name.replace("yaml", "txt"), expt="true.expt" if known else "nominal.expt", cell=list(cell), fluence=FLUENCE * a.photons,
                  band=(1.5 if "blurred" in name else 0.3) / edge, resolution=10 if "blurred" in name else 0, groups="" if known else "panel_groups: panels\n",
                  sites=",".join("%s=start.tsv" % kind for kind in sample["kinds"]), d_min=sample["d_min"], low=edge - reach_of(a), high=edge + reach_of(a),
                  points=POINTS + (reach_of(a) - REACH) // 2, priors=", wings: [12, 0.3]" if not a.curve else "",
                  refine="  scale: {}" if known else REFINE % (
                      "  cell_b: {range: 0.5}\n" if cell[0] != cell[1] else "",
                      "  wavelength: {range: %.4g}\n" % (4 * a.offset * EV / edge ** 2) if a.offset > 0 else ""))
    if not known and cell[0] == cell[1]:
        fitted["cell"] = "%s\n  symmetry: %s" % (list(cell), sample["symmetry"].replace(" ", ""))
    with open(name, "w") as out:
        out.write(CONFIGURATION % fitted)


def shot(a, sample, number):
    """What the shot is; and what an experimenter knows of it."""
    random = np.random.default_rng([a.seed, number])
    stretch = 1 + random.normal(0, 0.0005, 3)
    if sample["cell"][0] == sample["cell"][1]:
        stretch[1] = stretch[0]
    cell = np.array(sample["cell"]) * np.append(stretch, [1, 1, 1])
    blocks, misset = random.normal(40, 5, 3).clip(20), random.uniform(-180, 180, 3)
    spread, bend = random.gamma(8, 0.0025), random.normal(0, 0.25, 3)  # degree; mrad
    rotation = np.array([[0, -bend[2], bend[1]], [bend[2], 0, -bend[0]], [-bend[1], bend[0], 0]])
    brightness = np.exp(random.normal(0, 0.4))
    spectrum_of = spectrum(random, sample["edge"])
    true = dict(misset=misset, cell=cell, Ncells=blocks, mosaic_rms=spread, mode1=rotation.ravel())
    tensor = spread ** 2 * np.eye(3) + np.degrees(1e-3) ** 2 * np.outer(bend, bend)
    tensor = [tensor[i] for i in ((0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1))]
    told = dict(misset=misset + random.normal(0, 0.02, 3), Ncells=blocks)
    known = dict(misset=misset, cell=cell, Ncells=blocks, mosaic_tensor=tensor)
    return true, told, known, brightness, spectrum_of


def held(a, energy, weight):
    """The key of a shot that holds its wavelength to the mean of the spectrum that is told."""
    kept = weight > 1e-3 * weight.max()
    mean = (EV / energy[kept]) @ weight[kept] / weight[kept].sum()
    return " refine.wavelength.prior=[%.9g,%.4g]" % (mean, mean ** 2 / EV * a.offset) if a.offset > 0 else ""


def keys(values, prefix=""):
    return " ".join("%s%s=%s" % (prefix, k, "[%s]" % ", ".join("%.6g" % x for x in np.atleast_1d(v)) if np.ndim(v) else "%.6g" % v)
                    for k, v in values.items())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("model")
    parser.add_argument("--curve")
    parser.add_argument("--shots", type=int, default=16)
    parser.add_argument("--pixels", type=int, default=512)
    parser.add_argument("--apart", type=float, default=2)
    parser.add_argument("--photons", type=float, default=1)
    parser.add_argument("--offset", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    a = parser.parse_args()
    a.program = os.path.abspath(a.program)
    a.curve, model = a.curve and os.path.abspath(a.curve), os.path.abspath(a.model)
    sample = SAMPLES["ytterbium" if a.curve else "iron"]
    os.makedirs(os.path.join(a.folder, "spectra"), exist_ok=True)
    os.chdir(a.folder)
    if not os.path.exists("model.pdb"):
        os.symlink(model, "model.pdb")
    true, start = curves(a, sample)
    for k, curve in enumerate(true):
        np.savetxt("true_%d.tsv" % (k + 1), curve, fmt="%.2f %.5f %.5f")
    np.savetxt("start.tsv", start, fmt="%.2f %.5f %.5f")
    write_geometry("true.expt", a, sample, True)
    write_geometry("nominal.expt", a, sample, False)
    sites = ",".join("%s=true_%d.tsv" % (kind, k + 1) for k, kind in enumerate(sample["kinds"]))
    lists, offsets = {name: [] for name in ("fit", "blurred", "known")}, []
    for number in range(1, a.shots + 1):
        this, told, known, brightness, (energy, weight) = shot(a, sample, number)
        names = ["spectra/%d.txt" % number, "spectra/blurred_%d.txt" % number]
        offsets.append(np.random.default_rng([a.seed, number, 1]).normal(0, a.offset))
        names.append("spectra/told_%d.txt" % number if a.offset > 0 else names[0])
        spectra = [(energy, weight), blurred(energy + offsets[-1], weight), (energy + offsets[-1], weight)]
        for path, of in zip(names, spectra):
            write_spectrum(path, *of)
        image, fluence = "counts_%d.h5" % number, FLUENCE * a.photons * brightness
        if not os.path.exists(image):
            with open("list.tmp", "w") as out:
                out.write("%s spectrum=%s fluence=%.6g seed=%d\n" % (keys(this), names[0], fluence, 1000 * a.seed + number))
            command = [a.program, "sim", "-expt", "true.expt", "-model", "model.pdb", "-sites", sites, "-model_resolution", sample["d_min"],
                       "--shots", "list.tmp", "-cell", *sample["cell"], "-N", 40, "-gauss_xtal", "-spots", "closed", "-oversample", 2, "-strain_rms", 0.0002,
                       "-bandwidth_rms", 0.3 / sample["edge"], "-divergence_rms", 0.2, 0.1, "-footprint_rms", 0.003, "-water", 0.1, "-polar", 1,
                       "-noisefile", "part.h5", "-bits", 16, "-adc", 0, "--threads", a.threads, "--quiet", "-noreflections"]
            subprocess.run([str(part) for part in command], check=True)
            os.rename("part.h5", image)
            os.remove("list.tmp")
        for name, what, of in ("fit", told, 2), ("blurred", told, 1), ("known", known, 0):
            lists[name].append("%s#1 %s model.spectrum=%s model.scale=%.5g%s\n" % (
                image, keys(what, "model."), names[of], brightness if name == "known" else 1,
                held(a, *spectra[of]) if name != "known" else ""))
    if a.offset > 0:
        np.savetxt("offsets.txt", offsets, fmt="%.4f")
    for name, lines in lists.items():
        with open(name + ".txt", "w") as out:
            out.writelines(lines)
        configuration(a, sample, name + ".yaml", name == "known")


if __name__ == "__main__":
    main()
