"""Renders stills of a lysozyme-like crystal with gadolinium whose structure factors are known, as from a free-electron laser.

usage: make_set.py DUALBRAGG FOLDER [--shots 2000] [--pixels 1024] [--bad 0.3] [--way closed|sampled|plain]
                   [--seed 1] [--threads 1] [--d-min 2] [--each 500] [--model MODEL.pdb --energy 9034]

--model: structure factors of coordinates with the same cell and space group, by the program, at an energy (eV).

Files of shots that are there already are kept: a set grows when the command is given again with more shots.

Each shot has an orientation, spectrum (1 % wide, with spikes of a fifth of it), brightness, cell, block size, mosaic spread,
strain and bend of its own. The detector has 16 panels that are displaced by about a pixel and turned by 0.05 degree. Counts have
photon noise and the scattering of water.

--way sampled: spots are sums over twelve domains, each turned by itself, and twenty wavelengths. --way plain: crystals that differ
in orientation and brightness alone, one wavelength with a narrow band, panels in their places.

FOLDER/counts.h5      the shots (NXmx), with labels; counts_2.h5 and so on: those beyond the first 500
FOLDER/wrong_*.h5     with --bad: other lattice, other crystal, other hand, blank, saturated, in equal parts
FOLDER/shots.txt      all of them, mixed, for dualbragg fit, with the spectrum of each; mean.txt: with its mean wavelength alone;
                      near.txt: with the spectrum and orientations that are off by 0.05 degree about each axis
FOLDER/nominal.expt   the detector as an experimenter knows it: panels in a regular grid
FOLDER/true.expt      where they are
FOLDER/truth.hkl      h k l F of the asymmetric unit, Bijvoet mates apart
FOLDER/free.yaml      a configuration that starts from the spots alone, with the quantities that the crystals of the way have
FOLDER/spectra/       of each shot, merged to channels of 0.2 %
"""
import argparse
import json
import os
import subprocess

import h5py
import hdf5plugin  # noqa: F401 (opens packed data)
import numpy as np

from structure import intensities, write
from symmetry import CELL, absent, representative, sphere, unique

WAVELENGTH, CHANNEL = 1.4586, 0.002
FLUENCE, WATER = 2e25, 0.38  # photons/m^2; edge of a cube (um)
CONFIGURATION = """shots: {list: shots.txt}
model:
  expt: nominal.expt
  cell: [%g, %g, %g, 90, 90, 90]
  symmetry: P43212
  find_orientation: yes
  spots: closed
  shape: gauss
  Ncells: [30, 30, 60]
  mosaic_tensor: [0.005, 0.005, 0.005, 0, 0, 0]
  strain_rms: 0.0005
  bandwidth_rms: 0.0006             # of a channel of the spectrum; 0.0042 with the mean wavelength alone
  divergence_rms: [0.5, 0.3]
  polarization: 1
panel_groups: panels
intensity: free
refine:
  misset_x: {range: 1}
  misset_y: {range: 1}
  misset_z: {range: 1}
  cell_a: {range: 0.5}
  cell_c: {range: 0.5}
  mosaic_xx: {min: 0, max: 0.1}
  mosaic_yy: {min: 0, max: 0.1}
  mosaic_zz: {min: 0, max: 0.1}
  mosaic_yz: {min: -0.1, max: 0.1}
  mosaic_zx: {min: -0.1, max: 0.1}
  mosaic_xy: {min: -0.1, max: 0.1}
  panel_groups:shift_fast: {prior: [0, 0.2]}
  panel_groups:shift_slow: {prior: [0, 0.2]}
  panel_groups:turn_normal: {prior: [0, 0.1]}
"""
PLAIN = """shots: {list: shots.txt}
model:
  expt: nominal.expt
  cell: [%g, %g, %g, 90, 90, 90]
  symmetry: P43212
  find_orientation: yes
  spots: closed
  shape: gauss
  Ncells: [12, 12, 12]
  mosaic_rms: 0.1
  bandwidth_rms: 0.002
  polarization: 1
intensity: free
refine:
  misset_x: {range: 1}
  misset_y: {range: 1}
  misset_z: {range: 1}
  mosaic_variance: {}
"""
WRONG = ("lattice", "crystal", "hand", "blank", "saturated")


def panels(random, pixels, d_min, wavelength, displaced):
    """Sixteen panels in a grid with gaps of 8 pixels, as DIALS has them: 205 mm wide, d_min at the middle of its edges."""
    size = pixels // 4
    edge, distance = 205 / (4 * size + 24), 102.5 / np.tan(2 * np.arcsin(wavelength / 2 / d_min))
    for row in range(4):
        for column in range(4):
            turn, shift = random.normal(0, np.radians(0.05)), random.normal(0, [0.15, 0.15, 0.1])
            if not displaced:
                turn, shift = 0, np.zeros(3)
            c, s = np.cos(turn), np.sin(turn)
            fast, slow = np.array([c, s, 0]), np.array([s, -c, 0])
            middle = np.array([column - 1.5, 1.5 - row, 0]) * (size + 8) * edge + [0.1, -0.2, -distance] + shift
            yield {"name": "p%d%d" % (row, column), "type": "SENSOR_PAD", "fast_axis": list(fast), "slow_axis": list(slow),
                   "origin": list(middle - (fast + slow) * size * edge / 2), "raw_image_offset": [0, (4 * row + column) * size],
                   "image_size": [size, size], "pixel_size": [edge, edge], "trusted_range": [0, 65534], "thickness": 0,
                   "material": "", "mu": 0, "gain": 1, "pedestal": 0, "mask": [], "identifier": "",
                   "px_mm_strategy": {"type": "SimplePxMmStrategy"}}


def write_geometry(path, a, displaced):
    random, wavelength = np.random.default_rng(16), 12398.4198 / a.energy
    content = {"__id__": "ExperimentList", "experiment": [{"__id__": "Experiment", "identifier": "", "beam": 0, "detector": 0}],
               "beam": [{"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": wavelength, "divergence": 0,
                         "sigma_divergence": 0, "polarization_normal": [0, 1, 0], "polarization_fraction": 0.5, "flux": 0, "transmission": 1}],
               "detector": [{"panels": list(panels(random, a.pixels, a.d_min, wavelength, displaced)),
                             "hierarchy": {"name": "", "type": "", "fast_axis": [1, 0, 0], "slow_axis": [0, 1, 0], "origin": [0, 0, 0],
                                           "children": [{"panel": i} for i in range(16)]}}],
               "goniometer": [], "scan": [], "crystal": [], "imageset": []}
    with open(path, "w") as out:
        json.dump(content, out, indent=1)


def crystals(random, count, way, cell=CELL, brightness=1):
    """Lines of a list of shots."""
    for _ in range(count):
        if way == "plain":
            yield "fluence=%.5g" % (60 * brightness * FLUENCE * np.exp(random.normal(0, 0.5)))
            continue
        a, c = np.array(cell) * (1 + random.normal(0, 0.0005, 2))
        line = "cell=[%.4f, %.4f, %.4f, 90, 90, 90] Ncells=[%d, %d, %d]" % ((a, a, c) + tuple(
            np.maximum(random.normal([30, 30, 60], [6, 6, 12]), [12, 12, 24])))
        spread, bend = random.gamma(8, 0.008), random.normal(0, 0.6, 3)  # degree; mrad
        if way == "sampled":
            line += " mosaic_spread=%.4f mosaic_seed=%d" % (spread / 0.496, random.integers(1, 1000000))
        else:
            line += " mosaic_rms=%.4f strain_rms=%.6f mode1=[0, %.3f, %.3f, %.3f, 0, %.3f, %.3f, %.3f, 0]" % (
                spread, abs(random.normal(0.0005, 0.0002)), -bend[2], bend[1], bend[2], -bend[0], -bend[1], bend[0])
        yield line + " fluence=%.5g" % (brightness * FLUENCE * np.exp(random.normal(0, 0.5)))


def spectrum(beam, shot):
    """Wavelengths and weights of a shot's channels."""
    wavelength = beam["incident_wavelength_1Dspectrum"]
    x, w = wavelength[shot if len(wavelength) > 1 else 0], beam["incident_wavelength_1Dspectrum_weights"][shot]
    channel = np.round((1 / x / np.average(1 / x, weights=w) - 1) / CHANNEL).astype(int)
    parts = [channel == c for c in np.unique(channel) if w[channel == c].sum() > 0.002 * w.sum()]
    return np.array([[np.average(x[p], weights=w[p]), w[p].sum() / w.sum()] for p in parts])


def known_to_experimenters(path, random, way):
    """Of each shot: image; spectrum; mean wavelength; orientation, nearly."""
    with h5py.File(path) as file:
        for i, angles in enumerate(file["entry/shots/misset"]):
            misset = "model.misset=[%.5f, %.5f, %.5f]" % tuple(angles + random.normal(0, 0.05, 3))
            if way == "plain":
                yield "%s#%d" % (path, i + 1), "", "", misset
                continue
            channels = spectrum(file["entry/instrument/beam"], i)
            name = "spectra/%s_%05d.txt" % (path[:-3], i + 1)
            np.savetxt(name, channels, fmt="%.7f %.5f")
            mean = np.average(channels[:, 0], weights=channels[:, 1])
            yield "%s#%d" % (path, i + 1), "model.spectrum=%s" % name, "model.wavelength=%.6f" % mean, misset


def render(arguments, path, lines, truth, seed, *more):
    if os.path.exists(path):
        return
    with open("list.tmp", "w") as out:
        out.write("\n".join(lines) + "\n")
    command = [arguments.program, "sim", "-expt", "true.expt", "-hkl", truth, "-nointerpolate", "--shots", "list.tmp", "-misset", "random",
               "-cell", *"{0} {0} {1} 90 90 90".format(*CELL).split(), "-gauss_xtal", "-water", WATER / (4 if arguments.way == "plain" else 1), "-polar", 1, "-fluence", FLUENCE,
               "-noisefile", "part.h5", "-bits", 16, "-adc", 0, "-seed", seed, "--threads", arguments.threads, "--quiet", "-noreflections", *more]
    if arguments.way == "plain":
        command += ["-N", 12, "-spots", "closed", "-mosaic_rms", 0.12, "-bandwidth_rms", 0.002]
    elif arguments.way == "sampled":
        command += ["-N", 30, "-mosaic_domains", 12, "-sase", 0.01, 0.004]
    else:
        command += ["-N", 30, "-spots", "closed", "-sase", 0.01, 0.002, "-divergence_rms", 0.5, 0.3, "-footprint_rms", 0.003]
    subprocess.run([str(part) for part in command], check=True)
    os.rename("part.h5", path)
    os.remove("list.tmp")


def render_right(a, lines):
    """The files of them."""
    lines, paths = list(lines), []
    for first in range(0, len(lines), a.each):
        paths.append("counts%s.h5" % ("_%d" % (first // a.each + 1) if first else ""))
        last = min(first + a.each, len(lines))
        render(a, paths[-1], lines[:last], "sphere.hkl", a.seed, "--range", first + 1, last)
    return paths


def of_model(a):
    """As intensities(), of coordinates: all reflections of the asymmetric unit, mates apart."""
    command = [a.program, "sim", "-model", a.model, "-energy", a.energy, "-model_resolution", a.d_min, "-cell", CELL[0], CELL[0], CELL[1],
               90, 90, 90, "-N", 5, "-distance", 100, "-detpixels", 8, "-dump", "model.bin", "-floatfile", "none.bin", "--quiet"]
    subprocess.run([str(part) for part in command], check=True)
    with open("model.bin", "rb") as file:
        low, high = np.array(file.readline().split(), int).reshape(3, 2).T
        file.read(1)
        values = np.fromfile(file).reshape(high - low + 2)
    number = np.unique(unique(sphere(a.d_min))[0])
    hkl = representative(number)
    number, hkl = number[~absent(hkl)], hkl[~absent(hkl)]
    return number, values[tuple((hkl - low).T)]


def render_wrong(a, kind, count, number, f, random):
    path, seed = "wrong_%s.h5" % kind, 100 + WRONG.index(kind)
    lines = crystals(random, count, a.way, (70, 45) if kind == "lattice" else CELL, 300 if kind == "saturated" else 1)
    if kind in ("crystal", "hand", "blank"):
        other = intensities(a.d_min, 20)[1] if kind == "crystal" else 1e-3 * f if kind == "blank" else f
        write("other.hkl", number, other, a.d_min, kind == "hand")
    render(a, path, lines, "other.hkl" if kind in ("crystal", "hand", "blank") else "sphere.hkl", seed)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--shots", type=int, default=2000)
    parser.add_argument("--pixels", type=int, default=1024)
    parser.add_argument("--bad", type=float, default=0)
    parser.add_argument("--way", choices=("closed", "sampled", "plain"), default="closed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--d-min", type=float, default=2)
    parser.add_argument("--model")
    parser.add_argument("--energy", type=float, default=12398.4198 / WAVELENGTH)
    parser.add_argument("--each", type=int, default=500, help="shots of a file")
    a = parser.parse_args()
    a.program, a.model = os.path.abspath(a.program), a.model and os.path.abspath(a.model)
    os.makedirs(os.path.join(a.folder, "spectra"), exist_ok=True)
    os.chdir(a.folder)
    random = np.random.default_rng(a.seed)
    number, f = of_model(a) if a.model else intensities(a.d_min)
    np.savetxt("truth.hkl", np.column_stack([representative(number), f]), fmt="%d %d %d %.4f")
    write("sphere.hkl", number, f, a.d_min)
    write_geometry("true.expt", a, a.way != "plain")
    write_geometry("nominal.expt", a, False)
    wrong = round(a.shots * a.bad / len(WRONG))
    paths = render_right(a, crystals(random, a.shots - wrong * len(WRONG), a.way))
    paths += [render_wrong(a, kind, wrong, number, f, random) for kind in WRONG if wrong]
    shots = [shot for path in paths for shot in known_to_experimenters(path, random, a.way)]
    if wrong:
        random.shuffle(shots)
    for name, parts in (("shots.txt", (0, 1)), ("mean.txt", (0, 2)), ("near.txt", (0, 1, 3))):
        with open(name, "w") as out:
            out.write("".join(" ".join(shot[i] for i in parts) + "\n" for shot in shots))
    with open("free.yaml", "w") as out:
        out.write((PLAIN if a.way == "plain" else CONFIGURATION) % (CELL[0], *CELL))


main()
